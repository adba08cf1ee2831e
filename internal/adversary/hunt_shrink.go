package adversary

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// shrink makes a case shorter for as long as it fails the same check: first without runs
// of steps, then without calls of a series, then without terms of a call.
func (h *Hunt) shrink(ctx context.Context, c *Case, f *Found) (*Case, []string) {
	best := *c
	problems := []string{}
	fails := func(steps []step) bool {
		if f.Replays >= shrinkMax || ctx.Err() != nil {
			return false
		}
		f.Replays++
		as := best
		as.attack = steps
		p := h.try(ctx, &as)
		for _, found := range p.r.Problems {
			if checkOf(found) == f.Check {
				best, problems = as, p.r.Problems
				return true
			}
		}
		return false
	}
	if !fails(best.attack) { // calls at once race: it may need some tries
		for range 5 {
			if fails(best.attack) {
				break
			}
		}
	}
	for before := -1; before != size(best.attack); {
		before = size(best.attack)
		withoutRuns(&best, fails)
		withoutWaits(&best, fails)
		withoutCalls(&best, fails)
		withoutTerms(&best, fails)
	}
	if len(problems) == 0 {
		problems = []string{"attack: " + f.Check + ": it was seen once, and not again when it was played anew"}
	}
	return &best, problems
}

func size(steps []step) (n int) {
	for i := range steps {
		n += steps[i].repeat
		if steps[i].arguments != nil {
			n += len(steps[i].arguments.Keys)
		}
	}
	return n
}

// withoutRuns leaves out halves, quarters and so on down to single steps.
func withoutRuns(best *Case, fails func([]step) bool) {
	for run := (len(best.attack) + 1) / 2; run >= 1; run /= 2 {
		for at := 0; at < len(best.attack); {
			end := min(at+run, len(best.attack))
			shorter := slices.Concat(best.attack[:at], best.attack[end:])
			if len(shorter) == 0 || !fails(shorter) {
				at = end
			}
		}
	}
}

// withoutWaits makes one wait of two that follow each other: the first alone may end in
// hours in which nothing passes.
func withoutWaits(best *Case, fails func([]step) bool) {
	for i := 0; i+1 < len(best.attack); {
		a, b := &best.attack[i], &best.attack[i+1]
		if a.kind != kindAdvance || b.kind != kindAdvance {
			i++
			continue
		}
		steps := slices.Concat(best.attack[:i], best.attack[i+1:])
		steps[i].duration = a.duration + b.duration
		if !fails(steps) {
			i++
		}
	}
}

// withoutCalls makes a series shorter, and its calls one after another.
func withoutCalls(best *Case, fails func([]step) bool) {
	for i := range best.attack {
		with := func(change func(s *step)) bool {
			steps := slices.Clone(best.attack)
			change(&steps[i])
			return fails(steps)
		}
		if best.attack[i].atOnce {
			with(func(s *step) { s.atOnce = false })
		}
		if best.attack[i].every > 0 {
			with(func(s *step) { s.every = 0 })
		}
		for by := best.attack[i].repeat / 2; by >= 1; by /= 2 {
			for best.attack[i].repeat > by && with(func(s *step) { s.repeat -= by }) {
				continue
			}
		}
	}
}

// withoutTerms leaves out what a call says beside the plain order.
func withoutTerms(best *Case, fails func([]step) bool) {
	for i := range best.attack {
		if best.attack[i].kind != kindOrder && best.attack[i].kind != kindCall || best.attack[i].arguments == nil {
			continue
		}
		for k := 0; k < len(best.attack[i].arguments.Keys); {
			t := *best.attack[i].arguments
			t.Keys, t.Values = slices.Concat(t.Keys[:k], t.Keys[k+1:]), slices.Concat(t.Values[:k], t.Values[k+1:])
			steps := slices.Clone(best.attack)
			steps[i].arguments = &t
			if !fails(steps) {
				k++
			}
		}
	}
}

// Text is a made-up case as Load reads it.
func (c *Case) Text() []byte {
	var b []byte
	line := func(key string, value []byte) { b = append(append(append(b, "  "+key+": "...), value...), '\n') }
	b = append(b, "# Made up by rails adversarial --random, and made as short as it could be.\n- channel: "+c.Channel+"\n"...)
	line("name", strict.AppendQuoted(nil, c.Name))
	line("why", strict.AppendQuoted(nil, c.Why))
	if c.limits != nil {
		line("limits", appendJSON(nil, c.limits))
	}
	line("cash", strict.AppendQuoted(nil, c.begin.cash.String()))
	b = append(b, "  attack:\n"...)
	for i := range c.attack {
		b = append(append(append(b, "    - "...), appendStep(nil, &c.attack[i])...), '\n')
	}
	line("world", []byte("{held: true}"))
	line("no_twin", strict.AppendQuoted(nil, c.noTwin))
	return plainBytes(b)
}

// plainBytes writes what is not plain ASCII as YAML's escapes: a file shows it, and a
// reader that refuses unseen marks takes it.
func plainBytes(text []byte) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			b = fmt.Appendf(b, `\U%08x`, r)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

func appendStep(b []byte, s *step) []byte {
	t := &strict.Tree{Shape: strict.Mapping}
	plainly := func(key, value string) {
		t.Keys, t.Values = append(t.Keys, text(key)), append(t.Values, &strict.Tree{Shape: strict.Scalar, Text: value, Bool: value == "true", Number: strings.Trim(value, "0123456789") == ""})
	}
	under := func(key string, v *strict.Tree) { t.Keys, t.Values = append(t.Keys, text(key)), append(t.Values, v) }
	switch s.kind {
	case kindOrder:
		under("order", s.arguments)
	case kindCall:
		call := mapping("tool", s.tool)
		if s.arguments != nil {
			call.Keys, call.Values = append(call.Keys, text("arguments")), append(call.Values, s.arguments)
		} else {
			put(call, "arguments", s.text)
		}
		under("call", call)
	case kindQuote:
		q := mapping("symbol", s.quote.symbol)
		put(q, "bid", s.quote.bid.String())
		put(q, "ask", s.quote.ask.String())
		put(q, "age", s.quote.age.String())
		if s.quote.halted {
			put(q, "halted", "true")
		}
		under("quote", q)
	case kindAdvance, kindWall:
		under(string(s.kind), text(s.duration.String()))
	case kindReconnect, kindRestart, kindReconcile:
		plainly(string(s.kind), "true")
	default:
		under(string(s.kind), text(s.text))
	}
	if s.repeat > 1 {
		plainly("repeat", strconv.Itoa(s.repeat))
	}
	if s.every > 0 {
		under("every", text(s.every.String()))
	}
	if !s.priceBy.IsZero() {
		under("price_by", text(s.priceBy.String()))
	}
	if s.atOnce {
		plainly("at_once", "true")
	}
	if s.free {
		plainly("free", "true")
	}
	return appendJSON(b, t)
}
