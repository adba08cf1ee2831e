package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxConcentration(t *testing.T) {
	run(t, MaxConcentration, maxConcentration, []check{
		{"below", func(f *Facts) { f.Own = ntl("89999") }, Pass},
		{"at", func(f *Facts) { f.Own = ntl("90000") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.Own = ntl("90000.000000001") }, Deny},
		{"a share that does not divide", func(f *Facts) {
			f.Limits.Position.MaxConcentration = on(pct("33.333333333"))
			f.Equity, f.Own = ntl("0.000000003"), ntl("0.000000001")
		}, Deny},
		{"no equity left", func(f *Facts) { f.Equity = ntl("0") }, Deny},
		{"equity below zero", func(f *Facts) { f.Equity = ntl("-1") }, Deny},
		{"equity unknown", func(f *Facts) { f.EquityOK = false }, Fault},
		{"no price", func(f *Facts) { f.OwnOK = false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("600", "10"); f.Own = ntl("120000") }, Pass},
		{"reducing without equity", func(f *Facts) { f.reduce("600", "10"); f.EquityOK = false }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.Own = ntl("120000") }, Pass},
		{"off", func(f *Facts) {
			f.Own = ntl("120000")
			f.Limits.Position.MaxConcentration = switchedOff[money.Percent]()
		}, Off},
	})
}

func TestMaxConcentrationSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.Equity = ntl("2000") // 90 % is 1,800: 8 at 200.02
	got := maxConcentration(&f)
	passing(t, "small account", got, "8", RetryChanged)
	if got.Limit != "90%" {
		t.Errorf("limit %s", got.Limit)
	}
	f.Equity = ntl("-1")
	passing(t, "no equity", maxConcentration(&f), "", RetryNo)
}
