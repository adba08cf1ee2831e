package replay

import (
	"strconv"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
)

// guess is an open order of the followed history that has left its record.
type guess struct {
	date      market.TradeDate // that it works on; a day order ends with it
	triggered bool             // a stop that was reached
	fills     int
}

// leave puts an order under the assumption, from here on. External orders stay with
// their record.
func (p *play) leave(id string, e *journal.Entry) {
	o := p.other
	seq, ours := o.seqOf(id)
	if !ours || o.state.Order(id) == nil || o.guesses[seq] != nil {
		return
	}
	o.assumed = true
	o.guesses[seq] = &guess{date: o.state.TradeDateAt(e.At.Time)}
	o.order = append(o.order, seq)
}

// settleGuesses ends what no longer works, and fills what a recorded quote reaches, before
// the entry is judged.
func (p *play) settleGuesses(e *journal.Entry, date market.TradeDate) {
	o := p.other
	kept := o.order[:0]
	for _, seq := range o.order {
		g := o.guesses[seq]
		open := o.state.Order(o.id(seq))
		switch {
		case g == nil:
			continue
		case open == nil:
			delete(o.guesses, seq)
			continue
		case ended(open, g, e, date):
			_ = p.answer(e, seq, journal.ResultExpired, "") // its order is open: it folds
			delete(o.guesses, seq)
			continue
		}
		kept = append(kept, seq)
	}
	o.order = kept
	if e.Kind != journal.KindDecision || len(o.order) == 0 {
		return
	}
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil {
		return // the caller reads it next, and says so
	}
	if req, err := record.Request(e, &body); err == nil {
		_ = p.tryFill(e, &req)
	}
}

// ended reports whether an order has outlived its time in force.
func ended(open *account.Order, g *guess, e *journal.Entry, date market.TradeDate) bool {
	switch open.TimeInForce {
	case order.GTC:
		return false
	case order.GTD:
		return e.At.After(open.ExpireAt)
	case order.IOC:
		return true // what did not fill at once
	}
	return date > g.date
}

// tryFill fills the assumed orders of an instrument that its quote makes marketable, whole.
func (p *play) tryFill(e *journal.Entry, req *rail.Request) error {
	q := &req.Quote
	if p.o.Assume != AssumeFill || !q.Valid() || q.Halted {
		return nil
	}
	kind := market.Session(e.At.Time, p.calendar).Kind
	for _, seq := range p.other.order {
		g, open := p.other.guesses[seq], p.other.state.Order(p.other.id(seq))
		if g == nil || open == nil || open.Symbol != q.Symbol || open.Stage != account.Working {
			continue
		}
		if kind == market.Closed || kind != market.Regular && !open.ExtendedHours {
			continue
		}
		price, reached := g.reaches(open, q)
		if !reached {
			continue
		}
		if err := p.assumeFill(e, seq, g, open, price); err != nil {
			return err
		}
	}
	return nil
}

// reaches says at what price a quote fills an order, if it does: buys at the ask, sells at
// the bid. Stops trigger on the same sides.
func (g *guess) reaches(o *account.Order, q *market.Quote) (money.Price, bool) {
	price, sign := q.Ask, 1
	if o.Side == order.Sell {
		price, sign = q.Bid, -1
	}
	if o.Type.HasStop() && !g.triggered {
		if g.triggered = price.Cmp(o.StopPrice)*sign >= 0; !g.triggered {
			return price, false
		}
	}
	return price, !o.Type.HasLimit() || price.Cmp(o.LimitPrice)*sign <= 0
}

func (p *play) assumeFill(e *journal.Entry, seq uint64, g *guess, open *account.Order, price money.Price) error {
	g.fills++
	id, left := open.ID, open.Remaining()
	f := journal.Fill{
		ExecutedAt: e.At, ExecutionID: "assumed/" + strconv.FormatUint(seq, 10) + "/" + strconv.Itoa(g.fills),
		OrderID: id, Price: price, Quantity: left,
	}
	worth := p.worthOf(p.other.state, &f)
	if err := p.other.put(e.At.Time, journal.KindFill, f); err != nil {
		return err
	}
	p.report.Followed.FillsAssumed++
	p.report.filled(&p.report.Followed.Trade, worth)
	return nil
}
