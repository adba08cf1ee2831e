package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestQuantityStep(t *testing.T) {
	of := func(q string) func(f *Facts) {
		return func(f *Facts) { f.Intent.Quantity, f.Limits.Size.QuantityStep = qty(q), on(qty("5")) }
	}
	set := func(l limits.Limit[money.Quantity]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Size.QuantityStep = l }
	}
	run(t, QuantityStep, quantityStep, []check{
		{"a multiple", of("15"), Pass},
		{"one step", of("5"), Pass},
		{"one unit of least precision above", of("15.000000001"), Deny},
		{"one unit of least precision below", of("14.999999999"), Deny},
		{"below a step", of("4"), Deny},
		{"a step of zero allows nothing", set(on(qty("0"))), Deny},
		{"off", set(switchedOff[money.Quantity]()), Off},
		{"neither value nor off", set(limits.Limit[money.Quantity]{}), Fault},
		{"whole close", func(f *Facts) { f.reduce("7", "7"); set(on(qty("5")))(f) }, Pass},
		{"reducing in part", func(f *Facts) { f.reduce("7", "6"); set(on(qty("5")))(f) }, Deny},
	})
	f := baseFacts()
	of("14")(&f)
	f.figures()
	if got := quantityStep(&f).Passes; got != "10" {
		t.Errorf("passes %q, want 10", got)
	}
}
