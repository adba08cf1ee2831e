package rail

import "github.com/broker-rails/broker-rails/internal/order"

func insufficientBuyingPowerRail() Rail {
	return Rail{
		ID: InsufficientBuyingPower, Family: familyPosition, Keys: []string{"position.require_buying_power"},
		Exempt: ExemptAll, Check: insufficientBuyingPower,
	}
}

// insufficientBuyingPower denies an order that could take more cash than is free.
//
// Cost, with fees, is compared with the smaller of the broker's own figure less what
// was reserved after it was read, and ledger cash less the cost of all working and
// reserved orders and less short positions at ask. Proceeds of unfilled sells never
// count, and an opening short costs its exposure. All that is free passes; one unit of
// least precision more is denied. A cost or a free amount that cannot be worked out, or
// a broker that gives no figure, is a fault: a balance that is missing is not unlimited.
// Reducing orders pass.
//
// Source: SEC rule 15c3-5(c)(1)(i) (credit and capital thresholds).
func insufficientBuyingPower(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(InsufficientBuyingPower, missing)
	}
	switch {
	case !f.Limits.Position.RequireBuyingPower:
		return off(InsufficientBuyingPower)
	case f.spared():
		return pass(InsufficientBuyingPower)
	case !f.CostOK:
		return fault(InsufficientBuyingPower, "the order's cost")
	case !f.Request.Broker.Present:
		return fault(InsufficientBuyingPower, "the broker's own figure")
	case !f.BuyingPowerOK:
		return fault(InsufficientBuyingPower, "the cash that is free")
	case f.Cost.Cmp(f.BuyingPower) <= 0:
		return pass(InsufficientBuyingPower)
	}
	observed, free, passes := f.Cost.String(), f.BuyingPower.String(), f.affordable()
	return deny(InsufficientBuyingPower, observed, free, passes,
		"The order could cost "+observed+", above "+free+", the cash that is free"+quantityPasses(passes),
		changed(passes))
}

// affordable is the total quantity of a buy whose cost is free. For a short it is
// empty: what it costs depends on how much of it closes a position.
func (f *Facts) affordable() string {
	if f.Intent.Side != order.Buy || !f.RiskPriceOK {
		return ""
	}
	room, ok := f.BuyingPower.Sub(f.Request.Fees)
	if !ok {
		return ""
	}
	quantity, ok := room.LargestQuantity(f.RiskPrice, f.Instrument.Multiplier, finest())
	if !ok || quantity.Cmp(f.Increment) >= 0 {
		return ""
	}
	return f.totalWith(quantity)
}
