package account_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestAnAllowedOrderIsRemembered: as a twin, with its clock, and only for its time.
func TestAnAllowedOrderIsRemembered(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	want := account.TwinMark{
		Symbol: "AAPL", Side: order.Buy, Type: order.Limit, Quantity: money.MustQuantity("10"), LimitPrice: money.MustPrice("10"),
	}
	if len(c.s.Recent) != 1 || c.s.Recent[0].OrderID != id || c.s.Recent[0].Mark != want || !c.s.Recent[0].At.Equal(c.now) {
		t.Errorf("twins %+v, want %s %+v", c.s.Recent, id, want)
	}
	if c.s.Clock.BootNS != 1 || !c.s.Clock.Wall.Equal(c.now) {
		t.Errorf("clock %+v", c.s.Clock)
	}
	c.now = c.now.Add(account.DuplicateWindowMax - 1)
	c.deny()
	if len(c.s.Recent) != 1 {
		t.Errorf("a nanosecond before its end: twins %+v", c.s.Recent)
	}
	c.now = c.now.Add(1)
	c.deny()
	if len(c.s.Recent) != 0 {
		t.Errorf("at its end: twins %+v", c.s.Recent)
	}
}

// TestAReplaceKeepsWhatItDoesNotName: type and time in force are the order's.
func TestAReplaceKeepsWhatItDoesNotName(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	in := intent(order.Buy, "AAPL", "12", "10")
	in.Action, in.Target, in.Type, in.TimeInForce = order.ActionReplace, id, order.TypeNone, order.TimeInForceNone
	d := c.decision(in)
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	if p := c.s.Order(id).Pending; p == nil || p.Terms.Type != order.Limit || p.Terms.TimeInForce != order.Day {
		t.Errorf("pending %+v", p)
	}
	other := c.working(order.Buy, "AAPL", "10", "11")
	in.Target, in.Type, in.TimeInForce = other, order.StopLimit, order.GTC
	in.StopPrice = money.MustPrice("9")
	d = c.decision(in)
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	if p := c.s.Order(other).Pending; p == nil || p.Terms.Type != order.StopLimit || p.Terms.TimeInForce != order.GTC {
		t.Errorf("pending %+v", p)
	}
}

// TestReplyByIsNotBeforeTheDecision: at the decision it may be, a nanosecond before not.
func TestReplyByIsNotBeforeTheDecision(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	d := c.decision(intent(order.Buy, "AAPL", "5", "10"))
	reserve(&d, journal.BucketOpen)
	x := c.decision(order.Intent{Action: order.ActionCancel, Symbol: "AAPL", Target: id})
	for name, d := range map[string]journal.Decision{"an order": d, "a cancel": x} {
		d.ReplyBy = journal.At(c.now.Add(-1))
		if err := c.add(journal.KindDecision, d); err == nil {
			t.Errorf("%s: a reply before the decision is taken", name)
		}
		d.ReplyBy = journal.At(c.now)
		if err := c.add(journal.KindDecision, d); err != nil {
			t.Errorf("%s: a reply at the decision: %v", name, err)
		}
	}
}

// TestReservationsOfNothing: a reservation of zero is one, as a replace that lowers has.
func TestReservationsOfNothing(t *testing.T) {
	c := begin(t)
	d := c.decision(intent(order.Buy, "AAPL", "5", "10"))
	d.Reservation = &journal.Reservation{Bucket: journal.BucketOpen, Quantity: money.MustQuantity("5")}
	if err := c.add(journal.KindDecision, d); err != nil {
		t.Errorf("nothing reserved: %v", err)
	}
	for name, r := range map[string]journal.Reservation{
		"notional": {Notional: money.MustNotional("-0.000000001")},
		"cost":     {Cost: money.MustNotional("-0.000000001")},
		"price":    {Price: money.MustPrice("-0.000000001")},
	} {
		r.Bucket, r.Quantity = journal.BucketOpen, money.MustQuantity("5")
		d.Reservation = &r
		if err := c.add(journal.KindDecision, d); err == nil {
			t.Errorf("a negative %s is reserved", name)
		}
	}
}

func TestOrdersInAll(t *testing.T) {
	d := account.Day{Orders: 3, ExitOrders: 4}
	if d.OrdersInAll() != 7 {
		t.Errorf("3 and 4 are %d", d.OrdersInAll())
	}
}
