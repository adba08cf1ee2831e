package sim

import (
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// steady is a market in which everything costs 100.
type steady struct{ price string }

func (s steady) Bid(string, time.Time) (money.Price, bool) { return money.MustPrice(s.price), true }
func (s steady) Ask(string, time.Time) (money.Price, bool) { return money.MustPrice(s.price), true }

// book writes a broker's ledger by hand, and shows each step of it to a checker.
type book struct {
	c      *Checker
	at     time.Time
	n      int64
	open   []paper.Order
	held   map[string]money.Quantity
	cash   money.Notional
	prices *steady
}

func newBook(t *testing.T) *book {
	t.Helper()
	doc, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	caps, err := CapsOf(doc)
	if err != nil {
		t.Fatal(err)
	}
	prices := &steady{"100"}
	cash := money.NotionalFromInt(1_000_000)
	return &book{
		c: NewChecker(caps, prices, market.XNYS(), cash), prices: prices, cash: cash,
		at: time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC), held: map[string]money.Quantity{},
	}
}

// step is one message and what became of it.
type step struct {
	side     order.Side
	symbol   string
	quantity string
	price    string
	filled   bool
	action   order.Action
	id       string
	silent   bool // no decision was durable
}

func (b *book) do(s step) {
	b.n++
	if s.action == order.ActionNone {
		s.action = order.ActionNew
	}
	id := s.id
	if id == "" {
		id = "c" + strconv.FormatInt(b.n, 10)
	}
	q, p := money.MustQuantity(s.quantity), money.MustPrice(s.price)
	if !s.silent {
		b.c.Durable(Decision{ClientOrderID: id, Intent: order.Intent{Action: s.action, Symbol: s.symbol, Side: s.side, Quantity: q, LimitPrice: p}})
	}
	m := paper.Message{
		N: b.n, At: b.at, DecidedAt: b.at, Action: s.action, ClientOrderID: id, BrokerID: "o" + strconv.FormatInt(b.n, 10),
		Symbol: s.symbol, Side: s.side, Quantity: q, LimitPrice: p, Effect: paper.EffectTook,
	}
	o := paper.Order{
		N: b.n, BrokerID: m.BrokerID, ClientOrderID: id, Instrument: order.Instrument{Symbol: s.symbol}, Side: s.side,
		Type: order.Limit, Quantity: q, LimitPrice: p, State: paper.Open,
	}
	l := Look{Messages: []paper.Message{m}, Judged: true}
	if s.filled {
		o.State, o.Filled = paper.Filled, q
		l.Executions = []paper.Execution{b.trade(m.BrokerID, s, q, p)}
	}
	b.open = append(b.open, o)
	b.show(l)
}

func (b *book) trade(id string, s step, q money.Quantity, p money.Price) paper.Execution {
	value, _ := p.Times(q, money.Up)
	by := q
	if s.side == order.Sell {
		by = by.Neg()
		b.cash, _ = b.cash.Add(value)
	} else {
		b.cash, _ = b.cash.Sub(value)
	}
	b.held[s.symbol], _ = b.held[s.symbol].Add(by)
	return paper.Execution{N: b.n, ID: "x" + strconv.FormatInt(b.n, 10), BrokerID: id, Symbol: s.symbol, Side: s.side, Quantity: q, Price: p, At: b.at}
}

func (b *book) show(l Look) {
	l.At, l.Cash = b.at, b.cash
	l.Orders = append(l.Orders, b.open...)
	for symbol, q := range b.held {
		if !q.IsZero() {
			l.Positions = append(l.Positions, journal.Position{Instrument: order.Instrument{Symbol: symbol}, Quantity: q})
		}
	}
	b.c.Look(&l)
	b.at = b.at.Add(time.Second)
}

func buy(quantity string) step {
	return step{side: order.Buy, symbol: "AAPL", quantity: quantity, price: "100", filled: true}
}

func rested(quantity string) step { s := buy(quantity); s.filled = false; return s }

func sold(quantity string) step { s := buy(quantity); s.side = order.Sell; return s }

func (b *book) times(n int, s step, wait time.Duration) {
	for range n {
		b.do(s)
		b.at = b.at.Add(wait)
	}
}

