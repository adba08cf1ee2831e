package gate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/markfile"
	"github.com/broker-rails/broker-rails/internal/money"
)

// racingStore lets something else happen between a gate's reading and its append.
type racingStore struct {
	gate.Store
	before func()
	fail   error
}

func (s *racingStore) Append(ctx context.Context, b *gate.Batch) error {
	if race := s.before; race != nil {
		s.before = nil
		race()
	}
	if s.fail != nil {
		return s.fail
	}
	return s.Store.Append(ctx, b)
}

// race opens the desk's gate again on a store that races.
func (d *desk) race() *racingStore {
	r := &racingStore{Store: d.memory}
	d.store = r
	d.open()
	d.store = d.memory
	return r
}

func TestALostRaceIsDecidedAgain(t *testing.T) {
	d := newDesk(t, "session: {max_orders_per_day: 1, duplicate_window: off}")
	must(t, d.gate.Tick(t.Context()))
	other := d.otherProcess()
	var won gate.Judgement
	d.race().before = func() {
		won = other.Decide(t.Context(), d.call("place_order", limitOrder("MSFT", "buy", "10", "200.00")))
	}
	lost := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !won.Allowed() {
		t.Fatalf("the faster one is refused by %v %v", won.Decision.Refusing(), won.Fault)
	}
	if got := lost.Decision.Refusing(); lost.Allowed() || !slices.Equal(got, []string{"max_orders_per_day"}) {
		t.Fatalf("the slower one: allowed %v, refused by %v, fault %q", lost.Allowed(), got, lost.Fault)
	}
	d.verify()
}

func TestALostRaceWithTheSameOrderIsAReplay(t *testing.T) {
	arguments := `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.00","time_in_force":"day","client_order_id":"a1"}`
	d := newDesk(t, "")
	must(t, d.gate.Tick(t.Context()))
	other := d.otherProcess()
	var won gate.Judgement
	d.race().before = func() { won = other.Decide(t.Context(), d.call("place_order", arguments)) }
	lost := d.decide("place_order", arguments)
	if !won.Allowed() || lost.Allowed() || lost.Replayed == nil || lost.OrderID != won.OrderID {
		t.Fatalf("faster allowed %v, slower allowed %v, replayed %+v", won.Allowed(), lost.Allowed(), lost.Replayed)
	}
	d.verify()
}

func TestAHaltBeatsADecisionThatIsOnItsWay(t *testing.T) {
	d := newDesk(t, "")
	must(t, d.gate.Tick(t.Context()))
	d.race().before = func() {
		must(t, gate.SetModeForAll(t.Context(), d.memory, d.clock, journal.Mode{
			By: "operator", Mode: journal.ModeHalted, Reason: "stop", Who: "operator",
		}))
	}
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := j.Decision.Refusing(); j.Allowed() || !slices.Equal(got, []string{"kill_switch"}) {
		t.Fatalf("allowed %v, refused by %v, fault %q", j.Allowed(), got, j.Fault)
	}
	d.verify()
}

func TestFailClosedJournalThatCannotBeWritten(t *testing.T) {
	d := newDesk(t, "")
	must(t, d.gate.Tick(t.Context()))
	store := d.race()
	store.fail = errors.New("no space left")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if j.Allowed() || j.Fault != gate.CodeJournalUnavailable {
		t.Fatalf("allowed %v, fault %q", j.Allowed(), j.Fault)
	}
	if n := d.messages(); n != 0 {
		t.Fatalf("%d messages at the broker, want none", n)
	}
	store.fail = nil
	d.buy("10", "200.00")
	d.verify()
}

