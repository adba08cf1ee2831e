package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMaxOrderPctOfEquity(t *testing.T) {
	worth := func(n string) func(f *Facts) { return func(f *Facts) { f.Notional = ntl(n) } }
	set := func(l limits.Limit[money.Percent]) func(f *Facts) {
		return func(f *Facts) { f.Limits.Size.MaxOrderPctOfEquity = l }
	}
	run(t, MaxOrderPctOfEquity, maxOrderPctOfEquity, []check{
		{"below", worth("49999"), Pass},
		{"at half of 100,000", worth("50000"), Pass},
		{"one unit of least precision beyond", worth("50000.000000001"), Deny},
		{"equity now is the smaller", func(f *Facts) { worth("45000")(f); f.Equity = ntl("89999") }, Deny},
		{"equity at open is the smaller", func(f *Facts) { worth("45000")(f); f.State.Day.EquityAtOpen = ntl("89999") }, Deny},
		{"no equity left", func(f *Facts) { f.Equity = ntl("0") }, Deny},
		{"negative equity", func(f *Facts) { f.Equity = ntl("-1") }, Deny},
		{"zero allows nothing", set(on(pct("0"))), Deny},
		{"off", set(switchedOff[money.Percent]()), Off},
		{"neither value nor off", set(limits.Limit[money.Percent]{}), Fault},
		{"no price", func(f *Facts) { f.NotionalOK = false }, Fault},
		{"no equity now", func(f *Facts) { f.EquityOK = false }, Fault},
		{"no equity at open", func(f *Facts) { f.State.Day.HasOpen = false }, Fault},
		{"equity at open of another date", func(f *Facts) { f.State.Day.Date = 20260317 }, Fault},
		{"reducing", func(f *Facts) { f.reduce("1000", "1000"); f.EquityOK = false }, Pass},
	})
	f := baseFacts()
	f.Limits.Size.MaxOrderPctOfEquity = on(pct("1"))
	f.figures()
	if got := maxOrderPctOfEquity(&f).Passes; got != "5" {
		t.Errorf("of 1 percent of 100,000 at 200, passes %q, want 5", got)
	}
}
