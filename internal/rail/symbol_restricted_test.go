package rail

import "testing"

func TestSymbolRestricted(t *testing.T) {
	restrict := func(symbol string) func(f *Facts) {
		return func(f *Facts) { f.Limits.Instrument.RestrictedSymbols = []string{"MSFT", symbol} }
	}
	with := func(changes ...func(f *Facts)) func(f *Facts) {
		return func(f *Facts) {
			for _, change := range changes {
				change(f)
			}
		}
	}
	run(t, SymbolRestricted, symbolRestricted, []check{
		{"no list", nil, Pass},
		{"not on the list", restrict("TSLA"), Pass},
		{"restricted wins over allowed", restrict("AAPL"), Deny},
		{"folded", with(restrict("AAPL"), func(f *Facts) { f.Intent.Symbol = "aapl" }), Deny},
		{"by its resolved symbol", with(restrict("AAPL"), func(f *Facts) { f.Intent.Symbol = "X" }), Deny},
		{"by its underlying", with(restrict("TSLA"), func(f *Facts) { f.Instrument.Underlying = "TSLA" }), Deny},
		{"instrument not resolved", with(restrict("TSLA"), func(f *Facts) { f.Request.InstrumentKnown = false }), Fault},
		{"reducing", with(restrict("AAPL"), func(f *Facts) { f.reduce("10", "10") }), Deny},
	})
}