// TestCheckerNamesWhatIsBroken feeds a ledger in which one thing is wrong, and beside it
// the same at the limit, which must pass.
func TestCheckerNamesWhatIsBroken(t *testing.T) {
	for _, row := range []struct {
		check     Check
		good, bad func(b *book)
	}{
		{CheckDecided, func(b *book) { b.do(buy("1")) }, func(b *book) { s := buy("1"); s.silent = true; b.do(s) }},
		{CheckOnce, func(b *book) { b.times(2, buy("1"), 0) }, func(b *book) { s := buy("1"); s.id = "same"; b.times(2, s, 0) }},
		{
			CheckSession,
			func(b *book) { b.at = time.Date(2026, 3, 18, 19, 59, 59, 0, time.UTC); b.do(rested("1")) },
			func(b *book) { b.at = time.Date(2026, 3, 18, 20, 0, 0, 0, time.UTC); b.do(rested("1")) },
		},
		{CheckSymbol, func(b *book) { b.do(buy("1")) }, func(b *book) { s := buy("1"); s.symbol = "TSLA"; b.do(s) }},
		{CheckSymbol, func(b *book) { b.do(buy("1")) }, func(b *book) { b.do(buy("0.5")) }},
		{CheckSymbol, func(b *book) { b.do(buy("1")) }, func(b *book) { s := buy("1"); s.price = "100.001"; b.do(s) }},
		{CheckQuantity, func(b *book) { b.do(buy("100")) }, func(b *book) { b.do(buy("101")) }},
		{
			CheckNotional,
			func(b *book) { b.prices.price = "250"; s := buy("100"); s.price = "250"; b.do(s) },
			func(b *book) { b.prices.price = "250"; s := buy("100"); s.price = "250.01"; b.do(s) },
		},
		{CheckCollar, func(b *book) { s := buy("1"); s.price = "101.50"; b.do(s) }, func(b *book) { s := buy("1"); s.price = "101.51"; b.do(s) }},
		{CheckPosition, func(b *book) { b.times(5, buy("100"), time.Minute) }, func(b *book) { b.times(5, buy("100"), time.Minute); b.do(rested("1")) }},
		{
			CheckGross,
			func(b *book) { b.prices.price = "250"; s := buy("100"); s.price = "250"; b.spread(10, s) },
			func(b *book) { b.prices.price = "250"; s := buy("100"); s.price = "250"; b.spread(11, s) },
		},
		{CheckShort, func(b *book) { b.do(buy("5")); b.do(sold("5")) }, func(b *book) { b.do(buy("5")); b.do(sold("6")) }},
		{CheckMinute, func(b *book) { b.times(10, buy("1"), 0) }, func(b *book) { b.times(11, buy("1"), 0) }},
		{
			CheckExits,
			func(b *book) { b.do(buy("50")); b.times(10, sold("1"), 0) },
			func(b *book) { b.do(buy("50")); b.times(11, sold("1"), 0) },
		},
		{CheckMinuteValue, func(b *book) { b.times(5, buy("100"), 0) }, func(b *book) { b.times(5, buy("100"), 0); b.do(buy("1")) }},
		{CheckDay, func(b *book) { b.times(200, buy("1"), 10*time.Second) }, func(b *book) { b.times(201, buy("1"), 10*time.Second) }},
		{CheckOpen, func(b *book) { b.times(25, rested("1"), 10*time.Second) }, func(b *book) { b.times(26, rested("1"), 10*time.Second) }},
		{
			CheckLoss,
			func(b *book) { b.times(5, buy("100"), time.Minute); b.prices.price = "90.01"; b.cheap() },
			func(b *book) { b.times(5, buy("100"), time.Minute); b.prices.price = "90"; b.cheap() },
		},
		{CheckCash, func(b *book) { b.poor(100); b.do(buy("1")) }, func(b *book) { b.poor(99); b.do(buy("1")) }},
		{CheckLedger, func(b *book) { b.do(buy("1")) }, func(b *book) { b.do(buy("1")); b.cash = money.NotionalFromInt(7); b.show(Look{}) }},
		{CheckLedger, func(b *book) { b.do(buy("1")) }, func(b *book) { b.do(buy("1")); b.held["AAPL"] = money.QuantityFromInt(2); b.show(Look{}) }},
		{CheckFills, func(b *book) { b.do(buy("1")) }, func(b *book) { b.overfill() }},
	} {
		t.Run(string(row.check), func(t *testing.T) {
			good, bad := newBook(t), newBook(t)
			row.good(good)
			if n := good.c.Failed(); n != 0 {
				t.Errorf("at the limit: %d failed: %v", n, good.c.Violations)
			}
			if good.c.Tallies[row.check].Made == 0 {
				t.Error("the check was not made")
			}
			row.bad(bad)
			if bad.c.Tallies[row.check].Failed == 0 {
				t.Errorf("beyond it, %s says nothing; others say: %v", row.check, bad.c.Violations)
			}
		})
	}
}

