package rail

func maxOrderQtyRail() Rail {
	return Rail{
		ID: MaxOrderQty, Family: familySize, Keys: []string{"size.max_order_qty"},
		Exempt: ExemptNone, Check: maxOrderQty,
	}
}

// maxOrderQty denies an order of more units than the limit.
//
// It stops the slipped digit and the sum of money passed as a quantity. A quantity at
// the limit passes. A replace is judged by its new total. Reducing orders are judged
// too: a large position is closed in parts.
//
// Source: 15c3-5(c)(1)(ii); RTS 6 art. 15(1)(c).
func maxOrderQty(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOrderQty, missing)
	}
	limit := f.Figures.Size.MaxOrderQuantity
	switch {
	case !limit.Set:
		return unset(MaxOrderQty, "size.max_order_qty")
	case !limit.On:
		return off(MaxOrderQty)
	case f.Intent.Quantity.Cmp(limit.Value) <= 0:
		return pass(MaxOrderQty)
	}
	q := f.Intent.Quantity.String()
	return deny(MaxOrderQty, q, limit.Value.String(), lowerMultiple(limit.Value, stepOf(f)),
		"Quantity "+q+" is above "+limit.Value.String()+", the most in one order.", RetryChanged)
}