func TestAnOutcomeThatCannotBeWrittenLeavesTheOrderInDoubt(t *testing.T) {
	d := newDesk(t, "")
	must(t, d.gate.Tick(t.Context()))
	store := d.race()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	store.fail = errors.New("no space left")
	out := d.gate.Forward(t.Context(), j.Permit)
	if out.Result != journal.ResultInDoubt || !out.Unrecorded {
		t.Fatalf("outcome %+v, want in doubt and unrecorded", out)
	}
	store.fail = nil
	d.advance(gate.ReplyWithin + time.Second)
	must(t, d.gate.Start(t.Context()))
	d.view(func(v gate.View) {
		if o := v.State.Order(j.OrderID); o == nil || o.Stage != account.Working {
			t.Errorf("after the reconciliation: %+v", o)
		}
	})
	d.verify()
}

func TestAnEntryThatWouldNotFoldIsNotWritten(t *testing.T) {
	d := newDesk(t, "")
	before := len(d.entries())
	err := d.gate.SetMode(t.Context(), journal.Mode{By: "operator", Mode: "paused", Reason: "no such mode", Who: "operator"})
	if err == nil {
		t.Fatal("an unknown mode was taken")
	}
	if after := len(d.entries()); after != before {
		t.Fatalf("%d entries, want %d", after, before)
	}
	d.buy("10", "200.00")
	d.verify()
}

// echoing is a broker whose replies are changed on their way.
type echoing struct {
	gate.Broker
	change func(*gate.Reply)
}

func (b echoing) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	r := b.Broker.Send(ctx, s)
	b.change(&r)
	return r
}

func TestAReplyThatEchoesAnotherOrderIsInDoubt(t *testing.T) {
	changes := map[string]func(*gate.Reply){
		"quantity":  func(r *gate.Reply) { r.Quantity = money.MustQuantity("9") },
		"symbol":    func(r *gate.Reply) { r.Symbol = "MSFT" },
		"side":      func(r *gate.Reply) { r.Side = r.Side.Opposite() },
		"broker id": func(r *gate.Reply) { r.BrokerID = "" },
		"empty":     func(r *gate.Reply) { *r = gate.Reply{} },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			d.broker = echoing{d.paper, change}
			d.open()
			j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
			if !j.Allowed() || out.Result != journal.ResultInDoubt {
				t.Fatalf("allowed %v, outcome %+v", j.Allowed(), out)
			}
			d.view(func(v gate.View) {
				if o := v.State.Order(j.OrderID); o == nil || !o.InDoubt(v.Now) {
					t.Errorf("the order is not in doubt: %+v", o)
				}
			})
			d.verify()
		})
	}
}

// panicking panics where it is told to.
type panicking struct {
	gate.Quotes
	gate.Broker
	inQuote, inSend bool
}

func (p *panicking) Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	if p.inQuote {
		panic("quote")
	}
	return p.Quotes.Quote(ctx, symbol, now)
}

func (p *panicking) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	r := p.Broker.Send(ctx, s)
	if p.inSend {
		panic("send")
	}
	return r
}

func TestAPanicRefusesAndHalts(t *testing.T) {
	d := newDesk(t, "")
	p := &panicking{Quotes: d.quotes, Broker: d.paper, inQuote: true}
	d.cfg.Quotes = p
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if j.Allowed() || j.Fault != gate.CodeInternalFault {
		t.Fatalf("allowed %v, fault %q", j.Allowed(), j.Fault)
	}
	p.inQuote = false
	next := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := next.Decision.Refusing(); !slices.Equal(got, []string{"kill_switch"}) {
		t.Fatalf("after the panic: refused by %v, want kill_switch", got)
	}
	if n := d.messages(); n != 0 {
		t.Fatalf("%d messages at the broker, want none", n)
	}
	d.verify()
}

func TestAPanicInTheAdapterIsInDoubt(t *testing.T) {
	d := newDesk(t, "")
	d.broker = &panicking{Quotes: d.quotes, Broker: d.paper, inSend: true}
	d.open()
	j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() || out.Result != journal.ResultInDoubt {
		t.Fatalf("allowed %v, outcome %+v", j.Allowed(), out)
	}
	d.view(func(v gate.View) {
		if v.State.Order(j.OrderID) == nil {
			t.Error("the reservation is gone")
		}
	})
	d.verify()
}

