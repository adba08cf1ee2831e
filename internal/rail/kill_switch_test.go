package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
)

func TestKillSwitch(t *testing.T) {
	run(t, KillSwitch, killSwitch, []check{
		{"active", nil, Pass},
		{"reduce_only", func(f *Facts) { f.Mode = account.ReduceOnly }, Deny},
		{"halted", func(f *Facts) { f.Mode = account.Halted }, Deny},
		{"a mode that nobody set", func(f *Facts) { f.Mode = account.Mode(0) }, Deny},
		{"a mode that is none", func(f *Facts) { f.Mode = account.Mode(9) }, Deny},
		{"reducing, active", func(f *Facts) { f.reduce("10", "10") }, Pass},
		{"reducing, reduce_only", func(f *Facts) { f.reduce("10", "10"); f.Mode = account.ReduceOnly }, Pass},
		{"reducing, halted", func(f *Facts) { f.reduce("10", "10"); f.Mode = account.Halted }, Deny},
		{"reducing, a mode that is none", func(f *Facts) { f.reduce("10", "10"); f.Mode = account.Mode(9) }, Deny},
		{"replace that only lowers, reduce_only", func(f *Facts) { f.lowers(); f.Mode = account.ReduceOnly }, Pass},
		{"replace that only lowers, halted", func(f *Facts) { f.lowers(); f.Mode = account.Halted }, Deny},
		{"no state", func(f *Facts) { f.State = nil }, Fault},
	})
}

func TestKillSwitchTellsTheMode(t *testing.T) {
	for mode, want := range map[account.Mode]string{
		account.ReduceOnly: "reduce_only", account.Halted: "halted", account.Mode(9): "halted",
	} {
		f := baseFacts()
		f.Mode = mode
		if got := killSwitch(&f); got.Observed != want || got.Retry != RetryNo {
			t.Errorf("mode %d: got %+v", mode, got)
		}
	}
}
