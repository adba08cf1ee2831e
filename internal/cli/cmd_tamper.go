package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/tamper"
)

// tamperFor bounds the whole demonstration.
const tamperFor = 5 * time.Minute

type tamperView struct {
	Schema string `json:"schema"`
	Data   string `json:"data"` // empty: a session was run for it
	*tamper.Report
}

func (a *app) tamperCommand() *cobra.Command {
	return &cobra.Command{
		Use: "audit-tamper-demo", Short: "Forge a copy of a journal in every way, and see which defence notices", Args: none,
		Long: "Runs a short paper session through the gate in a temporary folder, and forges copies of its\n" +
			"journal: flips a refused order to allowed, cuts the end, computes the chain again, writes\n" +
			"everything anew with the journal's own key. Each copy is put before every defence; the\n" +
			"table shows what each said. With --data it forges copies of your journal, which is only\n" +
			"read. An answer that is not as it must be is exit code 4.",
		RunE: func(c *cobra.Command, _ []string) error { return a.tamper(c.Context()) },
	}
}

func (a *app) tamper(ctx context.Context) (err error) {
	ctx, stop := context.WithTimeout(ctx, tamperFor)
	defer stop()
	work, err := os.MkdirTemp("", "rails-tamper-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	v := tamperView{Schema: "rails.audit-tamper-demo/v1"}
	data, calendar := filepath.Join(work, "session"), market.XNYS()
	if a.flags.data != "" {
		if v.Data, err = a.dataFolder(); err != nil {
			return err
		}
		data = v.Data
		d, err := a.openJournal(ctx, looking)
		if err != nil {
			return err
		}
		calendar = d.calendar
		if err := d.Close(ctx); err != nil {
			return err
		}
	} else if err := tamperSession(ctx, data); err != nil {
		return err
	}
	system := clock.NewSystem()
	v.Report, err = tamper.Run(ctx, tamper.Options{
		Data: data, Work: filepath.Join(work, "forged"), Calendar: calendar, Now: func() time.Time { return system.Read().Wall },
		Record: func(ctx context.Context, name string) (*audit.BrokerRecord, error) {
			return paperRecord(ctx, data, name)
		},
	})
	switch {
	case errors.Is(err, tamper.ErrUnfit):
		return &failure{code: exitUsage, err: err, hint: "without --data it makes a journal of its own"}
	case err != nil:
		return err
	}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		err = a.printTamper(&v)
	}
	if err == nil && !v.AsDesigned {
		err = silently(exitDenied)
	}
	return err
}

// tamperSession is a day in small: orders that pass, orders that do not, a call of
// nothing, and an operator who stops and goes on.
func tamperSession(ctx context.Context, dir string) (err error) {
	d, err := demoDeck(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	near, far := mcp.NewInMemoryTransports()
	serving, err := mcpserver.New(d.door(nil)).Connect(ctx, far)
	if err != nil {
		return err
	}
	defer func() { _ = serving.Close() }() // the session is over
	session, err := mcp.NewClient(&mcp.Implementation{Name: "rails-demo", Version: version}, nil).Connect(ctx, near, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }() // the session is over
	ask, err := d.askPrice(ctx)
	if err != nil {
		return err
	}
	for _, o := range []struct {
		quantity string
		refused  bool
	}{{"10", false}, {"7", false}, {"5000", true}} {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: normalize.PlaceOrder, Arguments: map[string]any{
			"symbol": "AAPL", "side": "buy", "order_type": "limit", "quantity": o.quantity, "limit_price": ask, "time_in_force": "day",
		}})
		if err != nil {
			return err
		}
		if result.IsError != o.refused {
			return failed("", "the session did not go as it must: an order for %s", o.quantity)
		}
	}
	// A tool that does not exist is answered with an error, and journaled.
	_, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: "set_limits", Arguments: map[string]any{"max_order_qty": "9999"}})
	for _, m := range []struct{ mode, reason string }{
		{journal.ModeReduceOnly, "an order for 5,000 shares was refused"}, {journal.ModeActive, "looked at; the agent goes on"},
		{journal.ModeHalted, "the day is over"},
	} {
		if err := d.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: m.mode, Reason: m.reason, Who: "operator"}); err != nil {
			return err
		}
	}
	return nil
}

