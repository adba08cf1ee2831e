package paper

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    Fault
		price    string // limit of a buy of 10 against 199.98/200.02
		result   gate.ReplyResult
		known    bool // to Find
		effect   string
		events   []string // after a minute at 199.98/200.02
		position string
	}{
		{"accept", Fault{Kind: FaultAccept}, "201.00", gate.ReplyAccepted, true, EffectTook, []string{"fill 10@200.02"}, "10"},
		{"reject", Fault{Kind: FaultReject}, "201.00", gate.ReplyRejected, false, EffectRejected, nil, "0"},
		{"timeout", Fault{Kind: FaultTimeout}, "201.00", gate.ReplyInDoubt, false, EffectLost, nil, "0"},
		{"timeout after", Fault{Kind: FaultTimeoutAfter}, "201.00", gate.ReplyInDoubt, true, EffectTook, []string{"fill 10@200.02"}, "10"},
		{"timeout after, resting", Fault{Kind: FaultTimeoutAfter}, "100.00", gate.ReplyInDoubt, true, EffectTook, nil, "0"},
		{"partial", Fault{Kind: FaultPartial}, "200.01", gate.ReplyAccepted, true, EffectTook, []string{"fill 5@200.01"}, "5"},
		{"duplicate fill", Fault{Kind: FaultDuplicateFill}, "201.00", gate.ReplyAccepted, true, EffectTook, []string{"fill 10@200.02", "fill 10@200.02"}, "10"},
		{"late fill", Fault{Kind: FaultLateFill}, "201.00", gate.ReplyAccepted, true, EffectTook, []string{"ended canceled", "fill 10@200.02"}, "10"},
		{"delay", Fault{Kind: FaultDelay, Delay: time.Millisecond}, "201.00", gate.ReplyAccepted, true, EffectTook, []string{"fill 10@200.02"}, "10"},
		{"another action's", Fault{Kind: FaultReject, Action: order.ActionCancel}, "201.00", gate.ReplyAccepted, true, EffectTook, []string{"fill 10@200.02"}, "10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			desks(t, Options{}, func(d *desk) {
				if err := d.Inject(d.t.Context(), c.fault); err != nil {
					d.t.Fatal(err)
				}
				m := d.limit(order.Buy, "10", c.price)
				if r := d.sent(m); r.Result != c.result {
					d.t.Errorf("reply %+v", r)
				}
				d.clock.pass(time.Minute)
				if s := d.find("c1"); s.Known != c.known {
					d.t.Errorf("standing %+v", s)
				}
				if got := d.tells(); !slices.Equal(got, c.events) {
					d.t.Errorf("events %q, want %q", got, c.events)
				}
				if got := d.position(); got != qty(c.position) {
					d.t.Errorf("position %s", got)
				}
				sent, err := d.Ledger().Messages(d.t.Context())
				if err != nil || len(sent) != 1 || sent[0].Effect != c.effect || sent[0].ClientOrderID != "c1" {
					d.t.Errorf("messages %+v, %v", sent, err)
				}
				done, err := d.Ledger().Executions(d.t.Context())
				if err != nil || len(done) > 1 {
					d.t.Errorf("executions %+v, %v: a duplicate report was booked", done, err)
				}
				// The fault was spent: the next order is treated as always.
				if r := d.sent(d.limit(order.Buy, "1", "201.00")); r.Result != gate.ReplyAccepted || len(r.Fills) != 1 {
					d.t.Errorf("next reply %+v", r)
				}
			})
		})
	}
}

func TestDropHangsUntilTheCallerGivesUp(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		if err := d.Inject(d.t.Context(), Fault{Kind: FaultDrop}); err != nil {
			d.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Millisecond)
		defer cancel()
		if r := d.accept(ctx, d.limit(order.Buy, "10", "201.00")); r.Result != gate.ReplyInDoubt || ctx.Err() == nil {
			d.t.Errorf("reply %+v before the caller gave up", r)
		}
		if s := d.find("c1"); s.Known || !d.position().IsZero() {
			d.t.Errorf("standing %+v", s)
		}
	})
}

