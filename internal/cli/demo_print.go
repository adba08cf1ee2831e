package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/money"
)

func demoCash() money.Notional { return paper.StartingCash() }

// demoSlack is what the demonstration's limit price leaves for the quote to move.
func demoSlack() money.Price { return money.MustPrice("0.05") }

func (a *app) printDemo(v *demoView) error {
	p := a.out
	p.line(p.badge(false), " an agent connects over MCP ", p.dim("(protocol "+v.Protocol+", "+v.Server+")"))
	p.line(p.dim("tools: " + strings.Join(v.Tools, ", ")))
	for i := range v.Calls {
		p.line("")
		a.printCall(i+1, &v.Calls[i])
	}
	p.line("")
	p.line(p.strong("The journal"), p.dim("  each entry names the hash of the one before it"))
	t := columns(">seq", "kind", "verdict", "prev", "hash")
	for _, e := range v.Entries {
		prev := short(e.Prev.String())
		if e.Prev.IsZero() {
			prev = "-"
		}
		t.add(seqText(e.Seq), string(e.Kind), p.verdict(dash(e.Verdict)), p.dim(prev), short(e.Hash.String()))
	}
	p.table(t, "  ")
	if v.Chain {
		p.line("  chain ", p.good("intact"))
	} else {
		p.line("  chain ", p.bad("broken"))
	}
	p.line("")
	p.line(p.strong("Positions"), p.dim("  folded from the journal"))
	held := columns("symbol", ">quantity", ">cost", ">value")
	for _, h := range v.Positions {
		held.add(h.Symbol, h.Quantity, h.Cost, dash(h.Value))
	}
	p.table(held, "  ")
	p.line("")
	p.line(p.strong("The broker's own ledger"), p.dim("  a file of its own, never derived from the journal"))
	p.line(fmt.Sprintf("  orders received: %d at first, %d after the allowed order, %d after the denied one; %s",
		v.Ledger.Before, v.Ledger.Allowed, v.Ledger.Denied, plural(v.Ledger.Fills, "execution", "executions")))
	p.line("")
	a.printNext(v)
	return p.failed
}

func (a *app) printCall(n int, c *demoCall) {
	p := a.out
	names := make([]string, 0, len(c.Arguments))
	for _, name := range []string{"symbol", "side", "order_type", "quantity", "limit_price", "time_in_force", "client_order_id"} {
		if _, ok := c.Arguments[name]; ok {
			names = append(names, name)
		}
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s=%v", name, c.Arguments[name])
	}
	p.line(p.strong(fmt.Sprintf("%d. The agent calls %s", n, c.Tool)), "  ", strings.Join(parts, " "))
	mark, paint := "allowed", p.good
	if c.Refused {
		mark, paint = "refused", p.bad
	}
	p.line("   ", paint(mark), "; the agent sees:")
	for _, line := range slices.Collect(strings.SplitSeq(strings.TrimRight(c.Answer, "\n"), "\n")) {
		p.line("   ", p.dim("| "), line)
	}
}

func (a *app) printNext(v *demoView) {
	p := a.out
	p.line(p.strong("Next"))
	if v.Kept {
		where := " --data " + quoted(v.Data) + " --limits " + quoted(v.Data+"/"+limitsFileName)
		p.line("  rails decisions", where)
		p.line("  rails explain paper/", seqText(deniedSeq(v)), where)
	}
	p.line("  rails init            make an account of your own, with limits to edit")
	p.line("  rails serve           what Claude Desktop, Claude Code or Cursor start")
	p.line("  rails halt --reason R stop everything, from any terminal")
}

// deniedSeq is the newest entry with a verdict of denied.
func deniedSeq(v *demoView) uint64 {
	for _, e := range slices.Backward(v.Entries) {
		if e.Verdict == "denied" {
			return e.Seq
		}
	}
	return 0
}
