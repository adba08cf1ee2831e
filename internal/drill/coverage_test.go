package drill

import (
	"cmp"
	"maps"
	"slices"
	"testing"
)

func (a *tally) hits() (n int) {
	for _, hits := range a.fired {
		n += hits
	}
	return n
}

// report shows how often each fault came, in each phase.
func (a *tally) report(t *testing.T) {
	t.Helper()
	if !testing.Verbose() {
		return
	}
	all := slices.SortedFunc(maps.Keys(a.fired), func(x, y fault) int {
		return cmp.Or(cmp.Compare(x.port, y.port), cmp.Compare(x.kind, y.kind), cmp.Compare(x.phase, y.phase))
	})
	for _, f := range all {
		t.Logf("%-16s %-36s %-12s %6d", f.port, f.kind, f.phase, a.fired[f])
	}
}

// drilled is what must have gone wrong, at a port and in every one of the phases.
type drilled struct {
	port   string
	kinds  []string
	phases []string
}

func table() []drilled {
	journaled := []string{phaseDecide, phaseOutcome, phaseReconcile}
	guarded := append(slices.Clone(journaled), phaseTend)
	written := append(slices.Clone(guarded), phaseOperate)
	always := []string{"at any time"}
	return []drilled{
		{"append", []string{
			"failed", "wrote", "conflict", "disk full", "flush lost", "flush kept", "died before", "died after", "torn", "lost race",
		}, written},
		{"append", []string{"panicked before", "panicked after"}, guarded},
		{"append", []string{"disk full"}, []string{phaseForward}},
		{"append", []string{"disk freed"}, always},
		{"heads", []string{"failed", "died"}, append(slices.Clone(written), phaseForward, phaseOpen)},
		{"heads", []string{"panicked"}, append(slices.Clone(guarded), phaseForward)},
		{"read", []string{"failed", "cut short"}, append(slices.Clone(written), phaseForward, phaseOpen)},
		{"read", []string{"panicked"}, guarded},
		{"snapshot", []string{"used", "lost", "failed", "changed", "old", "misplaced"}, []string{phaseDecide, phaseOpen, phaseReconcile}},
		{"events", []string{
			"failed", "panicked", "told twice", "reordered", "withheld", "an event told twice", "two reordered", "late",
		}, journaled},
		{"account", []string{"failed", "panicked"}, []string{phaseDecide, phaseReconcile}},
		{"account", []string{"stale"}, []string{phaseDecide}},
		{"find", []string{"failed", "panicked"}, []string{phaseReconcile}},
		{"instrument", []string{"failed", "unknown", "panicked"}, []string{phaseDecide, phaseTend}},
		{"quote", []string{"failed", "absent", "stale", "crossed", "other symbol", "one-sided", "panicked"}, []string{phaseDecide, phaseTend}},
		{"last valid quote", []string{"failed", "absent"}, []string{phaseDecide}},
		{"previous close", []string{"failed"}, []string{phaseDecide}},
		{"send", []string{
			"lost", "unanswered", "other symbol", "other side", "other quantity", "no broker id", "empty reply", "rejected", "delayed",
			"died before", "died after", "panicked before", "panicked after", "fills told twice", "late fill", "partial fill", "duplicate fill",
		}, []string{phaseOutcome}},
		{"send", []string{"arrived after its reply was given up"}, always},
		{"broker", []string{
			"fill", "late fill", "fill told again", "order ended", "order from outside", "trade from outside", "cash moved",
			"position changed in silence",
		}, []string{"at any time", phaseReconcile}},
		{"market", []string{"quote stale", "quote gone", "quote crossed"}, always},
		{"clock", []string{"forward", "back", "boot anew"}, always},
		{"halt file", []string{"asked for"}, always},
		{"halt file", []string{"not taken away", "taken away, it seems not"}, []string{phaseDecide}},
		{"limits mark", []string{"not made", "made, it seems not", "not taken away"}, []string{phaseOperate}},
		{"permit", []string{"another gate's", "used too late", "used twice"}, []string{phaseForward}},
		{"process", []string{"died at a port"}, append(slices.Clone(written), phaseForward, phaseOpen)},
		{"process", []string{"paused", "slept"}, []string{phaseDecide, phaseForward}},
		{"process", []string{"killed", "all killed"}, always},
		{"operator", []string{"resolved by hand"}, []string{phaseOperate}},
		{"operator", []string{"adopted"}, []string{phaseReconcile}},
	}
}

// complete fails for every fault that never came: a simulator that does not reach a fault
// any more would hold for the wrong reason.
func (a *tally) complete(t *testing.T) {
	t.Helper()
	for _, row := range table() {
		for _, kind := range row.kinds {
			for _, phase := range row.phases {
				if a.fired[fault{row.port, kind, phase}] == 0 {
					t.Errorf("never: %s, %s, %s", row.port, kind, phase)
				}
			}
		}
	}
}
