package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestAssetClassNotAllowed(t *testing.T) {
	run(t, AssetClassNotAllowed, assetClassNotAllowed, []check{
		{"listed", nil, Pass},
		{"not listed", func(f *Facts) { f.Instrument.Class = order.USOption }, Deny},
		{"unknown class", func(f *Facts) { f.Instrument.Class = order.ClassNone }, Deny},
		{"unknown class cannot be listed", func(f *Facts) {
			f.Instrument.Class = order.ClassNone
			f.Limits.Instrument.AssetClasses = []order.AssetClass{order.ClassNone}
		}, Deny},
		{"an empty list allows nothing", func(f *Facts) { f.Limits.Instrument.AssetClasses = nil }, Deny},
		{"instrument not resolved", func(f *Facts) { f.Request.InstrumentKnown = false }, Fault},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); f.Instrument.Class = order.Crypto }, Deny},
	})
}