// spread buys the same of two instruments in turn, so that neither position is too large.
func (b *book) spread(n int, s step) {
	for i := range n {
		s.symbol = []string{"AAPL", "MSFT", "NVDA"}[i%3]
		b.do(s)
		b.at = b.at.Add(time.Minute)
	}
}

// cheap buys a share at the price of now.
func (b *book) cheap() { s := rested("1"); s.price, s.symbol = b.prices.price, "MSFT"; b.do(s) }

// poor starts over with little cash.
func (b *book) poor(dollars int64) {
	b.cash = money.NotionalFromInt(dollars)
	b.c.cash = b.cash
}

// overfill books more than an order was for.
func (b *book) overfill() {
	b.do(rested("1"))
	b.open[0].Filled, b.open[0].State = money.QuantityFromInt(2), paper.Filled
	b.n++
	b.show(Look{Executions: []paper.Execution{b.trade("o1", buy("2"), money.QuantityFromInt(2), money.PriceFromInt(100))}})
}

func TestAMessageMustBeWhatWasDecided(t *testing.T) {
	b := newBook(t)
	b.c.Durable(Decision{ClientOrderID: "c1", Intent: order.Intent{
		Action: order.ActionNew, Symbol: "AAPL", Side: order.Buy, Quantity: money.QuantityFromInt(1), LimitPrice: money.PriceFromInt(100),
	}})
	s := buy("2")
	s.silent = true
	b.do(s)
	if b.c.Tallies[CheckDecided].Failed != 1 {
		t.Errorf("an order for two on a decision for one: %v", b.c.Violations)
	}
}

func TestCountsStartAnewWithTheDateAndTheWindow(t *testing.T) {
	b := newBook(t)
	b.times(10, buy("1"), 0)
	b.at = b.at.Add(-10 * time.Second).Add(time.Minute) // the first is exactly a minute old
	b.do(buy("1"))
	b.times(188, buy("1"), 10*time.Second)
	b.times(1, sold("100"), 0)
	b.at = time.Date(2026, 3, 19, 15, 0, 0, 0, time.UTC)
	b.times(200, buy("1"), 10*time.Second)
	if n := b.c.Failed(); n != 0 {
		t.Errorf("%d failed: %v", n, b.c.Violations)
	}
}

// A fill that comes after its order's end is the broker's: it is counted, what it took
// beyond the cap may stand, and nothing may be opened on it.
func TestLateFillIsExcusedAndNothingMore(t *testing.T) {
	b := newBook(t)
	late := rested("50")
	b.do(late)
	b.open[0].State, b.open[0].LateAt = paper.Canceled, b.at.Add(time.Hour)
	b.show(Look{})
	b.times(5, buy("100"), time.Minute)
	q := money.QuantityFromInt(50)
	b.open[0].Filled, b.open[0].LateAt = q, time.Time{}
	b.n++
	b.show(Look{Executions: []paper.Execution{b.trade("o1", late, q, money.PriceFromInt(100))}})
	b.at = b.at.Add(time.Minute)
	b.do(sold("10"))
	if b.c.Failed() != 0 || b.c.LateOver != 1 {
		t.Fatalf("%d late, %v", b.c.LateOver, b.c.Violations)
	}
	b.do(rested("1"))
	if b.c.Tallies[CheckPosition].Failed == 0 {
		t.Error("something was opened on a position beyond its cap")
	}
}
