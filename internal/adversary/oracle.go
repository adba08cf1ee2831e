package adversary

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/sim"
)

// oracle holds what the broker recorded against the limits document, message by message.
// It asks neither gate nor rails: what it knows is the ledger, the decisions in the
// journal, the quotes that the case told and the modes that the operator set. Beside the
// checks of an unattended session (sim.Checker) it makes some of its own.
type oracle struct {
	store   gate.Store
	account string
	ledger  *paper.Ledger
	stage   stage
	doc     *limits.Document
	checker *sim.Checker

	mu         sync.Mutex // guards all below, and that one message at a time reaches the broker
	told       string     // the operator's mode
	message    int64      // newest of the ledger
	execution  int64
	seq        uint64 // newest entry of the journal
	judged     bool   // an order was judged since the last look
	agents     map[string]order.Intent
	live       []paper.Order // before the newest message
	held       map[string]money.Quantity
	sent       []twin
	doubt      map[string]bool // symbols with a message that was lost
	lately     []string        // those in which one was lost since the last step
	date       market.TradeDate
	today      money.Notional // moved by new orders and increases of this trade date
	violations []sim.Violation
}

// twin is a new order as it was sent.
type twin struct {
	at     time.Time
	symbol string
	side   order.Side
	units  money.Quantity
	price  money.Price
}

func newOracle(d *desk, doc *limits.Document) (*oracle, error) {
	caps, err := sim.CapsOf(doc)
	if err != nil {
		return nil, err
	}
	cash, err := d.paper.Ledger().Cash(context.Background())
	if err != nil {
		return nil, err
	}
	return &oracle{
		store: d.site.store, account: d.account, ledger: d.paper.Ledger(), stage: d.market, doc: doc,
		checker: sim.NewChecker(caps, lastTold{d.market, doc.Collar.MaxQuoteAge.Value}, market.XNYS(), cash),
		told:    "active", agents: map[string]order.Intent{}, held: map[string]money.Quantity{}, doubt: map[string]bool{},
	}, nil
}

// lastTold is what the market says if that is fresh and valid, else the newest valid quote
// by its own time: what an exit is priced by, and what a holding is worth.
type lastTold struct {
	stage stage
	fresh time.Duration
}

func (p lastTold) valid(symbol string, at time.Time) (market.Quote, bool) {
	ctx := context.Background()
	if q, err := p.stage.quotes().Quote(ctx, symbol, at); err == nil && q.Valid() && at.Sub(q.At) <= p.fresh && at.Sub(q.At) >= -time.Second {
		return q, true
	}
	q, err := p.stage.quotes().LastValid(ctx, symbol, at, time.Time{})
	return q, err == nil && q.Valid()
}

// Bid implements sim.Prices.
func (p lastTold) Bid(symbol string, at time.Time) (money.Price, bool) {
	q, ok := p.valid(symbol, at)
	return q.Bid, ok
}

// Ask implements sim.Prices.
func (p lastTold) Ask(symbol string, at time.Time) (money.Price, bool) {
	q, ok := p.valid(symbol, at)
	return q.Ask, ok
}

// watched is the broker with the oracle between: each message is looked at as it arrives.
type watched struct {
	gate.Broker
	oracle *oracle
}

// Send implements gate.Broker.
func (w *watched) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	o := w.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.read(ctx); err != nil {
		o.fail("oracle", "the journal cannot be read: %v", err)
	}
	reply := w.Broker.Send(ctx, s)
	if err := o.record(ctx); err != nil {
		o.fail("oracle", "the ledger cannot be read: %v", err)
	}
	return reply
}

func (o *oracle) now() time.Time { return o.stage.clock().Read().Market }

func (o *oracle) fail(check sim.Check, format string, args ...any) {
	if len(o.violations) < sim.ViolationsMax {
		o.violations = append(o.violations, sim.Violation{At: o.now(), Check: check, Text: fmt.Sprintf(format, args...)})
	}
}

// mode is told when the operator sets one. Of no oracle it does nothing, as look.
func (o *oracle) mode(mode string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = mode
}

// look looks at what happened since the last message. reconciled says that the operator
// has settled what was in doubt.
func (o *oracle) look(ctx context.Context, reconciled bool) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.read(ctx); err != nil {
		return err
	}
	if err := o.record(ctx); err != nil {
		return err
	}
	for _, symbol := range o.lately {
		o.doubt[symbol] = true
	}
	o.lately = o.lately[:0]
	if reconciled {
		clear(o.doubt)
	}
	return nil
}

// read takes the decisions that are in the journal by now.
func (o *oracle) read(ctx context.Context) error {
	return o.store.Read(ctx, o.account, o.seq, func(s gate.Stored) error {
		o.seq = s.Seq
		e, err := journal.Decode(s.Bytes)
		if err != nil || e.Kind != journal.KindDecision {
			return err
		}
		body, err := journal.DecodeBody[journal.Decision](&e)
		if err != nil {
			return err
		}
		in := &body.Intent
		o.judged = o.judged || in.Action != order.ActionCancel && lossKnown(body.Findings)
		if body.Verdict != journal.VerdictAllowed {
			return nil
		}
		o.checker.Durable(sim.Decision{ClientOrderID: journal.ClientOrderID(o.account, s.Seq, s.Hash), Intent: *in})
		if id := in.ClientOrderID; id != "" && in.Action == order.ActionNew {
			if first, twice := o.agents[id]; twice {
				o.fail(checkAgentID, "a second order was allowed under the id of one for %s of %s", first.Quantity, first.Symbol)
			}
			o.agents[id] = *in
		}
		return nil
	})
}

// lossKnown reports whether the loss of the day could be told when an order was judged:
// what cannot be told latches nothing.
func lossKnown(found []journal.Finding) bool {
	for _, f := range found {
		if f.Rail == "max_daily_loss" && f.Status != "deny" {
			return false
		}
	}
	return true
}

// record shows the checkers what the ledger took in.
func (o *oracle) record(ctx context.Context) error {
	news, err := o.ledger.After(ctx, o.message, o.execution)
	if err != nil {
		return err
	}
	l := sim.Look{At: o.now(), Messages: news.Messages, Executions: news.Executions, Orders: news.Orders, Judged: o.judged}
	if l.Positions, err = o.ledger.Positions(ctx); err != nil {
		return err
	}
	if l.Cash, err = o.ledger.Cash(ctx); err != nil {
		return err
	}
	o.judged = false
	for i := range news.Messages {
		o.message = news.Messages[i].N
		o.sends(&news.Messages[i], news.Orders)
	}
	for i := range news.Executions {
		x := &news.Executions[i]
		o.execution = x.N
		by := x.Quantity
		if x.Side == order.Sell {
			by = by.Neg()
		}
		o.held[x.Symbol], _ = o.held[x.Symbol].Add(by)
	}
	o.live = o.live[:0]
	for i := range news.Orders {
		if news.Orders[i].State == paper.Open {
			o.live = append(o.live, news.Orders[i])
		}
	}
	o.checker.Look(&l)
	return nil
}

// found is every violation so far, the oracle's own after the checker's.
func (o *oracle) found() []sim.Violation {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return append(append([]sim.Violation(nil), o.checker.Violations...), o.violations...)
}
