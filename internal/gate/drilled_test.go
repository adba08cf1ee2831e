package gate_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// What the simulator (internal/drill) found, each by itself.

// A machine that sleeps stops the clock that permits were timed by; what was decided before
// is not sent when it wakes.
func TestAPermitDoesNotOutliveSleep(t *testing.T) {
	d := newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	d.advance(gate.PermitFor + time.Millisecond) // the virtual clock alone: the process's own stands still
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent || d.messages() != 0 {
		t.Errorf("outcome %+v, %d messages", out, d.messages())
	}
	d.verify()
}

// panicky panics at the next appends that hold an entry of its kind; of any, if that is empty.
type panicky struct {
	gate.Store
	left int
	kind string
}

func (p *panicky) Append(ctx context.Context, b *gate.Batch) error {
	if p.left > 0 && bytes.Contains(b.Entries[0].Bytes, []byte(p.kind)) {
		p.left--
		panic("a fault in the store's adapter")
	}
	return p.Store.Append(ctx, b)
}

// A panic that cannot even be answered with a halt ends the gate for this process.
func TestAPanicWhileHaltingEndsTheGate(t *testing.T) {
	d := newDesk(t, "")
	d.store = &panicky{Store: d.store, left: 2}
	d.open()
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Fault != gate.CodeInternalFault {
		t.Fatalf("allowed %v, fault %q", j.Allowed(), j.Fault)
	}
	j, _ := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if j.Allowed() || d.messages() != 0 {
		t.Errorf("allowed %v, %d messages", j.Allowed(), d.messages())
	}
}

// A panic in the entry of a start does not leave the gate.
func TestAPanicOfAStartRefuses(t *testing.T) {
	d := newDesk(t, "")
	d.doubt()
	d.store = &panicky{Store: d.store, left: 1, kind: `"kind":"recovery"`}
	d.open()
	d.advance(gate.ReplyWithin)
	if err := d.gate.Start(t.Context()); err == nil {
		t.Error("a start went on after a panic")
	}
}

// doubt leaves an order of AAPL in doubt.
func (d *desk) doubt() {
	d.t.Helper()
	sent := d.broker
	d.broker = lost{d.broker}
	d.open()
	if _, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00")); out.Result != journal.ResultInDoubt {
		d.t.Fatalf("outcome %+v", out)
	}
	d.broker = sent
	d.open()
}

// lost is a broker that nothing reaches.
type lost struct{ gate.Broker }

func (lost) Send(context.Context, gate.Sealed) gate.Reply { return gate.Reply{Reason: "timeout"} }

// A mode that is set again changes nothing, and still a permit from before it sends nothing:
// someone looked at the account in between.
func TestALaterModeThatChangesNothingStopsAPermit(t *testing.T) {
	d := newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	err := d.gate.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "looked", Who: "operator"})
	must(t, err)
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent || d.messages() != 0 {
		t.Errorf("outcome %+v, %d messages", out, d.messages())
	}
}

// deaf does not hear the broker's answer.
type deaf struct{ gate.Broker }

func (b deaf) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	b.Broker.Send(ctx, s)
	return gate.Reply{Reason: "timeout"}
}

// A replace of an order from outside that is in doubt is settled by what the broker shows,
// whether it took effect or not.
func TestAReplaceOfAnExternalOrderComesOutOfDoubt(t *testing.T) {
	for name, took := range map[string]bool{"took effect": true, "was lost": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "session: {duplicate_window: off}")
			in, _, _ := d.quotes.Instrument(t.Context(), "AAPL")
			id, err := d.paper.ExternalOrder(t.Context(), journal.BrokerOrder{
				Instrument: in, Side: order.Buy, Type: order.Limit, TimeInForce: order.Day, Quantity: money.QuantityFromInt(10), LimitPrice: money.MustPrice("199.00"),
			})
			must(t, err)
			must(t, d.gate.Tick(t.Context()))
			d.broker = lost{d.paper}
			if took {
				d.broker = deaf{d.paper}
			}
			d.open()
			if _, out := d.do("replace_order", `{"order_id":"ext/`+id+`","quantity":"6"}`); out.Result != journal.ResultInDoubt {
				t.Fatalf("outcome %+v", out)
			}
			_, err = d.gate.Reconcile(t.Context(), nil)
			must(t, err)
			want := "10"
			if took {
				want = "6"
			}
			d.view(func(v gate.View) {
				if o := v.State.Order("ext/" + id); o == nil || o.InDoubt(v.Now) || o.Pending != nil || o.Quantity.String() != want {
					t.Errorf("order %+v", o)
				}
			})
		})
	}
}

// A process that has not read of an order hears of its end first: the end is not passed over.
func TestAnEndIsNotPassedOverByAProcessThatLags(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	first := d.gate
	must(t, first.Tick(t.Context()))
	d.broker = deaf{d.paper}
	d.open()
	j, _ := d.do("place_order", `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.00","time_in_force":"ioc"}`)
	d.gate = first
	// It is judged, and so first reads the broker's events, on what it knew before.
	d.decide("cancel_order", `{"order_id":"paper/999"}`)
	must(t, first.Tick(t.Context()))
	d.view(func(v gate.View) {
		if o := v.State.Order(j.OrderID); o != nil {
			t.Errorf("the order ended at the broker, and is %s", o.Status(v.Now))
		}
	})
	d.verify()
}

