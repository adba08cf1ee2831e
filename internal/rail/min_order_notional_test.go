package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMinOrderNotional(t *testing.T) {
	worth := func(n string) func(f *Facts) { return func(f *Facts) { f.Notional = ntl(n) } }
	set := func(l limits.Limit[money.Notional]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Size.MinOrderNotional = l }
	}
	run(t, MinOrderNotional, minOrderNotional, []check{
		{"above", worth("1.000000001"), Pass},
		{"at", worth("1"), Pass},
		{"one unit of least precision below", worth("0.999999999"), Deny},
		{"zero asks nothing", func(f *Facts) { worth("0")(f); set(on(ntl("0")))(f) }, Pass},
		{"off", set(switchedOff[money.Notional]()), Off},
		{"neither value nor off", set(limits.Limit[money.Notional]{}), Fault},
		{"no price", func(f *Facts) { f.NotionalOK = false }, Fault},
		{"whole close", func(f *Facts) { f.reduce("10", "10"); worth("0.5")(f) }, Pass},
		{"whole close without a price", func(f *Facts) { f.reduce("10", "10"); f.NotionalOK = false }, Pass},
		{"reducing in part", func(f *Facts) { f.reduce("10", "1"); worth("0.5")(f) }, Deny},
	})
}
