package rail

import "testing"

func TestClockSuspect(t *testing.T) {
	run(t, ClockSuspect, clockSuspect, []check{
		{"trusted", nil, Pass},
		{"suspect", func(f *Facts) { f.Request.ClockSuspect = true }, Deny},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); f.Request.ClockSuspect = true }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.Request.ClockSuspect = true }, Pass},
		{"no request", func(f *Facts) { f.Request = nil }, Fault},
	})
}
