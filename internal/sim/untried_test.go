package sim

import (
	"slices"
	"strings"
	"testing"
)

// TestALimitThatWasNotTriedIsSaid: a limit that held since nothing came near it is named,
// and one that was met is not.
func TestALimitThatWasNotTriedIsSaid(t *testing.T) {
	r := &Report{Checks: []Checked{
		{Check: CheckQuantity, Cap: "100", Peak: "100"},
		{Check: CheckGross, Cap: "250000", Peak: "99853.92"},
		{Check: CheckMinuteValue, Cap: "50000", Peak: "25000"}, // half of it
		{Check: CheckExits, Cap: "10"},                         // nothing was measured
		{Check: CheckCash},                                     // has no figure
	}}
	if got, want := r.Untried(), []Check{CheckGross, CheckExits}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if note := r.ChecksNote(); !strings.Contains(note, "the limit of gross exposure, exits per minute: that it held says little") {
		t.Errorf("%q", note)
	}
	r.Checks = r.Checks[:1]
	if note := r.ChecksNote(); strings.Contains(note, "says little") {
		t.Errorf("%q", note)
	}
}
