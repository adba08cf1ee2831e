package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxGrossExposure(t *testing.T) {
	run(t, MaxGrossExposure, maxGrossExposure, []check{
		{"below", func(f *Facts) { f.Gross = ntl("249999") }, Pass},
		{"at", func(f *Facts) { f.Gross = ntl("250000") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.Gross = ntl("250000.000000001") }, Deny},
		{"zero allows nothing", func(f *Facts) { f.Limits.Position.MaxGrossExposure = on(ntl("0")) }, Deny},
		{"a holding without a price", func(f *Facts) { f.GrossOK = false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("600", "10"); f.Gross = ntl("300000") }, Pass},
		{"reducing without marks", func(f *Facts) { f.reduce("600", "10"); f.GrossOK = false }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.Gross = ntl("300000") }, Pass},
		{"off", func(f *Facts) {
			f.Gross = ntl("300000")
			f.Limits.Position.MaxGrossExposure = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxGrossExposureSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	// 10 at 200.02 is 2,000.20; 249,000 is held elsewhere, so 4 fit into 1,000.
	f.Gross = ntl("251000.2")
	passing(t, "others leave 1000", maxGrossExposure(&f), "4", RetryChanged)
	f.Gross = ntl("252000.2")
	passing(t, "others leave nothing", maxGrossExposure(&f), "", RetryNo)
	f.WorstShort, f.Own, f.Gross = qty("20"), ntl("4000.4"), ntl("251000.2")
	passing(t, "the other side is the worse", maxGrossExposure(&f), "", RetryNo)
}
