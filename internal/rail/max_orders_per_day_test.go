package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestMaxOrdersPerDay(t *testing.T) {
	run(t, MaxOrdersPerDay, maxOrdersPerDay, []check{
		{"below", func(f *Facts) { f.State.Day.Orders = 198 }, Pass},
		{"at", func(f *Facts) { f.State.Day.Orders = 199 }, Pass},
		{"one more", func(f *Facts) { f.State.Day.Orders = 200 }, Deny},
		{"reducing orders count", func(f *Facts) { f.State.Day.Orders, f.State.Day.ExitOrders = 190, 10 }, Deny},
		{"yesterday's do not", func(f *Facts) { f.State.Day = account.Day{Date: 20260317, Orders: 200} }, Pass},
		{"the date never goes back", func(f *Facts) { f.State.Day = account.Day{Date: 20260319, Orders: 200} }, Deny},
		{"after midnight in UTC it is the same date", func(f *Facts) {
			f.Request.Now = time.Date(2026, time.March, 19, 0, 30, 0, 0, time.UTC)
			f.Session = market.Session(f.Request.Now, calendar)
			f.State.Day.Orders = 200
		}, Deny},
		{"zero allows nothing", func(f *Facts) { f.Limits.Session.MaxOrdersPerDay = on(0) }, Deny},
		{"no trade date", func(f *Facts) { f.Session = market.SessionInfo{} }, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.State.Day.Orders = 200 }, Pass},
		{"a replace is no new order", func(f *Facts) {
			f.Intent.Action = order.ActionReplace
			f.State.Day.Orders = 200
		}, Pass},
		{"off", func(f *Facts) {
			f.State.Day.Orders = 200
			f.Limits.Session.MaxOrdersPerDay = switchedOff[int]()
		}, Off},
	})
}
