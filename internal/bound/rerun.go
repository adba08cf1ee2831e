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

// hostile is a market that stands still, but for one quote that it moves to an order's
// limit between decision and fill: the worst that the price model allows.
type hostile struct {
	scene    *Scene
	currency string
	moved    *Quote // in the place of the symbol's own; nil: none
}

// Instrument implements gate.Quotes.
func (h *hostile) Instrument(_ context.Context, symbol string) (order.Instrument, bool, error) {
	for _, q := range h.scene.Quotes {
		if q.Symbol == symbol {
			return h.scene.share(symbol, h.currency), true, nil
		}
	}
	return order.Instrument{}, false, nil
}

// Quote implements gate.Quotes.
func (h *hostile) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	for _, q := range h.scene.Quotes {
		if h.moved != nil && h.moved.Symbol == symbol {
			q = *h.moved
		}
		if q.Symbol == symbol {
			return market.Quote{
				Symbol: symbol, Bid: q.Bid, Ask: q.Ask, HasBid: true, HasAsk: true, Currency: h.currency, Feed: "scene", At: now, Present: true,
			}, nil
		}
	}
	return market.Quote{}, nil
}

// LastValid implements gate.Quotes.
func (h *hostile) LastValid(ctx context.Context, symbol string, now, _ time.Time) (market.Quote, error) {
	return h.Quote(ctx, symbol, now)
}

// PreviousClose implements gate.Quotes.
func (h *hostile) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return h.Quote(ctx, symbol, now)
}

// move lets the broker see the order's limit as the price of its side.
func (h *hostile) move(s *Step) {
	q := Quote{Symbol: s.Symbol, Bid: s.Limit, Ask: s.Limit}
	h.moved = &q
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
	shown := &hostile{scene: scene, currency: doc.Currency}
	filled := &hostile{scene: scene, currency: doc.Currency}
	broker, err := paper.OpenMemory(
		paper.Start{Seed: 1, Cash: scene.Cash, Wall: scene.Opens, Market: scene.Opens},
		paper.Options{Clock: wall, Quotes: filled, Calendar: scene.Calendar, AccountID: doc.Account, AllowShort: doc.Instrument.AllowShort},
	)
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{
		Account: doc.Account, Store: memory.New(), Broker: broker, Quotes: shown, Clock: wall, Calendar: scene.Calendar,
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
	lasts := (&desk{doc: doc}).lasts()
	for i := range plan {
		if err := replayStep(ctx, g, wall, filled, scene, lasts, i, &plan[i], out); err != nil {
			return nil, err
		}
	}
	if err := out.count(ctx, broker.Ledger(), scene); err != nil {
		return nil, err
	}
	return out, g.Close(ctx)
}

func replayStep(
	ctx context.Context, g *gate.Gate, wall *clock.Virtual, filled *hostile, scene *Scene, lasts order.TimeInForce, i int, s *Step, out *Rerun,
) error {
	if at := scene.Opens.Add(s.After); at.After(wall.Read().Market) {
		wall.Advance(at.Sub(wall.Read().Market))
		if err := g.Tick(ctx); err != nil {
			return err
		}
	}
	j := g.Decide(ctx, gate.Call{Door: "bound", Agent: "hostile", CallID: fmt.Sprint("bound-", i), Intent: order.Intent{
		Action: order.ActionNew, ClientOrderID: fmt.Sprint("bound-", i), Symbol: s.Symbol, Side: s.Side, Type: order.Limit,
		TimeInForce: lasts, Quantity: s.Quantity, LimitPrice: s.Limit,
	}})
	if !j.Allowed() {
		out.Denied++
		return nil
	}
	filled.move(s)
	g.Forward(ctx, j.Permit)
	filled.moved = nil
	_, err := g.Reconcile(ctx, nil)
	return err
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
