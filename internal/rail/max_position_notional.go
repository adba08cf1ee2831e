package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func maxPositionNotionalRail() Rail {
	return Rail{
		ID: MaxPositionNotional, Family: familyPosition, Keys: []string{"position.max_position_notional"},
		Exempt: ExemptAll, Check: maxPositionNotional,
	}
}

// maxPositionNotional denies an order with which the position in the instrument could
// come to be worth more than the limit, in currency, long or short.
//
// It bounds an instrument by value where a count of units says little. The worst side
// x multiplier x the order's risk price, rounded up, is compared; open orders of that side
// with a dearer risk price count by their own. At the limit passes, one unit of least
// precision more is denied. Without the position or a risk price it is a fault. Reducing
// orders pass.
//
// Source: SEC rule 15c3-5(c)(1)(i), finer thresholds per security; RTS 6 art. 15(4).
func maxPositionNotional(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxPositionNotional, missing)
	}
	limit := f.Figures.Position.MaxPositionNotional
	switch {
	case !limit.Set:
		return unset(MaxPositionNotional, "position.max_position_notional")
	case !limit.On:
		return off(MaxPositionNotional)
	case f.spared():
		return pass(MaxPositionNotional)
	case !f.PositionKnown:
		return fault(MaxPositionNotional, "the position")
	case !f.RiskPriceOK:
		return fault(MaxPositionNotional, "a risk price")
	case !f.Instrument.Multiplier.IsPositive():
		return fault(MaxPositionNotional, "the instrument's multiplier")
	}
	long, ok1 := f.WorthAt(f.RiskPrice, order.Buy)
	short, ok2 := f.WorthAt(f.RiskPrice, order.Sell)
	value, ok := money.MaxNotional(long, short), ok1 && ok2
	switch {
	case !ok:
		return fault(MaxPositionNotional, inRange)
	case value.Cmp(limit.Value) <= 0:
		return pass(MaxPositionNotional)
	}
	observed, most := value.String(), limit.Value.String()
	passes := f.quantityWorth(limit.Value, f.RiskPrice)
	return deny(MaxPositionNotional, observed, most, passes,
		"With all open orders the position could be worth "+observed+" at "+f.RiskPrice.String()+", above "+most+
			quantityPasses(passes), changed(passes))
}
