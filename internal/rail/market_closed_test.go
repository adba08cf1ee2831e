package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

// clockAt moves now, and the session with it.
func clockAt(year int, month time.Month, day, hour, minute, second int) func(f *Facts) {
	return func(f *Facts) {
		date, _ := market.NewTradeDate(year, month, day)
		since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
		f.Request.Now = market.FromNewYork(date, since)
		f.Session = market.Session(f.Request.Now, f.Calendar)
	}
}

func TestMarketClosed(t *testing.T) {
	exit := func(set func(f *Facts)) func(f *Facts) {
		return func(f *Facts) { set(f); f.reduce("10", "10") }
	}
	run(t, MarketClosed, marketClosed, []check{
		{"regular session", nil, Pass},
		{"before 04:00", clockAt(2026, time.March, 18, 3, 59, 59), Deny},
		{"04:00", clockAt(2026, time.March, 18, 4, 0, 0), Pass},
		{"after hours", clockAt(2026, time.March, 18, 19, 59, 59), Pass},
		{"20:00", clockAt(2026, time.March, 18, 20, 0, 0), Deny},
		{"Saturday", clockAt(2026, time.March, 21, 11, 0, 0), Deny},
		{"holiday", clockAt(2026, time.December, 25, 11, 0, 0), Deny},
		{"early close, before 17:00", clockAt(2026, time.November, 27, 16, 59, 59), Pass},
		{"early close, 17:00", clockAt(2026, time.November, 27, 17, 0, 0), Deny},
		{"past the calendar", clockAt(2028, time.March, 15, 11, 0, 0), Deny},
		{"reducing while closed", exit(clockAt(2026, time.March, 21, 11, 0, 0)), Deny},
		{"reducing past the calendar", exit(clockAt(2028, time.March, 15, 11, 0, 0)), Pass},
		{"no calendar", func(f *Facts) {
			f.Calendar = market.Calendar{}
			clockAt(2026, time.March, 18, 11, 0, 0)(f)
		}, Fault},
		{"reducing without a calendar", func(f *Facts) {
			f.reduce("10", "10")
			f.Calendar = market.Calendar{}
		}, Fault},
		{"not required", func(f *Facts) {
			clockAt(2026, time.March, 21, 11, 0, 0)(f)
			f.Limits.Session.RequireMarketOpen = false
		}, Off},
	})
}

func TestMarketClosedTellsTheNextOpening(t *testing.T) {
	f := baseFacts()
	clockAt(2026, time.March, 21, 11, 0, 0)(&f)
	passing(t, "Saturday", marketClosed(&f), "2026-03-23T13:30:00Z", RetryLater)
	clockAt(2028, time.March, 15, 11, 0, 0)(&f)
	passing(t, "past the calendar", marketClosed(&f), "", RetryNo)
}
