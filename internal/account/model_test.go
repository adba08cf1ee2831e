package account_test

import (
	"math/big"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The model is the fold written as plainly as it can be: it goes over all entries from
// the first for every question, in rationals, with maps and without windows.

type record struct {
	seq  uint64
	at   time.Time
	body any
}

type modelOrder struct {
	id, symbol  string
	seq         uint64
	buy, ext    bool
	exit        bool
	total, done *big.Rat
	stage       account.Stage
	replyBy     time.Time
	pending     *modelPending
	canceling   uint64
	open        bool
}

type modelPending struct {
	seq      uint64
	total    *big.Rat
	atomic   bool
	replyBy  time.Time
	doubtful bool
}

type modelHolding struct {
	position, cost, profit *big.Rat
	cycle                  bool
}

type model struct {
	cash, flows, dayProfit, dayNotional, peak *big.Rat
	hasPeak, hasOpen, latched                 bool
	orders                                    map[string]*modelOrder
	holdings                                  map[string]*modelHolding
	seen                                      map[string]bool
	messages, exitMessages, rates, denials    []time.Time
	cycles                                    []time.Time
	turnover                                  []stampedSum
	dayOrders, dayExits                       int
	date                                      string
	mode                                      account.Mode
}

type stampedSum struct {
	at  time.Time
	sum *big.Rat
}

func rat(x interface{ String() string }) *big.Rat {
	r, ok := new(big.Rat).SetString(x.String())
	if !ok {
		panic("not a number: " + x.String())
	}
	return r
}

// round9 rounds to nine decimals, toward plus or minus infinity.
func round9(r *big.Rat, up bool) *big.Rat {
	scaled := new(big.Rat).Mul(r, big.NewRat(1_000_000_000, 1))
	q := new(big.Int).Div(scaled.Num(), scaled.Denom()) // floor: denominators are positive
	if up && !scaled.IsInt() {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(q, big.NewInt(1_000_000_000))
}

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func zero() *big.Rat             { return new(big.Rat) }

func (o *modelOrder) remaining() *big.Rat {
	left := func(total *big.Rat) *big.Rat {
		if r := sub(total, o.done); r.Sign() > 0 {
			return r
		}
		return zero()
	}
	old := left(o.total)
	if o.pending == nil {
		return old
	}
	coming := left(o.pending.total)
	if !o.pending.atomic {
		return add(old, coming)
	}
	if old.Cmp(coming) > 0 {
		return old
	}
	return coming
}

// newYorkDate is the date that an instant of these tests belongs to: they stay within
// March 2026 after the 8th, when New York is four hours behind, and skip weekends.
func newYorkDate(t time.Time) string {
	local := t.Add(-4 * time.Hour)
	for local.Weekday() == time.Saturday || local.Weekday() == time.Sunday {
		local = local.Add(24 * time.Hour)
	}
	return local.Format("2006-01-02")
}

// recompute folds the whole list.
func recompute(list []record) *model {
	m := &model{
		cash: zero(), flows: zero(), dayProfit: zero(), dayNotional: zero(), peak: zero(),
		orders: map[string]*modelOrder{}, holdings: map[string]*modelHolding{}, seen: map[string]bool{},
	}
	for _, r := range list {
		if d := newYorkDate(r.at); d > m.date {
			m.date, m.dayOrders, m.dayExits, m.hasOpen, m.latched = d, 0, 0, false, false
			m.flows, m.dayProfit, m.dayNotional = zero(), zero(), zero()
			for _, h := range m.holdings {
				h.profit = zero()
			}
		}
		m.step(r)
		for _, o := range m.orders {
			if o.remaining().Sign() == 0 {
				o.open = false
			}
		}
	}
	return m
}

func (m *model) step(r record) {
	switch b := r.body.(type) {
	case journal.Genesis:
		m.cash, m.mode = rat(b.Cash), account.Active
	case journal.Decision:
		m.decide(r, b)
	case journal.Outcome:
		m.settle(b)
	case journal.Fill:
		o := m.orders[b.OrderID]
		if m.seen["x"+b.ExecutionID] {
			return
		}
		m.seen["x"+b.ExecutionID] = true
		if o.open {
			o.done, o.stage = add(o.done, rat(b.Quantity)), account.Working
		}
		m.execute(r.at, o.symbol, o.buy, rat(b.Quantity), rat(b.Price), rat(b.Fees), true)
	case journal.External:
		if !m.seen["e"+b.ID] {
			m.seen["e"+b.ID] = true
			m.outside(r, b)
		}
	case journal.Refusal:
		for range b.Count {
			if b.Message {
				m.messages = append(m.messages, r.at)
			}
			if b.Denial {
				m.denials = append(m.denials, r.at)
			}
		}
	case journal.Mode:
		m.mode, _ = account.ParseMode(b.Mode)
		if b.By == journal.ByOperator {
			m.denials, m.cycles = nil, nil
		}
		if b.RebasePeak {
			m.hasPeak, m.peak = false, zero()
		}
	case journal.Open:
		m.hasOpen, m.flows = true, zero()
		m.raise(rat(b.Equity))
	case journal.Latch:
		m.latched = true
	}
}

func (m *model) raise(equity *big.Rat) {
	if !m.hasPeak || equity.Cmp(m.peak) > 0 {
		m.hasPeak, m.peak = true, equity
	}
}

func (m *model) decide(r record, d journal.Decision) {
	exit := d.Reducing || d.Intent.Action == order.ActionCancel || d.Reservation != nil && d.Reservation.Bucket == journal.BucketExit
	if exit {
		m.exitMessages = append(m.exitMessages, r.at)
	} else {
		m.messages = append(m.messages, r.at)
	}
	if d.Equity != nil {
		m.raise(rat(*d.Equity))
	}
	if d.Verdict == journal.VerdictDenied {
		m.denials = append(m.denials, r.at)
	}
	if d.Verdict != journal.VerdictAllowed {
		return
	}
	if d.Intent.Action == order.ActionCancel {
		m.orders[d.Intent.Target].canceling = r.seq
		return
	}
	m.rates = append(m.rates, r.at)
	m.turnover = append(m.turnover, stampedSum{r.at, rat(d.Reservation.Notional)})
	m.dayNotional = add(m.dayNotional, rat(d.Reservation.Notional))
	if d.Intent.Action == order.ActionReplace {
		m.orders[d.Intent.Target].pending = &modelPending{
			seq: r.seq, total: rat(d.Intent.Quantity), atomic: len(d.Flags) > 0, replyBy: d.ReplyBy.Time,
		}
		return
	}
	if exit {
		m.dayExits++
	} else {
		m.dayOrders++
	}
	id := "paper/" + strconv.FormatUint(r.seq, 10)
	m.orders[id] = &modelOrder{
		id: id, seq: r.seq, symbol: d.Intent.Symbol, buy: d.Intent.Side == order.Buy, exit: exit,
		total: rat(d.Intent.Quantity), done: zero(), stage: account.Reserved, replyBy: d.ReplyBy.Time, open: true,
	}
}

func (m *model) settle(b journal.Outcome) {
	for _, o := range m.orders {
		if !o.open || o.ext {
			continue
		}
		isReplace := o.pending != nil && o.pending.seq == b.Decision
		isCancel := o.canceling == b.Decision
		if o.seq != b.Decision && !isReplace && !isCancel {
			continue
		}
		switch {
		case b.Result == journal.ResultCanceled || b.Result == journal.ResultExpired:
			if o.pending != nil && !o.pending.atomic && o.total.Cmp(o.done) != 0 {
				o.total, o.canceling = o.done, 0
			} else {
				o.open = false
			}
		case isReplace && b.Result == journal.ResultAccepted:
			o.total, o.pending, o.stage = o.pending.total, nil, account.Working
		case isReplace && b.Result == journal.ResultInDoubt:
			o.pending.doubtful = true
		case isReplace:
			o.pending = nil
		case isCancel && (b.Result == journal.ResultRejected || b.Result == journal.ResultNotSent):
			o.canceling = 0
		case isCancel:
		case b.Result == journal.ResultAccepted:
			o.stage = account.Working
		case b.Result == journal.ResultInDoubt:
			if o.stage == account.Reserved {
				o.stage = account.Doubtful
			}
		default:
			o.open = false
		}
	}
}

func (m *model) outside(r record, b journal.External) {
	switch {
	case b.Cash != nil:
		m.cash, m.flows = add(m.cash, rat(b.Cash.Amount)), add(m.flows, rat(b.Cash.Amount))
		if m.hasPeak {
			m.peak = add(m.peak, rat(b.Cash.Amount))
		}
	case b.Order != nil:
		m.orders["ext/"+b.Order.BrokerID] = &modelOrder{
			id: "ext/" + b.Order.BrokerID, seq: r.seq, symbol: b.Order.Instrument.Symbol, buy: b.Order.Side == order.Buy, ext: true,
			total: rat(b.Order.Quantity), done: rat(b.Order.Filled), stage: account.Working, open: true,
		}
	case b.Ended != nil:
		if o := m.orders["ext/"+b.Ended.BrokerID]; o != nil {
			o.open = false
		}
	case b.Fill != nil:
		f := b.Fill
		if o := m.orders["ext/"+f.BrokerID]; o != nil && o.open && o.symbol == f.Instrument.Symbol {
			o.done = add(o.done, rat(f.Quantity))
		}
		m.execute(r.at, f.Instrument.Symbol, f.Side == order.Buy, rat(f.Quantity), rat(f.Price), rat(f.Fees), false)
	}
}

// execute books one execution by splitting it in two, what closes and what opens.
func (m *model) execute(at time.Time, symbol string, buy bool, quantity, price, fees *big.Rat, ours bool) {
	h := m.holdings[symbol]
	if h == nil {
		h = &modelHolding{position: zero(), cost: zero(), profit: zero()}
		m.holdings[symbol] = h
	}
	signed := quantity
	if !buy {
		signed = new(big.Rat).Neg(quantity)
	}
	m.cash = sub(m.cash, add(round9(mul(price, signed), true), fees))
	gain := new(big.Rat).Neg(fees)
	if h.position.Sign()*signed.Sign() < 0 {
		size := new(big.Rat).Abs(h.position)
		closed := quantity
		if size.Cmp(quantity) < 0 {
			closed = size
		}
		each := sub(price, h.cost)
		if h.position.Sign() < 0 {
			each.Neg(each)
		}
		gain = add(gain, round9(mul(each, closed), false))
		if h.cycle && ours {
			m.cycles = append(m.cycles, at)
			h.cycle = false
		}
		if closed.Cmp(size) == 0 {
			h.cycle, h.cost = false, zero()
		}
		part := closed
		if !buy {
			part = new(big.Rat).Neg(closed)
		}
		h.position, signed, quantity = add(h.position, part), sub(signed, part), sub(quantity, closed)
	}
	if signed.Sign() != 0 {
		h.cycle = h.cycle || ours
		if h.position.Sign() == 0 {
			h.cost = price
		} else {
			size := new(big.Rat).Abs(h.position)
			total := add(round9(mul(h.cost, size), buy), round9(mul(price, quantity), buy))
			h.cost = round9(new(big.Rat).Quo(total, add(size, quantity)), buy)
		}
		h.position = add(h.position, signed)
	}
	h.profit, m.dayProfit = add(h.profit, gain), add(m.dayProfit, gain)
}

// within counts what lies in (now-w, now].
func within(at []time.Time, now time.Time, w time.Duration) int {
	n := 0
	for _, t := range at {
		if t.After(now.Add(-w)) && !t.After(now) {
			n++
		}
	}
	return n
}

func (o *modelOrder) inDoubt(now time.Time) bool {
	return o.stage == account.Doubtful || o.stage == account.Reserved && !now.Before(o.replyBy) ||
		o.pending != nil && (o.pending.doubtful || !now.Before(o.pending.replyBy))
}

func same[T interface{ String() string }](got T, want *big.Rat) bool { return rat(got).Cmp(want) == 0 }

// differs says in what the state is not as the model has it; empty if it is.
func (m *model) differs(s *account.State, now time.Time) string {
	open := 0
	buys, sells := map[string]*big.Rat{}, map[string]*big.Rat{}
	doubt := 0
	for _, o := range m.orders {
		if !o.open {
			if s.Order(o.id) != nil {
				return o.id + " is still open"
			}
			continue
		}
		open++
		got := s.Order(o.id)
		if got == nil {
			return o.id + " is not open"
		}
		if !same(got.Remaining(), o.remaining()) || got.Stage != o.stage || !same(got.Filled, o.done) ||
			got.InDoubt(now) != o.inDoubt(now) || (got.Canceling != nil) != (o.canceling != 0) {
			return o.id + " has other terms"
		}
		if o.inDoubt(now) {
			doubt++
		}
		side := buys
		if !o.buy {
			side = sells
		}
		if side[o.symbol] == nil {
			side[o.symbol] = zero()
		}
		side[o.symbol] = add(side[o.symbol], o.remaining())
	}
	if s.OpenOrders() != open || s.InDoubtCount(now) != doubt {
		return "open or in doubt: other counts"
	}
	for symbol, h := range m.holdings {
		var got account.Holding
		if p := s.Holding(symbol); p != nil {
			got = *p
		} else if h.position.Sign() != 0 || buys[symbol] != nil || sells[symbol] != nil {
			return symbol + " is not held"
		} else {
			continue
		}
		if !same(got.Position, h.position) || !same(got.Cost, h.cost) || !same(got.Realized, h.profit) || got.OpenedInCycle != h.cycle {
			return symbol + " is held otherwise: " + got.Position.String() + " at " + got.Cost.String()
		}
	}
	for _, h := range s.Holdings {
		symbol := h.Instrument.Symbol
		want := func(side map[string]*big.Rat) *big.Rat {
			if side[symbol] == nil {
				return zero()
			}
			return side[symbol]
		}
		if !same(h.OpenBuy, want(buys)) || !same(h.OpenSell, want(sells)) {
			return symbol + " has other open quantities"
		}
		if m.holdings[symbol] == nil && !h.Position.IsZero() || h.Position.IsZero() && len(h.Orders) == 0 {
			return symbol + " should not be held"
		}
	}
	return m.figuresDiffer(s, now)
}

func (m *model) figuresDiffer(s *account.State, now time.Time) string {
	day := s.DayAt(now)
	if newYorkDate(now) > m.date {
		if day != (account.Day{Date: s.TradeDateAt(now)}) {
			return "a new date does not start at zero"
		}
	} else if !same(day.Realized, m.dayProfit) || !same(day.Notional, m.dayNotional) || !same(day.Flows, m.flows) ||
		day.Orders != m.dayOrders || day.ExitOrders != m.dayExits || day.HasOpen != m.hasOpen || day.LossLatched != m.latched {
		return "the day has other figures"
	}
	spent := zero()
	for _, t := range m.turnover {
		if t.at.After(now.Add(-time.Minute)) {
			spent = add(spent, t.sum)
		}
	}
	switch {
	case !same(s.Cash, m.cash):
		return "cash is " + s.Cash.String()
	case s.Mode != m.mode:
		return "mode is " + s.Mode.String()
	case s.Peak.Known != m.hasPeak || m.hasPeak && !same(s.Peak.Equity, m.peak):
		return "peak is " + s.Peak.Equity.String()
	case s.Messages.Count(now, journal.BucketOpen) != within(m.messages, now, time.Minute):
		return "messages"
	case s.Messages.Count(now, journal.BucketExit) != within(m.exitMessages, now, time.Minute):
		return "messages of exits"
	case s.Rate.Count(now, "") != within(m.rates, now, time.Minute):
		return "rate"
	case !same(s.Turnover.Sum(now, time.Minute), spent):
		return "turnover"
	case s.Denials.Count(now, 10*time.Minute) != within(m.denials, now, 10*time.Minute):
		return "denials"
	case s.Cycles.Count(now, time.Hour) != within(m.cycles, now, time.Hour):
		return "cycles"
	case s.Turnover.Count(now, time.Minute) != within(timesOf(m.turnover), now, time.Minute):
		return "turnover count"
	}
	return ""
}

func timesOf(list []stampedSum) []time.Time {
	var out []time.Time
	for _, s := range list {
		out = append(out, s.at)
	}
	return out
}
