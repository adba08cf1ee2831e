package cli

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

// demoFor bounds the whole demonstration.
const demoFor = time.Minute

type demoView struct {
	Schema    string         `json:"schema"`
	Protocol  string         `json:"protocol"`
	Server    string         `json:"server"`
	Data      string         `json:"data"`
	Kept      bool           `json:"kept"` // the data folder stays
	Tools     []string       `json:"tools"`
	Calls     []demoCall     `json:"calls"`
	Entries   []demoEntry    `json:"entries"`
	Chain     bool           `json:"chain_intact"`
	Positions []positionView `json:"positions"`
	Ledger    demoLedger     `json:"broker_ledger"`
}

// demoCall is one tool call and the answer as the agent sees it.
type demoCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Refused   bool           `json:"refused"`
	Answer    string         `json:"answer"`
}

type demoEntry struct {
	Seq     uint64       `json:"seq"`
	Kind    journal.Kind `json:"kind"`
	Verdict string       `json:"verdict,omitzero"`
	Prev    journal.Hash `json:"prev"`
	Hash    journal.Hash `json:"hash"`
}

// demoLedger counts what reached the broker, by its own record.
type demoLedger struct {
	Before  int `json:"messages_before"`
	Allowed int `json:"messages_after_allowed"`
	Denied  int `json:"messages_after_denied"`
	Fills   int `json:"executions"`
}

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "One order passes and one is refused, over MCP, offline", Args: none,
		Long: "Makes a paper account in a temporary folder (or in --data, which must be new), connects\n" +
			"an MCP client to its server, and shows what an agent sees, what the journal holds and\n" +
			"what reached the broker.",
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

func (a *app) demo(ctx context.Context) (err error) {
	ctx, stop := context.WithTimeout(ctx, demoFor)
	defer stop()
	v := demoView{Schema: "rails.demo/v1", Kept: a.flags.data != ""}
	if v.Data, err = a.dataFolder(); err != nil {
		return err
	}
	if !v.Kept {
		if v.Data, err = os.MkdirTemp("", "rails-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(v.Data)) }()
	}
	d, err := demoDeck(ctx, v.Data)
	if err != nil {
		return err
	}
	err = d.runDemo(ctx, &v)
	if err = errors.Join(err, d.Close(ctx)); err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	return a.printDemo(&v)
}

// demoDeck makes a new paper account with the shipped limits.
func demoDeck(ctx context.Context, dir string) (*deck, error) {
	inner := &app{out: newPrinter(nil, nil), errs: newPrinter(nil, nil)}
	inner.flags.data, inner.flags.limits = dir, dir+string(os.PathSeparator)+limitsFileName
	f := &initFlags{yes: true, broker: brokerPaper, clock: clockPractice, seed: 1}
	v := &initView{Account: defaultAccount, Data: dir, LimitsFile: inner.flags.limits}
	if err := refuseExisting(ctx, dir, v.Account); err != nil {
		return nil, err
	}
	text, err := inner.firstLimits(v)
	if err != nil {
		return nil, err
	}
	d, err := begin(ctx, v, f, demoCash())
	if err != nil {
		return nil, err
	}
	if err := d.found(ctx, f, v, oldJournal{}, text); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// runDemo talks to the server as a host does: through an MCP client session.
func (d *deck) runDemo(ctx context.Context, v *demoView) error {
	server := mcpserver.New(d.door(nil))
	near, far := mcp.NewInMemoryTransports()
	serving, err := server.Connect(ctx, far)
	if err != nil {
		return err
	}
	defer func() { _ = serving.Close() }() // the demonstration is over
	client := mcp.NewClient(&mcp.Implementation{Name: "rails-demo", Version: version}, nil)
	session, err := client.Connect(ctx, near, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }() // the demonstration is over
	if hello := session.InitializeResult(); hello != nil {
		v.Protocol = hello.ProtocolVersion
		if hello.ServerInfo != nil {
			v.Server = hello.ServerInfo.Name + " " + hello.ServerInfo.Version
		}
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range tools.Tools {
		v.Tools = append(v.Tools, t.Name)
	}
	if err := d.placeTwo(ctx, session, v); err != nil {
		return err
	}
	if v.Entries, v.Chain, err = d.demoEntries(ctx); err != nil {
		return err
	}
	held, _, _, _, err := holdings(ctx, d)
	v.Positions = held.Positions
	return err
}

// placeTwo sends an order that every limit lets pass, and one that several refuse, and
// counts at the broker what arrived.
func (d *deck) placeTwo(ctx context.Context, session *mcp.ClientSession, v *demoView) (err error) {
	if v.Ledger.Before, err = d.messages(ctx); err != nil {
		return err
	}
	ask, err := d.askPrice(ctx)
	if err != nil {
		return err
	}
	order := map[string]any{
		"symbol": "AAPL", "side": "buy", "order_type": "limit", "quantity": "10", "limit_price": ask,
		"time_in_force": "day", "client_order_id": "demo-1",
	}
	if err := v.call(ctx, session, order); err != nil {
		return err
	}
	if v.Ledger.Allowed, err = d.messages(ctx); err != nil {
		return err
	}
	greedy := map[string]any{}
	for name, value := range order {
		greedy[name] = value
	}
	greedy["quantity"], greedy["client_order_id"] = "5000", "demo-2"
	if err := v.call(ctx, session, greedy); err != nil {
		return err
	}
	if v.Ledger.Denied, err = d.messages(ctx); err != nil {
		return err
	}
	fills, err := d.ledger.Executions(ctx)
	v.Ledger.Fills = len(fills)
	switch {
	case err != nil:
		return err
	case v.Calls[0].Refused || !v.Calls[1].Refused || v.Ledger.Allowed != v.Ledger.Before+1 || v.Ledger.Denied != v.Ledger.Allowed:
		return failed("", "the demonstration did not go as it must: %s", v.Calls[0].Answer)
	}
	return nil
}

func (v *demoView) call(ctx context.Context, session *mcp.ClientSession, arguments map[string]any) error {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: normalize.PlaceOrder, Arguments: arguments})
	if err != nil {
		return err
	}
	c := demoCall{Tool: normalize.PlaceOrder, Arguments: arguments, Refused: result.IsError}
	for _, part := range result.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			c.Answer += text.Text
		}
	}
	v.Calls = append(v.Calls, c)
	return nil
}

