package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The functions in this file work out what would pass. They are called for denials
// only.

// worst returns what the position could come to on the order's own side, and on the
// other.
func (f *Facts) worst() (own, other money.Quantity) {
	if f.Intent.Side == order.Sell {
		return f.WorstShort, f.WorstLong
	}
	return f.WorstLong, f.WorstShort
}

// valuation is the price that gross, net and concentration take for the order's own
// instrument: the higher of risk price and ask.
func (f *Facts) valuation() money.Price { return money.MaxPrice(f.RiskPrice, f.PricingQuote.Ask) }

// quantityFor returns the total quantity with which both sides of the position come to
// at most most; empty when no quantity does.
func (f *Facts) quantityFor(most money.Quantity) string {
	if _, other := f.worst(); other.Cmp(most) > 0 {
		return ""
	}
	return f.quantityOnSide(most)
}

// quantityOnSide is quantityFor of the order's own side alone.
func (f *Facts) quantityOnSide(most money.Quantity) string {
	own, _ := f.worst()
	excess, ok := own.Sub(most)
	if !ok || !excess.IsPositive() {
		return ""
	}
	room, ok := f.Increment.Sub(excess)
	if !ok {
		return ""
	}
	return f.totalWith(room)
}

// quantityWorth is quantityFor of what room buys at price.
func (f *Facts) quantityWorth(room money.Notional, price money.Price) string {
	dearer, ok := f.Dearer(f.Intent.Side, price)
	if !ok {
		return ""
	}
	if room, ok = room.Sub(dearer); !ok {
		return ""
	}
	most, ok := room.LargestQuantity(price, f.Instrument.Multiplier, finest())
	if !ok {
		return ""
	}
	return f.quantityFor(most)
}

// totalWith returns the order's total quantity if its increment were room, rounded
// down to the step; empty when that leaves no increment or nothing to order.
func (f *Facts) totalWith(room money.Quantity) string {
	if !room.IsPositive() {
		return ""
	}
	rest, ok := f.Intent.Quantity.Sub(f.Increment)
	if !ok {
		return ""
	}
	total, ok := rest.Add(room)
	if !ok {
		return ""
	}
	one := money.PriceFromInt(1)
	value, ok := one.Times(total, money.Down)
	if !ok {
		return ""
	}
	total, ok = value.LargestQuantity(one, money.QuantityFromInt(1), stepOf(f))
	if !ok || total.Cmp(rest) <= 0 {
		return ""
	}
	return total.String()
}

// finest is the unit of least precision of a quantity.
func finest() money.Quantity { return money.MustQuantity("0.000000001") }

// quantityPasses ends a denial's text with the quantity that would pass, if there is
// one.
func quantityPasses(quantity string) string {
	if quantity == "" {
		return "."
	}
	return "; a quantity of " + quantity + " passes."
}

// changed is the retry of a denial: with changed terms if some would pass.
func changed(passes string) Retry {
	if passes == "" {
		return RetryNo
	}
	return RetryChanged
}
