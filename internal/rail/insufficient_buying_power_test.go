package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestInsufficientBuyingPower(t *testing.T) {
	run(t, InsufficientBuyingPower, insufficientBuyingPower, []check{
		{"below", func(f *Facts) { f.BuyingPower = ntl("2001") }, Pass},
		{"at", func(f *Facts) { f.BuyingPower = ntl("2000") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.BuyingPower = ntl("1999.999999999") }, Deny},
		{"fees push it over", func(f *Facts) { f.BuyingPower, f.Cost = ntl("2000"), ntl("2000.01") }, Deny},
		{"less than nothing is free", func(f *Facts) { f.BuyingPower = ntl("-1") }, Deny},
		{"cost unknown", func(f *Facts) { f.CostOK = false }, Fault},
		{"free cash unknown", func(f *Facts) { f.BuyingPowerOK = false }, Fault},
		{"no figure of the broker's", func(f *Facts) { f.Request.Broker.Present = false }, Fault},
		{"reducing, no figure of the broker's", func(f *Facts) { f.reduce("10", "10"); f.Request.Broker.Present = false }, Pass},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.BuyingPower = ntl("-1") }, Pass},
		{"reducing, cost unknown", func(f *Facts) { f.reduce("10", "10"); f.CostOK = false }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.BuyingPower = ntl("-1") }, Pass},
		{"not required", func(f *Facts) {
			f.BuyingPower = ntl("0")
			f.Limits.Position.RequireBuyingPower = false
		}, Off},
	})
}

func TestInsufficientBuyingPowerSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.BuyingPower = ntl("1000")
	passing(t, "half", insufficientBuyingPower(&f), "5", RetryChanged)
	f.Request.Fees, f.Cost = ntl("0.01"), ntl("2000.01")
	passing(t, "fees first", insufficientBuyingPower(&f), "4", RetryChanged)
	f.BuyingPower = ntl("0")
	passing(t, "nothing", insufficientBuyingPower(&f), "", RetryNo)
	f.BuyingPower, f.Intent.Side = ntl("1000"), order.Sell
	passing(t, "short", insufficientBuyingPower(&f), "", RetryNo)
}
