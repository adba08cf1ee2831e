package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// symbolsMax bounds the instruments whose last price is kept: more than a limits
// document may list. What comes after them has no price here.
const symbolsMax = 10_000

// prices are the last valid quotes that the journal has shown, sorted by symbol.
type prices struct{ marks []rail.Mark }

func (p *prices) find(symbol string) (int, bool) {
	return slices.BinarySearchFunc(p.marks, symbol, func(m rail.Mark, s string) int { return strings.Compare(m.Symbol, s) })
}

func (p *prices) take(m rail.Mark) {
	i, known := p.find(m.Symbol)
	switch {
	case m.Symbol == "" || !m.Bid.IsPositive() || m.Ask.Cmp(m.Bid) < 0:
	case known && !m.At.Before(p.marks[i].At):
		p.marks[i] = m
	case !known && len(p.marks) < symbolsMax:
		p.marks = slices.Insert(p.marks, i, m)
	}
}

// learn takes what a decision was judged by.
func (p *prices) learn(e *journal.Entry) error {
	if e.Kind != journal.KindDecision {
		return nil
	}
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil {
		return err
	}
	req, err := record.Request(e, &body)
	if err != nil {
		return err
	}
	if req.Quote.Valid() && !req.Quote.At.After(e.At.Time) {
		p.take(markOf(&req.Quote))
	}
	if req.LastValid.Valid() {
		p.take(markOf(&req.LastValid))
	}
	for _, m := range req.Marks {
		p.take(m)
	}
	return nil
}

func markOf(q *market.Quote) rail.Mark {
	return rail.Mark{Symbol: q.Symbol, Bid: q.Bid, Ask: q.Ask, At: q.At}
}

// worth values a state by the last prices, however old.
func (p *prices) worth(s *account.State, now time.Time, cal market.Calendar) risk.Worth {
	marks := make([]rail.Mark, 0, len(s.Holdings))
	for i := range s.Holdings {
		if at, known := p.find(s.Holdings[i].Instrument.Symbol); known {
			m := p.marks[at]
			m.At = now
			marks = append(marks, m)
		}
	}
	return risk.WorthOf(s, marks, now, cal)
}

// equity is cash, and what is held: longs at bid, shorts at ask. It is false where a
// holding has no price.
func (p *prices) equity(s *account.State) (money.Notional, bool) {
	sum := s.Cash
	for i := range s.Holdings {
		h := &s.Holdings[i]
		if h.Position.IsZero() {
			continue
		}
		at, known := p.find(h.Instrument.Symbol)
		if !known {
			return sum, false
		}
		price := p.marks[at].Bid
		if h.Position.IsNegative() {
			price = p.marks[at].Ask
		}
		value, ok := price.TimesMultiplied(h.Position, h.Instrument.Multiplier, money.Down)
		if !ok {
			return sum, false
		}
		if sum, ok = sum.Add(value); !ok {
			return sum, false
		}
	}
	return sum, true
}

// complete gives a request the marks that the state needs and the recorded one did not.
func (p *prices) complete(req *rail.Request, s *account.State, symbol string) {
	var marks []rail.Mark
	for i := range s.Holdings {
		name := s.Holdings[i].Instrument.Symbol
		if name == symbol {
			continue
		}
		if slices.ContainsFunc(req.Marks, func(m rail.Mark) bool { return m.Symbol == name }) {
			continue
		}
		if at, known := p.find(name); known {
			marks = append(marks, p.marks[at])
		}
	}
	if len(marks) > 0 {
		req.Marks = slices.Concat(req.Marks, marks)
		slices.SortFunc(req.Marks, func(a, b rail.Mark) int { return strings.Compare(a.Symbol, b.Symbol) })
	}
	h := s.Holding(symbol)
	if at, known := p.find(symbol); known && h != nil && !h.Position.IsZero() && !req.LastValid.Present {
		m := p.marks[at]
		req.LastValid = market.Quote{Symbol: symbol, Bid: m.Bid, Ask: m.Ask, At: m.At, Present: true, HasBid: true, HasAsk: true}
	}
}

// free is the cash that a broker's figures of an instant show as free: less what the
// orders hold back that were working then.
func free(s *account.State, at time.Time) (money.Notional, bool) {
	left := s.Cash
	for _, o := range s.Orders {
		if o.Stage != account.Working || o.Pending != nil || !o.DecidedAt.Before(at) || o.Side != order.Buy {
			continue
		}
		unit, ok := o.Cost.Per(o.Quantity, money.Up)
		if !ok {
			return left, false
		}
		held, ok := unit.Times(o.Remaining(), money.Up)
		if !ok {
			return left, false
		}
		if left, ok = left.Sub(held); !ok {
			return left, false
		}
	}
	return left, true
}

// moved shifts the broker's figures by what the other history has more. Figures that
// cannot be shifted are absent, and the rails that need them fault.
func moved(b rail.BrokerFigures, recorded, here *account.State) rail.BrokerFigures {
	if !b.Present {
		return b
	}
	was, ok1 := free(recorded, b.At)
	is, ok2 := free(here, b.At)
	more, ok3 := is.Sub(was)
	power, ok4 := b.BuyingPower.Add(more)
	cash, ok5 := here.Cash.Sub(recorded.Cash)
	total, ok6 := b.Cash.Add(cash)
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) {
		return rail.BrokerFigures{}
	}
	b.BuyingPower, b.Cash = power, total
	return b
}

// worthOf is price × quantity of a fill; zero if it is out of range.
func (p *play) worthOf(s *account.State, f *journal.Fill) money.Notional {
	multiplier := money.QuantityFromInt(1)
	if o := s.Order(f.OrderID); o != nil {
		if h := s.Holding(o.Symbol); h != nil {
			multiplier = h.Instrument.Multiplier
		}
	}
	worth, ok := f.Price.TimesMultiplied(f.Quantity, multiplier, money.Up)
	if !ok {
		return money.Notional{}
	}
	return worth
}
