package adversary

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// account is the shipped document's.
const account = "paper"

// desk is a whole installation of its own: market, broker, journal, gate, server, and a
// client that is connected to it.
type desk struct {
	clock  *clock.Virtual
	quotes *quotes.Scripted
	told   map[string]quote // so that quotes keep up when time runs
	store  *memory.Store
	paper  *paper.Broker
	gate   *gate.Gate
	server *mcpserver.Server
	web    *web // nil: sessions are over stdio
	client *mcp.ClientSession
	end    func() error      // of the client's connection
	orders map[string]string // the gate's id of an order, by the agent's own
	seen   uint64            // newest entry of the journal that was looked at
}

// newDesk builds what a case begins with.
func newDesk(ctx context.Context, c *Case, o Options) (*desk, error) {
	doc, err := limits.Load("limits.yaml", limits.Template(account))
	if err == nil && c.limits != nil {
		doc, err = limits.OverTree(doc, c.File, c.limits)
	}
	if err != nil {
		return nil, err
	}
	d := &desk{clock: clock.NewVirtual(c.begin.at), store: memory.New(), told: map[string]quote{}, orders: map[string]string{}}
	calendar := market.XNYS()
	d.quotes = quotes.NewScripted(calendar)
	for _, in := range c.begin.instruments {
		d.quotes.List(in)
	}
	for _, symbol := range []string{"AAPL", "MSFT"} {
		d.tell(quote{symbol: symbol, bid: money.MustPrice("199.98"), ask: money.MustPrice("200.02"), age: time.Second})
	}
	d.paper, err = paper.OpenMemory(
		paper.Start{Seed: 1, Cash: c.begin.cash, Wall: d.clock.Now(), Market: d.clock.Now()},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: calendar})
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{
		Account: account, Store: d.store, Broker: d.paper, Quotes: d.quotes, Clock: d.clock, Calendar: calendar,
		Paper: true, AtomicReplace: true, Version: o.Version,
	}
	if err := gate.Create(ctx, cfg, journal.Genesis{Broker: account, Cash: c.begin.cash, Currency: "USD", Who: "adversary"}); err != nil {
		return nil, err
	}
	if d.gate, err = gate.Open(ctx, cfg); err != nil {
		return nil, err
	}
	if _, err := d.gate.LoadLimits(ctx, "limits.yaml", doc.Canonical, "adversary"); err != nil {
		return nil, err
	}
	if err := d.gate.Start(ctx); err != nil {
		return nil, err
	}
	d.server = mcpserver.New(mcpserver.Config{
		Gate: d.gate, Quotes: d.quotes, Journal: recent{d.store}, Version: o.Version, Headlines: o.Headlines, Practice: true, Agent: "attacker",
	})
	return d, d.connect(ctx, o)
}

// connect starts the client session that makes the calls.
func (d *desk) connect(ctx context.Context, o Options) (err error) {
	if o.HTTP {
		if d.web, err = serveHTTP(d.server); err != nil {
			return err
		}
	}
	if d.client, d.end, err = d.session(ctx); err != nil {
		return errors.Join(err, d.web.end())
	}
	return d.look(ctx, func(*journal.Entry) error { return nil })
}

func (d *desk) close(ctx context.Context) error {
	return errors.Join(d.end(), d.web.end(), d.gate.Close(ctx))
}

func (d *desk) tell(q quote) {
	d.told[q.symbol] = q
	d.quotes.Tell(market.Quote{
		Symbol: q.symbol, Bid: q.bid, Ask: q.ask, Last: q.bid, HasBid: true, HasAsk: true, HasLast: true, Halted: q.halted,
	}, d.clock.Now(), q.age)
}

