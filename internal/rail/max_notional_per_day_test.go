package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxNotionalPerDay(t *testing.T) {
	run(t, MaxNotionalPerDay, maxNotionalPerDay, []check{
		{"below", func(f *Facts) { f.State.Day.Notional = ntl("497999") }, Pass},
		{"at", func(f *Facts) { f.State.Day.Notional = ntl("498000") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.State.Day.Notional = ntl("498000.000000001") }, Deny},
		{"a replace by its increment", func(f *Facts) {
			f.State.Day.Notional, f.Notional = ntl("498000"), ntl("90000")
		}, Pass},
		{"yesterday's does not count", func(f *Facts) {
			f.State.Day = account.Day{Date: 20260317, Notional: ntl("500000")}
		}, Pass},
		{"no notional", func(f *Facts) { f.NotionalOK = false }, Fault},
		{"no trade date", func(f *Facts) { f.Session = market.SessionInfo{} }, Fault},
		{"out of range", func(f *Facts) {
			f.State.Day.Notional = ntl("99999999999999999999.999999999")
		}, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.State.Day.Notional = ntl("500000") }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.State.Day.Notional = ntl("500001") }, Pass},
		{"off", func(f *Facts) {
			f.State.Day.Notional = ntl("500000")
			f.Limits.Session.MaxNotionalPerDay = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxNotionalPerDaySaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.State.Day.Notional = ntl("499000")
	passing(t, "5 of 10 fit", maxNotionalPerDay(&f), "5", RetryChanged)
	f.State.Day.Notional = ntl("500000")
	passing(t, "none fits", maxNotionalPerDay(&f), "", RetryLater)
}
