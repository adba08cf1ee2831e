package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// onClock moves the facts to a time of day in New York on the base date.
func (f *Facts) onClock(hour, minute int, nanos time.Duration) {
	day := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	f.Request.Now = market.FromNewYork(20260318, 0).Add(day + nanos)
	f.Session = market.Session(f.Request.Now, calendar)
}

// beyondCalendar moves the facts past the calendar's validity.
func (f *Facts) beyondCalendar() {
	f.Request.Now = time.Date(2031, time.March, 18, 15, 0, 0, 0, time.UTC)
	f.Session = market.Session(f.Request.Now, calendar)
}

func TestExtendedHoursNotAllowed(t *testing.T) {
	leave := func(f *Facts) { f.Limits.Instrument.AllowExtendedHours = true; f.Intent.ExtendedHours = true }
	early := func(changes ...func(f *Facts)) func(f *Facts) {
		return func(f *Facts) {
			f.onClock(9, 29, 0)
			for _, change := range changes {
				change(f)
			}
		}
	}
	run(t, ExtendedHoursNotAllowed, extendedHoursNotAllowed, []check{
		{"regular session", nil, Pass},
		{"its first instant", func(f *Facts) { f.onClock(9, 30, 0) }, Pass},
		{"one nanosecond before", func(f *Facts) { f.onClock(9, 30, -1) }, Deny},
		{"its last nanosecond", func(f *Facts) { f.onClock(16, 0, -1) }, Pass},
		{"16:00 exactly is over", func(f *Facts) { f.onClock(16, 0, 0) }, Deny},
		{"no leave", early(func(f *Facts) { f.Intent.ExtendedHours = true }), Deny},
		{"leave, no flag", early(func(f *Facts) { f.Limits.Instrument.AllowExtendedHours = true }), Deny},
		{"leave and flag", early(leave), Pass},
		{"gtc", early(leave, func(f *Facts) { f.Intent.TimeInForce = order.GTC }), Pass},
		{"ioc", early(leave, func(f *Facts) { f.Intent.TimeInForce = order.IOC }), Deny},
		{"gtd", early(leave, func(f *Facts) { f.Intent.TimeInForce = order.GTD }), Deny},
		{"market order", early(leave, func(f *Facts) { f.Intent.Type = order.Market }), Deny},
		{"stop-limit order", early(leave, func(f *Facts) { f.Intent.Type = order.StopLimit }), Deny},
		{"flag in the regular session", func(f *Facts) { f.Intent.ExtendedHours = true }, Deny},
		{"flag in the regular session, with leave", func(f *Facts) {
			f.Intent.ExtendedHours, f.Limits.Instrument.AllowExtendedHours = true, true
		}, Pass},
		{"flag in the regular session, replace that only lowers", func(f *Facts) { f.Intent.ExtendedHours, f.LowersOnly = true, true }, Pass},
		{"past the calendar", func(f *Facts) { f.beyondCalendar() }, Fault},
		{"past the calendar, reducing", func(f *Facts) { f.reduce("10", "10"); f.beyondCalendar() }, Pass},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); f.onClock(17, 0, 0) }, Deny},
	})
}
