package rail

import (
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

func extendedHoursNotAllowedRail() Rail {
	return Rail{
		ID: ExtendedHoursNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_extended_hours"},
		Exempt: ExemptNone, Check: extendedHoursNotAllowed,
	}
}

// extendedHoursNotAllowed denies an order outside the regular session unless the
// operator gave leave, the order asks for it with extended_hours, and it is a limit
// order, day or gtc.
//
// It keeps orders out of thin markets by accident. Without leave extended_hours is denied
// in the regular session too: the order would still work after it. The regular session
// holds its first instant and not its last. Whether any session is open is
// market_closed's question. Past the calendar's validity the session is not known: a
// fault, but reducing orders pass. Otherwise reducing orders are judged too.
//
// Source: FINRA Rule 2265 (risks of extended hours trading).
func extendedHoursNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(ExtendedHoursNotAllowed, missing)
	}
	in := f.Intent
	switch {
	case !f.Session.Known && f.spared():
		return pass(ExtendedHoursNotAllowed)
	case !f.Session.Known:
		return fault(ExtendedHoursNotAllowed, "a calendar that covers today")
	case f.Session.Kind == market.Regular && in.ExtendedHours && !f.Limits.Instrument.AllowExtendedHours && !f.LowersOnly:
		return deny(ExtendedHoursNotAllowed, "extended_hours set", "allow_extended_hours: false", "extended_hours: false",
			"With extended_hours the order would also work outside the regular session, which is not allowed.", RetryChanged)
	case f.Session.Kind == market.Regular:
		return pass(ExtendedHoursNotAllowed)
	case !f.Limits.Instrument.AllowExtendedHours:
		return outsideHours("allow_extended_hours: false", "Orders outside the regular session are not allowed.", RetryLater)
	case !in.ExtendedHours:
		return outsideHours("extended_hours set", "An order outside the regular session must set extended_hours.", RetryChanged)
	case in.Type != order.Limit:
		return outsideHours("limit orders", "Outside the regular session only limit orders are allowed.", RetryChanged)
	case in.TimeInForce != order.Day && in.TimeInForce != order.GTC:
		return outsideHours("day, gtc", "Outside the regular session only day and gtc orders are allowed.", RetryChanged)
	}
	return pass(ExtendedHoursNotAllowed)
}

func outsideHours(limit, text string, r Retry) Finding {
	return deny(ExtendedHoursNotAllowed, "outside the regular session", limit, "", text, r)
}
