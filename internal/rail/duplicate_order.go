package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
)

// duplicateExitWindow is how long a reducing order is kept from repeating itself: a
// double call is caught, an exit in several parts is not.
const duplicateExitWindow = 2 * time.Second

func duplicateOrderRail() Rail {
	return Rail{
		ID: DuplicateOrder, Family: familySession, Keys: []string{"session.duplicate_window"},
		Exempt: ExemptOwn, Check: duplicateOrder,
	}
}

// duplicateOrder denies an order that repeats an allowed one of the last moments.
//
// A retry after a lost reply, or the same call through two tools, would double the
// position. Orders are the same when instrument, side, type, prices and quantity are,
// whatever the client order id, the tool or the door; a replace is compared by the
// form that it asks for. The window is (now-W, now]: one that is exactly W old passes.
// While the earlier order is in doubt the window has no end. Denied orders are not
// remembered. Reducing orders, and replaces that only lower a quantity, have a window
// of 2 s, or the operator's where that is shorter.
//
// Source: SEC rule 15c3-5(c)(1)(ii); NYSE rule 7.19 and Cboe duplicative order checks.
func duplicateOrder(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(DuplicateOrder, missing)
	}
	limit := f.Limits.Session.DuplicateWindow
	switch {
	case !limit.Set:
		return unset(DuplicateOrder, "session.duplicate_window")
	case !limit.On:
		return off(DuplicateOrder)
	}
	mark, now, window := f.mark(), f.Request.Now, limit.Value
	if f.spared() {
		window = min(window, duplicateExitWindow)
	}
	if id, ok := f.twinInDoubt(&mark); ok {
		return deny(DuplicateOrder, "in doubt", window.String(), "",
			"The same order, "+id+", may already have been placed; ask for its state, do not send it again.", RetryNo)
	}
	for i := len(f.State.Recent) - 1; i >= 0; i-- {
		twin := &f.State.Recent[i]
		age := now.Sub(twin.At)
		if age >= window {
			break // oldest first: the rest is older still
		}
		if twin.Mark == mark {
			observed := age.Truncate(time.Millisecond).String() // below the window, as the age is
			return deny(DuplicateOrder, observed, window.String(), "",
				"The same order was allowed "+observed+" ago as "+twin.OrderID+", within "+window.String()+".",
				RetryLater)
		}
	}
	return pass(DuplicateOrder)
}

// mark is what the order shares with its duplicates.
func (f *Facts) mark() account.TwinMark {
	return account.TwinMark{
		Symbol: f.symbol(), Side: f.Intent.Side, Type: f.Intent.Type, Quantity: f.Intent.Quantity,
		LimitPrice: f.Intent.LimitPrice, StopPrice: f.Intent.StopPrice,
	}
}

// twinInDoubt finds an open order in doubt with these terms, present or pending. It
// may have left the list of recent orders long ago.
func (f *Facts) twinInDoubt(mark *account.TwinMark) (id string, found bool) {
	if f.Holding == nil {
		return "", false
	}
	for _, o := range f.Holding.Orders {
		if o.Side == mark.Side && o.InDoubt(f.Request.Now) &&
			(sameTerms(&o.Terms, mark) || o.Pending != nil && sameTerms(&o.Pending.Terms, mark)) {
			return o.ID, true
		}
	}
	return "", false
}

func sameTerms(t *account.Terms, m *account.TwinMark) bool {
	return t.Type == m.Type && t.Quantity == m.Quantity && t.LimitPrice == m.LimitPrice && t.StopPrice == m.StopPrice
}
