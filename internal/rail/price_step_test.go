package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestPriceStep(t *testing.T) {
	limit := func(p string) func(f *Facts) { return func(f *Facts) { f.Intent.LimitPrice = prc(p) } }
	stop := func(p string) func(f *Facts) {
		return func(f *Facts) { f.Intent.Type, f.Intent.StopPrice = order.StopLimit, prc(p) }
	}
	set := func(l limits.Limit[limits.PriceStep]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Collar.PriceStep = l }
	}
	nickel := on(limits.PriceStep{Step: prc("0.05")})
	run(t, PriceStep, priceStep, []check{
		{"a cent", limit("200.01"), Pass},
		{"a tenth of a cent", limit("200.001"), Deny},
		{"one unit of least precision off", limit("200.000000001"), Deny},
		{"1.00 has the cent", limit("1"), Pass},
		{"1.0001 is off the cent", limit("1.0001"), Deny},
		{"below 1.00 a hundredth of a cent", limit("0.9999"), Pass},
		{"below 1.00 less than that", limit("0.99995"), Deny},
		{"stop on its step", stop("201.01"), Pass},
		{"stop off its step", stop("201.005"), Deny},
		{"a stop that the type does not carry", func(f *Facts) { f.Intent.StopPrice = prc("0.00001") }, Pass},
		{"market order", func(f *Facts) { limit("200.001")(f); f.Intent.Type = order.Market }, Pass},
		{"own step, on it", func(f *Facts) { limit("200.05")(f); set(nickel)(f) }, Pass},
		{"own step, off it", func(f *Facts) { limit("200.01")(f); set(nickel)(f) }, Deny},
		{"a step of zero", set(on(limits.PriceStep{})), Fault},
		{"off", func(f *Facts) { limit("200.001")(f); set(switchedOff[limits.PriceStep]())(f) }, Off},
		{"neither value nor off", set(limits.Limit[limits.PriceStep]{}), Fault},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); limit("200.001")(f) }, Deny},
	})
	f := baseFacts()
	limit("200.017")(&f)
	if got := priceStep(&f).Passes; got != "200.01" {
		t.Errorf("passes %q, want 200.01", got)
	}
}
