package rail

func minOrderNotionalRail() Rail {
	return Rail{
		ID: MinOrderNotional, Family: familySize, Keys: []string{"size.min_order_notional"},
		Exempt: ExemptOwn, Check: minOrderNotional,
	}
}

// minOrderNotional denies an order worth less than the limit, at its risk price.
//
// It stops loops of orders too small to matter, each of which costs a message and a
// fee. A notional at the limit passes. Without a risk price it is a fault. An order
// that closes all that can be closed passes.
//
// Source: exchange minimum order value rules.
func minOrderNotional(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MinOrderNotional, missing)
	}
	limit := f.Figures.Size.MinOrderNotional
	switch {
	case !limit.Set:
		return unset(MinOrderNotional, "size.min_order_notional")
	case !limit.On:
		return off(MinOrderNotional)
	case f.WholeClose:
		return pass(MinOrderNotional)
	case !f.NotionalOK:
		return fault(MinOrderNotional, "a price for the order")
	case f.Notional.Cmp(limit.Value) >= 0:
		return pass(MinOrderNotional)
	}
	return deny(MinOrderNotional, f.Notional.String(), limit.Value.String(), limit.Value.String(),
		"Notional "+f.Notional.String()+" is below "+limit.Value.String()+", the least in one order.", RetryChanged)
}
