package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxOrderNotional(t *testing.T) {
	worth := func(n string) func(f *Facts) { return func(f *Facts) { f.Notional = ntl(n) } }
	set := func(l limits.Limit[money.Notional]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Size.MaxOrderNotional = l }
	}
	run(t, MaxOrderNotional, maxOrderNotional, []check{
		{"below", worth("24999.999999999"), Pass},
		{"at", worth("25000"), Pass},
		{"one unit of least precision beyond", worth("25000.000000001"), Deny},
		{"zero allows nothing", set(on(ntl("0"))), Deny},
		{"off", set(switchedOff[money.Notional]()), Off},
		{"neither value nor off", set(limits.Limit[money.Notional]{}), Fault},
		{"no price", func(f *Facts) { f.NotionalOK = false }, Fault},
		{"reducing, two steps", func(f *Facts) { f.reduce("10", "2"); set(on(ntl("100")))(f) }, Deny},
		{"reducing, one step", func(f *Facts) { f.reduce("10", "1"); set(on(ntl("100")))(f) }, Pass},
		{"reducing, one step of five", func(f *Facts) {
			f.reduce("10", "5")
			set(on(ntl("100")))(f)
			f.Limits.Size.QuantityStep = on(qty("5"))
		}, Pass},
		{"reducing, one unit with the step off", func(f *Facts) {
			f.reduce("10", "1")
			set(on(ntl("100")))(f)
			f.Limits.Size.QuantityStep = switchedOff[money.Quantity]()
		}, Pass},
		{"opening, one step", func(f *Facts) { f.Intent.Quantity = qty("1"); set(on(ntl("100")))(f) }, Deny},
	})
	f := baseFacts()
	f.Limits.Size.MaxOrderNotional = on(ntl("1999.99"))
	f.figures()
	if got := maxOrderNotional(&f).Passes; got != "9" {
		t.Errorf("at 200 a share, passes %q, want 9", got)
	}
}
