package adversary

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
)

// line is one case of a report in JSON.
type line struct {
	Schema   string   `json:"schema"`
	Channel  string   `json:"channel"`
	Name     string   `json:"name"`
	Expected []string `json:"expected"`
	Got      []string `json:"got"`
	OK       bool     `json:"ok"`
	Served   bool     `json:"rails_serve,omitzero"`
	Note     string   `json:"note,omitzero"`
	Problems []string `json:"problems,omitempty"`
}

// Main plays the cases and reports each: a table for people, or with asJSON one object a
// case. It returns how many were violated. The error says that the report could not be
// written, or that ctx ended before the last case.
func Main(ctx context.Context, cases []Case, o Options, out io.Writer, asJSON bool) (violated int, err error) {
	width := 0
	if o.Attackers > 1 {
		width = len([]rune(stormName(o.Attackers)))
	}
	for i := range cases {
		width = max(width, len([]rune(title(cases[i].Name))))
	}
	played := map[string]int{}
	passed := map[string]int{}
	if !asJSON {
		if err := writeHead(out, len(cases), &o); err != nil {
			return 0, err
		}
	}
	err = playAll(ctx, cases, o, func(r *Result) error {
		played[r.Channel]++
		if r.OK() {
			passed[r.Channel]++
		} else {
			violated++
		}
		if asJSON {
			return writeJSON(out, r)
		}
		return writeRow(out, r, width)
	})
	if err != nil {
		return violated, err
	}
	if asJSON {
		return violated, nil
	}
	return violated, writeTotal(out, played, passed, violated)
}

// writeHead says what is about to happen, to somebody who has never seen it.
func writeHead(out io.Writer, cases int, o *Options) error {
	where := "a server in this process"
	if o.Server != nil && o.HTTP {
		where = "a server process that listens"
	} else if o.Server != nil {
		where = "a server process over its standard input and output"
	}
	who := "an attacker"
	if o.Attackers > 1 {
		who = fmt.Sprintf("%d attackers at once, each", o.Attackers)
	}
	attacks := fmt.Sprintf("%d attacks", cases)
	if cases == 1 {
		attacks = "One attack"
	}
	_, err := fmt.Fprintf(out, "%s on the gate: %s against %s,\nwith a paper account of its own. "+
		"Each must be refused by just the rails at the end of its row,\nthe broker's ledger must show nothing else, and a harmless twin must pass.\n\n", attacks, who, where)
	return err
}

func writeJSON(out io.Writer, r *Result) error {
	text, err := json.Marshal(line{
		"rails.adversarial/v1", r.Channel, r.Name, r.Expected, r.Got, r.OK(), r.Served, r.Note, r.Problems,
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

func writeRow(out io.Writer, r *Result, width int) error {
	mark := "✓ held    "
	if !r.OK() {
		mark = "✗ VIOLATED"
	}
	var b strings.Builder
	last := nobody(r.Expected)
	if r.Note != "" {
		last = r.Note
	}
	fmt.Fprintf(&b, "%s  %-9s  %-*s  %s\n", mark, r.Channel, width, r.Name, last)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "            %s\n", p)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func writeTotal(out io.Writer, played, passed map[string]int, violated int) error {
	var b strings.Builder
	b.WriteString("\n")
	for _, channel := range []string{Direct, Protocol, Injection} {
		if played[channel] > 0 {
			fmt.Fprintf(&b, "%-9s  %d of %d held\n", channel, passed[channel], played[channel])
		}
	}
	switch violated {
	case 0:
		b.WriteString("Every attack was refused by the rail that must refuse it, and every benign twin passed.\n")
	default:
		fmt.Fprintf(&b, "violations: %d\n", violated)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
