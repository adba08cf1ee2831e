package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestPassivePriceCollar(t *testing.T) {
	// With a band of 1,000 bps round a mid of 200, 180 to 220 passes.
	at := func(limit string) func(f *Facts) {
		return func(f *Facts) {
			f.Limits.Collar.PassivePriceCollar = on(bps("1000"))
			f.PricingQuote, f.Intent.LimitPrice = quoteOf("199", "201"), prc(limit)
		}
	}
	set := func(l limits.Limit[money.BasisPoints]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Collar.PassivePriceCollar = l }
	}
	noQuote := func(f *Facts) { f.PricingQuote, f.PricingOK = market.Quote{}, false }
	run(t, PassivePriceCollar, passivePriceCollar, []check{
		{"within", at("200"), Pass},
		{"on the lower band", at("180"), Pass},
		{"one unit of least precision below", at("179.999999999"), Deny},
		{"on the upper band", at("220"), Pass},
		{"one unit of least precision above", at("220.000000001"), Deny},
		{"stop-limit", func(f *Facts) { at("1")(f); f.Intent.Type = order.StopLimit }, Pass},
		{"market order", func(f *Facts) { at("0")(f); f.Intent.Type = order.Market }, Pass},
		{"no quote", noQuote, Fault},
		{"off", set(switchedOff[money.BasisPoints]()), Off},
		{"neither value nor off", set(limits.Limit[money.BasisPoints]{}), Fault},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); at("179")(f) }, Deny},
	})
}
