package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestTimeInForceNotAllowed(t *testing.T) {
	until := func(d time.Duration) func(f *Facts) {
		return func(f *Facts) { f.Intent.TimeInForce, f.Intent.ExpireAt = order.GTD, at.Add(d) }
	}
	run(t, TimeInForceNotAllowed, timeInForceNotAllowed, []check{
		{"listed", nil, Pass},
		{"not listed", func(f *Facts) { f.Limits.Instrument.TimesInForce = []order.TimeInForce{order.GTC} }, Deny},
		{"none", func(f *Facts) { f.Intent.TimeInForce = order.TimeInForceNone }, Deny},
		{"an empty list allows nothing", func(f *Facts) { f.Limits.Instrument.TimesInForce = nil }, Deny},
		{"expiry one nanosecond ahead", until(time.Nanosecond), Pass},
		{"expiry now has expired", until(0), Deny},
		{"expiry in the past", until(-time.Hour), Deny},
		{"gtd without an expiry", func(f *Facts) { f.Intent.TimeInForce = order.GTD }, Deny},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); until(0)(f) }, Deny},
	})
}
