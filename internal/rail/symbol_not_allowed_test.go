package rail

import "testing"

func TestSymbolNotAllowed(t *testing.T) {
	run(t, SymbolNotAllowed, symbolNotAllowed, []check{
		{"listed", nil, Pass},
		{"folded", func(f *Facts) { f.Intent.Symbol = "aApL" }, Pass},
		{"not listed", func(f *Facts) { f.Intent.Symbol = "TSLA" }, Deny},
		{"a prefix is not listed", func(f *Facts) { f.Intent.Symbol = "AAP" }, Deny},
		{"longer is not listed", func(f *Facts) { f.Intent.Symbol = "AAPL " }, Deny},
		{"folded in ASCII only", func(f *Facts) {
			f.Limits.Instrument.Symbols, f.Intent.Symbol = []string{"K"}, "\u212a"
		}, Deny},
		{"an empty list allows nothing", func(f *Facts) { f.Limits.Instrument.Symbols = nil }, Deny},
		{"an empty symbol", func(f *Facts) { f.Limits.Instrument.Symbols, f.Intent.Symbol = []string{""}, "" }, Deny},
		{"reducing a holding", func(f *Facts) { f.reduce("10", "10"); f.Limits.Instrument.Symbols = nil }, Pass},
	})
}
