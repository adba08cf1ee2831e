package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestSideNotAllowed(t *testing.T) {
	run(t, SideNotAllowed, sideNotAllowed, []check{
		{"listed", nil, Pass},
		{"not listed", func(f *Facts) { f.Limits.Instrument.Sides = []order.Side{order.Sell} }, Deny},
		{"no side", func(f *Facts) { f.Intent.Side = order.SideNone }, Deny},
		{"an empty list allows nothing", func(f *Facts) { f.Limits.Instrument.Sides = nil }, Deny},
		{"reducing is judged too", func(f *Facts) {
			f.reduce("10", "10")
			f.Limits.Instrument.Sides = []order.Side{order.Buy}
		}, Deny},
	})
}
