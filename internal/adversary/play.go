package adversary

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Options are what a suite needs beside its cases.
type Options struct {
	Version string // of the product
	// Headlines are what market_context shows to the attacked agent.
	Headlines []string
	// HTTP makes the calls over streamable HTTP on a loopback port, and not over stdio.
	// Messages as bytes go over stdio in either case: their cases are about its frames.
	HTTP bool
	// Files keeps journal and ledger in files, as rails serve does, and not in memory.
	Files bool
	// Server makes the server a process of its own, on files; nil: it is in this process.
	Server *Server
	// Attackers is how many play each case at once, each on an account of its own in one
	// journal; 0 and 1: one.
	Attackers int

	site *site  // shared with others; nil: one of its own
	name string // of the account; empty: the shipped document's
}

func (o *Options) account() string {
	if o.name == "" {
		return plainAccount
	}
	return o.name
}

// Result is what a case came to.
type Result struct {
	Channel  string
	Name     string
	Expected []string // ids that must refuse, of the whole attack
	Got      []string // ids that refused, and faults as fault:ID
	Problems []string // violations, each in a sentence; none: the case passed
	Note     string   // what is said in the place of who must refuse
	Served   bool     // by rails serve as it is, in a process of its own
}

// OK reports whether there was no violation.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Play plays one case: its attack in one installation, its twin in another. What cannot
// be begun or played is a violation as well: nothing was shown by it.
func Play(ctx context.Context, c *Case, o Options) Result {
	r := Result{Channel: c.Channel, Name: title(c.Name), Expected: c.Expected(), Got: []string{}}
	if c.world.held {
		// The oracle stands between gate and broker, so both are in this process.
		r.Note = "the ledger stays within every cap"
		o.Files, o.Server = o.Files || o.Server != nil, nil
	}
	if o.Server != nil {
		as := *o.Server
		as.Serve = c.Runs()
		o.Server, r.Served = &as, as.Serve
	}
	p := &player{r: &r, got: map[string]bool{}}
	if err := p.attack(ctx, c, o); err != nil {
		p.violation("the attack could not be played: %v", err)
	}
	r.Got = sorted(p.got)
	if len(c.twin) == 0 {
		return r
	}
	p.got = map[string]bool{} // a twin's refusal is a problem, not the attack's
	if o.site != nil {
		o.name += "-twin"
	}
	if err := p.twin(ctx, c, o); err != nil {
		p.violation("the twin could not be played: %v", err)
	}
	return r
}

// player plays the parts of one case.
type player struct {
	r      *Result
	part   string
	d      *desk
	got    map[string]bool
	passed int  // calls that were allowed
	moved  bool // something other than a call happened
}

func (p *player) violation(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.part != "" {
		text = p.part + ": " + text
	}
	p.r.Problems = append(p.r.Problems, text)
}

// begin builds the installation and brings it to where the case begins.
func (p *player) begin(ctx context.Context, c *Case, o Options) (err error) {
	if p.d, err = newDesk(ctx, c, o); err != nil {
		return err
	}
	p.part = "before"
	return p.play(ctx, c.before)
}

func (p *player) attack(ctx context.Context, c *Case, o Options) (err error) {
	if err := p.begin(ctx, c, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.d.close(ctx)) }()
	from, err := p.d.book(ctx)
	if err != nil {
		return err
	}
	p.part, p.passed, p.moved, p.got = "attack", 0, false, map[string]bool{}
	if err := p.play(ctx, c.attack); err != nil {
		return err
	}
	if c.world.held {
		if err := p.d.settle(ctx); err != nil {
			return err
		}
		last := ""
		for _, v := range p.d.oracle.found() {
			if text := string(v.Check) + ": " + v.Text; text != last {
				p.violation("%s", text)
				last = text
			}
		}
	}
	return p.world(ctx, &from, &c.world)
}

