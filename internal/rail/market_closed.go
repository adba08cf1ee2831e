package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

func marketClosedRail() Rail {
	return Rail{
		ID: MarketClosed, Family: familySession, Keys: []string{"session.require_market_open"},
		Exempt: ExemptNone, Check: marketClosed,
	}
}

// marketClosed denies an order while the exchange's calendar says that no session is
// open.
//
// An order sent then waits for an opening whose price nobody knows. Sessions are
// half-open: at 04:00 New York the day is open, at 20:00 (17:00 after an early close)
// it is closed; the hours outside 09:30 to 16:00 need leave, which is
// extended_hours_not_allowed. Past the calendar's validity nothing is known to be open and
// only reducing orders pass. Within it they are judged like any other. Without a
// calendar it is a fault.
//
// Source: NYSE rules 7.1 and 7.34; SEC rule 15c3-5(c)(2)(i) (pre-order requirements).
func marketClosed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MarketClosed, missing)
	}
	switch {
	case !f.Limits.Session.RequireMarketOpen:
		return off(MarketClosed)
	case f.Calendar.MIC() == "":
		return fault(MarketClosed, "a calendar")
	case !f.Session.Known && f.spared():
		return pass(MarketClosed)
	case !f.Session.Known:
		return deny(MarketClosed, "unknown", "open", "",
			"The exchange's calendar does not reach this date; only reducing orders pass.", RetryNo)
	case f.Session.Kind != market.Closed:
		return pass(MarketClosed)
	}
	passes, until := "", ""
	if opens, ok := f.Calendar.NextOpen(f.Request.Now); ok {
		passes = opens.Format(time.RFC3339)
		until = "; the next regular session opens at " + passes
	}
	return deny(MarketClosed, "closed", "open", passes, "The exchange is closed"+until+".", RetryLater)
}