func TestCallerThatHasGivenUpSendsNothing(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		ctx, cancel := context.WithCancel(d.t.Context())
		cancel()
		if r := d.accept(ctx, d.limit(order.Buy, "10", "201.00")); r.Result != gate.ReplyInDoubt {
			d.t.Errorf("reply %+v", r)
		}
		if sent, err := d.Ledger().Messages(d.t.Context()); err != nil || len(sent) != 0 {
			d.t.Errorf("messages %+v, %v", sent, err)
		}
	})
}

func TestLateFillOfACanceledOrder(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		placed := d.took(d.limit(order.Buy, "10", "199.00"))
		if err := d.Inject(d.t.Context(), Fault{Kind: FaultTimeout, Action: order.ActionNew}, Fault{Kind: FaultLateFill}); err != nil {
			d.t.Fatal(err)
		}
		r := d.took(gate.Message{Action: order.ActionCancel, TargetBrokerID: placed.BrokerID})
		if r.Ended != "canceled" || d.find("c1").Open {
			d.t.Errorf("reply %+v", r)
		}
		if a := d.account(); a.BuyingPower != StartingCash() {
			d.t.Errorf("a canceled order still holds cash back: %s", a.BuyingPower)
		}
		d.clock.pass(LateFillAfter)
		if s := d.find("c1"); s.Open || s.Ended != "canceled" || len(s.Fills) != 1 || s.Fills[0].Price != px("199") {
			d.t.Errorf("standing %+v", s)
		}
		if got := d.tells(); !slices.Equal(got, []string{"ended canceled", "fill 10@199"}) {
			d.t.Errorf("events %q", got)
		}
	})
}

func TestInjectRefusesWhatIsNoFault(t *testing.T) {
	d := newDesk(t, InMemory(start()), Options{})
	for _, f := range []Fault{{}, {Kind: FaultDrop + 1}, {Kind: FaultDelay, Delay: -1}, {Kind: FaultReject, Action: 9}} {
		if d.Inject(t.Context(), Fault{Kind: FaultReject}, f) == nil {
			t.Errorf("injected %+v", f)
		}
	}
	if err := d.Inject(t.Context(), Fault{Kind: FaultReject}); err != nil {
		t.Fatal(err)
	}
	if err := d.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.took(d.limit(order.Buy, "1", "201.00"))
}

func TestManualFillsOnly(t *testing.T) {
	desks(t, Options{ManualFills: true}, func(d *desk) {
		ctx := d.t.Context()
		d.took(d.limit(order.Buy, "10", "201.00"))
		ioc := d.limit(order.Buy, "10", "201.00")
		ioc.TimeInForce = order.IOC
		if r := d.took(ioc); r.Ended != "canceled" {
			d.t.Errorf("ioc: %+v", r)
		}
		d.clock.pass(time.Hour)
		if got := d.tells(); !slices.Equal(got, []string{"ended canceled"}) {
			d.t.Fatalf("events %q", got)
		}
		for _, id := range []string{"f1", "f1"} {
			if got, err := d.FillOrder(ctx, "c1", qty("4"), px("200.00"), id); err != nil || got != "f1" {
				d.t.Fatalf("%s, %v", got, err)
			}
		}
		if _, err := d.FillOrder(ctx, "c2", qty("4"), px("200.00"), "f1"); err == nil {
			d.t.Error("an execution id was booked on two orders")
		}
		if _, err := d.FillOrder(ctx, "c1", qty("7"), px("200.00"), ""); err == nil {
			d.t.Error("filled beyond the quantity")
		}
		if _, err := d.FillOrder(ctx, "nobody", qty("1"), px("200.00"), ""); err == nil {
			d.t.Error("filled an unknown order")
		}
		if _, err := d.FillOrder(ctx, "c2", qty("10"), px("200.00"), "late"); err != nil {
			d.t.Errorf("a late fill of an ended order: %v", err)
		}
		if d.position() != qty("14") || d.cash() != usd("97200") {
			d.t.Errorf("position %s, cash %s", d.position(), d.cash())
		}
		if got, want := d.tells(), []string{"ended canceled", "fill 4@200", "fill 4@200", "fill 10@200"}; !slices.Equal(got, want) {
			d.t.Errorf("events %q", got)
		}
	})
}

