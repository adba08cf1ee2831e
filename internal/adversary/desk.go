package adversary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// plainAccount is the shipped document's.
const plainAccount = "paper"

// desk is a whole installation of its own: market, broker, journal, gate, server, and a
// client that is connected to it. The server may be another process; the gate here is
// then the operator's, on the same journal and ledger.
type desk struct {
	options Options
	account string
	site    *site
	market  stage
	paper   *paper.Broker
	oracle  *oracle // nil: nobody holds the ledger against the caps
	gate    *gate.Gate
	server  *mcpserver.Server // nil: another process
	process *process          // nil: this one
	web     *web              // nil: sessions are over stdio
	client  *mcp.ClientSession
	end     func() error      // of the client's connection
	orders  map[string]string // the gate's id of an order, by the agent's own
	seen    uint64            // newest entry of the journal that was looked at
	closers []func() error    // in the order of opening
}

// newDesk builds what a case begins with.
func newDesk(ctx context.Context, c *Case, o Options) (d *desk, err error) {
	d = &desk{options: o, account: o.account(), orders: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close(ctx))
			d = nil
		}
	}()
	doc, err := limits.Load("limits.yaml", limits.Template(d.account))
	if err == nil && c.limits != nil {
		doc, err = limits.OverTree(doc, c.File, c.limits)
	}
	if err != nil {
		return d, err
	}
	if d.site = o.site; d.site == nil {
		if d.site, err = newSite(ctx, o.Files || o.Server != nil); err != nil {
			return d, err
		}
		d.closers = append(d.closers, d.site.close)
	}
	if err := d.found(ctx, c); err != nil {
		return d, err
	}
	if c.world.held {
		if d.oracle, err = newOracle(d, doc); err != nil {
			return d, err
		}
	}
	return d, d.open(ctx, doc)
}

// found makes the market and the ledger.
func (d *desk) found(ctx context.Context, c *Case) (err error) {
	if d.market, err = d.newStage(c); err != nil {
		return err
	}
	start := startOf(c, d.market.clock().Read().Wall, d.market.clock().Read().Market)
	ledger, err := d.site.ledger(ctx, d.account, start)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, ledger.Close)
	if err := d.market.begin(d, c); err != nil {
		return err
	}
	d.paper, err = paper.New(ledger, paper.Options{
		Clock: d.market.clock(), Quotes: d.market.quotes(), Calendar: market.XNYS(), AccountID: d.account,
	})
	return err
}

func (d *desk) config() gate.Config {
	cfg := gate.Config{
		Account: d.account, Store: d.site.store, Broker: d.paper, Quotes: d.market.quotes(), Clock: d.market.clock(),
		Calendar: market.XNYS(), Paper: true, AtomicReplace: true, Version: d.options.Version,
	}
	if d.oracle != nil {
		cfg.Broker = &watched{Broker: d.paper, oracle: d.oracle}
	}
	return cfg
}

// open makes the account in the journal, and the gate and the server on it.
func (d *desk) open(ctx context.Context, doc *limits.Document) (err error) {
	cash, err := d.paper.Ledger().Cash(ctx)
	if err != nil {
		return err
	}
	if err := gate.Create(ctx, d.config(), journal.Genesis{Broker: "paper", Cash: cash, Currency: "USD", Who: "adversary"}); err != nil {
		return err
	}
	if d.gate, err = gate.Open(ctx, d.config()); err != nil {
		return err
	}
	if _, err := d.gate.LoadLimits(ctx, "limits.yaml", doc.Canonical, "adversary"); err != nil {
		return err
	}
	if err := d.gate.Start(ctx); err != nil {
		return err
	}
	if d.options.Server != nil {
		d.process, err = d.newProcess(doc)
	} else {
		d.server = d.newServer()
	}
	if err != nil {
		return err
	}
	return d.connect(ctx)
}

func (d *desk) newServer() *mcpserver.Server {
	o := &d.options
	return mcpserver.New(mcpserver.Config{
		Gate: d.gate, Quotes: d.market.quotes(), Journal: recent{d.site.store, d.account}, Version: o.Version, Headlines: o.Headlines,
		Practice: true, Agent: "attacker",
	})
}

// connect starts the client session that makes the calls.
func (d *desk) connect(ctx context.Context) (err error) {
	if d.options.HTTP {
		if d.web, err = d.serveHTTP(ctx); err != nil {
			return err
		}
	}
	if d.client, d.end, err = d.session(ctx); err != nil {
		return err
	}
	return d.look(ctx, func(*journal.Entry) error { return nil })
}

// disconnect ends the client's session and the server that listens.
func (d *desk) disconnect() (err error) {
	if d.end != nil {
		err = d.end()
	}
	err = errors.Join(err, d.web.end())
	d.end, d.web = nil, nil
	return err
}