// messages counts what has reached the broker, by the broker's own record.
func (d *deck) messages(ctx context.Context) (int, error) {
	list, err := d.ledger.Messages(ctx)
	return len(list), err
}

// askPrice is a limit price that a buy fills at: the ask and five cents, since the
// quote may move before the order is judged.
func (d *deck) askPrice(ctx context.Context) (string, error) {
	q, err := d.quotes.Quote(ctx, "AAPL", d.clock.Read().Market)
	if err != nil || !q.HasAsk {
		return "", errors.Join(err, failed("", "the paper market has no quote for AAPL"))
	}
	limit, ok := q.Ask.Add(demoSlack())
	if !ok {
		return "", failed("", "the paper market's quote is out of range")
	}
	return limit.String(), nil
}

// demoEntries reads the account's chain as anyone can: by hashing the stored bytes.
func (d *deck) demoEntries(ctx context.Context) (list []demoEntry, intact bool, err error) {
	var prev journal.Hash
	intact = true
	err = d.store.Read(ctx, d.account, 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err != nil {
			return err
		}
		v := demoEntry{Seq: e.Seq, Kind: e.Kind, Prev: e.Prev, Hash: journal.HashOf(s.Bytes)}
		intact = intact && e.Prev == prev && v.Hash == s.Hash
		prev = v.Hash
		if e.Kind == journal.KindDecision {
			body, err := journal.DecodeBody[journal.Decision](&e)
			if err != nil {
				return err
			}
			v.Verdict = body.Verdict
		}
		list = append(list, v)
		return nil
	})
	return list, intact, err
}

func seqText(n uint64) string { return strconv.FormatUint(n, 10) }