func TestClockStepsAreSuspect(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forward": 61 * time.Second} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "session: {max_orders_per_minute: 1, duplicate_window: off}")
			d.buy("10", "200.00")
			d.clock.StepWall(step)
			d.clock.Advance(100 * time.Millisecond)
			d.quote("AAPL", "199.98", "200.02", 0)
			j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
			for _, rail := range []string{"clock_suspect", "max_orders_per_minute"} {
				if !slices.Contains(j.Decision.Refusing(), rail) {
					t.Errorf("refused by %v, want %s among them", j.Decision.Refusing(), rail)
				}
			}
			d.verify()
		})
	}
}

func TestMessagesBeyondTheirLimitAreCountedOnce(t *testing.T) {
	d := newDesk(t, "session: {max_messages_per_minute: 5, max_orders_per_minute: off, duplicate_window: off}")
	must(t, d.gate.Tick(t.Context()))
	for range 5 {
		d.decide("place_order", limitOrder("AAPL", "buy", "5000", "200.00"))
	}
	before := len(d.entries())
	for range 1000 {
		if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() {
			t.Fatal("allowed beyond the messages' limit")
		}
	}
	if more := len(d.entries()) - before; more > 2 {
		t.Fatalf("%d entries for 1000 refusals in one instant", more)
	}
	must(t, d.gate.Close(t.Context()))
	total := 0
	for _, e := range d.entries() {
		if e.Kind == journal.KindRefusal {
			r, err := journal.DecodeBody[journal.Refusal](&e)
			must(t, err)
			total += r.Count
		}
	}
	if total != 1000 {
		t.Fatalf("%d refusals counted, want 1000", total)
	}
	d.verify()
}

func TestAHaltFileStopsWhatTheJournalDoesNotKnowYet(t *testing.T) {
	d := newDesk(t, "")
	file := markfile.For(t.TempDir(), "paper")
	d.cfg.Stop = file
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() {
		t.Fatalf("refused by %v", j.Decision.Refusing())
	}
	must(t, file.Request("the journal was locked"))
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent {
		t.Fatalf("outcome %+v", out)
	}
	d.view(func(v gate.View) {
		if v.Mode != account.Halted || v.StopReason != "the journal was locked" {
			t.Errorf("looked at: mode %v, %q, want the halt of the file", v.Mode, v.StopReason)
		}
	})
	next := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := next.Decision.Refusing(); !slices.Contains(got, "kill_switch") {
		t.Fatalf("refused by %v, want kill_switch", got)
	}
	if n := d.messages(); n != 0 {
		t.Fatalf("%d messages at the broker, want none", n)
	}
	if _, on := file.Requested(); on {
		t.Error("the file still stands although the mode is journaled")
	}
	d.view(func(v gate.View) {
		if v.Mode != account.Halted || v.StopReason != "" {
			t.Errorf("mode %v, %q, want the entry's halt", v.Mode, v.StopReason)
		}
	})
	d.verify()
}

func TestLimitsThatDidNotLoadBindEveryProcess(t *testing.T) {
	d := newDesk(t, "")
	d.cfg.BadLimits = markfile.InvalidLimits(t.TempDir(), "paper")
	d.open()
	other := d.otherProcess()
	if _, err := other.LoadLimits(t.Context(), "limits", []byte("version: 1\n"), "operator"); err == nil {
		t.Fatal("an incomplete document loaded")
	}
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() || !slices.Contains(j.Decision.Faults(), "limits_invalid") {
		t.Fatalf("allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
	}
	if _, err := other.LoadLimits(t.Context(), "limits", limits.Template("paper"), "operator"); err != nil {
		t.Fatal(err)
	}
	d.buy("10", "200.00")
	d.verify()
}
