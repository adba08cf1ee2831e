package cli

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

type findingView struct {
	Rail     string `json:"rail"`
	Status   string `json:"status"` // pass, deny, fault or off
	Observed string `json:"observed,omitzero"`
	Limit    string `json:"limit,omitzero"`
	Passes   string `json:"passes,omitzero"`
	Text     string `json:"text,omitzero"`
}

type checkView struct {
	Schema   string        `json:"schema"`
	Account  string        `json:"account,omitzero"`
	Verdict  string        `json:"verdict"`
	Rails    []string      `json:"rails"`
	Faults   []string      `json:"faults"`
	Findings []findingView `json:"findings"`
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE|-]", Short: "Judge one order without sending it, and show every finding",
		Long: "Reads the arguments of place_order as one JSON object, from a file or standard input,\n" +
			"and judges them by the limits in force. Nothing is sent, counted or reserved.",
		Example: `  echo '{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":10,` + "\n" +
			`    "limit_price":"202.00","time_in_force":"day"}' | rails check`,
		Args: atMost(1, "at most one file, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := a.readOrder(c.Context(), args)
			if err != nil {
				return err
			}
			return a.withDeck(c.Context(), trading, func(d *deck) error { return a.check(c.Context(), d, raw) })
		},
	}
}

// readOrder reads the order's text, bounded as a tool call's arguments are.
func (a *app) readOrder(ctx context.Context, args []string) ([]byte, error) {
	in := a.in
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, &failure{code: exitUsage, what: "the order was not read", err: err}
		}
		defer func() { _ = f.Close() }() // read only: nothing can be lost
		in = f
	}
	if terminal(in) {
		a.errs.line("rails: type the order as one JSON object, then Ctrl-D")
	}
	raw, err := unlessStopped(ctx, func() (string, error) {
		text, err := io.ReadAll(io.LimitReader(in, normalize.ArgumentsBytesMax+1))
		return string(text), err
	})
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &failure{code: exitUsage, what: "the order was not read", err: err}
	}
	return []byte(raw), nil
}

func (a *app) check(ctx context.Context, d *deck, raw []byte) error {
	v := checkView{Schema: "rails.check/v1", Account: d.account}
	n, refusal := normalize.Call(normalize.CheckOrder, raw)
	if refusal != nil {
		v.Verdict, v.Rails = journal.VerdictDenied, []string{string(refusal.Code)}
		v.Findings = []findingView{{
			Rail: string(refusal.Code), Status: "deny", Text: strings.TrimSpace(refusal.Field + " " + refusal.Problem + "."),
		}}
	} else {
		// A process of its own knows nothing of the broker until it has asked.
		if d.alpaca != nil {
			if err := d.gate.Start(ctx); err != nil {
				return unreached("the account was not reconciled", err)
			}
		}
		j := d.gate.Check(ctx, gate.Call{Intent: n.Intent, Door: doorCommandLine, Agent: operator(), Note: n.Note})
		v.take(&j)
	}
	if err := a.printCheck(&v); err != nil {
		return err
	}
	return silently(verdictCode(v.Verdict))
}

func (v *checkView) take(j *gate.Judgement) {
	if j.Fault != "" {
		v.Verdict, v.Faults = journal.VerdictError, []string{j.Fault}
		return
	}
	v.Verdict, v.Rails, v.Faults = j.Decision.Verdict.String(), j.Decision.Refusing(), j.Decision.Faults()
	v.Findings = findingsOf(&j.Decision)
}

// findingsOf lists every answer, passes too, an integrity refusal first.
func findingsOf(d *risk.Decision) []findingView {
	var out []findingView
	if d.Integrity != "" {
		status := "deny"
		if d.Verdict == risk.Error {
			status = "fault"
		}
		out = append(out, findingView{Rail: d.Integrity, Status: status, Text: d.IntegrityText})
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Status == rail.StatusNone {
			continue
		}
		out = append(out, findingView{
			Rail: string(f.Rail), Status: f.Status.String(), Observed: f.Observed, Limit: f.Limit, Passes: f.Passes, Text: f.Text,
		})
	}
	return out
}

func (a *app) printCheck(v *checkView) error {
	if a.flags.json {
		return a.out.json(v)
	}
	head := a.out.verdict(v.Verdict)
	if why := strings.Join(append(append([]string{}, v.Rails...), v.Faults...), ", "); why != "" {
		head += " " + why
	}
	a.out.line(head)
	a.findingTable(v.Findings)
	return a.out.failed
}

func (a *app) findingTable(list []findingView) {
	if len(list) == 0 {
		return
	}
	t := columns("rail", "finding", "observed", "limit", "what would pass")
	for _, f := range list {
		t.add(f.Rail, a.out.verdict(f.Status), dash(f.Observed), dash(f.Limit), dash(f.Passes))
	}
	a.out.table(t, "")
	for _, f := range list {
		if f.Text != "" {
			a.out.line(a.out.verdict(f.Status), " ", f.Rail, ": ", f.Text)
		}
	}
}

// verdictCode is the exit code of a verdict.
func verdictCode(verdict string) int {
	switch verdict {
	case journal.VerdictAllowed:
		return exitDone
	case journal.VerdictDenied:
		return exitDenied
	}
	return exitFailed
}
