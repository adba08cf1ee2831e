package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func maxNetExposureRail() Rail {
	return Rail{
		ID: MaxNetExposure, Family: familyPosition, Keys: []string{"position.max_net_exposure"},
		Exempt: ExemptAll, Check: maxNetExposure,
	}
}

// maxNetExposure denies an order with which the account could lean further to one side
// of the market than the limit.
//
// Worst long values are summed over all instruments, shorts taken off, and worst short
// values likewise; the larger sum is compared. Prices are those of max_gross_exposure.
// At the limit passes; one unit of least precision more is denied. An instrument
// without a price is a fault. Reducing orders pass.
//
// Source: RTS 6 art. 15(4) and 17 (overall strategy positions).
func maxNetExposure(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxNetExposure, missing)
	}
	limit := f.Figures.Position.MaxNetExposure
	net := money.MaxNotional(f.NetLong, f.NetShort)
	switch {
	case !limit.Set:
		return unset(MaxNetExposure, "position.max_net_exposure")
	case !limit.On:
		return off(MaxNetExposure)
	case f.spared():
		return pass(MaxNetExposure)
	case !f.NetOK:
		return fault(MaxNetExposure, "a price for each instrument held or ordered")
	case net.Cmp(limit.Value) <= 0:
		return pass(MaxNetExposure)
	}
	side := " long"
	if f.NetShort.Cmp(f.NetLong) > 0 {
		side = " short"
	}
	observed, most, passes := net.String(), limit.Value.String(), f.quantityInNet(limit.Value)
	return deny(MaxNetExposure, observed, most, passes,
		"Net exposure could come to "+observed+side+", above "+most+quantityPasses(passes), changed(passes))
}

// quantityInNet is the total quantity with which the order's side of net exposure
// stays within limit; empty when the other side is over it, which no quantity mends.
func (f *Facts) quantityInNet(limit money.Notional) string {
	net, other := f.NetLong, f.NetShort
	if f.Intent.Side == order.Sell {
		net, other = other, net
	}
	worst, _ := f.worst()
	value, ok := f.valuation().TimesMultiplied(worst, f.Instrument.Multiplier, money.Up)
	if !ok || other.Cmp(limit) > 0 {
		return ""
	}
	others, ok := net.Sub(value)
	if !ok {
		return ""
	}
	room, ok := limit.Sub(others)
	if !ok {
		return ""
	}
	most, ok := room.LargestQuantity(f.valuation(), f.Instrument.Multiplier, finest())
	if !ok {
		return ""
	}
	return f.quantityOnSide(most)
}
