package cli

import (
	"context"

	"github.com/spf13/cobra"
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
	var w watching
	n := decisionsShown
	c := &cobra.Command{
		Use: "decisions", Short: "List the newest decisions and refusals, oldest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 || n > decisionsMax {
				return usage("", "--limit %d is not within 1 and %d", n, decisionsMax)
			}
			return a.look(c.Context(), w, func(d *deck) error { return a.decisions(c.Context(), d, n) })
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

func (a *app) decisionTable(list []decisionView) {
	t := columns("decision", "at", "verdict", "order", "outcome, or what stood in the way")
	for i := range list {
		v := &list[i]
		t.add(v.ID, marketTime(v.At), a.out.verdict(v.Verdict), v.asked(), dash(v.why()))
	}
	a.out.table(t, "")
}
