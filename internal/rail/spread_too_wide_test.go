package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestSpreadTooWide(t *testing.T) {
	// A quote of 99.5 to 100.5 has a spread of 100 bps of its mid.
	most := func(l limits.Limit[money.BasisPoints]) func(f *Facts) {
		return func(f *Facts) {
			f.Limits.Collar.MaxSpread = l
			f.PricingQuote = quoteOf("99.5", "100.5")
		}
	}
	run(t, SpreadTooWide, spreadTooWide, []check{
		{"below", most(on(bps("101"))), Pass},
		{"at", most(on(bps("100"))), Pass},
		{"one unit of least precision beyond", most(on(bps("99.999999999"))), Deny},
		{"a maximum of zero passes a locked market", func(f *Facts) {
			most(on(bps("0")))(f)
			f.PricingQuote = quoteOf("100", "100")
		}, Pass},
		{"no quote", func(f *Facts) { f.PricingQuote, f.PricingOK = market.Quote{}, false }, Fault},
		{"off", most(switchedOff[money.BasisPoints]()), Off},
		{"neither value nor off", most(limits.Limit[money.BasisPoints]{}), Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); most(on(bps("1")))(f) }, Pass},
	})
}