// again ends the session and, for a restart, gate and server, and begins anew on the
// same journal and ledger.
func (d *desk) again(ctx context.Context, restart bool) (err error) {
	if err := d.disconnect(); err != nil {
		return err
	}
	if restart {
		if err := d.gate.Close(ctx); err != nil {
			return err
		}
		if d.gate, err = gate.Open(ctx, d.config()); err != nil {
			return err
		}
		if err := d.gate.Start(ctx); err != nil {
			return err
		}
		if d.server != nil {
			d.server = d.newServer()
		}
	}
	return d.connect(ctx)
}

func (d *desk) close(ctx context.Context) error {
	err := d.disconnect()
	if d.gate != nil {
		err = errors.Join(err, d.gate.Close(ctx))
	}
	for _, c := range slices.Backward(d.closers) {
		err = errors.Join(err, c())
	}
	d.closers = nil
	return err
}

// happen plays a step that is not a call.
func (d *desk) happen(ctx context.Context, s *step) error {
	switch s.kind {
	case kindAdvance, kindWall:
		if err := d.market.happen(event{Kind: s.kind, ForNS: int64(s.duration)}); err != nil {
			return err
		}
	case kindQuote:
		if err := d.market.happen(eventOf(s.quote)); err != nil {
			return err
		}
	case kindSilence:
		if err := d.market.happen(event{Kind: kindSilence, Symbol: s.text}); err != nil {
			return err
		}
	case kindMode:
		d.oracle.mode(s.text)
		if err := d.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: s.text, Reason: "adversary", Who: "operator"}); err != nil {
			return err
		}
	case kindBroker:
		return d.paper.Inject(ctx, paper.Fault{Kind: brokerFault(s.text)})
	case kindReconnect, kindRestart:
		if err := d.again(ctx, s.kind == kindRestart); err != nil {
			return err
		}
	case kindReconcile:
		if _, err := d.gate.Reconcile(ctx, nil); err != nil {
			return err
		}
	case kindExternal:
		in, _, err := d.market.quotes().Instrument(ctx, s.external.symbol)
		if err != nil {
			return err
		}
		x := &s.external
		if _, err := d.paper.ExternalFill(ctx, journal.ExternalFill{Instrument: in, Price: x.price, Quantity: x.quantity, Side: x.side}); err != nil {
			return err
		}
	}
	if err := d.gate.Tick(ctx); err != nil {
		return err
	}
	return d.oracle.look(ctx, s.kind == kindReconcile || s.kind == kindRestart)
}

// settle asks the broker what is in doubt, and holds what the journal comes to against
// what the broker holds.
func (d *desk) settle(ctx context.Context) error {
	if _, err := d.gate.Reconcile(ctx, nil); err != nil {
		return err
	}
	if err := d.oracle.look(ctx, true); err != nil {
		return err
	}
	now, err := d.book(ctx)
	if err != nil {
		return err
	}
	return d.gate.View(ctx, func(v gate.View) {
		if v.State.Cash != now.cash {
			d.oracle.fail(checkFold, "the journal comes to %s in cash, the broker holds %s", v.State.Cash, now.cash)
		}
		left := len(now.positions)
		for i := range v.State.Holdings {
			h := &v.State.Holdings[i]
			if !h.Position.IsZero() {
				left--
			}
			if now.positions[h.Instrument.Symbol] != h.Position {
				d.oracle.fail(checkFold, "the journal comes to %s of %s, the broker holds %s", h.Position, h.Instrument.Symbol, now.positions[h.Instrument.Symbol])
			}
		}
		if left != 0 {
			d.oracle.fail(checkFold, "the broker holds %d instruments, the journal %d fewer", len(now.positions), left)
		}
	})
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
	case "late_fill":
		return paper.FaultLateFill
	case "duplicate_fill":
		return paper.FaultDuplicateFill
	}
	return paper.FaultNone
}

// look shows each entry that was written since the last look.
func (d *desk) look(ctx context.Context, each func(*journal.Entry) error) error {
	return d.site.store.Read(ctx, d.account, d.seen, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err != nil {
			return err
		}
		d.seen = e.Seq
		return each(&e)
	})
}

// recent answers recent_decisions.
type recent struct {
	store   gate.Store
	account string
}

// Decisions implements mcpserver.Journal.
func (r recent) Decisions(ctx context.Context, n int) (out []journal.Entry, err error) {
	err = r.store.Read(ctx, r.account, 0, func(s gate.Stored) error {
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

// sceneLog opens the file that the server's process follows.
func (d *desk) sceneLog() (*os.File, error) {
	if err := os.MkdirAll(d.site.folder(d.account), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(d.site.folder(d.account), sceneFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY|os.O_EXCL, 0o600)
	if err == nil {
		d.closers = append(d.closers, f.Close)
	}
	return f, err
}
