package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/bound"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

type boundFlags struct {
	html, equity string
	symbols      []string
	seed         uint64
	proof        bool
}

func (a *app) limitsBoundCommand() *cobra.Command {
	var f boundFlags
	c := &cobra.Command{
		Use: "bound", Short: "Say the most that a hostile agent can do in a minute and in a day, with the proof", Args: none,
		Long: "From the numbers of the limits document alone: the most shares, exposure, turnover, orders,\n" +
			"overpayment and loss in a minute, over the edge of a minute, and in a day, for an account that\n" +
			"begins flat, if quotes stand still and every order fills at its own limit. A simulated attacker\n" +
			"then tries to get there, in memory and through the real gate and paper broker, and the gap is\n" +
			"printed. It judges the limits document at its usual place, or --limits FILE, or the shipped one\n" +
			"if there is none. An attacker that exceeds a bound is exit code 4.",
		Example: "rails limits bound\nrails limits bound --proof --symbol AAPL\nrails limits bound --limits limits.yaml --equity 25000 --html bound.html",
		RunE:    func(c *cobra.Command, _ []string) error { return a.limitsBound(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.html, "html", "", "file for a page with pictures")
	flags.StringVar(&f.equity, "equity", "100000", "cash that the flat account begins with, in the document's currency")
	flags.StringSliceVar(&f.symbols, "symbol", nil, "symbols that the agent may use (default: all that the document lists)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the attacker's search")
	flags.BoolVar(&f.proof, "proof", false, "print the derivation of every bound")
	return c
}

func (a *app) limitsBound(ctx context.Context, f *boundFlags) error {
	cash, err := money.ParseNotional(f.equity)
	if err != nil || !cash.IsPositive() {
		return usage("such as --equity 25000", "--equity is not an amount above 0")
	}
	name, text, err := a.lintedText()
	if err != nil {
		return err
	}
	doc, err := limits.Load(name, text)
	if err != nil {
		return err
	}
	for i := range f.symbols {
		f.symbols[i] = strings.ToUpper(f.symbols[i])
	}
	r, err := bound.Run(ctx, doc, bound.Options{Cash: cash, Symbols: f.symbols, Seed: f.seed, Page: f.html != ""})
	var unknown *bound.SymbolError
	var many *bound.SymbolsError
	switch {
	case errors.As(err, &unknown):
		return usage(unknown.Hint(), "%s", unknown.Error())
	case errors.As(err, &many):
		return usage(many.Hint(), "%s", many.Error())
	case err != nil:
		return err
	}
	if f.html != "" {
		if err := os.WriteFile(f.html, r.Page, 0o644); err != nil {
			return err
		}
	}
	if a.flags.json {
		err = a.out.json(r)
	} else {
		err = a.printBound(name, f, r)
	}
	if err == nil && r.Exceeded() {
		return silently(exitDenied)
	}
	return err
}

func (a *app) printBound(name string, f *boundFlags, r *bound.Report) error {
	p := a.out
	p.text(p.strong(r.Headline()))
	p.line()
	p.line("By ", name, ", from a flat account with ", r.Cash, " ", r.Currency)
	for i := range r.Horizons {
		h := &r.Horizons[i]
		p.line()
		p.line(p.strong(h.Words))
		t := columns("harm", ">bound", ">attained", ">gap", "what bounds it")
		for j := range h.Harms {
			x := &h.Harms[j]
			by := x.Tight
			if x.Unbounded {
				by = strings.Join(x.Says(), "")
			}
			t.add(x.Measure.Words(), a.boundWords(x), x.AttainedWords(), x.GapWords(), by)
		}
		p.table(t, "")
		if f.proof {
			a.printProof(h)
		}
	}
	if len(r.Notes) > 0 {
		p.line()
		p.line(p.strong("These limits allow more than their names say:"))
	}
	for _, n := range r.Notes {
		p.hanging("  ", n)
	}
	p.line()
	p.line(p.strong("The price model:"))
	for _, m := range r.Model {
		p.hanging("  ", m)
	}
	p.line()
	if !f.proof || f.html == "" {
		p.line(p.dim("see every derivation with --proof, pictures with --html FILE"))
	}
	return p.failed
}

func (a *app) boundWords(h *bound.Harm) string {
	if h.Unbounded {
		return a.out.bad("unbounded")
	}
	return h.BoundWords()
}

func (a *app) printProof(h *bound.Horizon) {
	p := a.out
	for i := range h.Harms {
		x := &h.Harms[i]
		p.line()
		p.line(x.Measure.Words(), " ≤ ", x.BoundWords())
		for _, l := range x.Says() {
			p.hanging("    ", l)
		}
		if x.Denied > 0 {
			p.line("    ", fmt.Sprintf("%d orders of the attacker's plan were refused by the gate", x.Denied))
		}
	}
	p.line()
	t := columns("symbol", "side", ">most held", ">attained", "what bounds it")
	for i := range h.Positions {
		x := &h.Positions[i]
		most := x.Bound
		if x.Unbounded {
			most = p.bad("unbounded")
		}
		t.add(x.Symbol, x.Side, most, x.AttainedWords(), x.Tight)
	}
	p.table(t, "")
}
