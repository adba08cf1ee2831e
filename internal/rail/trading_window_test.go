package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
)

func TestTradingWindow(t *testing.T) {
	run(t, TradingWindow, tradingWindow, []check{
		{"inside", nil, Pass},
		{"before", clockAt(2026, time.March, 18, 9, 34, 59), Deny},
		{"at its first instant", clockAt(2026, time.March, 18, 9, 35, 0), Pass},
		{"its last second", clockAt(2026, time.March, 18, 15, 54, 59), Pass},
		{"a nanosecond before its end", func(f *Facts) {
			clockAt(2026, time.March, 18, 15, 55, 0)(f)
			f.Request.Now = f.Request.Now.Add(-1)
		}, Pass},
		{"at its end", clockAt(2026, time.March, 18, 15, 55, 0), Deny},
		{"in winter time", clockAt(2026, time.January, 14, 9, 35, 0), Pass},
		{"before, in winter time", clockAt(2026, time.January, 14, 9, 34, 59), Deny},
		{"holds nothing", func(f *Facts) {
			f.Limits.Session.TradingWindow = on(limits.TimeWindow{From: 11 * time.Hour, To: 11 * time.Hour})
		}, Deny},
		{"no date", func(f *Facts) { f.Request.Now = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) }, Fault},
		{"reducing", func(f *Facts) { clockAt(2026, time.March, 18, 9, 0, 0)(f); f.reduce("10", "10") }, Pass},
		{"replace that only lowers", func(f *Facts) { clockAt(2026, time.March, 18, 9, 0, 0)(f); f.lowers() }, Pass},
		{"off", func(f *Facts) {
			clockAt(2026, time.March, 18, 9, 0, 0)(f)
			f.Limits.Session.TradingWindow = switchedOff[limits.TimeWindow]()
		}, Off},
	})
}

func TestTradingWindowTellsTheHours(t *testing.T) {
	f := baseFacts()
	clockAt(2026, time.March, 18, 9, 34, 59)(&f)
	got := tradingWindow(&f)
	if got.Observed != "09:34:59" || got.Limit != "09:35-15:55" || got.Retry != RetryLater {
		t.Errorf("got %+v", got)
	}
}
