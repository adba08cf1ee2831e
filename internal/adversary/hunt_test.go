package adversary

import (
	"os"
	"strconv"
	"testing"
)

// TestRandomAttackerFindsNothing: every rail in place.
func TestRandomAttackerFindsNothing(t *testing.T) {
	attempts := 250
	if n, err := strconv.Atoi(os.Getenv("RAILS_ATTEMPTS")); err == nil {
		attempts = n
	}
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("RAILS_SEED"), 10, 64); err == nil {
		seed = n
	}
	h := Hunt{Options: options(), Seed: seed, Attempts: attempts}
	f, err := h.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d attempts, %d calls, %d passed, refused %v", f.Attempts, f.Calls, f.Passed, f.Refused)
	if f.Case != nil {
		t.Errorf("%v\n%s", f.Problems, f.Case.Text())
	}
}