func (p *player) twin(ctx context.Context, c *Case, o Options) (err error) {
	if err := p.begin(ctx, c, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.d.close(ctx)) }()
	from, err := p.d.book(ctx)
	if err != nil {
		return err
	}
	p.part, p.passed = "twin", 0
	if err := p.play(ctx, c.twin); err != nil {
		return err
	}
	return p.world(ctx, &from, &world{})
}

// world holds the broker's ledger against what must have happened.
func (p *player) world(ctx context.Context, from *book, w *world) error {
	now, err := p.d.book(ctx)
	if err != nil {
		return err
	}
	if sent := now.messages - from.messages; sent != p.passed {
		p.violation("messages_sent: %d messages reached the broker, and %d calls passed", sent, p.passed)
	}
	if p.passed == 0 && (now.orders != from.orders || !p.moved && (now.executions != from.executions || now.cash.Cmp(from.cash) != 0 ||
		!maps.EqualFunc(now.positions, from.positions, func(a, b money.Quantity) bool { return a.Cmp(b) == 0 }))) {
		p.violation("nothing may pass, and the broker's book changed")
	}
	fills, shares, err := p.d.own(ctx, from)
	if err != nil {
		return err
	}
	if w.fills != nil && fills != *w.fills {
		p.violation("%d fills at the broker, and it must be %d", fills, *w.fills)
	}
	for _, symbol := range sortedKeys(w.shares) {
		if got := shares[symbol]; got.Cmp(w.shares[symbol]) != 0 {
			p.violation("%s shares of %s bought, and it must be %s", got, symbol, w.shares[symbol])
		}
	}
	return nil
}

func (p *player) play(ctx context.Context, steps []step) error {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.kind == kindRead:
			if err := p.read(ctx, s); err != nil {
				return fmt.Errorf("line %d: %w", s.line, err)
			}
			continue
		case !s.calls():
			p.moved = true
			if err := p.d.happen(ctx, s); err != nil {
				return fmt.Errorf("line %d: %s: %w", s.line, s.kind, err)
			}
			continue
		}
		if s.atOnce {
			if err := p.together(ctx, s); err != nil {
				return fmt.Errorf("line %d: %w", s.line, err)
			}
			continue
		}
		for n := range s.repeat {
			if n > 0 && s.every > 0 {
				p.moved = true
				if err := p.d.happen(ctx, &step{kind: kindAdvance, duration: s.every}); err != nil {
					return fmt.Errorf("line %d: %w", s.line, err)
				}
			}
			if err := p.call(ctx, s, n); err != nil {
				return fmt.Errorf("line %d: %w", s.line, err)
			}
		}
	}
	return nil
}

// read makes a call that only reads, as the agent does before it acts.
func (p *player) read(ctx context.Context, s *step) error {
	a, err := p.d.call(ctx, s.tool, appendJSON(nil, s.arguments))
	switch {
	case err != nil:
		return err
	case a.refused:
		p.violation("%s was refused", s.tool)
	case !strings.Contains(a.text, s.text):
		p.violation("%s did not show what the agent was to read", s.tool)
	}
	return nil
}

// call makes the n-th call of a step and holds what the journal says of it against what
// must be.
func (p *player) call(ctx context.Context, s *step, n int) error {
	var a answer
	var err error
	if s.kind == kindRaw {
		a, err = p.d.raw(p.d.named(s.text), s.answers)
	} else {
		var arguments []byte
		if arguments, err = p.d.arguments(s, n); err == nil {
			a, err = p.d.call(ctx, s.tool, arguments)
		}
	}
	if err != nil {
		return err
	}
	if s.free {
		p.moved = true
	}
	if err := p.d.oracle.look(ctx, false); err != nil {
		return err
	}
	j, err := p.d.judgement(ctx)
	if err != nil {
		return err
	}
	p.note(s, &j)
	if s.free {
		return nil
	}
	var expect []string
	if n >= s.allowed {
		expect = s.expect
	}
	p.compare(s, n, expect, &j, a)
	return nil
}

// note keeps who refused, for the report.
func (p *player) note(s *step, j *judgement) {
	maps.Copy(p.got, j.refusing)
	for id := range j.faults {
		if !s.faults {
			p.got["fault:"+id] = true
		}
	}
	if j.allowed {
		p.passed++
	}
}