func TestExternal(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		ctx := d.t.Context()
		id, err := d.ExternalOrder(ctx, journal.BrokerOrder{
			Instrument: share("AAPL"), Side: order.Buy, Type: order.Limit, TimeInForce: order.GTC, Quantity: qty("10"), LimitPrice: px("150.00"),
		})
		if err != nil {
			d.t.Fatal(err)
		}
		if _, err := d.ExternalFill(ctx, journal.ExternalFill{BrokerID: id, Quantity: qty("3"), Price: px("150.00")}); err != nil {
			d.t.Fatal(err)
		}
		if _, err := d.ExternalFill(ctx, journal.ExternalFill{Instrument: share("MSFT"), Side: order.Sell, Quantity: qty("5"), Price: px("400.00")}); err != nil {
			d.t.Fatal(err)
		}
		if err := d.Cash(ctx, usd("-500"), "fees"); err != nil {
			d.t.Fatal(err)
		}
		if err := d.EndOrder(ctx, id, Rejected, "by the exchange"); err != nil {
			d.t.Fatal(err)
		}
		if d.EndOrder(ctx, id, Canceled, "") == nil || d.EndOrder(ctx, id, Open, "") == nil {
			d.t.Error("ended an order that was not open")
		}
		e := d.events()
		want := []gate.EventKind{gate.EventOrder, gate.EventFill, gate.EventFill, gate.EventCash, gate.EventEnded}
		for i := range e {
			if i >= len(want) || e[i].Kind != want[i] || e[i].ClientOrderID != "" {
				d.t.Fatalf("events %+v", e)
			}
		}
		if len(e) != len(want) || e[0].Order.BrokerID != id || e[0].BrokerID != id || e[2].BrokerID != "" || e[2].Instrument.Symbol != "MSFT" || e[2].Side != order.Sell {
			d.t.Errorf("events %+v", e)
		}
		a := d.account()
		if d.cash() != usd("101050") || len(a.Positions) != 2 || a.Positions[1].Quantity != qty("-5") || len(a.Orders) != 0 {
			d.t.Errorf("cash %s, account %+v", d.cash(), a)
		}
		// A cancel through the gate can name it by the broker's id alone.
		if id, err = d.ExternalOrder(ctx, journal.BrokerOrder{Instrument: share("AAPL"), Side: order.Buy, Type: order.Limit, TimeInForce: order.Day, Quantity: qty("1"), LimitPrice: px("1.00")}); err != nil {
			d.t.Fatal(err)
		}
		d.took(gate.Message{Action: order.ActionCancel, TargetBrokerID: id})
	})
}

func TestFaultsReachOtherProcesses(t *testing.T) {
	dir := t.TempDir()
	var both [2]*desk
	for i := range both {
		l, err := OpenFile(t.Context(), dir, start())
		if err != nil {
			t.Fatal(err)
		}
		both[i] = newDesk(t, l, Options{})
		both[i].n = i * 100
	}
	if err := both[0].Inject(t.Context(), Fault{Kind: FaultReject}, Fault{Kind: FaultTimeout}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []gate.ReplyResult{gate.ReplyRejected, gate.ReplyInDoubt, gate.ReplyAccepted} {
		d := both[(i+1)%2]
		if r := d.sent(d.limit(order.Buy, "1", "201.00")); r.Result != want {
			t.Errorf("message %d: %+v", i, r)
		}
	}
	if a, b := both[0].tells(), both[1].tells(); len(a) != 1 || !slices.Equal(a, b) {
		t.Errorf("events %q and %q", a, b)
	}
}
