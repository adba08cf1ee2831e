package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestMaxNetExposure(t *testing.T) {
	run(t, MaxNetExposure, maxNetExposure, []check{
		{"below", func(f *Facts) { f.NetLong = ntl("249999") }, Pass},
		{"at", func(f *Facts) { f.NetLong = ntl("250000") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.NetLong = ntl("250000.000000001") }, Deny},
		{"short at", func(f *Facts) { f.NetShort = ntl("250000") }, Pass},
		{"short beyond", func(f *Facts) { f.NetShort = ntl("250000.000000001") }, Deny},
		{"long beyond, short far below zero", func(f *Facts) { f.NetLong, f.NetShort = ntl("250001"), ntl("-250001") }, Deny},
		{"a holding without a price", func(f *Facts) { f.NetOK = false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("600", "10"); f.NetLong = ntl("300000") }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.NetLong = ntl("300000") }, Pass},
		{"off", func(f *Facts) {
			f.NetLong = ntl("300000")
			f.Limits.Position.MaxNetExposure = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxNetExposureSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.NetLong = ntl("251000.2")
	passing(t, "buy", maxNetExposure(&f), "4", RetryChanged)
	f.NetShort = ntl("250001")
	passing(t, "the other side is over", maxNetExposure(&f), "", RetryNo)

	f = baseFacts()
	f.Intent.Side, f.WorstLong, f.WorstShort = order.Sell, qty("0"), qty("10")
	f.NetLong, f.NetShort = ntl("0"), ntl("251000.2")
	got := maxNetExposure(&f)
	passing(t, "short", got, "4", RetryChanged)
	if got.Observed != "251000.2" {
		t.Errorf("observed %s", got.Observed)
	}
}
