package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestOrderTypeNotAllowed(t *testing.T) {
	onlyLimit := func(f *Facts) { f.Limits.Instrument.OrderTypes = []order.Type{order.Limit} }
	run(t, OrderTypeNotAllowed, orderTypeNotAllowed, []check{
		{"listed", onlyLimit, Pass},
		{"not listed", func(f *Facts) { onlyLimit(f); f.Intent.Type = order.Market }, Deny},
		{"no type", func(f *Facts) { f.Intent.Type = order.TypeNone }, Deny},
		{"an empty list allows nothing", func(f *Facts) { f.Limits.Instrument.OrderTypes = nil }, Deny},
		{"reducing is judged too", func(f *Facts) { f.reduce("10", "10"); onlyLimit(f); f.Intent.Type = order.Stop }, Deny},
	})
}
