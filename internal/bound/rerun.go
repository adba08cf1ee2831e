package bound

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// still is a market whose quotes do not move.
type still struct {
	scene    *Scene
	currency string
}

// Instrument implements gate.Quotes.
func (h *still) Instrument(_ context.Context, symbol string) (order.Instrument, bool, error) {
	for _, q := range h.scene.Quotes {
		if q.Symbol == symbol {
			return h.scene.share(symbol, h.currency), true, nil
		}
	}
	return order.Instrument{}, false, nil
}

// Quote implements gate.Quotes.
func (h *still) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	for _, q := range h.scene.Quotes {
		if q.Symbol == symbol {
			return market.Quote{
				Symbol: symbol, Bid: q.Bid, Ask: q.Ask, HasBid: true, HasAsk: true, Currency: h.currency, Feed: "scene", At: now, Present: true,
			}, nil
		}
	}
	return market.Quote{}, nil
}

// LastValid implements gate.Quotes.
func (h *still) LastValid(ctx context.Context, symbol string, now, _ time.Time) (market.Quote, error) {
	return h.Quote(ctx, symbol, now)
}

// PreviousClose implements gate.Quotes.
func (h *still) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return h.Quote(ctx, symbol, now)
}

// Rerun is a plan run through the real gate, as the paper broker's ledger shows it.
type Rerun struct {
	Denied int // orders of the plan that the gate did not allow
	tally  tally
}

// rerun plays a plan through the gate, journal and paper broker, and counts on the
// broker's ledger what came of it.
func rerun(ctx context.Context, doc *limits.Document, scene *Scene, plan []Step) (*Rerun, error) {
	wall := clock.NewVirtual(scene.Opens)
	quotes := &still{scene: scene, currency: doc.Currency}
	broker, err := paper.OpenMemory(
		paper.Start{Seed: 1, Cash: scene.Cash, Wall: scene.Opens, Market: scene.Opens},
		paper.Options{
			Clock: wall, Quotes: quotes, Calendar: scene.Calendar, AccountID: doc.Account, AllowShort: doc.Instrument.AllowShort,
			ManualFills: true, // each at its own limit, the worst that the price model allows
		},
	)
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{
		Account: doc.Account, Store: memory.New(), Broker: broker, Quotes: quotes, Clock: wall, Calendar: scene.Calendar,
		Paper: true, AtomicReplace: true, Live: doc.Mode == limits.Live, Version: "bound",
	}
	if err := gate.Create(ctx, cfg, journal.Genesis{Broker: "paper", Cash: scene.Cash, Currency: doc.Currency, Who: "operator"}); err != nil {
		return nil, err
	}
	g, err := gate.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := g.LoadLimits(ctx, "limits", doc.Canonical, "operator"); err != nil {
		return nil, err
	}
	if err := g.Start(ctx); err != nil {
		return nil, err
	}
	out := &Rerun{tally: newTally(scene)}
	again := &stage{gate: g, broker: broker, wall: wall, scene: scene, lasts: (&desk{doc: doc}).lasts()}
	for i := range plan {
		allowed, err := again.play(ctx, i, &plan[i])
		if err != nil {
			return nil, err
		}
		if !allowed {
			out.Denied++
		}
	}
	if err := out.count(ctx, broker.Ledger(), scene); err != nil {
		return nil, err
	}
	return out, g.Close(ctx)
}

// stage is the real product, on a clock that stands where the plan does.
type stage struct {
	gate   *gate.Gate
	broker *paper.Broker
	wall   *clock.Virtual
	scene  *Scene
	lasts  order.TimeInForce
}

// play sends one step and has what was accepted filled at its limit.
func (t *stage) play(ctx context.Context, i int, s *Step) (allowed bool, err error) {
	if at, now := t.scene.Opens.Add(s.After), t.wall.Read().Market; at.After(now) {
		t.wall.Advance(at.Sub(now))
		if err := t.gate.Tick(ctx); err != nil {
			return false, err
		}
	}
	id := fmt.Sprint("bound-", i)
	j := t.gate.Decide(ctx, gate.Call{Door: "bound", Agent: "hostile", CallID: id, Intent: order.Intent{
		Action: order.ActionNew, ClientOrderID: id, Symbol: s.Symbol, Side: s.Side, Type: order.Limit,
		TimeInForce: t.lasts, Quantity: s.Quantity, LimitPrice: s.Limit,
	}})
	if !j.Allowed() {
		return false, nil
	}
	sent := t.gate.Forward(ctx, j.Permit)
	if sent.BrokerID == "" {
		return false, nil // the broker refused it
	}
	if _, err := t.broker.FillOrder(ctx, sent.BrokerID, s.Quantity, s.Limit, ""); err != nil {
		return false, err
	}
	_, err = t.gate.Reconcile(ctx, nil)
	return true, err
}

// count tallies the ledger's executions.
func (r *Rerun) count(ctx context.Context, ledger *paper.Ledger, scene *Scene) error {
	messages, err := ledger.Messages(ctx)
	if err != nil {
		return err
	}
	for range messages {
		r.tally.order()
	}
	executions, err := ledger.Executions(ctx)
	if err != nil {
		return err
	}
	for i := range executions {
		x := &executions[i]
		r.tally.trade(x.At.Sub(scene.Opens), x.Symbol, x.Side == order.Sell, rat(x.Quantity), rat(x.Price))
	}
	cash, err := ledger.Cash(ctx)
	if err != nil {
		return err
	}
	if rat(cash).Cmp(r.tally.cash) != 0 {
		return fmt.Errorf("the broker holds %s, its executions come to %s", cash, r.tally.cash.FloatString(2))
	}
	return nil
}
