package rail

import "github.com/broker-rails/broker-rails/internal/money"

func fractionalNotAllowedRail() Rail {
	return Rail{
		ID: FractionalNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_fractional"},
		Exempt: ExemptOwn, Check: fractionalNotAllowed,
	}
}

// fractionalNotAllowed denies a quantity that is not whole, without the operator's
// leave.
//
// It stops a sum of money that was passed as a quantity, and positions that only some
// brokers can close. An order that closes all that can be closed passes, so that a
// fraction left over by a corporate action can be sold.
//
// Source: no rule names it; brokers sell fractions as a service of their own, and exchanges
// trade whole shares.
func fractionalNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(FractionalNotAllowed, missing)
	}
	q := f.Intent.Quantity
	if f.Limits.Instrument.AllowFractional || q.IsWhole() || f.WholeClose {
		return pass(FractionalNotAllowed)
	}
	return deny(FractionalNotAllowed, q.String(), "whole units", lowerMultiple(q, money.QuantityFromInt(1)),
		"Quantity "+q.String()+" is not a whole number.", RetryChanged)
}
