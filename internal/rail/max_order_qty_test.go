package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxOrderQty(t *testing.T) {
	of := func(q string) func(f *Facts) { return func(f *Facts) { f.Intent.Quantity = qty(q) } }
	set := func(l limits.Limit[money.Quantity]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Size.MaxOrderQuantity = l }
	}
	run(t, MaxOrderQty, maxOrderQty, []check{
		{"below", of("99"), Pass},
		{"at", of("100"), Pass},
		{"one unit of least precision beyond", of("100.000000001"), Deny},
		{"zero allows nothing", set(on(qty("0"))), Deny},
		{"off", set(switchedOff[money.Quantity]()), Off},
		{"neither value nor off", set(limits.Limit[money.Quantity]{}), Fault},
		{"reducing is judged too", func(f *Facts) { f.reduce("500", "101") }, Deny},
		{"tighter for the symbol", func(f *Facts) {
			f.Limits.Symbols = map[string]limits.Override{"AAPL": {Size: limits.Size{MaxOrderQuantity: on(qty("9"))}}}
		}, Deny},
	})
}
