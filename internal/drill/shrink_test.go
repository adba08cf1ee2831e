package drill

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shrinkRunsMax bounds how often a failing history is played again to make it smaller.
const shrinkRunsMax = 400

// tell reports a failing history as small as it gets, with the command that plays it.
func tell(t *testing.T, p *plan, w *world) {
	t.Helper()
	small := shrink(t, p, w)
	t.Errorf("%s: %s\n\tthe whole history: %s\n\tas small as it gets: %s", w.failed.rule, w.failed.text, command(p), command(small))
}

// shrink leaves out steps and faults for as long as the same rule is broken.
func shrink(t *testing.T, p *plan, w *world) *plan {
	if p.disk != "" {
		return p
	}
	small, rule, runs := *p, w.failed.rule, 0
	small.skip, small.spare = maps.Clone(p.skip), maps.Clone(p.spare)
	if small.skip == nil {
		small.skip = map[int]bool{}
	}
	if small.spare == nil {
		small.spare = map[string]bool{}
	}
	still := func() bool {
		runs++
		if runs > shrinkRunsMax {
			return false
		}
		again := run(t, small)
		return again.failed != nil && again.failed.rule == rule
	}
	was := small.steps
	if small.steps = w.step; !still() {
		small.steps = was
	}
	for step := 1; step <= w.step; step++ {
		if small.skip[step] = true; !still() {
			delete(small.skip, step)
		}
	}
	for _, f := range w.oracle.faults {
		if small.spare[f] = true; !still() {
			delete(small.spare, f)
		}
	}
	return &small
}

// command is what plays a history.
func command(p *plan) string {
	text := fmt.Sprintf("go test ./internal/drill -run 'TestSeed$' -v -seed %d", p.seed)
	if p.steps > 0 {
		text += fmt.Sprintf(" -steps %d", p.steps)
	}
	if len(p.skip) > 0 {
		text += " -skip " + strings.ReplaceAll(strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(p.skip))), "[]"), " ", ",")
	}
	if len(p.spare) > 0 {
		text += " -spare '" + strings.Join(slices.Sorted(maps.Keys(p.spare)), ",") + "'"
	}
	if p.disk != "" {
		text += " -disk"
	}
	return text
}

func numbers(t *testing.T, list string) map[int]bool {
	out := map[int]bool{}
	for word := range words(list) {
		n, err := strconv.Atoi(word)
		must(t, err)
		out[n] = true
	}
	return out
}

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Split(list, ",") {
		if word != "" {
			out[word] = true
		}
	}
	return out
}

// A history that fails is made smaller, and the smaller one fails in the same way.
func TestAFailingHistoryIsMadeSmall(t *testing.T) {
	p := plan{seed: 7, wrong: true}
	w := run(t, p)
	if w.failed == nil {
		t.Fatal("the rule that is broken on purpose holds")
	}
	small := shrink(t, &p, w)
	again := run(t, *small)
	if again.failed == nil || again.failed.rule != w.failed.rule {
		t.Errorf("as small as it gets it fails by %v, whole by %v", again.failed, w.failed)
	}
	if left := small.steps - len(small.skip); left > 3 {
		t.Errorf("%d steps are left, and one is enough", left)
	}
}