// odd gives an absent quote that tells a time.
type odd struct{ gate.Quotes }

func (o odd) Quote(context.Context, string, time.Time) (market.Quote, error) {
	return market.Quote{At: time.Time{}.Add(-time.Minute)}, nil
}

// Nothing of an absent quote counts: the verdict is derived again without it.
func TestAnAbsentQuoteTellsNothing(t *testing.T) {
	d := newDesk(t, "")
	d.cfg.Quotes = odd{d.quotes}
	d.open()
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() || len(j.Decision.Faults()) == 0 {
		t.Errorf("allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
	}
	d.verify()
}

// While the clocks do not agree, and for as long as a message may be in flight after that,
// an order that the broker does not know is not taken for one that never arrives: nobody
// can tell how long ago it was sent.
func TestNothingIsNotPlacedWhileTheClocksAreInDoubt(t *testing.T) {
	d := newDesk(t, "")
	d.doubt()
	must(t, d.gate.Tick(t.Context()))
	d.clock.StepWall(time.Hour)
	found, err := d.gate.Reconcile(t.Context(), nil)
	must(t, err)
	if len(found.StillDoubt) != 1 || len(found.Resolved) != 0 {
		t.Errorf("after a step of an hour: settled %v, in doubt %v", found.Resolved, found.StillDoubt)
	}
	d.advance(gate.ReplyWithin)
	found, err = d.gate.Reconcile(t.Context(), nil)
	must(t, err)
	if len(found.StillDoubt) != 0 || len(found.Resolved) != 1 {
		t.Errorf("when no message can be in flight: settled %v, in doubt %v", found.Resolved, found.StillDoubt)
	}
}

// mute answers, and tells of no event for as long as it is told to be.
type mute struct {
	gate.Broker
	silent bool
}

func (b *mute) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	if b.silent {
		return nil, context.DeadlineExceeded
	}
	return b.Broker.Events(ctx, cursor)
}

// An answer that tells of an order's end, while the events that tell what filled before it
// cannot be read, releases nothing: the journal would count less than the broker holds.
func TestAnEndIsNotBookedBeforeWhatFilled(t *testing.T) {
	d := newDesk(t, "")
	b := &mute{Broker: d.paper}
	d.broker = b
	d.open()
	id := d.buy("10", "200.00")
	j := d.decide("cancel_order", `{"order_id":"`+id+`"}`)
	client := ""
	d.view(func(v gate.View) { client = v.State.Order(id).ClientOrderID })
	_, err := d.paper.FillOrder(t.Context(), client, money.QuantityFromInt(4), money.MustPrice("200.00"), "")
	must(t, err)
	b.silent = true
	d.gate.Forward(t.Context(), j.Permit)
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o == nil || o.Remaining().Cmp(money.QuantityFromInt(4)) < 0 {
			t.Errorf("the broker holds 4, and the journal counts on nothing: %+v", o)
		}
	})
	b.silent = false
	must(t, d.gate.Tick(t.Context()))
	if d.position("AAPL") != "4" {
		t.Errorf("position %s", d.position("AAPL"))
	}
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o != nil {
			t.Errorf("the order is over, and %s", o.Status(v.Now))
		}
	})
	d.verify()
}

// A replace in doubt that took effect, of an order that has ended since: both come out.
func TestAReplacedOrderThatEndedIsOver(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.cfg.AtomicReplace = false
	d.open()
	id := d.buy("10", "200.00")
	d.store = &panicky{Store: d.store, left: 1, kind: `"kind":"outcome"`}
	d.open()
	d.do("replace_order", `{"order_id":"`+id+`","quantity":"12"}`) // the answer is lost on its way to the journal
	client := ""
	d.view(func(v gate.View) { client = v.State.Order(id).ClientOrderID })
	must(t, d.paper.EndOrder(t.Context(), client, paper.Canceled, "the broker's own"))
	must(t, d.gate.Tick(t.Context()))
	d.advance(gate.ReplyWithin)
	_, err := d.gate.Reconcile(t.Context(), nil)
	must(t, err)
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o != nil {
			t.Errorf("the order is over, and %s: %+v", o.Status(v.Now), o)
		}
	})
}

// askedFile is a halt file.
type askedFile struct{ asked bool }

func (f *askedFile) Requested() (string, bool) { return "asked by hand", f.asked }

func (f *askedFile) Take() (string, bool, func() error) {
	return "asked by hand", f.asked, func() error {
		f.asked = false
		return nil
	}
}

// between lets something happen after the heads were read.
type between struct {
	gate.Store
	happen func()
}

func (b *between) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	own, control, err = b.Store.Heads(ctx, account)
	if do := b.happen; do != nil {
		b.happen = nil
		do()
	}
	return own, control, err
}

// A halt file that another process turns into an entry, while a permit is looked at, is
// missed in neither place.
func TestAHaltFileIsNotMissedWhileItBecomesAnEntry(t *testing.T) {
	d := newDesk(t, "")
	file := &askedFile{}
	d.cfg.Stop = file
	d.open()
	other := d.gate
	store := &between{Store: d.store}
	d.store = store
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	file.asked = true
	store.happen = func() { must(t, other.Tick(t.Context())) }
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent || d.messages() != 0 {
		t.Errorf("outcome %+v, %d messages", out, d.messages())
	}
}
