package adversary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// roundCalls is how many calls each session makes before time runs on: together they are
// far more than a minute allows.
const roundCalls = 4

// stormLimits are laid over the shipped document: without them the gate would leave
// exits only after the first hundred denials, and no other rail would be tried.
const stormLimits = `{session: {max_messages_per_minute: 10000, denial_storm: "off", repeated_execution: "off"}}`

// Storm has many sessions fire the orders and calls of all cases at one account at once,
// and holds the broker's ledger against the caps message by message: whatever they
// come to together must stay below each.
func Storm(ctx context.Context, cases []Case, o Options) Result {
	r := Result{Channel: Direct, Name: stormName(o.Attackers), Expected: []string{}, Got: []string{}}
	if err := storm(ctx, cases, o, &r); err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("it could not be played: %v", err))
	}
	return r
}

func stormName(attackers int) string {
	return fmt.Sprintf("%d sessions fire the calls of all cases at one account", attackers)
}

func storm(ctx context.Context, cases []Case, o Options, r *Result) (err error) {
	over, err := strict.Read("storm", []byte(stormLimits))
	if err != nil {
		return err
	}
	c := &Case{Name: r.Name, File: "storm", limits: over, begin: plainBegin(), world: world{held: true}}
	d, err := newDesk(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	calls, err := d.allCalls(cases)
	if err != nil {
		return err
	}
	clients := make([]*mcp.ClientSession, o.Attackers)
	for k := range clients {
		var end func() error
		if clients[k], end, err = d.session(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	for from := 0; from < len(calls); from += roundCalls {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.fire(ctx, clients, calls, from); err != nil {
			return err
		}
		if err := d.happen(ctx, &step{kind: kindAdvance, duration: time.Minute + time.Second}); err != nil {
			return err
		}
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	for _, v := range d.oracle.found() {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %s", v.Check, v.Text))
	}
	r.Note = fmt.Sprintf("nothing past a cap: %d of %d calls went out as orders", len(d.oracle.sent), len(clients)*len(calls))
	if len(d.oracle.sent) == 0 {
		r.Problems = append(r.Problems, "no order passed, so nothing was shown")
	}
	all, err := d.judgements(ctx)
	got := map[string]bool{}
	for i := range all {
		for id := range all[i].refusing {
			got[id] = true
		}
	}
	r.Got = sorted(got)
	return err
}

// toolCall is one call as bytes.
type toolCall struct {
	tool      string
	arguments []byte
}

// allCalls are the orders and calls of all attacks and their twins, as they stand there.
func (d *desk) allCalls(cases []Case) (out []toolCall, err error) {
	for i := range cases {
		steps := slices.Concat(cases[i].attack, cases[i].twin)
		for k := range steps {
			s := &steps[k]
			if s.kind != kindOrder && s.kind != kindCall {
				continue
			}
			arguments, err := d.arguments(s, 0)
			if err != nil {
				return nil, err
			}
			out = append(out, toolCall{s.tool, arguments})
		}
	}
	return out, nil
}

// fire makes a round of calls, each session's in a row, all sessions at once; no two
// sessions are at the same place of the list.
func (d *desk) fire(ctx context.Context, clients []*mcp.ClientSession, calls []toolCall, from int) error {
	ctx, stop := context.WithTimeout(ctx, callWithin)
	defer stop()
	var all sync.WaitGroup // each goroutine ends with its last answer, or with ctx
	for k, client := range clients {
		all.Go(func() {
			for n := range roundCalls {
				c := &calls[(from+n+k*len(calls)/len(clients))%len(calls)]
				// The answer proves nothing: the ledger is looked at.
				_, _ = client.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return errSilent
	}
	return nil
}
