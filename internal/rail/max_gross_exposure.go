package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxGrossExposureRail() Rail {
	return Rail{
		ID: MaxGrossExposure, Family: familyPosition, Keys: []string{"position.max_gross_exposure"},
		Exempt: ExemptAll, Check: maxGrossExposure,
	}
}

// maxGrossExposure denies an order with which the account's exposure, longs and shorts
// both counted as positive, could come to more than the limit.
//
// It bounds the whole account: the sum over all instruments of the larger of worst long
// and worst short x price. The order's own instrument is valued at the higher of its
// risk price and the ask, others at their ask, and open orders by their own risk price
// where that is dearer. At the limit passes; one unit of least precision more is denied.
// An instrument without a price is a fault. Reducing orders pass.
//
// Source: SEC rule 15c3-5(c)(1)(i); NYSE rule 7.19 gross credit risk limit.
func maxGrossExposure(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxGrossExposure, missing)
	}
	limit := f.Figures.Position.MaxGrossExposure
	switch {
	case !limit.Set:
		return unset(MaxGrossExposure, "position.max_gross_exposure")
	case !limit.On:
		return off(MaxGrossExposure)
	case f.spared():
		return pass(MaxGrossExposure)
	case !f.GrossOK:
		return fault(MaxGrossExposure, "a price for each instrument held or ordered")
	case f.Gross.Cmp(limit.Value) <= 0:
		return pass(MaxGrossExposure)
	}
	observed, most, passes := f.Gross.String(), limit.Value.String(), f.quantityInGross(limit.Value)
	return deny(MaxGrossExposure, observed, most, passes,
		"Gross exposure could come to "+observed+", above "+most+quantityPasses(passes), changed(passes))
}

// quantityInGross is the total quantity with which gross exposure stays within limit.
func (f *Facts) quantityInGross(limit money.Notional) string {
	others, ok := f.Gross.Sub(f.Own)
	if !ok || !f.OwnOK {
		return ""
	}
	room, ok := limit.Sub(others)
	if !ok {
		return ""
	}
	return f.quantityWorth(room, f.valuation())
}
