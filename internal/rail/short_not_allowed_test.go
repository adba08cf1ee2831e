package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

func TestShortNotAllowed(t *testing.T) {
	// sell is a sell after which up to short units could be short.
	sell := func(short string) func(f *Facts) {
		return func(f *Facts) { f.Intent.Side, f.WorstShort = order.Sell, qty(short) }
	}
	run(t, ShortNotAllowed, shortNotAllowed, []check{
		{"buy", nil, Pass},
		{"sell of less than is free", sell("-1"), Pass},
		{"sell of all that is free", sell("0"), Pass},
		{"one unit of least precision beyond", sell("0.000000001"), Deny},
		{"with leave", func(f *Facts) { sell("10")(f); f.Limits.Instrument.AllowShort = true }, Pass},
		{"position not known", func(f *Facts) { sell("0")(f); f.PositionKnown = false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10") }, Pass},
		{"a replace that only lowers", func(f *Facts) { sell("5")(f); f.LowersOnly = true }, Pass},
	})
	f := baseFacts()
	sell("4")(&f)
	if got := shortNotAllowed(&f).Passes; got != "6" {
		t.Errorf("of a sell of 10 with 6 free, passes %q, want 6", got)
	}
}