// happen plays a step that is not a call.
func (d *desk) happen(ctx context.Context, s *step) error {
	switch s.kind {
	case kindAdvance:
		d.clock.Advance(s.duration)
		for _, symbol := range sortedKeys(d.told) {
			d.tell(d.told[symbol])
		}
	case kindWall:
		d.clock.StepWallAlone(s.duration)
	case kindQuote:
		d.tell(s.quote)
	case kindSilence:
		delete(d.told, s.text)
		d.quotes.Silence(s.text)
	case kindMode:
		return d.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: s.text, Reason: "adversary", Who: "operator"})
	case kindBroker:
		return d.paper.Inject(ctx, paper.Fault{Kind: brokerFault(s.text)})
	case kindExternal:
		in, _, err := d.quotes.Instrument(ctx, s.external.symbol)
		if err != nil {
			return err
		}
		x := &s.external
		if _, err := d.paper.ExternalFill(ctx, journal.ExternalFill{Instrument: in, Price: x.price, Quantity: x.quantity, Side: x.side}); err != nil {
			return err
		}
	}
	return d.gate.Tick(ctx)
}

func brokerFault(word string) paper.FaultKind {
	switch word {
	case "reject":
		return paper.FaultReject
	case "timeout":
		return paper.FaultTimeout
	case "timeout_after":
		return paper.FaultTimeoutAfter
	case "partial":
		return paper.FaultPartial
	}
	return paper.FaultNone
}

// look shows each entry that was written since the last look.
func (d *desk) look(ctx context.Context, each func(*journal.Entry) error) error {
	return d.store.Read(ctx, account, d.seen, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err != nil {
			return err
		}
		d.seen = e.Seq
		return each(&e)
	})
}

// recent answers recent_decisions.
type recent struct{ store *memory.Store }

// Decisions implements mcpserver.Journal.
func (r recent) Decisions(ctx context.Context, n int) (out []journal.Entry, err error) {
	err = r.store.Read(ctx, account, 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err == nil && (e.Kind == journal.KindDecision || e.Kind == journal.KindRefusal) {
			out = append(out, e)
		}
		return err
	})
	slices.Reverse(out)
	return out[:min(n, len(out))], err
}

// book is what the broker's ledger shows, for a comparison.
type book struct {
	messages, orders, executions int
	cash                         money.Notional
	positions                    map[string]money.Quantity
}

func (d *desk) book(ctx context.Context) (b book, err error) {
	l := d.paper.Ledger()
	messages, err := l.Messages(ctx)
	if err != nil {
		return b, err
	}
	orders, err := l.Orders(ctx)
	if err != nil {
		return b, err
	}
	executions, err := l.Executions(ctx)
	if err != nil {
		return b, err
	}
	held, err := l.Positions(ctx)
	if err != nil {
		return b, err
	}
	b = book{messages: len(messages), orders: len(orders), executions: len(executions), positions: map[string]money.Quantity{}}
	for _, p := range held {
		b.positions[p.Instrument.Symbol] = p.Quantity
	}
	b.cash, err = l.Cash(ctx)
	return b, err
}

// own counts the executions of the orders that were sent after from, and what they
// bought of each symbol, sales taken off.
func (d *desk) own(ctx context.Context, from *book) (fills int, shares map[string]money.Quantity, err error) {
	messages, err := d.paper.Ledger().Messages(ctx)
	if err != nil {
		return 0, nil, err
	}
	ours := map[string]bool{}
	for _, m := range messages[from.messages:] {
		if m.Action != order.ActionCancel {
			ours[m.ClientOrderID] = true
		}
	}
	executions, err := d.paper.Ledger().Executions(ctx)
	shares = map[string]money.Quantity{}
	for _, x := range executions {
		if x.ClientOrderID == "" || !ours[x.ClientOrderID] {
			continue
		}
		fills++
		quantity := x.Quantity
		if x.Side != order.Buy {
			quantity = quantity.Neg()
		}
		shares[x.Symbol], _ = shares[x.Symbol].Add(quantity) // of a ledger that has added them up
	}
	return fills, shares, err
}
