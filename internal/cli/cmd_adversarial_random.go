package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/broker-rails/broker-rails/internal/adversary"
)

// randomReport is what a random attacker came to, in JSON.
type randomReport struct {
	Schema   string         `json:"schema"`
	Seed     uint64         `json:"seed"`
	Attempts int            `json:"attempts"`
	Calls    int            `json:"calls"`
	Passed   int            `json:"passed"`
	Refused  map[string]int `json:"refused"` // attempts in which it refused; fault:ID where it could not decide
	OK       bool           `json:"ok"`
	Attempt  int            `json:"attempt,omitzero"`
	Check    string         `json:"check,omitzero"`
	Problems []string       `json:"problems,omitempty"`
	Steps    int            `json:"steps,omitzero"`
	Case     string         `json:"case,omitzero"` // the file
}

// randomAttack looks for a violation that nobody wrote down.
func (a *app) randomAttack(ctx context.Context, f *adversarialFlags, o adversary.Options) error {
	show := a.counting("attempts", f.attempts)
	h := adversary.Hunt{
		Options: o, Seed: f.seed, Attempts: f.attempts, For: f.within,
		Progress: func(done, _ int) { show.count(uint64(done)) },
	}
	found, err := h.Run(ctx)
	show.end()
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return &failure{code: exitFailed, what: "adversarial", err: err}
	}
	r := randomReport{
		Schema: "rails.adversarial-random/v1", Seed: found.Seed, Attempts: found.Attempts, Calls: found.Calls, Passed: found.Passed,
		Refused: found.Refused, OK: found.Case == nil, Attempt: found.Attempt, Check: found.Check, Problems: found.Problems,
	}
	if found.Case != nil {
		r.Steps = found.Case.Steps()
		r.Case = filepath.Join(f.out, fmt.Sprintf("found-seed%d-attempt%d.yaml", found.Seed, found.Attempt))
		if err := os.WriteFile(r.Case, found.Case.Text(), 0o644); err != nil {
			return err
		}
	}
	if a.flags.json {
		err = a.out.json(r)
	} else {
		err = a.printRandom(&r, stopped)
	}
	if err == nil && !r.OK {
		err = silently(exitDenied)
	}
	return err
}

func (a *app) printRandom(r *randomReport, stopped bool) error {
	p := a.out
	p.line("A random attacker: made up from seed ", seqText(r.Seed), ", against a server, a journal and a paper account of its own.")
	p.line("It looks at the broker's record alone for anything that a limit forbids: what the gate says proves nothing.")
	p.line()
	p.field("attacks", seqText(uint64(r.Attempts)), " sequences, ", plural(r.Calls, "tool call", "tool calls"))
	p.field("passed", plural(r.Passed, "call", "calls"), ", each within the limits that its attack was given")
	p.field("refused by", plural(refusers(r.Refused), "rail or other refusal", "different rails and other refusals"), ", which --json names")
	if stopped {
		p.field("stopped", "before the last attack")
	}
	if r.OK {
		p.field("result", p.good("nothing got past a limit"))
		return p.failed
	}
	p.line()
	for _, problem := range r.Problems {
		p.line(p.bad("violation"), " ", problem)
	}
	p.field("found by", "attack ", seqText(uint64(r.Attempt)), ", and made as short as it could be: ", plural(r.Steps, "step", "steps"))
	p.field("replay", "rails adversarial --cases DIR, with ", r.Case, " in it")
	return p.failed
}

// refusers counts the ids that refused, faults left out.
func refusers(refused map[string]int) (n int) {
	for id := range refused {
		if !strings.HasPrefix(id, "fault:") {
			n++
		}
	}
	return n
}
