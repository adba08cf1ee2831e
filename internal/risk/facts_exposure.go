package risk

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// sums are the figures over all holdings. Each is worked out only while it is wanted,
// which ends when a mark that it needs is not there: a figure is whole or absent. They
// are summed exactly and rounded once, against the order.
type sums struct {
	wantGross, wantNet, wantEquity, wantShorts bool

	gross  money.Total // larger of worst long and worst short, at ask
	long   money.Total // worst long, shorts negative
	short  money.Total // worst short, longs negative
	equity money.Total // longs at bid, shorts negative at ask
	shorts money.Total // short positions at ask, negative

	// Instruments without open orders come to the figures above at the end, by settle:
	// their worst long and worst short are the position itself.
	plain money.Marked
}

// exposureFacts fills exposures and equity, as far as some rail needs them, and then
// what can be bought.
func exposureFacts(f *rail.Facts, dates *tradeDates) {
	p, size, session := f.Figures.Position, f.Figures.Size, &f.Limits.Session
	s := sums{
		wantGross:  p.MaxGrossExposure.On,
		wantNet:    p.MaxNetExposure.On,
		wantEquity: p.MaxConcentration.On || size.MaxOrderPctOfEquity.On || session.MaxDailyLoss.On || session.MaxDrawdown.On,
		wantShorts: p.RequireBuyingPower,
	}
	s.addOwn(f, dates)
	s.addOthers(f, dates)
	s.settle()
	if s.wantGross {
		f.Gross, f.GrossOK = s.gross.Round(money.Up)
	}
	if s.wantNet {
		var ok1, ok2 bool
		f.NetLong, ok1 = s.long.Round(money.Up)
		f.NetShort, ok2 = s.short.Round(money.Up)
		f.NetOK = ok1 && ok2
	}
	if s.wantEquity {
		s.equity.AddNotional(f.State.Cash)
		f.Equity, f.EquityOK = s.equity.Round(money.Down)
	}
	if p.RequireBuyingPower {
		shorts, ok := s.shorts.Round(money.Down)
		cashFacts(f, shorts.Neg(), s.wantShorts && ok)
	}
}

// addOwn counts the order's own instrument: as exposure what it could come to with the
// order in, at the higher of risk price and ask; as equity what is held, by its quote,
// or without a valid one by the last valid one.
func (s *sums) addOwn(f *rail.Facts, dates *tradeDates) {
	if f.NotionalOK && f.PricingOK {
		price := money.MaxPrice(f.RiskPrice, f.PricingQuote.Ask)
		long, ok1 := f.WorthAt(price, order.Buy)
		short, ok2 := f.WorthAt(price, order.Sell)
		f.Own, f.OwnOK = money.MaxNotional(long, short), ok1 && ok2
		s.addWorst(long, short)
	}
	if !f.OwnOK {
		s.wantGross, s.wantNet = false, false
	}
	h := f.Holding
	if h == nil || h.Position.IsZero() || !s.wantEquity && !s.wantShorts {
		return
	}
	quote := &f.Quote
	if last := &f.Request.LastValid; !prices(f, quote) && dates.recent(last.At) {
		quote = last
	}
	if !prices(f, quote) {
		s.wantEquity, s.wantShorts = false, false
		return
	}
	if !s.addHeld(h, quote.Bid, quote.Ask) {
		s.wantEquity, s.wantShorts = false, false
	}
}

// addOthers counts all other holdings, each by its mark. Holdings and marks stand in
// the order of their symbols; a mark out of its place is looked for.
func (s *sums) addOthers(f *rail.Facts, dates *tradeDates) {
	holdings, marks, next := f.State.Holdings, f.Request.Marks, 0
	for i := 0; i < len(holdings); i++ {
		plain := s.addPlains(f, dates, holdings[i:], marks[next:])
		i, next = i+plain, next+plain
		if i == len(holdings) {
			return
		}
		h := &holdings[i]
		if !s.wantGross && !s.wantNet && !s.wantEquity && !s.wantShorts {
			return
		}
		if h == f.Holding || h.Position.IsZero() && h.OpenBuy.IsZero() && h.OpenSell.IsZero() {
			continue
		}
		if next >= len(marks) || marks[next].Symbol != h.Instrument.Symbol {
			next = findMark(marks, h.Instrument.Symbol)
		}
		if next == len(marks) || !usable(&marks[next], h, f, dates) {
			s.absent(h)
			continue
		}
		s.addOther(h, &marks[next])
		next++
	}
}

// addPlains counts those leading holdings that have no open orders and each its mark in
// the same place, plainly usable, and returns how many it was; nearly always all are.
func (s *sums) addPlains(f *rail.Facts, dates *tradeDates, holdings []account.Holding, marks []rail.Mark) int {
	own, currency := f.Holding, f.Limits.Currency
	n := min(len(holdings), len(marks))
	for i := range n {
		h, m := &holdings[i], &marks[i]
		if len(h.Orders) > 0 || h == own || !same(m.Symbol, h.Instrument.Symbol) || !same(h.Instrument.Currency, currency) ||
			!dates.surely(m.At) || !s.plain.Add(h.Position, h.Instrument.Multiplier, m.Bid, m.Ask) {
			return i
		}
	}
	return n
}

