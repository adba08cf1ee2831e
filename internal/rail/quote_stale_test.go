package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
)

func TestQuoteStale(t *testing.T) {
	aged := func(d time.Duration) func(f *Facts) {
		return func(f *Facts) { f.Quote.At = at.Add(-d) }
	}
	set := func(l limits.Limit[time.Duration]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Collar.MaxQuoteAge = l }
	}
	run(t, QuoteStale, quoteStale, []check{
		{"fresh", aged(0), Pass},
		{"at the maximum", aged(5 * time.Second), Pass},
		{"one nanosecond older", aged(5*time.Second + 1), Deny},
		{"one second ahead", aged(-time.Second), Pass},
		{"one nanosecond further ahead", aged(-time.Second - 1), Deny},
		{"no quote", func(f *Facts) { f.Quote = market.Quote{} }, Fault},
		{"no time", func(f *Facts) { f.Quote.At = time.Time{} }, Fault},
		{"off", func(f *Facts) { aged(time.Hour)(f); set(switchedOff[time.Duration]())(f) }, Off},
		{"neither value nor off", set(limits.Limit[time.Duration]{}), Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.Quote = market.Quote{} }, Pass},
	})
}
