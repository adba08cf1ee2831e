package gate_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Defences that stand behind one another, each looked at by itself.

// lostReplace has an order of 10 replaced to each quantity in turn, the last of which gets
// lost on its way, and begins a new process.
func (d *desk) lostReplace(quantities ...string) (id string) {
	d.t.Helper()
	id = d.buy("10", "200.00")
	for i, q := range quantities {
		d.advance(time.Minute)
		want := journal.ResultAccepted
		if i == len(quantities)-1 {
			must(d.t, d.paper.Inject(d.t.Context(), paper.Fault{Kind: paper.FaultTimeout}))
			want = journal.ResultInDoubt
		}
		if j, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"`+q+`"}`); out.Result != want {
			d.t.Fatalf("to %s: %v %+v", q, j.Decision.Refusing(), out)
		}
	}
	return id
}

// The event of an earlier replace with the very same terms proves nothing of a later one.
func TestAReplaceIsNotProvedByOneWithTheSameTerms(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	id := d.lostReplace("5", "50", "5")
	d.open()
	must(t, d.gate.Tick(t.Context()))
	if got := d.remaining(id); got != "50" {
		t.Errorf("the fold counts %s, the broker holds 50", got)
	}
}

// restated tells, as the newest event, that an order has terms that nobody here asked for.
type restated struct {
	gate.Broker
	client string
	to     string
	at     time.Time
}

func (b *restated) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	events, err := b.Broker.Events(ctx, cursor)
	if b.client == "" || err != nil {
		return events, err
	}
	found, err := b.Find(ctx, b.client)
	o := found.Order
	o.Quantity = money.MustQuantity(b.to)
	return append(events, gate.Event{
		Kind: gate.EventReplaced, ID: "restated", Cursor: cursor, ClientOrderID: b.client, BrokerID: found.BrokerID,
		Instrument: o.Instrument, Side: o.Side, Order: o, At: b.at,
	}), err
}

// An event that shows other terms than those in doubt proves nothing of them.
func TestAReplaceIsNotProvedByOtherTerms(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	b := &restated{Broker: d.paper, to: "50"}
	d.broker = b
	d.open()
	id := d.lostReplace("50", "5")
	d.view(func(v gate.View) { b.client, b.at = v.State.Order(id).ClientOrderID, v.Now.Add(time.Second) })
	must(t, d.gate.Tick(t.Context()))
	if got := d.remaining(id); got != "50" {
		t.Errorf("the fold counts %s, the broker holds 50", got)
	}
}

// forkedControl shows a shorter chain of modes for all accounts than was read.
type forkedControl struct {
	gate.Store
	shorter bool
}

func (s *forkedControl) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	own, control, err = s.Store.Heads(ctx, account)
	if s.shorter {
		control = gate.Head{}
	}
	return own, control, err
}

// A control chain that got shorter has forgotten a mode for all accounts.
func TestFailClosedControlChainThatGotShorter(t *testing.T) {
	d := newDesk(t, "")
	must(t, gate.SetModeForAll(t.Context(), d.store, d.clock, journal.Mode{
		By: journal.ByOperator, Mode: journal.ModeActive, Reason: "looked", Who: "operator",
	}))
	store := &forkedControl{Store: d.store}
	d.store = store
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() {
		t.Fatalf("refused by %v", j.Decision.Refusing())
	}
	store.shorter = true
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent || d.messages() != 0 {
		t.Errorf("%s, %d messages", out.Result, d.messages())
	}
	store.shorter = false
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "5", "200.00")); j.Allowed() {
		t.Error("a process that saw the control chain shrink went on")
	}
}

// showing is a broker that shows less cash than it has.
type showing struct {
	gate.Broker
	less bool
}

func (b *showing) Account(ctx context.Context) (gate.BrokerAccount, error) {
	seen, err := b.Broker.Account(ctx)
	if b.less {
		seen.Cash, _ = seen.Cash.Sub(money.MustNotional("1"))
	}
	return seen, err
}

// A difference that is gone is gone from the journal at once, and not when it is time for
// an entry again.
func TestADifferenceThatIsGoneIsForgotten(t *testing.T) {
	d := newDesk(t, "")
	b := &showing{Broker: d.paper}
	d.broker = b
	d.open()
	for _, less := range []bool{true, false} {
		b.less = less
		d.advance(time.Second)
		_, err := d.gate.Reconcile(t.Context(), nil)
		must(t, err)
		d.view(func(v gate.View) {
			if got := len(v.State.Reconciled.Differences) > 0; got != less {
				t.Errorf("differs %v, the journal says %v", less, got)
			}
		})
	}
}

// A halt file is turned into an entry whatever restricts the account already.
func TestAHaltFileHaltsAReducedAccount(t *testing.T) {
	d := newDesk(t, "")
	file := &askedFile{}
	d.cfg.Stop = file
	d.open()
	must(t, d.gate.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: journal.ModeReduceOnly, Reason: "slower", Who: "operator"}))
	file.asked = true
	must(t, d.gate.Tick(t.Context()))
	d.view(func(v gate.View) {
		if v.State.Mode != account.Halted {
			t.Errorf("mode %v, and the file is gone: %v", v.State.Mode, !file.asked)
		}
	})
}

// failing does not write entries of a kind.
type failing struct {
	gate.Store
	kind string
}

func (s *failing) Append(ctx context.Context, b *gate.Batch) error {
	if s.kind != "" && bytes.Contains(b.Entries[0].Bytes, []byte(s.kind)) {
		return errors.New("no room")
	}
	return s.Store.Append(ctx, b)
}

// A halt file stays until its entry is durable.
func TestAHaltFileStaysUntilItsEntryIsDurable(t *testing.T) {
	d := newDesk(t, "")
	file := &askedFile{asked: true}
	store := &failing{Store: d.store, kind: `"kind":"mode"`}
	d.cfg.Stop, d.store = file, store
	d.open()
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() || !file.asked {
		t.Fatalf("allowed %v, the file stands: %v", j.Allowed(), file.asked)
	}
	store.kind = ""
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := j.Decision.Refusing(); !slices.Contains(got, "kill_switch") || file.asked {
		t.Errorf("refused by %v, the file stands: %v", got, file.asked)
	}
}

// A process that starts while the clocks were suspect does not trust them any sooner.
func TestSuspectClocksAreSoInTheNextProcess(t *testing.T) {
	d := newDesk(t, "")
	d.clock.StepWall(time.Hour)
	d.clock.Advance(100 * time.Millisecond)
	d.quote("AAPL", "199.98", "200.02", 0)
	refused := func(want bool) {
		t.Helper()
		j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
		if got := slices.Contains(j.Decision.Refusing(), "clock_suspect"); got != want {
			t.Errorf("clock_suspect refuses: %v, want %v (%v %v)", got, want, j.Decision.Refusing(), j.Decision.Faults())
		}
	}
	refused(true)
	d.open()
	refused(true)
}

// edited hands one entry over with other bytes and the hash that it had.
type edited struct {
	gate.Store
	old, new string
}

func (s *edited) Read(ctx context.Context, account string, after uint64, each func(gate.Stored) error) error {
	return s.Store.Read(ctx, account, after, func(e gate.Stored) error {
		e.Bytes = bytes.Replace(e.Bytes, []byte(s.old), []byte(s.new), 1)
		return each(e)
	})
}

// An entry that was edited is found by the fold, although the hash that stands beside it is
// the old one and the chain by those hashes is whole.
func TestAnEditedEntryDoesNotFold(t *testing.T) {
	d := newDesk(t, "")
	must(t, d.gate.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "a reason", Who: "operator"}))
	d.cfg.Store = &edited{Store: d.store, old: `"mode":"halted"`, new: `"mode":"active"`}
	g, err := gate.Open(t.Context(), d.cfg)
	if err == nil {
		err = g.View(t.Context(), func(v gate.View) { t.Errorf("it folds, to mode %v", v.State.Mode) })
	}
	if err == nil {
		t.Error("nothing noticed")
	}
}