// same is a == b, for texts as short as a symbol or a currency: to call for the comparison
// costs more than its few bytes do, also where their number changes from one to the next.
func same(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// addOther counts one holding by its mark: as exposure at ask, and as equity.
func (s *sums) addOther(h *account.Holding, m *rail.Mark) {
	if len(h.Orders) == 0 && s.addPlain(h, m) {
		return
	}
	if !s.addExposed(h, m.Ask) {
		s.wantGross, s.wantNet = false, false
	}
	if !s.addHeld(h, m.Bid, m.Ask) {
		s.wantEquity, s.wantShorts = false, false
	}
}

// addPlain counts a holding without open orders. It is false, and counts nothing, if a
// product is not exact.
func (s *sums) addPlain(h *account.Holding, m *rail.Mark) bool {
	exposed, ok := m.Ask.Exactly(h.Position, h.Instrument.Multiplier)
	if !ok {
		return false
	}
	if h.Position.IsNegative() {
		s.plain.ShortAtAsk.Sub(exposed)
		return true
	}
	worth, ok := m.Bid.Exactly(h.Position, h.Instrument.Multiplier)
	if ok {
		s.plain.LongAtAsk.Add(exposed)
		s.plain.LongAtBid.Add(worth)
	}
	return ok
}

// settle adds what holdings without open orders come to.
func (s *sums) settle() {
	long, short := s.plain.LongAtAsk, s.plain.ShortAtAsk
	s.gross.AddTotal(long)
	s.gross.AddTotal(short)
	s.long.AddTotal(long)
	s.long.SubTotal(short)
	s.short.AddTotal(short)
	s.short.SubTotal(long)
	s.equity.AddTotal(s.plain.LongAtBid)
	s.equity.SubTotal(short)
	s.shorts.SubTotal(short)
}

// findMark returns the place of a symbol's mark, len(marks) if there is none.
func findMark(marks []rail.Mark, symbol string) int {
	for i := range marks {
		if marks[i].Symbol == symbol {
			return i
		}
	}
	return len(marks)
}

func usable(m *rail.Mark, h *account.Holding, f *rail.Facts, dates *tradeDates) bool {
	return m.Bid.IsPositive() && m.Ask.Cmp(m.Bid) >= 0 && dates.recent(m.At) &&
		h.Instrument.Multiplier.IsPositive() && h.Instrument.Currency == f.Limits.Currency
}

// absent gives up the figures that need the holding's value.
func (s *sums) absent(h *account.Holding) {
	s.wantGross, s.wantNet = false, false
	if !h.Position.IsZero() {
		s.wantEquity, s.wantShorts = false, false
	}
}

// addExposed counts a holding's exposure with its open orders: what its position is
// worth as a long and as a short, and each order at the higher of ask and its own risk
// price. It is false if a figure is out of range.
func (s *sums) addExposed(h *account.Holding, ask money.Price) bool {
	multiplier := h.Instrument.Multiplier
	long, ok1 := ask.TimesMultiplied(h.Position, multiplier, money.Up)
	short, ok2 := ask.TimesMultiplied(h.Position.Neg(), multiplier, money.Up)
	ok := ok1 && ok2
	for _, o := range h.Orders {
		value, fine := openValue(h, o, ask)
		ok = ok && fine
		if o.Side == order.Sell {
			short, ok = add(short, value, ok)
		} else {
			long, ok = add(long, value, ok)
		}
	}
	s.addWorst(long, short)
	return ok
}

func (s *sums) addWorst(long, short money.Notional) {
	s.gross.AddNotional(money.MaxNotional(long, short))
	s.long.AddNotional(long)
	s.short.AddNotional(short)
}

// openValue is what an open order could add to its side. Of orders that the broker
// links, one canceling the other, only the one worth most counts.
func openValue(h *account.Holding, o *account.Order, ask money.Price) (money.Notional, bool) {
	value, ok := orderValue(h, o, ask)
	if o.Group == "" || !ok {
		return value, ok
	}
	before := true
	for _, other := range h.Orders {
		if other == o {
			before = false
			continue
		}
		if other.Group != o.Group || other.Side != o.Side {
			continue
		}
		rival, ok := orderValue(h, other, ask)
		if !ok {
			return value, false
		}
		if c := rival.Cmp(value); c > 0 || c == 0 && before {
			return money.Notional{}, true
		}
	}
	return value, true
}

func orderValue(h *account.Holding, o *account.Order, ask money.Price) (money.Notional, bool) {
	price := money.MaxPrice(ask, o.RiskPrice)
	if o.Pending != nil {
		price = money.MaxPrice(price, o.Pending.Terms.RiskPrice)
	}
	return price.TimesMultiplied(o.Remaining(), h.Instrument.Multiplier, money.Up)
}

// addHeld counts what a position is worth now: longs at bid, shorts at ask and negative.
// It is false if that is out of range.
func (s *sums) addHeld(h *account.Holding, bid, ask money.Price) bool {
	price, short := bid, h.Position.IsNegative()
	if short {
		price = ask
	}
	value, ok := price.Exactly(h.Position, h.Instrument.Multiplier)
	if ok {
		s.equity.Add(value)
		if short {
			s.shorts.Add(value)
		}
		return true
	}
	rounded, ok := price.TimesMultiplied(h.Position, h.Instrument.Multiplier, money.Down)
	s.equity.AddNotional(rounded)
	if short {
		s.shorts.AddNotional(rounded)
	}
	return ok
}
