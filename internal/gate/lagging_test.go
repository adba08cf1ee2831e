package gate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/markfile"
	"github.com/broker-rails/broker-rails/internal/money"
)

// A process that has not read a resume yet takes no halt file away without an entry: the
// account would trade on, and nobody would know that it was to stop.
func TestAHaltFileIsNotLostByAProcessThatLags(t *testing.T) {
	d := newDesk(t, "")
	file := &askedFile{}
	d.cfg.Stop = file
	d.open()
	other := d.otherProcess()
	set := func(g *gate.Gate, mode string) {
		must(t, g.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: mode, Reason: "by a test", Who: "operator"}))
	}
	set(d.gate, journal.ModeHalted)
	set(other, journal.ModeActive)
	file.asked = true
	j, _ := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := j.Decision.Refusing(); j.Allowed() || !slices.Contains(got, "kill_switch") || d.messages() != 0 {
		t.Errorf("allowed %v, refused by %v, %d messages", j.Allowed(), got, d.messages())
	}
	d.view(func(v gate.View) {
		if v.State.Mode != account.Halted {
			t.Errorf("mode %v", v.State.Mode)
		}
	})
}

// A halt that is asked for while an older one is being written keeps its file.
func TestANewerHaltFileIsKept(t *testing.T) {
	d := newDesk(t, "")
	file := markfile.For(t.TempDir(), "paper")
	store := &between{Store: d.store}
	d.cfg.Stop, d.store = file, store
	d.open()
	must(t, file.Request("first"))
	must(t, d.gate.Tick(t.Context())) // reads what there is
	other := d.otherProcess()
	must(t, file.Request("first"))
	store.happen = func() { // after the file was seen
		must(t, other.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "resumed", Who: "operator"}))
		must(t, file.Request("again"))
	}
	if _, out := d.do("place_order", limitOrder("MSFT", "buy", "10", "200.00")); out.Result == journal.ResultAccepted {
		t.Errorf("outcome %+v", out)
	}
	j, _ := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := j.Decision.Refusing(); j.Allowed() || !slices.Contains(got, "kill_switch") || d.messages() != 0 {
		t.Errorf("allowed %v, refused by %v, %d messages", j.Allowed(), got, d.messages())
	}
}

// talky tells of cash a cent at a time, more often than one page holds, then of what the
// broker has to tell; after its first page it is silent for as long as it is told to be.
type talky struct {
	gate.Broker
	cents  int
	silent bool
}

func (b *talky) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	told := 0
	_, _ = fmt.Sscanf(cursor, "cent-%d", &told)
	if b.cents == 0 || told >= b.cents {
		if told > 0 {
			cursor = ""
		}
		if b.silent {
			return nil, context.DeadlineExceeded
		}
		return b.Broker.Events(ctx, cursor)
	}
	if told > 0 && b.silent {
		return nil, context.DeadlineExceeded
	}
	var out []gate.Event
	for i := told + 1; i <= b.cents; i++ {
		name := fmt.Sprint("cent-", i)
		out = append(out, gate.Event{Kind: gate.EventCash, ID: name, Cursor: name, Cash: money.MustNotional("0.01"), At: start()})
	}
	return out, nil
}

// The first page of events was read, and the next, which tells of a fill, was not: the end
// that the answer told of waits for it.
func TestAnEndIsNotBookedBeforeTheSecondPageOfEvents(t *testing.T) {
	d := newDesk(t, "")
	b := &talky{Broker: d.paper}
	d.broker = b
	d.open()
	id := d.buy("10", "200.00")
	j := d.decide("cancel_order", `{"order_id":"`+id+`"}`)
	client := ""
	d.view(func(v gate.View) { client = v.State.Order(id).ClientOrderID })
	_, err := d.paper.FillOrder(t.Context(), client, money.QuantityFromInt(4), money.MustPrice("200.00"), "")
	must(t, err)
	b.cents, b.silent = gate.EventsPerBatchMax+1, true
	d.gate.Forward(t.Context(), j.Permit)
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o == nil || o.Remaining().Cmp(money.QuantityFromInt(4)) < 0 {
			t.Errorf("the broker holds 4, and the journal counts on nothing: %+v", o)
		}
	})
}

// announcing is a broker that tells of each open order by an event.
type announcing struct{ gate.Broker }

func (b announcing) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	seen, err := b.Account(ctx)
	var out []gate.Event
	for i := range seen.Orders {
		o := &seen.Orders[i]
		out = append(out, gate.Event{
			Kind: gate.EventOrder, ID: "order/" + o.BrokerID, Cursor: cursor, ClientOrderID: o.ClientOrderID,
			BrokerID: o.BrokerID, Instrument: o.Instrument, Side: o.Side, Order: *o, At: start(),
		})
	}
	return out, err
}

// An order that the journal forgot halts the account also where the broker tells of it by
// an event first: booked as a stranger's it would look like one for ever.
func TestAForgottenOrderThatIsAnnouncedHaltsTheAccount(t *testing.T) {
	d := newDesk(t, "")
	older := d.copied()
	if _, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "190.00")); out.Result != journal.ResultAccepted {
		t.Fatalf("outcome %+v", out)
	}
	d.store, d.broker = older, announcing{d.paper}
	d.open()
	must(t, d.gate.Tick(t.Context()))
	d.view(func(v gate.View) {
		if v.State.Mode != account.Halted || v.State.ModeBy != "journal_behind" {
			t.Errorf("mode %v by %q, %d open", v.State.Mode, v.State.ModeBy, v.State.OpenOrders())
		}
	})
}
