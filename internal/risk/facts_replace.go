package risk

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// resulting returns the order that a replace comes to. Its quantity and prices are its
// own, as the journal keeps them; only what no replace can change, and a time in force
// that it leaves out, is the target's.
func resulting(in order.Intent, target *account.Order) order.Intent {
	in.Symbol, in.Side, in.Type = target.Symbol, target.Side, target.Type
	if in.TimeInForce == order.TimeInForceNone {
		in.TimeInForce = target.TimeInForce
	}
	return in
}

// lowersOnly reports whether the merged replace changes nothing but to lower the
// quantity. A replace that is pending may already have changed the rest, so nothing is
// proved while there is one.
func lowersOnly(in *order.Intent, target *account.Order) bool {
	return target.Pending == nil && in.Quantity.Cmp(target.Quantity) < 0 &&
		in.LimitPrice == target.LimitPrice && in.StopPrice == target.StopPrice &&
		in.TimeInForce == target.TimeInForce && in.ExpireAt.Equal(target.ExpireAt) &&
		in.ExtendedHours == target.ExtendedHours
}

// change is what an action does to the open quantity of its side.
type change struct {
	unfilled money.Quantity // of the resulting order
	counted  money.Quantity // of it, as exposure while the action is pending
	others   money.Quantity // open on its side without it, its target and what the broker links to that
	sum      money.Quantity // open on its side with it
}

// changeOf works out what the intent does to its side. A replace counts the larger of
// old and new if the broker makes it in one step, else both. It is false if a sum is
// out of range.
func changeOf(f *rail.Facts) (c change, ok bool) {
	open := openOn(f.Holding, f.Intent.Side)
	c.unfilled = f.Intent.Quantity
	t := f.Target
	if t == nil {
		c.counted, c.others = c.unfilled, open
		c.sum, ok = open.Add(c.counted)
		return c, ok
	}
	if c.unfilled, ok = f.Intent.Quantity.Sub(t.Filled); !ok {
		return c, false
	}
	before := t.Remaining()
	c.counted = money.MaxQuantity(before, c.unfilled)
	if !f.Request.AtomicReplace {
		if c.counted, ok = before.Add(c.unfilled); !ok {
			return c, false
		}
	}
	// Of orders that the broker links only the largest leg stands in open.
	legs := largestLeg(f.Holding, t)
	if c.others, ok = open.Sub(money.MaxQuantity(before, legs)); !ok {
		return c, false
	}
	c.sum, ok = c.others.Add(money.MaxQuantity(c.counted, legs))
	return c, ok
}

// openOn is what can still fill on one side.
func openOn(h *account.Holding, side order.Side) money.Quantity {
	switch {
	case h == nil:
		return money.Quantity{}
	case side == order.Sell:
		return h.OpenSell
	}
	return h.OpenBuy
}

// largestLeg is the largest remaining quantity among the other orders of one side that
// the broker links to o; zero if there are none.
func largestLeg(h *account.Holding, o *account.Order) money.Quantity {
	var largest money.Quantity
	if h == nil || o.Group == "" {
		return largest
	}
	for _, other := range h.Orders {
		if other != o && other.Group == o.Group && other.Side == o.Side {
			largest = money.MaxQuantity(largest, other.Remaining())
		}
	}
	return largest
}
