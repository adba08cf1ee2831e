package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

func tradingWindowRail() Rail {
	return Rail{
		ID: TradingWindow, Family: familySession, Keys: []string{"session.trading_window"},
		Exempt: ExemptAll, Check: tradingWindow,
	}
}

// tradingWindow denies an order outside the operator's hours.
//
// It keeps an agent out of the minutes round the open and the close, or out of hours
// when nobody watches. The window is [from, to) on the exchange's clock, through its
// changes of daylight time: from passes, to is denied. It narrows the sessions and
// never opens one: see market_closed. A window that ends where it begins, or before,
// holds nothing. Reducing orders pass.
//
// Source: CME GC2 (trading outside set hours is blocked until enabled).
func tradingWindow(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(TradingWindow, missing)
	}
	limit := f.Limits.Session.TradingWindow
	switch {
	case !limit.Set:
		return unset(TradingWindow, "session.trading_window")
	case !limit.On:
		return off(TradingWindow)
	case f.spared():
		return pass(TradingWindow)
	}
	local := market.NewYork(f.Request.Now)
	switch {
	case local.Date.IsZero():
		return fault(TradingWindow, "the exchange's date")
	case local.SinceMidnight >= limit.Value.From && local.SinceMidnight < limit.Value.To:
		return pass(TradingWindow)
	}
	observed := clockText(local.SinceMidnight)
	window := clockText(limit.Value.From) + "-" + clockText(limit.Value.To)
	return deny(TradingWindow, observed, window, window,
		"It is "+observed+" at the exchange, outside the trading window "+window+".", RetryLater)
}

// clockText writes a time of day as 09:35, with seconds where there are any.
func clockText(d time.Duration) string {
	text := time.Time{}.Add(d).Format("15:04:05")
	if d%time.Minute == 0 {
		return text[:len("15:04")]
	}
	return text
}
