package rail

import "github.com/broker-rails/broker-rails/internal/money"

func priceStepRail() Rail {
	return Rail{
		ID: PriceStep, Family: familyCollar, Keys: []string{"collar.price_step"},
		Exempt: ExemptNone, Check: priceStep,
	}
}

// priceStep denies a limit or stop price that is off its step for that price.
//
// It stops orders that the exchange would refuse or a broker would round in its own
// favour. With us_equity the step is 0.01, and 0.0001 below 1.00, on every date that
// the calendar covers. Reducing orders are judged too.
//
// Source: Regulation NMS rule 612 (17 CFR 242.612).
func priceStep(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(PriceStep, missing)
	}
	step := &f.Figures.Collar.PriceStep
	switch {
	case !step.Set:
		return unset(PriceStep, "collar.price_step")
	case !step.On:
		return off(PriceStep)
	case !step.Value.USEquity && !step.Value.Step.IsPositive():
		return fault(PriceStep, "a price step above 0")
	}
	if f.Intent.Type.HasLimit() && !f.Intent.LimitPrice.MultipleOf(priceStepAt(f, f.Intent.LimitPrice)) {
		return offStep(f, f.Intent.LimitPrice, "limit_price")
	}
	if f.Intent.Type.HasStop() && !f.Intent.StopPrice.MultipleOf(priceStepAt(f, f.Intent.StopPrice)) {
		return offStep(f, f.Intent.StopPrice, "stop_price")
	}
	return pass(PriceStep)
}

func offStep(f *Facts, p money.Price, name string) Finding {
	step := priceStepAt(f, p)
	passes := ""
	if lower, ok := money.HighestWithinBandAbove(p, money.BasisPoints{}, step); ok {
		passes = cents(lower)
	}
	return deny(PriceStep, cents(p), step.String(), passes,
		name+" "+cents(p)+" is not a multiple of "+step.String()+".", RetryChanged)
}