func (p *player) compare(s *step, n int, expect []string, j *judgement, a answer) {
	where := fmt.Sprintf("line %d", s.line)
	if s.repeat > 1 {
		where += fmt.Sprintf(", call %d", n+1)
	}
	if len(j.faults) > 0 && !s.faults {
		p.violation("%s: %s could not decide, which is no refusal", where, strings.Join(sorted(j.faults), ", "))
	}
	got := sorted(j.refusing)
	switch {
	case !slices.Equal(got, expect):
		p.violation("%s: refused by %s, and it must be %s", where, nobody(got), nobody(expect))
	case s.quiet && j.entries > 0, !s.quiet && j.entries != 1:
		p.violation("%s: %d entries in the journal say what became of it", where, j.entries)
	case len(expect) > 0 && !j.denied:
		p.violation("%s: the verdict is not a denial", where)
	case len(expect) == 0 && !s.quiet && !j.allowed:
		p.violation("%s: it was not allowed", where)
	}
	// The answer of a message without one is the ping's.
	if told := a.refused || s.kind == kindRaw && s.answers == 0; !told && len(expect) > 0 {
		p.violation("%s: refused, and the answer does not say so", where)
	}
	if a.refused && len(expect) == 0 && !s.doubt {
		p.violation("%s: it passed, and the answer says that it failed", where)
	}
}

func nobody(ids []string) string {
	if len(ids) == 0 {
		return "nobody"
	}
	return strings.Join(ids, " + ")
}

// judgement is what the journal says of one call.
type judgement struct {
	allowed  bool
	denied   bool
	refusing map[string]bool
	faults   map[string]bool
	entries  int // decisions and refusals
}

// judgement reads the entries that were written since the last look as those of one call.
func (d *desk) judgement(ctx context.Context) (judgement, error) {
	all := judgement{refusing: map[string]bool{}, faults: map[string]bool{}}
	each, err := d.judgements(ctx)
	for i := range each {
		j := &each[i]
		all.allowed, all.denied = j.allowed, j.denied
		all.entries += j.entries
		maps.Copy(all.refusing, j.refusing)
		maps.Copy(all.faults, j.faults)
	}
	return all, err
}

// judgements reads the decisions and refusals that were written since the last look.
func (d *desk) judgements(ctx context.Context) (out []judgement, err error) {
	err = d.look(ctx, func(e *journal.Entry) error {
		j := judgement{refusing: map[string]bool{}, faults: map[string]bool{}}
		switch e.Kind {
		case journal.KindDecision:
			body, err := journal.DecodeBody[journal.Decision](e)
			if err != nil {
				return err
			}
			j.entries++
			j.decided(&body)
			if j.allowed && body.Intent.Action == order.ActionNew && body.Intent.ClientOrderID != "" {
				d.orders[body.Intent.ClientOrderID] = fmt.Sprintf("%s/%d", d.account, e.Seq)
			}
		case journal.KindRefusal:
			body, err := journal.DecodeBody[journal.Refusal](e)
			if err != nil {
				return err
			}
			j.entries += body.Count
			if body.Denial {
				j.denied = true
				j.refusing[body.Code] = true
			} else {
				j.faults[body.Code] = true
			}
		default:
			return nil
		}
		out = append(out, j)
		return nil
	})
	return out, err
}

func (j *judgement) decided(body *journal.Decision) {
	j.allowed, j.denied = body.Verdict == journal.VerdictAllowed, body.Verdict == journal.VerdictDenied
	for _, f := range body.Findings {
		if f.Status == "deny" {
			j.refusing[f.Rail] = true
		} else {
			j.faults[f.Rail] = true
		}
	}
}

func sorted(set map[string]bool) []string {
	out := []string{}
	return append(out, slices.Sorted(maps.Keys(set))...)
}

func sortedKeys[V any](by map[string]V) []string { return slices.Sorted(maps.Keys(by)) }