// linksShown is how many broken entries are listed; the rest are counted.
const linksShown = 6

func (a *app) printTamper(v *tamperView) error {
	p := a.out
	of := "a paper session of " + plural(v.Entries, "entry", "entries") + ", run through the gate for this"
	if v.Data != "" {
		of = plural(v.Entries, "entry", "entries") + " in " + v.Data + ", copied; the journal itself is only read"
	}
	p.line(p.strong("The journal"), "  ", of)
	p.line()
	p.line(p.strong("One verdict flipped"), "  entry ", v.Flipped, " says allowed instead of denied")
	links := columns(">seq", "kind", "hash in the journal", "hash that would follow", "chain")
	for i, l := range v.Links {
		if i == linksShown {
			break
		}
		state := p.bad("broken")
		if l.Intact {
			state = p.good("intact")
		}
		links.add(seqText(l.Seq), string(l.Kind), short(l.Stored.String()), short(l.Follow.String()), state)
	}
	p.table(links, "  ")
	if more := len(v.Links) - linksShown; more > 0 {
		p.line("  and ", plural(more, "entry", "entries"), " more, to the end of the account's chain")
	}
	p.line()
	p.line(p.strong("Who notices what"))
	head := []string{"forgery"}
	for _, d := range tamper.Defences() {
		head = append(head, string(d))
	}
	t := columns(head...)
	for _, r := range v.Rows {
		cells := []string{r.Attack}
		for _, c := range r.Cells {
			cells = append(cells, a.answer(c.Answer))
		}
		t.add(cells...)
	}
	p.table(t, "  ")
	for _, line := range []string{
		"chain      each entry names the hash of the one before it",
		"replay     the entries fold to the account, and risk.Decide gives every verdict again",
		"signature  checkpoints beside the journal, by the log's public key",
		"outside    a checkpoint that the auditor was given before",
		"witness    what a witness has cosigned, and would cosign now",
		"broker     the broker's own record: its order ids are made of the entries' hashes",
	} {
		p.line("  ", p.dim(line))
	}
	p.line("  ", p.dim("- lets it pass; n/a was not asked: the entries were refused before, or no broker's record is there"))
	p.line()
	for _, r := range v.Rows[1:] {
		a.printForgery(&r)
	}
	a.printUncaught()
	if !v.AsDesigned {
		p.line(p.bad("NOT AS IT MUST BE"), ": a defence did not answer as the design says")
	}
	return p.failed
}

func (a *app) answer(word tamper.Answer) string {
	switch word {
	case tamper.Caught:
		return a.out.good("caught")
	case tamper.Passes:
		return "-"
	}
	return a.out.dim("n/a")
}

func (a *app) printForgery(r *tamper.Row) {
	p := a.out
	p.line(p.strong(r.Attack), ": ", r.Does)
	for _, c := range r.Cells {
		if c.Answer == tamper.Caught {
			p.field("  "+string(c.Defence), c.Said)
		}
	}
	if n := len(r.Attempts); n > 0 {
		p.field("  the forger", r.Attempts[n-1])
	}
	for _, text := range r.Missed {
		p.field("  "+p.bad("but"), text)
	}
	if !caught(r) {
		p.line("  ", p.warn("no defence notices it"))
	}
	p.line()
}

func caught(r *tamper.Row) bool {
	for _, c := range r.Cells {
		if c.Answer == tamper.Caught {
			return true
		}
	}
	return false
}

// printUncaught says what none of these can see, and what meets it.
func (a *app) printUncaught() {
	p := a.out
	p.line(p.strong("What no defence here catches"))
	for _, text := range []string{
		"An entry that was never made. It is met elsewhere: no order leaves without a durable entry,\n" +
			"and reconciliation finds a broker's order that has none.",
		"The loss of entries that nobody outside has seen: the last row. Have checkpoints cosigned\n" +
			"often; rails status shows how old the newest is.",
		"A lie at the time of writing: a false quote or a false clock is recorded as truly as a true one.",
		"A public key that the auditor took from the forger, or a witness that works for the forger.",
	} {
		p.line("  * ", strings.ReplaceAll(text, "\n", "\n    "))
	}
}
