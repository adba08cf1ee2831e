package adversary

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// together makes all calls of a step at once, each in a client session of its own. Which
// of them pass is not said; that exactly as many do as must is.
func (p *player) together(ctx context.Context, s *step) error {
	calls := make([][]byte, s.repeat)
	for n := range calls {
		var err error
		if calls[n], err = p.d.arguments(s, n); err != nil {
			return err
		}
	}
	refused, err := p.d.atOnce(ctx, s.tool, calls)
	if err != nil {
		return err
	}
	if err := p.d.oracle.look(ctx, false); err != nil {
		return err
	}
	all, err := p.d.judgements(ctx)
	if err != nil {
		return err
	}
	if s.free {
		for i := range all {
			p.note(s, &all[i])
		}
		p.moved = true
		return nil
	}
	must := s.allowed
	if len(s.expect) == 0 {
		must = s.repeat
	}
	passed, entries := 0, 0
	for i := range all {
		j := &all[i]
		p.note(s, j)
		entries += j.entries
		if len(j.faults) > 0 && !s.faults {
			p.violation("line %d: %s could not decide, which is no refusal", s.line, strings.Join(sorted(j.faults), ", "))
		}
		switch got := sorted(j.refusing); {
		case j.allowed:
			passed++
		case !j.denied || !slices.Equal(got, s.expect):
			p.violation("line %d: refused by %s, and it must be %s", s.line, nobody(got), nobody(s.expect))
		}
	}
	if passed != must {
		p.violation("line %d: %d of %d calls at once passed, and it must be %d", s.line, passed, s.repeat, must)
	}
	if entries != s.repeat {
		p.violation("line %d: %d entries in the journal say what became of %d calls", s.line, entries, s.repeat)
	}
	if refused != s.repeat-passed {
		p.violation("line %d: %d answers say that the call was refused, and %d were", s.line, refused, s.repeat-passed)
	}
	return nil
}

// atOnce opens a session for each call, makes them all, and returns how many answers
// said that the call was refused.
func (d *desk) atOnce(ctx context.Context, tool string, calls [][]byte) (refused int, err error) {
	ctx, stop := context.WithTimeout(ctx, callWithin)
	defer stop()
	clients := make([]*mcp.ClientSession, len(calls))
	for n := range calls {
		var end func() error
		if clients[n], end, err = d.session(ctx); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	answers := make([]bool, len(calls))
	var all sync.WaitGroup // each goroutine ends with its answer, or with ctx
	for n := range calls {
		all.Go(func() {
			result, err := clients[n].CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(calls[n])})
			answers[n] = err != nil || result.IsError
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return 0, errSilent
	}
	for _, bad := range answers {
		if bad {
			refused++
		}
	}
	return refused, nil
}
