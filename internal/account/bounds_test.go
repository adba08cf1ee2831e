package account_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
)

// TestTheWindowsReachAsFarAsAnyLimit compares with the bounds that this package repeats.
func TestTheWindowsReachAsFarAsAnyLimit(t *testing.T) {
	for _, b := range []struct {
		name      string
		kept, ask int64
	}{
		{"duplicate window", int64(account.DuplicateWindowMax), int64(limits.DuplicateWindowMax)},
		{"behaviour window", int64(account.BehaviourWindowMax), int64(limits.BehaviourWindowMax)},
		{"denials", account.DenialsMax, limits.DenialsMax},
		{"cycles", account.CyclesMax, limits.CyclesMax},
		{"orders a minute", account.OrdersPerMinuteMax, limits.OrdersPerMinuteMax},
		{"messages", account.MessagesMax, limits.MessagesMax},
	} {
		if b.kept < b.ask {
			t.Errorf("%s: %d is kept, a limit can ask for %d", b.name, b.kept, b.ask)
		}
	}
}
