package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestMarketOrderGuard(t *testing.T) {
	// A quote of 99.5 to 100.5 has a spread of 100 bps of its mid.
	guarded := func(most string, changes ...func(f *Facts)) func(f *Facts) {
		return func(f *Facts) {
			for _, change := range changes {
				change(f)
			}
			f.Intent.Type, f.Intent.LimitPrice = order.Market, money.Price{}
			f.Limits.Collar.MarketOrderSpread = on(bps(most))
			f.PricingQuote = quoteOf("99.5", "100.5")
		}
	}
	reducing := func(f *Facts) { f.reduce("10", "10") }
	evening := func(f *Facts) { f.onClock(16, 0, 0) }
	without := func(f *Facts) {
		guarded("100")(f)
		f.Limits.Collar.MarketOrderSpread = switchedOff[money.BasisPoints]()
	}
	run(t, MarketOrderGuard, marketOrderGuard, []check{
		{"below the guard", guarded("101"), Pass},
		{"at the guard", guarded("100"), Pass},
		{"one unit of least precision beyond", guarded("99.999999999"), Deny},
		{"limit order", func(f *Facts) { guarded("1")(f); f.Intent.Type = order.Limit }, Pass},
		{"outside the regular session", guarded("101", evening), Deny},
		{"reducing is spared the spread", guarded("1", reducing), Pass},
		{"reducing outside the regular session", guarded("101", reducing, evening), Deny},
		{"no quote", func(f *Facts) {
			guarded("101")(f)
			f.PricingQuote, f.PricingOK = market.Quote{}, false
		}, Fault},
		{"past the calendar", guarded("101", (*Facts).beyondCalendar), Fault},
		{"past the calendar, reducing", guarded("101", reducing, (*Facts).beyondCalendar), Pass},
		{"spread off", without, Pass},
		{"spread off, outside the regular session", func(f *Facts) { without(f); evening(f) }, Deny},
		{"neither value nor off", func(f *Facts) {
			guarded("1")(f)
			f.Limits.Collar.MarketOrderSpread = limits.Limit[money.BasisPoints]{}
		}, Fault},
	})
}
