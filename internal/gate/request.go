package gate

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// figures are the broker's own, as last read.
type figures struct {
	known  bool
	cursor string // of the state that they were read at
	at     time.Time
	seen   BrokerAccount
}

// FiguresAgeMax is how old the broker's figures may be before they are read again.
const FiguresAgeMax = 30 * time.Second

// request gathers every input of risk.Decide that the fold does not hold. A source
// that fails leaves its input absent: the rails that need it fault. The caller holds mu.
func (g *Gate) request(ctx context.Context, c *Call, m moment) rail.Request {
	req := rail.Request{
		Intent: c.Intent, Now: m.at, ClockSuspect: m.clock.Suspect, LimitsInvalid: g.badLimits(),
		StartPending: g.startPending, PaperBroker: g.cfg.Paper, AtomicReplace: g.cfg.AtomicReplace, ControlMode: g.ctl.Mode,
	}
	g.complete(&req.Intent)
	symbol := req.Intent.Symbol
	if symbol == "" || req.Intent.Action == order.ActionCancel {
		return req
	}
	g.price(ctx, &req, symbol, m.at)
	g.marks(ctx, &req, symbol, m.at)
	g.brokerFigures(ctx, &req, m.at)
	return req
}

// complete fills a replace or cancel with the terms of the order it names: what a
// replace does not name stays as it is. An unknown order leaves the intent as it came,
// and risk refuses it.
func (g *Gate) complete(in *order.Intent) {
	if in.Action == order.ActionNew {
		return
	}
	o := g.state.Order(in.Target)
	if o == nil {
		return
	}
	in.Symbol = o.Symbol
	if in.Action != order.ActionReplace {
		return
	}
	in.Side, in.Type, in.TimeInForce = o.Side, o.Type, o.TimeInForce
	in.ExtendedHours, in.ExpireAt = o.ExtendedHours, o.ExpireAt
	if in.Quantity.IsZero() {
		in.Quantity = o.Quantity
	}
	if in.LimitPrice.IsZero() {
		in.LimitPrice = o.LimitPrice
	}
	if in.StopPrice.IsZero() {
		in.StopPrice = o.StopPrice
	}
}

// price resolves the instrument and reads its quotes.
func (g *Gate) price(ctx context.Context, req *rail.Request, symbol string, now time.Time) {
	in, ok, err := g.cfg.Quotes.Instrument(ctx, symbol)
	req.InstrumentAsked = err == nil
	req.InstrumentKnown = err == nil && ok
	if req.InstrumentKnown {
		req.Instrument = in
	}
	// A quote of another symbol is no quote, and of an absent one nothing counts: the journal
	// has no place for them.
	if q, err := g.cfg.Quotes.Quote(ctx, symbol, now); err == nil && q.Present && (q.Symbol == "" || q.Symbol == symbol) {
		req.Quote = q
	}
	if h := g.state.Holding(symbol); h != nil && !h.Position.IsZero() {
		req.LastValid = g.lastValid(ctx, symbol, now)
	}
}

// lastValid is the newest valid quote of this trade date, else the previous close; in the
// account's currency, and of no other symbol.
func (g *Gate) lastValid(ctx context.Context, symbol string, now time.Time) market.Quote {
	date := market.Session(now, g.cfg.Calendar).TradeDate
	since := market.FromNewYork(date, 0)
	if q, err := g.cfg.Quotes.LastValid(ctx, symbol, now, since); err == nil && g.values(&q, symbol) {
		return q
	}
	if q, err := g.cfg.Quotes.PreviousClose(ctx, symbol, now); err == nil && g.values(&q, symbol) {
		return q
	}
	return market.Quote{}
}

// values reports whether a quote can value what the account holds of a symbol.
func (g *Gate) values(q *market.Quote, symbol string) bool {
	return q.Valid() && (q.Symbol == "" || q.Symbol == symbol) && (q.Currency == "" || q.Currency == g.state.Currency)
}

// marks values the other holdings by their last valid quote of this or the previous
// trade date.
func (g *Gate) marks(ctx context.Context, req *rail.Request, symbol string, now time.Time) {
	for i := range g.state.Holdings {
		h := &g.state.Holdings[i]
		if h.Instrument.Symbol == symbol {
			continue
		}
		if mark, ok := g.mark(ctx, h, now); ok {
			req.Marks = append(req.Marks, mark)
		}
	}
	slices.SortFunc(req.Marks, func(a, b rail.Mark) int { return strings.Compare(a.Symbol, b.Symbol) })
}

func (g *Gate) mark(ctx context.Context, h *account.Holding, now time.Time) (rail.Mark, bool) {
	symbol := h.Instrument.Symbol
	date := market.Session(now, g.cfg.Calendar).TradeDate
	since := market.FromNewYork(date, 0)
	if previous, ok := g.cfg.Calendar.PreviousTradeDate(date); ok {
		since = market.FromNewYork(previous, 0)
	}
	q, err := g.cfg.Quotes.LastValid(ctx, symbol, now, since)
	if err != nil || !g.values(&q, symbol) {
		return rail.Mark{}, false
	}
	return rail.Mark{Symbol: symbol, Bid: q.Bid, Ask: q.Ask, At: q.At}, true
}

// brokerFigures hands over the broker's own figures, read again after any event and
// after FiguresAgeMax.
func (g *Gate) brokerFigures(ctx context.Context, req *rail.Request, now time.Time) {
	if err := g.readFigures(ctx, now); err != nil {
		g.log.Warn("the broker's figures could not be read", "account", g.cfg.Account, "error", err)
		return
	}
	seen := &g.figures.seen
	req.Broker = rail.BrokerFigures{Present: true, Cash: seen.Cash, BuyingPower: seen.BuyingPower, At: g.figures.at}
}

func (g *Gate) readFigures(ctx context.Context, now time.Time) error {
	fresh := g.figures.known && g.figures.cursor == g.cursor && now.Sub(g.figures.at) <= FiguresAgeMax && !now.Before(g.figures.at)
	if fresh {
		return nil
	}
	seen, err := g.cfg.Broker.Account(ctx)
	if err != nil {
		g.figures.known = false
		return err
	}
	g.figures = figures{known: true, cursor: g.cursor, at: now, seen: seen}
	return nil
}
