package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxPositionQtyRail() Rail {
	return Rail{
		ID: MaxPositionQty, Family: familyPosition, Keys: []string{"position.max_position_qty"},
		Exempt: ExemptAll, Check: maxPositionQty,
	}
}

// maxPositionQty denies an order with which the position in the instrument could come
// to more than the limit, long or short.
//
// It bounds what many small orders add up to, before any of them fills: the worst
// long is the position plus all working and reserved buys plus this order, the worst
// short likewise, and opposite orders are not netted. At the limit passes; one unit
// of least precision more is denied. An unknown position is a fault. Reducing orders
// pass.
//
// Source: RTS 6 art. 17 (maximum long and short positions); FIA 2024 maximum
// intraday position.
func maxPositionQty(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxPositionQty, missing)
	}
	limit := f.Figures.Position.MaxPositionQuantity
	worst := money.MaxQuantity(f.WorstLong, f.WorstShort)
	switch {
	case !limit.Set:
		return unset(MaxPositionQty, "position.max_position_qty")
	case !limit.On:
		return off(MaxPositionQty)
	case f.spared():
		return pass(MaxPositionQty)
	case !f.PositionKnown:
		return fault(MaxPositionQty, "the position")
	case worst.Cmp(limit.Value) <= 0:
		return pass(MaxPositionQty)
	}
	side := " long"
	if f.WorstShort.Cmp(f.WorstLong) > 0 {
		side = " short"
	}
	observed, most, passes := worst.String(), limit.Value.String(), f.quantityFor(limit.Value)
	return deny(MaxPositionQty, observed, most, passes,
		"With all open orders the position could come to "+observed+side+", above "+most+quantityPasses(passes),
		changed(passes))
}
