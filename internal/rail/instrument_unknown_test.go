package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func TestInstrumentUnknown(t *testing.T) {
	run(t, InstrumentUnknown, instrumentUnknown, []check{
		{"one active instrument", nil, Pass},
		{"lower case letters are folded", func(f *Facts) { f.Intent.Symbol = "aapl" }, Pass},
		{"the source could not be asked", func(f *Facts) { f.Request.InstrumentAsked = false }, Fault},
		{"none or several", func(f *Facts) { f.Request.InstrumentKnown = false }, Deny},
		{"another symbol", func(f *Facts) { f.Instrument.Symbol = "AAPB" }, Deny},
		{"a look-alike letter is not folded", func(f *Facts) { f.Intent.Symbol = "\u0410APL" }, Deny},
		{"not active", func(f *Facts) { f.Instrument.Active = false }, Deny},
		{"another currency", func(f *Facts) { f.Instrument.Currency = "EUR" }, Deny},
		{"no currency", func(f *Facts) { f.Instrument.Currency, f.Limits.Currency = "", "" }, Deny},
		{"no multiplier", func(f *Facts) { f.Instrument.Multiplier = money.Quantity{} }, Deny},
		{"negative multiplier", func(f *Facts) { f.Instrument.Multiplier = qty("-1") }, Deny},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); f.Instrument.Active = false }, Deny},
	})
}
