package rail

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/order"
)

func timeInForceNotAllowedRail() Rail {
	return Rail{
		ID: TimeInForceNotAllowed, Family: familyInstrument, Keys: []string{"instrument.times_in_force"},
		Exempt: ExemptNone, Check: timeInForceNotAllowed,
	}
}

// timeInForceNotAllowed denies a time in force that the operator did not list, and an
// order good till a date that is not in the future.
//
// It stops orders that outlive the attention of whoever placed them. An order whose
// expiry is now has expired. An empty list allows nothing. Reducing orders are judged
// too.
//
// Source: CME GC2 counts resting orders of earlier days; FIX tags 59 and 126.
func timeInForceNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(TimeInForceNotAllowed, missing)
	}
	tif := f.Intent.TimeInForce
	if tif == 0 || !slices.Contains(f.Limits.Instrument.TimesInForce, tif) {
		limit := wordList(f.Limits.Instrument.TimesInForce)
		return deny(TimeInForceNotAllowed, orNone(tif.String()), limit, limit,
			"Time in force "+orNone(tif.String())+" is not among those allowed ("+limit+").", RetryChanged)
	}
	if tif == order.GTD && !f.Intent.ExpireAt.After(f.Request.Now) {
		return deny(TimeInForceNotAllowed, "expired", "an expiry in the future", "",
			"A gtd order needs an expiry that is later than now.", RetryChanged)
	}
	return pass(TimeInForceNotAllowed)
}
