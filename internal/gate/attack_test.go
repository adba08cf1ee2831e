package gate_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// remaining is what the fold says that an open order can still fill.
func (d *desk) remaining(id string) (text string) {
	d.t.Helper()
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o != nil {
			text = o.Remaining().String()
		}
	})
	return text
}

// A replace that got lost is not proved by the event of an earlier one, which a new
// process reads again: the broker still holds the larger quantity.
func TestAnEarlierReplaceDoesNotProveALaterOne(t *testing.T) {
	d := newDesk(t, "")
	id := d.buy("10", "200.00")
	d.advance(time.Minute)
	if j, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"50"}`); out.Result != journal.ResultAccepted {
		t.Fatalf("replace up: %v %+v", j.Decision.Refusing(), out)
	}
	d.advance(time.Minute)
	if err := d.paper.Inject(t.Context(), paper.Fault{Kind: paper.FaultTimeout}); err != nil {
		t.Fatal(err)
	}
	if j, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"5"}`); out.Result != journal.ResultInDoubt {
		t.Fatalf("replace down: %v %+v", j.Decision.Refusing(), out)
	}
	d.open()
	if err := d.gate.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := d.remaining(id); got != "50" {
		t.Errorf("the fold counts %s, the broker holds 50", got)
	}
	d.verify()
}

func TestRefusedMessagesAboutUnknownOrdersAreBounded(t *testing.T) {
	d := newDesk(t, "session: {max_messages_per_minute: 5}")
	before := len(d.entries())
	for range 50 {
		d.do("cancel_order", `{"order_id":"paper/999"}`)
		d.do("replace_order", `{"order_id":"paper/999","quantity":"1"}`)
	}
	if n := len(d.entries()) - before; n > 14 {
		t.Errorf("%d entries for 100 messages, with 5 a minute", n)
	}
	d.verify()
}

func TestRefusalsOfUnknownOrdersAreAStorm(t *testing.T) {
	d := newDesk(t, "session: {denial_storm: {denials: 3, window: 10m}}")
	for range 4 {
		d.do("cancel_order", `{"order_id":"paper/999"}`)
	}
	d.view(func(v gate.View) {
		if v.Mode.String() != journal.ModeReduceOnly {
			t.Errorf("mode %s after 4 denials, with 3 allowed", v.Mode)
		}
	})
	d.verify()
}

func TestExtendedHoursNeedLeaveAlsoDuringTheRegularSession(t *testing.T) {
	d := newDesk(t, "")
	j, _ := d.do("place_order", `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"199.00","time_in_force":"day","extended_hours":true}`)
	if j.Allowed() {
		t.Errorf("an order that would work after the close was allowed without leave")
	}
}

// stopOrder buys by a stop.
func stopOrder(quantity, stop string) string {
	return `{"symbol":"AAPL","side":"buy","order_type":"stop","quantity":"` + quantity + `","stop_price":"` + stop + `","time_in_force":"day"}`
}

// A buy stop below the market triggers at once and pays the ask: the agent's price does
// not value it, also where stop_price_side is off.
func TestAStopBelowTheMarketIsValuedAtTheAsk(t *testing.T) {
	d := newDesk(t, "instrument: {order_types: [limit, stop]}\ncollar: {stop_price_side: off}\nsize: {max_order_notional: \"1000\"}")
	if j, _ := d.do("place_order", stopOrder("90", "1.00")); j.Allowed() {
		t.Errorf("90 shares at an ask of 200.02 were allowed as %s", j.Decision.Notional)
	}
	if j, _ := d.do("place_order", stopOrder("4", "1.00")); !j.Allowed() {
		t.Errorf("4 shares refused by %v", j.Decision.Refusing())
	}
	d.verify()
}

// What rests in an instrument at a dearer price counts at that price when a cheaper
// order follows.
func TestARestingStopKeepsItsPrice(t *testing.T) {
	for _, limit := range []string{"max_position_notional", "max_gross_exposure", "max_net_exposure"} {
		d := newDesk(t, "instrument: {order_types: [limit, stop]}\nposition: {"+limit+": \"22200\"}")
		if j, _ := d.do("place_order", stopOrder("100", "220.00")); !j.Allowed() {
			t.Fatalf("%s: the stop is refused by %v", limit, j.Decision.Refusing())
		}
		if j, _ := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() {
			t.Errorf("%s: 100 at 221.10 and 10 at 200.02 are over 22,200, and were allowed", limit)
		}
		d.verify()
	}
}

// A lost order that the broker does not know yet may still arrive there: until it can no
// more, looking it up proves nothing, and its reservation stays.
func TestALostOrderIsNotGivenUpWhileItMayArrive(t *testing.T) {
	d := newDesk(t, "")
	d.cfg.Paper = false
	d.open()
	if _, err := d.gate.Reconcile(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	must(t, d.paper.Inject(t.Context(), paper.Fault{Kind: paper.FaultTimeout}))
	j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if out.Result != journal.ResultInDoubt {
		t.Fatalf("refused by %v, outcome %+v", j.Decision.Refusing(), out)
	}
	for _, step := range []struct {
		by   time.Duration
		left string
	}{{0, "10"}, {gate.ReplyWithin - 1, "10"}, {1, ""}} {
		d.advance(step.by)
		if _, err := d.gate.Reconcile(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := d.remaining(j.OrderID); got != step.left {
			t.Errorf("after another %s %q is reserved, want %q", step.by, got, step.left)
		}
	}
}

// An order that is decided in the last instant of the session is not sent after it: the
// broker would keep it for the next open.
func TestAnOrderIsNotSentAfterItsSession(t *testing.T) {
	d := newDesk(t, "")
	d.advance(5*time.Hour - time.Millisecond)
	kept, _ := d.do("place_order", `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"9","limit_price":"200.00","time_in_force":"gtc"}`)
	late := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !late.Allowed() {
		t.Fatalf("refused by %v", late.Decision.Refusing())
	}
	d.advance(time.Millisecond)
	if out := d.gate.Forward(t.Context(), late.Permit); out.Result != journal.ResultNotSent {
		t.Errorf("outcome %+v", out)
	}
	if j, out := d.do("cancel_order", `{"order_id":"`+kept.OrderID+`"}`); out.Result != journal.ResultAccepted {
		t.Errorf("the cancel is refused by %v, outcome %+v", j.Decision.Refusing(), out)
	}
	d.verify()
}
