package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestStopPriceSide(t *testing.T) {
	// The quote is 199.98 to 200.02.
	stop := func(side order.Side, p string) func(f *Facts) {
		return func(f *Facts) { f.Intent.Type, f.Intent.Side, f.Intent.StopPrice = order.Stop, side, prc(p) }
	}
	set := func(l limits.Limit[bool]) func(f *Facts) {
		return func(f *Facts) { stop(order.Buy, "1")(f); f.Limits.Collar.StopPriceSide = l }
	}
	run(t, StopPriceSide, stopPriceSide, []check{
		{"buy above the ask", stop(order.Buy, "200.020000001"), Pass},
		{"buy at the ask", stop(order.Buy, "200.02"), Deny},
		{"buy below the ask", stop(order.Buy, "200.019999999"), Deny},
		{"sell below the bid", stop(order.Sell, "199.979999999"), Pass},
		{"sell at the bid", stop(order.Sell, "199.98"), Deny},
		{"sell above the bid", stop(order.Sell, "199.980000001"), Deny},
		{"stop-limit", func(f *Facts) { stop(order.Buy, "200")(f); f.Intent.Type = order.StopLimit }, Deny},
		{"no stop", nil, Pass},
		{"no quote", func(f *Facts) {
			stop(order.Buy, "201")(f)
			f.PricingQuote, f.PricingOK = market.Quote{}, false
		}, Fault},
		{"off", set(switchedOff[bool]()), Off},
		{"neither value nor off", set(limits.Limit[bool]{}), Fault},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); stop(order.Sell, "199.98")(f) }, Deny},
	})
}
