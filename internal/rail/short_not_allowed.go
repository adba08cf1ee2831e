package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func shortNotAllowedRail() Rail {
	return Rail{
		ID: ShortNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_short"},
		Exempt: ExemptNone, Check: shortNotAllowed,
	}
}

// shortNotAllowed denies a sell of more than the account holds and has not offered yet,
// without the operator's leave.
//
// It stops short sales, also those that two sells of one holding come to together: the
// position less working and reserved sells is what may be sold, all of it inclusive.
// While a replace is pending the larger of its two quantities counts, or their sum. An
// unknown position is a fault. A replace that only lowers a quantity passes.
//
// Source: Regulation SHO rule 203(b) (17 CFR 242.203).
func shortNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(ShortNotAllowed, missing)
	}
	switch {
	case f.Limits.Instrument.AllowShort, f.Intent.Side == order.Buy, f.LowersOnly:
		return pass(ShortNotAllowed)
	case !f.PositionKnown:
		return fault(ShortNotAllowed, "the position")
	case !f.WorstShort.IsPositive():
		return pass(ShortNotAllowed)
	}
	passes := ""
	if q, ok := f.Intent.Quantity.Sub(f.WorstShort); ok && q.IsPositive() {
		passes = lowerMultiple(q, stepOf(f))
	}
	text := "The sell would leave the account short by up to " + f.WorstShort.String() + "; short positions are not allowed."
	return deny(ShortNotAllowed, "short "+f.WorstShort.String(), money.Quantity{}.String(), passes, text, RetryChanged)
}
