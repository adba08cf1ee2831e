package gate

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// OpenCaptureFor is how long after the regular open a process may still capture the
// equity at open by marks; later, the broker's previous close is the figure.
const OpenCaptureFor = time.Minute

// open writes the trade date's opening equity, once, by the first process up. When the
// figure is not to be had nothing is written, and the rails that need it fault. The
// caller holds mu.
func (g *Gate) open(ctx context.Context) error {
	at := g.now().at
	session := market.Session(at, g.cfg.Calendar)
	if !session.Known || session.Kind == market.Closed || g.cfg.Broker == nil || g.cfg.Quotes == nil {
		return nil
	}
	if g.state.Day.HasOpen && g.state.Day.Date == session.TradeDate {
		return nil
	}
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		if g.state.Day.HasOpen && g.state.Day.Date == session.TradeDate {
			return nil, at, nil
		}
		equity, source, ok := g.equityAtOpen(ctx, session, at)
		if !ok {
			return nil, at, nil
		}
		body := journal.Open{Equity: equity, Source: source, TradeDate: session.TradeDate.String()}
		return []draft{{journal.KindOpen, body}}, g.now().at, nil
	})
	return err
}

func (g *Gate) equityAtOpen(ctx context.Context, s market.SessionInfo, at time.Time) (money.Notional, string, bool) {
	if s.Kind == market.Regular && at.Sub(s.OpensAt) <= OpenCaptureFor {
		if equity, ok := g.equityByMarks(ctx, at); ok {
			return equity, "marks", true
		}
	}
	if err := g.readFigures(ctx, at); err != nil || g.figures.seen.PreviousCloseEquity == nil {
		return money.Notional{}, "", false
	}
	return *g.figures.seen.PreviousCloseEquity, "previous_close", true
}

// equityByMarks is cash and holdings, longs at bid and shorts at ask.
func (g *Gate) equityByMarks(ctx context.Context, at time.Time) (money.Notional, bool) {
	sum := g.state.Cash
	for i := range g.state.Holdings {
		h := &g.state.Holdings[i]
		if h.Position.IsZero() {
			continue
		}
		value, ok := g.markedValue(ctx, h, at)
		if !ok {
			return money.Notional{}, false
		}
		if sum, ok = sum.Add(value); !ok {
			return money.Notional{}, false
		}
	}
	return sum, true
}

func (g *Gate) markedValue(ctx context.Context, h *account.Holding, at time.Time) (money.Notional, bool) {
	mark, ok := g.mark(ctx, h, at)
	if !ok {
		return money.Notional{}, false
	}
	price := mark.Bid
	if h.Position.IsNegative() {
		price = mark.Ask
	}
	value, ok := price.Times(h.Position, money.Down)
	if !ok {
		return money.Notional{}, false
	}
	return value.Scale(h.Instrument.Multiplier, money.Down)
}
