package sim

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// accountName is the name of a session's account.
const accountName = "paper"

// callTakes is how much market time passes between two calls of the agent.
const callTakes = 250 * time.Millisecond

// world is everything that a session happens in.
type world struct {
	options Options
	time    timekeeper
	market  *quotes.Paper
	store   *memory.Store
	broker  *paper.Broker
	gate    *gate.Gate
	checker *Checker
	watch   *watch
	count   *counter
	doc     *limits.Document
}

func newWorld(ctx context.Context, o Options, dates []market.TradeDate) (*world, error) {
	opens, _ := o.Calendar.RegularOpen(dates[0])
	w := &world{options: o, market: quotes.NewPaper(o.Seed, o.Calendar), store: memory.New(), count: newCounter()}
	wall, err := w.keepTime(opens)
	if err != nil {
		return nil, err
	}
	shipped, err := limits.Load("shipped limits", limits.Template(accountName))
	if err != nil {
		return nil, err
	}
	caps, err := CapsOf(shipped)
	if err != nil {
		return nil, err
	}
	text := o.gateLimits
	if text == nil {
		text = limits.Template(accountName)
	}
	if w.doc, err = limits.Load("limits", text); err != nil {
		return nil, err
	}
	w.broker, err = paper.OpenMemory(
		paper.Start{Seed: o.Seed, Cash: paper.StartingCash(), Wall: wall, Market: opens},
		paper.Options{Clock: w.time, Quotes: w.market, Calendar: o.Calendar, AccountID: accountName},
	)
	if err != nil {
		return nil, err
	}
	w.checker = NewChecker(caps, feed{w.market}, o.Calendar, paper.StartingCash())
	w.watch = &watch{Broker: w.broker, store: w.store, checker: w.checker}
	cfg := gate.Config{
		Account: accountName, Store: w.store, Broker: w.watch, Quotes: w.market, Clock: w.time, Calendar: o.Calendar,
		Paper: true, AtomicReplace: true, Version: o.Version,
	}
	genesis := journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "session"}
	if err := gate.Create(ctx, cfg, genesis); err != nil {
		return nil, err
	}
	if w.gate, err = gate.Open(ctx, cfg); err != nil {
		return nil, err
	}
	if _, err := w.gate.LoadLimits(ctx, "limits", text, "operator"); err != nil {
		return nil, err
	}
	return w, w.gate.Start(ctx)
}

// watch is the paper broker with an eye on what reaches it: before a message is passed
// on, the journal is read for the decision that it must follow.
type watch struct {
	gate.Broker
	store   *memory.Store
	checker *Checker
	seq     uint64
	failed  error
}

// Send implements gate.Broker.
func (w *watch) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	if err := w.read(ctx); err != nil {
		w.failed = err
	}
	return w.Broker.Send(ctx, s)
}

// read tells the checker of the allowed decisions that are in the journal by now.
func (w *watch) read(ctx context.Context) error {
	return w.store.Read(ctx, accountName, w.seq, func(s gate.Stored) error {
		w.seq = s.Seq
		if !bytes.Contains(s.Bytes, []byte(`"verdict":"allowed"`)) {
			return nil
		}
		e, err := journal.Decode(s.Bytes)
		if err != nil || e.Kind != journal.KindDecision {
			return err
		}
		body, err := journal.DecodeBody[journal.Decision](&e)
		if err == nil && body.Verdict == journal.VerdictAllowed {
			w.checker.Durable(Decision{ClientOrderID: journal.ClientOrderID(accountName, s.Seq, s.Hash), Intent: body.Intent})
		}
		return err
	})
}

// look shows the checker what the broker recorded since the last look.
func (w *world) look(ctx context.Context, judged bool) error {
	ledger := w.broker.Ledger()
	news, err := ledger.After(ctx, w.count.message, w.count.execution)
	if err != nil {
		return err
	}
	l := Look{At: w.now(), Messages: news.Messages, Executions: news.Executions, Orders: news.Orders, Judged: judged}
	if l.Positions, err = ledger.Positions(ctx); err != nil {
		return err
	}
	if l.Cash, err = ledger.Cash(ctx); err != nil {
		return err
	}
	w.count.record(&l)
	w.checker.Look(&l)
	return w.watch.failed
}

// quote implements hand.
func (w *world) quote(symbol string) (bid, ask money.Price) {
	q, _ := w.market.Quote(context.Background(), symbol, w.now()) // it cannot fail
	return q.Bid, q.Ask
}

// held implements hand.
func (w *world) held(symbol string) money.Quantity { return w.checker.held[symbol] }

// call implements hand: one call is judged, forwarded if it may be, and looked at.
func (w *world) call(ctx context.Context, in order.Intent) (answer, error) {
	if err := w.time.pass(ctx, callTakes); err != nil {
		return answer{}, err
	}
	if w.options.Real {
		ctx = context.WithoutCancel(ctx) // a call that has begun is not given up
	}
	j := w.gate.Decide(ctx, gate.Call{
		Intent: in, Door: "session", Agent: "greedy", CallID: fmt.Sprint("call-", w.count.Calls+1),
	})
	got := answer{orderID: j.OrderID, allowed: j.Allowed()}
	got.refusing = w.count.judged(&j, w.now())
	if j.Allowed() {
		w.count.outcome(w.gate.Forward(ctx, j.Permit))
	}
	return got, w.look(ctx, true)
}
