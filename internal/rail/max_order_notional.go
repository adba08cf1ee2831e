package rail

func maxOrderNotionalRail() Rail {
	return Rail{
		ID: MaxOrderNotional, Family: familySize, Keys: []string{"size.max_order_notional"},
		Exempt: ExemptOwn, Check: maxOrderNotional,
	}
}

// maxOrderNotional denies an order worth more than the limit: quantity x multiplier x
// risk price, rounded up.
//
// It stops the order that is right in units and wrong in money. A notional at the limit
// passes. A replace is judged by its new total. Without a risk price it is a fault. A
// reducing order of no more than one quantity step (one unit with the step off) passes,
// so that no position is too dear to close.
//
// Source: 15c3-5(c)(1)(ii); RTS 6 art. 15(1)(b).
func maxOrderNotional(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOrderNotional, missing)
	}
	limit := f.Figures.Size.MaxOrderNotional
	switch {
	case !limit.Set:
		return unset(MaxOrderNotional, "size.max_order_notional")
	case !limit.On:
		return off(MaxOrderNotional)
	case f.Reducing && f.Intent.Quantity.Cmp(stepOf(f)) <= 0:
		return pass(MaxOrderNotional)
	case !f.NotionalOK:
		return fault(MaxOrderNotional, "a price for the order")
	case f.Notional.Cmp(limit.Value) <= 0:
		return pass(MaxOrderNotional)
	}
	passes := ""
	if q, ok := limit.Value.LargestQuantity(f.RiskPrice, f.Instrument.Multiplier, stepOf(f)); ok && q.IsPositive() {
		passes = q.String()
	}
	return deny(MaxOrderNotional, f.Notional.String(), limit.Value.String(), passes,
		"Notional "+f.Notional.String()+" is above "+limit.Value.String()+", the most in one order (quantity "+
			f.Intent.Quantity.String()+", risk price "+cents(f.RiskPrice)+").", RetryChanged)
}
