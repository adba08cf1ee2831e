package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/market"
)

func TestInstrumentHalted(t *testing.T) {
	noQuote := func(f *Facts) { f.Quote = market.Quote{} }
	run(t, InstrumentHalted, instrumentHalted, []check{
		{"trading", nil, Pass},
		{"halted", func(f *Facts) { f.Quote.Halted = true }, Deny},
		{"no quote", noQuote, Fault},
		{"reducing, halted", func(f *Facts) { f.reduce("10", "10"); f.Quote.Halted = true }, Deny},
		{"reducing, priced by the last valid quote", func(f *Facts) { f.reduce("10", "10"); noQuote(f) }, Pass},
		{"reducing, halted by the last valid quote", func(f *Facts) {
			f.reduce("10", "10")
			noQuote(f)
			f.PricingQuote.Halted = true
		}, Deny},
		{"reducing, no quote at all", func(f *Facts) {
			f.reduce("10", "10")
			noQuote(f)
			f.PricingQuote, f.PricingOK = market.Quote{}, false
		}, Fault},
	})
}
