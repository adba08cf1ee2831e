package scenario

import (
	"slices"
	"strings"
)

// compare adds what a step's result lacks of what was expected. A nil expectation
// expects nothing.
func (e *expectation) compare(r *Result, i, line int, got *StepResult) {
	if e == nil {
		return
	}
	if e.verdict != "" && e.verdict != got.Verdict {
		r.fail(i, line, "expected %s, got %s", e.verdict, said(got))
	}
	if e.railsGiven && !sameSet(e.rails, got.Rails) {
		r.fail(i, line, "expected exactly the rails %s, got %s", listed(e.rails), listed(got.Rails))
	}
	if lacks := missing(e.railsInclude, got.Rails); len(lacks) > 0 {
		r.fail(i, line, "expected the rails %s too, got %s", listed(lacks), listed(got.Rails))
	}
	if e.faultsGiven && !sameSet(e.faults, got.Faults) {
		r.fail(i, line, "expected exactly the faults %s, got %s", listed(e.faults), listed(got.Faults))
	}
	if lacks := missing(e.faultsInclude, got.Faults); len(lacks) > 0 {
		r.fail(i, line, "expected the faults %s too, got %s", listed(lacks), listed(got.Faults))
	}
	if e.outcome != nil && *e.outcome != got.Outcome {
		r.fail(i, line, "expected the outcome %q, got %q", *e.outcome, got.Outcome)
	}
	if e.forwarded != nil && *e.forwarded != got.Forwarded {
		r.fail(i, line, "expected %d messages forwarded, got %d", *e.forwarded, got.Forwarded)
	}
}

// said is a step's result in one phrase.
func said(s *StepResult) string {
	text := s.Verdict
	if text == "" {
		text = "no verdict"
	}
	if len(s.Rails) > 0 {
		text += " by " + strings.Join(s.Rails, ", ")
	}
	if len(s.Faults) > 0 {
		text += ", faults " + strings.Join(s.Faults, ", ")
	}
	return text
}

func listed(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

func sameSet(a, b []string) bool {
	return len(missing(a, b)) == 0 && len(missing(b, a)) == 0
}

// missing is what of a is not in b.
func missing(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
