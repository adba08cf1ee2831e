package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestLimitPriceCollar(t *testing.T) {
	// With a band of 100 bps and a quote of 200 to 200, buys pass to 202 and sells to 198.
	collar := func(side order.Side, limit string) func(f *Facts) {
		return func(f *Facts) {
			f.Limits.Collar.LimitPriceCollar, f.Limits.Collar.ExitPriceCollar = on(bps("100")), on(bps("200"))
			f.PricingQuote = quoteOf("200", "200")
			f.Intent.Side, f.Intent.LimitPrice = side, prc(limit)
		}
	}
	exit := func(limit string) func(f *Facts) {
		return func(f *Facts) { f.reduce("10", "10"); collar(order.Sell, limit)(f) }
	}
	stopLimit := func(side order.Side, stop, limit string) func(f *Facts) {
		return func(f *Facts) {
			collar(side, limit)(f)
			f.Intent.Type, f.Intent.StopPrice = order.StopLimit, prc(stop)
			f.PricingOK = false // it is not compared with the quote
		}
	}
	noQuote := func(f *Facts) { f.PricingQuote, f.PricingOK = market.Quote{}, false }
	run(t, LimitPriceCollar, limitPriceCollar, []check{
		{"buy within", collar(order.Buy, "201.99"), Pass},
		{"buy on the band", collar(order.Buy, "202"), Pass},
		{"buy one unit of least precision beyond", collar(order.Buy, "202.000000001"), Deny},
		{"buy far below is passive", collar(order.Buy, "1"), Pass},
		{"sell on the band", collar(order.Sell, "198"), Pass},
		{"sell one unit of least precision beyond", collar(order.Sell, "197.999999999"), Deny},
		{"sell far above is passive", collar(order.Sell, "900"), Pass},
		{"exit on its own band", exit("196"), Pass},
		{"exit one unit of least precision beyond", exit("195.999999999"), Deny},
		{"a replace that only lowers has the exit band", func(f *Facts) { collar(order.Buy, "204")(f); f.LowersOnly = true }, Pass},
		{"buy stop-limit on the band of its stop", stopLimit(order.Buy, "300", "303"), Pass},
		{"buy stop-limit beyond", stopLimit(order.Buy, "300", "303.01"), Deny},
		{"sell stop-limit on the band of its stop", stopLimit(order.Sell, "100", "99"), Pass},
		{"sell stop-limit beyond", stopLimit(order.Sell, "100", "98.99"), Deny},
		{"market order", func(f *Facts) { f.Intent.Type, f.Intent.LimitPrice = order.Market, money.Price{} }, Pass},
		{"no quote", noQuote, Fault},
		{"exit, no quote", func(f *Facts) { exit("200")(f); noQuote(f) }, Fault},
		{"off", func(f *Facts) { f.Limits.Collar.LimitPriceCollar = switchedOff[money.BasisPoints]() }, Off},
		{"exit band off", func(f *Facts) {
			f.reduce("10", "10")
			f.Limits.Collar.ExitPriceCollar = switchedOff[money.BasisPoints]()
		}, Off},
		{"neither value nor off", func(f *Facts) { f.Limits.Collar.LimitPriceCollar = limits.Limit[money.BasisPoints]{} }, Fault},
	})
}

func TestLimitPriceCollarSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.PricingQuote = quoteOf("224.00", "224.10")
	f.Intent.LimitPrice = prc("231.40")
	got := limitPriceCollar(&f)
	finds(t, got, LimitPriceCollar, Deny)
	const want = "limit_price 231.40 is above 227.46, the highest that passes (ask 224.10, band 150 bps)."
	if got.Text != want || got.Passes != "227.46" {
		t.Errorf("text %q, passes %q", got.Text, got.Passes)
	}
	f.Intent.LimitPrice = prc(got.Passes)
	finds(t, limitPriceCollar(&f), LimitPriceCollar, Pass)
}
