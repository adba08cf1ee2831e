package rail

import "testing"

func TestFractionalNotAllowed(t *testing.T) {
	of := func(q string) func(f *Facts) { return func(f *Facts) { f.Intent.Quantity = qty(q) } }
	run(t, FractionalNotAllowed, fractionalNotAllowed, []check{
		{"whole", of("10"), Pass},
		{"one unit of least precision more", of("10.000000001"), Deny},
		{"one unit of least precision less", of("9.999999999"), Deny},
		{"with leave", func(f *Facts) { of("0.5")(f); f.Limits.Instrument.AllowFractional = true }, Pass},
		{"whole close", func(f *Facts) { f.reduce("10.25", "10.25") }, Pass},
		{"reducing in part", func(f *Facts) { f.reduce("10.25", "0.25") }, Deny},
	})
	f := baseFacts()
	of("10.5")(&f)
	if got := fractionalNotAllowed(&f).Passes; got != "10" {
		t.Errorf("passes %q, want 10", got)
	}
}
