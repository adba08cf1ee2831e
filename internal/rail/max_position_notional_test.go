package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxPositionNotional(t *testing.T) {
	run(t, MaxPositionNotional, maxPositionNotional, []check{
		{"below", func(f *Facts) { f.WorstLong = qty("499") }, Pass},
		{"at", func(f *Facts) { f.WorstLong = qty("500") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.WorstLong = qty("500.000000001") }, Deny},
		{"the smallest step of price beyond", func(f *Facts) { f.WorstLong, f.RiskPrice = qty("500"), prc("200.000000001") }, Deny},
		{"rounded up", func(f *Facts) {
			f.WorstLong, f.RiskPrice = qty("1.5"), prc("0.000000001")
			f.Limits.Position.MaxPositionNotional = on(ntl("0.000000001"))
		}, Deny},
		{"short beyond", func(f *Facts) { f.WorstShort = qty("501") }, Deny},
		{"multiplier", func(f *Facts) { f.WorstLong, f.Instrument.Multiplier = qty("6"), qty("100") }, Deny},
		{"risk price, not ask", func(f *Facts) { f.WorstLong, f.PricingQuote.Ask = qty("500"), prc("300") }, Pass},
		{"unknown position", func(f *Facts) { f.PositionKnown = false }, Fault},
		{"no risk price", func(f *Facts) { f.RiskPriceOK = false }, Fault},
		{"no multiplier", func(f *Facts) { f.Instrument.Multiplier = qty("0") }, Fault},
		{"out of range", func(f *Facts) {
			f.WorstLong, f.RiskPrice = qty("99999999999999999999"), prc("99999999999999999999")
		}, Fault},
		{"reducing", func(f *Facts) { f.reduce("600", "10") }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.WorstLong = qty("600") }, Pass},
		{"off", func(f *Facts) {
			f.WorstLong = qty("600")
			f.Limits.Position.MaxPositionNotional = switchedOff[money.Notional]()
		}, Off},
	})
}

func TestMaxPositionNotionalSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.WorstLong = qty("507")
	got := maxPositionNotional(&f)
	passing(t, "buy 10 on 497", got, "3", RetryChanged)
	if got.Observed != "101400" || got.Limit != "100000" {
		t.Errorf("observed %s, limit %s", got.Observed, got.Limit)
	}
}
