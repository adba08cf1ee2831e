package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// Bounds of decisions --limit.
const (
	decisionsShown = 20
	decisionsMax   = 10_000
)

type decisionsView struct {
	Schema    string         `json:"schema"`
	Account   string         `json:"account"`
	Decisions []decisionView `json:"decisions"`
}

func (a *app) decisionsCommand() *cobra.Command {
	w := watching{newOnly: true}
	n := decisionsShown
	c := &cobra.Command{
		Use: "decisions", Short: "List the newest decisions and refusals, oldest first", Args: none,
		Long: "Lists the newest decisions and refusals, oldest first. With --watch a terminal is drawn\n" +
			"anew at each look; a pipe, or --json, gets each of them once, one a line.",
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > decisionsMax {
				return usage("", "--limit %d is not within 1 and %d", n, decisionsMax)
			}
			follow := following{n: n}
			return a.look(c.Context(), w, func(d *deck) error {
				if w.on && (a.flags.json || !a.out.terminal) {
					return a.newDecisions(c.Context(), d, &follow)
				}
				return a.decisions(c.Context(), d, n)
			})
		},
	}
	c.Flags().IntVar(&n, "limit", decisionsShown, "how many to list")
	w.flags(c)
	return c
}

func (a *app) decisions(ctx context.Context, d *deck, n int) error {
	found, since, err := tail(ctx, d.store, d.account, n, isJudged)
	if err != nil {
		return err
	}
	v := decisionsView{Schema: "rails.decisions/v1", Account: d.account}
	if v.Decisions, err = decisionViews(found, since); err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	if len(v.Decisions) == 0 {
		a.out.line("no decisions yet")
		return a.out.failed
	}
	a.decisionTable(v.Decisions)
	return a.out.failed
}

// following is how far a watch that prints only what is new has come.
type following struct {
	n     int    // how many to begin with
	begun bool   // the first look is over
	after uint64 // the newest entry that was printed
	await uint64 // a decision without an outcome at the look before; it is waited for once
}

// decisionLine is one decision of a watch, a JSON object of its own.
type decisionLine struct {
	Schema   string       `json:"schema"`
	Account  string       `json:"account"`
	Decision decisionView `json:"decision"`
}

// newDecisions prints, one a line, what was decided since the look before.
func (a *app) newDecisions(ctx context.Context, d *deck, f *following) error {
	found, since, err := f.read(ctx, d)
	if err != nil {
		return err
	}
	list, err := decisionViews(found, since)
	if err != nil {
		return err
	}
	for i := range list {
		v, seq := &list[i], found[i].Seq
		if v.Outcome == outcomeNone && f.await != seq {
			f.await = seq
			return nil
		}
		f.after = seq
		if a.flags.json {
			if err := a.out.json(decisionLine{"rails.decision/v1", d.account, *v}); err != nil {
				return err
			}
			continue
		}
		a.out.line(strings.Join([]string{v.ID, marketTime(v.At), a.out.verdict(v.Verdict), v.asked(), dash(v.why())}, "  "))
	}
	return a.out.failed
}

func (f *following) read(ctx context.Context, d *deck) (found, since []journal.Entry, err error) {
	if !f.begun {
		f.begun = true
		found, since, err = tail(ctx, d.store, d.account, f.n, isJudged)
		if len(found) > 0 {
			f.after = found[0].Seq - 1
		}
		return found, since, err
	}
	return entriesAfter(ctx, d.store, d.account, f.after, isJudged)
}

func (a *app) decisionTable(list []decisionView) {
	t := columns("decision", "at", "verdict", "order", "outcome, or what stood in the way")
	for i := range list {
		v := &list[i]
		t.add(v.ID, marketTime(v.At), a.out.verdict(v.Verdict), v.asked(), dash(v.why()))
	}
	a.out.table(t, "")
}
