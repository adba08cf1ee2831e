package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

type reconcileView struct {
	Schema      string               `json:"schema"`
	Account     string               `json:"account"`
	AsOf        time.Time            `json:"as_of"`
	Differences []journal.Difference `json:"differences"`
	Adopted     []string             `json:"adopted"`
	Resolved    []journal.Resolution `json:"resolved"`
	InDoubt     []string             `json:"in_doubt"`
	External    int                  `json:"external_orders"`
}

// findingFlags are what an operator says of one order in doubt.
type findingFlags struct {
	placed, notPlaced, adopt bool
	filled, reason           string
}

func (a *app) reconcileCommand() *cobra.Command {
	var f findingFlags
	c := &cobra.Command{
		Use:   "reconcile [ID --placed|--not-placed|--filled Q@P --reason R]",
		Short: "Ask the broker and compare, or record what a person found out",
		Long: "Without an id the broker is asked for everything, and what differs is shown. With one,\n" +
			"a person's finding about an order in doubt is recorded. --adopt takes the broker's\n" +
			"positions and cash for the truth.",
		Args: atMost(1, "at most one order id"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.resolve(c.Context(), args[0], &f)
			}
			return a.reconcile(c.Context(), &f)
		},
	}
	c.Flags().BoolVar(&f.placed, "placed", false, "the order is at the broker")
	c.Flags().BoolVar(&f.notPlaced, "not-placed", false, "the broker never had the order")
	c.Flags().StringVar(&f.filled, "filled", "", "the order filled: quantity@price")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "take the broker's positions and cash for the truth")
	c.Flags().StringVar(&f.reason, "reason", "", "why; it stands in the journal")
	return c
}

func (f *findingFlags) finding() bool { return f.placed || f.notPlaced || f.filled != "" }

func (a *app) reconcile(ctx context.Context, f *findingFlags) error {
	var adopt *gate.Adopt
	switch {
	case f.finding():
		return usage("name the order: rails reconcile ID --placed --reason R", "a finding is about one order")
	case f.adopt && f.reason == "":
		return usage("say why with --reason", "--adopt needs a reason")
	case f.adopt:
		adopt = &gate.Adopt{Who: a.operator(), Reason: f.reason}
	}
	return a.withDeck(ctx, trading, func(d *deck) error {
		found, err := d.gate.Reconcile(ctx, adopt)
		if err != nil {
			return unreached("not reconciled", err)
		}
		v := reconcileView{
			Schema: "rails.reconcile/v1", Account: d.account, AsOf: found.AsOf, Differences: found.Differences, Adopted: found.Adopted,
			Resolved: found.Resolved, InDoubt: found.StillDoubt, External: found.External,
		}
		if a.flags.json {
			err = a.out.json(v)
		} else {
			err = a.printReconcile(&v)
		}
		if err == nil && len(v.Differences)+len(v.InDoubt) > 0 {
			err = silently(exitBroker)
		}
		return err
	})
}

func (a *app) printReconcile(v *reconcileView) error {
	p := a.out
	for _, r := range v.Resolved {
		p.line(r.OrderID, " was ", strings.ReplaceAll(r.Result, "_", " "))
	}
	for _, id := range v.InDoubt {
		p.line(p.warn(id+" stays in doubt"), "; record what you find with: rails reconcile ", id, " --placed|--not-placed|--filled Q@P --reason R")
	}
	for _, d := range v.Differences {
		p.line(p.bad("differs: "), orCash(d.Symbol), "  journal ", d.Ledger.String(), ", broker ", d.Broker.String())
	}
	for _, s := range v.Adopted {
		p.line("adopted from the broker: ", orCash(s))
	}
	if v.External > 0 {
		p.line(plural(v.External, "open order", "open orders"), " at the broker did not come through the gate")
	}
	if len(v.Differences) > 0 {
		p.line("take the broker's figures over with: rails reconcile --adopt --reason R")
	} else if len(v.InDoubt) == 0 {
		p.line(p.good("journal and broker agree"), p.dim("  as of "+marketTime(v.AsOf)))
	}
	return p.failed
}

func orCash(symbol string) string {
	if symbol == "" {
		return "cash"
	}
	return symbol
}

// resolve records what a person found out about one order in doubt.
func (a *app) resolve(ctx context.Context, id string, f *findingFlags) error {
	r, err := f.resolution(id)
	if err != nil {
		return err
	}
	return a.withDeck(ctx, ruling, func(d *deck) error {
		if err := d.gate.ResolveByHand(ctx, a.operator(), r); err != nil {
			return &failure{code: exitFailed, err: err, hint: "orders in doubt are listed by: rails status"}
		}
		if a.flags.json {
			return a.out.json(reconcileView{
				Schema: "rails.reconcile/v1", Account: d.account, Resolved: []journal.Resolution{r},
			})
		}
		a.out.line(id, " is recorded as ", strings.ReplaceAll(r.Result, "_", " "))
		return a.out.failed
	})
}

func (f *findingFlags) resolution(id string) (journal.Resolution, error) {
	r := journal.Resolution{OrderID: id, Reason: f.reason}
	n := 0
	for _, on := range []bool{f.placed, f.notPlaced, f.filled != ""} {
		if on {
			n++
		}
	}
	switch {
	case f.adopt:
		return r, usage("leave the id out", "--adopt is about the whole account, not one order")
	case n != 1:
		return r, usage("", "say exactly one of --placed, --not-placed, --filled Q@P")
	case f.reason == "":
		return r, usage("say why with --reason", "a finding needs a reason")
	case f.placed:
		r.Result = journal.ResolvedPlaced
		return r, nil
	case f.notPlaced:
		r.Result = journal.ResolvedNotPlaced
		return r, nil
	}
	r.Result = journal.ResolvedFilled
	quantity, price, ok := strings.Cut(f.filled, "@")
	var err error
	if ok {
		if r.Quantity, err = money.ParseQuantity(quantity); err == nil {
			r.Price, err = money.ParsePrice(price)
		}
	}
	if !ok || err != nil || !r.Quantity.IsPositive() || !r.Price.IsPositive() {
		return r, usage("write quantity@price, such as 10@199.95", "--filled %q is not a quantity and a price", f.filled)
	}
	return r, nil
}
