package rail

import (
	"math"
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

// TestAgesAreWrittenInWholeMilliseconds: an age is compared to the nanosecond and told
// in whole milliseconds, never as the bound that it is over.
func TestAgesAreWrittenInWholeMilliseconds(t *testing.T) {
	for _, c := range []struct {
		age            time.Duration
		observed, text string
	}{
		{5*time.Second + 1, "5.001s", "The quote is 5.001s old; the most is 5s."},
		{7*time.Second + 11_702_117, "7.012s", "The quote is 7.012s old; the most is 5s."},
		{-time.Second - 1, "-1.001s", "The quote's time lies 1.001s in the future."},
	} {
		l := folded(t)
		f := l.facts()
		f.Quote.At = at.Add(-c.age)
		if got := quoteStale(&f); got.Status != Deny || got.Observed != c.observed || got.Text != c.text {
			t.Errorf("%d: %v %q %q", c.age, got.Status, got.Observed, got.Text)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", time.Millisecond: "1ms", 1: "1ms", -1: "-1ms",
		math.MaxInt64: "2562047h47m16.854s", math.MinInt64: "-2562047h47m16.854s",
	} {
		if got := beyond(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
