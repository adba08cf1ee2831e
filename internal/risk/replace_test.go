package risk_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// reconciled writes a newer whole reconciliation, as a test that places orders needs.
func (b *book) reconciled() {
	b.t.Helper()
	b.apply(journal.KindReconcile, journal.Reconcile{AsOf: journal.At(b.now), Cash: b.s.Cash, Whole: true})
}

// TestReplaceCountsTheIncrement: buy 100 working, 60 filled, replaced to a total of
// 120: 20 are new, 60 can still fill.
func TestReplaceCountsTheIncrement(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	b.fill(id, "60", "200")
	b.doc.Position.MaxPositionQuantity = on(qty("120"))
	d := b.decide(b.replace(id, order.Buy, "120", "200"))
	allowed(t, &d)
	if d.Increment != qty("20") || d.IncrementNotional != ntl("4000") || d.Reservation.Notional != ntl("4000") {
		t.Errorf("increment %s worth %s, reserved %s", d.Increment, d.IncrementNotional, d.Reservation.Notional)
	}
	if d.Reservation.Quantity != qty("120") || d.Notional != ntl("24000") || !d.Reservation.Atomic {
		t.Errorf("quantity %s worth %s", d.Reservation.Quantity, d.Notional)
	}
	d = b.decide(b.replace(id, order.Buy, "121", "200"))
	denied(t, &d, "max_position_qty")
}

// TestReplaceInTwoStepsCountsBoth: where the broker cancels and places anew, both can
// fill.
func TestReplaceInTwoStepsCountsBoth(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	b.doc.Position.MaxPositionQuantity = on(qty("150"))
	req := b.replace(id, order.Buy, "50", "200.01")
	d := b.decide(req)
	allowed(t, &d)
	req.AtomicReplace = false
	d = b.decide(req)
	allowed(t, &d)
	req.Intent.Quantity = qty("51")
	d = b.decide(req)
	denied(t, &d, "max_position_qty")
}

// TestReplaceDownThenUpCountsEachRise: what a replace gives back is not given back to
// the day's figures.
func TestReplaceDownThenUpCountsEachRise(t *testing.T) {
	b := open(t, "1000000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	want := ntl("20000")
	for range 3 {
		b.now = b.now.Add(11 * time.Second) // past the duplicate window
		d, _ := b.place(b.replace(id, order.Buy, "1", "200"))
		allowed(t, &d)
		if !d.Reducing || d.Reservation.Bucket != journal.BucketExit || !d.Reservation.Notional.IsZero() {
			t.Fatalf("lowering: bucket %s, reserved %s", d.Reservation.Bucket, d.Reservation.Notional)
		}
		b.now = b.now.Add(11 * time.Second)
		d, _ = b.place(b.replace(id, order.Buy, "100", "200"))
		allowed(t, &d)
		want, _ = want.Add(d.Reservation.Notional)
		if d.Reservation.Notional.Cmp(ntl("19800")) < 0 {
			t.Fatalf("raising by 99: reserved %s", d.Reservation.Notional)
		}
	}
	if b.s.Day.Notional != want {
		t.Errorf("day's notional %s, want %s", b.s.Day.Notional, want)
	}
}

// TestReplaceOfThePriceCountsItsRise: a higher price costs, with the same quantity.
func TestReplaceOfThePriceCountsItsRise(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "199"))
	d := b.decide(b.replace(id, order.Buy, "100", "201"))
	allowed(t, &d)
	if !d.Increment.IsZero() || d.IncrementNotional != ntl("200") {
		t.Errorf("increment %s worth %s, want 0 worth 200", d.Increment, d.IncrementNotional)
	}
	if d := b.decide(b.replace(id, order.Buy, "100", "198")); !d.IncrementNotional.IsZero() {
		t.Errorf("a lower price adds %s", d.IncrementNotional)
	}
}

func TestReplaceIsHeldToItsOrder(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	b.fill(id, "60", "200")
	d := b.decide(b.replace(id, order.Buy, "60", "200"))
	allowed(t, &d) // nothing is left to fill
	d = b.decide(b.replace(id, order.Buy, "59", "200"))
	denied(t, &d, risk.ConflictingFields)
	d = b.decide(b.replace(id, order.Sell, "100", "200"))
	denied(t, &d, risk.ConflictingFields)
	other := b.replace(id, order.Buy, "100", "200")
	other.Intent.Symbol = "MSFT"
	d = b.decide(other)
	denied(t, &d, risk.ConflictingFields)
	stop := b.replace(id, order.Buy, "100", "0")
	stop.Intent.Type, stop.Intent.StopPrice = order.Stop, prc("210")
	d = b.decide(stop)
	denied(t, &d, risk.ConflictingFields)
	short := b.replace(id, order.SideNone, "70", "200")
	short.Intent.Type, short.Intent.TimeInForce = order.TypeNone, order.TimeInForceNone
	d = b.decide(short)
	allowed(t, &d)
}

func TestOnlyLoweringPassesInReduceOnly(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	b.apply(journal.KindMode, journal.Mode{By: journal.ByOperator, Mode: journal.ModeReduceOnly, Reason: "r", Who: "operator"})
	d := b.decide(b.replace(id, order.Buy, "99", "200"))
	allowed(t, &d)
	d = b.decide(b.replace(id, order.Buy, "99", "199"))
	denied(t, &d, "kill_switch")
	d = b.decide(b.replace(id, order.Buy, "101", "200"))
	denied(t, &d, "kill_switch")
}

// TestNoReplaceOnTopOfAnother: a pending replace, a pending cancel and an order in
// flight have to be answered first.
func TestNoReplaceOnTopOfAnother(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	first := b.replace(id, order.Buy, "110", "200")
	d := b.decide(first)
	allowed(t, &d)
	b.journal(first, &d)
	d = b.decide(b.replace(id, order.Buy, "90", "200"))
	denied(t, &d, "order_in_doubt")

	b = open(t, "100000")
	_, id = b.place(b.new(order.Buy, "100", "200"))
	cancel := b.cancel(id)
	d = b.decide(cancel)
	allowed(t, &d)
	b.journal(cancel, &d)
	d = b.decide(b.replace(id, order.Buy, "90", "200"))
	denied(t, &d, "order_in_doubt")
}
