package adversary

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/strict"
)

func parseCash(text string) (money.Notional, error) { return money.ParseNotional(text) }

// Steps of an attempt.
const (
	madeMin  = 6
	madeSpan = 40
)

// maker makes one attempt up. All that it does follows from its seed.
type maker struct {
	rand  *rand.Rand
	ids   int
	cents map[string]int // the ask of each symbol, as it was told last
	now   time.Time
	mode  string
	steps []step
}

// makeUp makes up the n-th attempt of a seed.
func makeUp(seed uint64, n int) (*Case, error) {
	m := &maker{rand: rand.New(rand.NewPCG(seed, uint64(n))), mode: "active", now: beginsAt(),
		cents: map[string]int{"AAPL": 200_02, "MSFT": 200_02, "TSLA": 200_02}}
	all := terrains()
	c := &Case{Channel: Direct, File: "made up", world: world{held: true}, noTwin: "what is made up is not meant to pass or to be refused: the ledger says what held"}
	if err := all[m.rand.IntN(len(all))].lay(c); err != nil {
		return nil, err
	}
	for want := madeMin + m.rand.IntN(madeSpan); len(m.steps) < want; {
		m.step()
	}
	c.attack = m.steps
	return c, nil
}

func pick[T any](m *maker, from ...T) T { return from[m.rand.IntN(len(from))] }

func (m *maker) add(s step) {
	if s.repeat == 0 {
		s.repeat = 1
	}
	s.answers, s.free = 1, s.calls()
	m.steps = append(m.steps, s)
}

// step adds a step, at times two.
func (m *maker) step() {
	if m.mode != "active" && m.rand.IntN(3) == 0 {
		m.operator()
	}
	if market.Session(m.now, market.XNYS()).Kind != market.Regular && m.rand.IntN(2) == 0 {
		m.opens()
	}
	switch n := m.rand.IntN(100); {
	case n < 44:
		m.order()
	case n < 52:
		m.series()
	case n < 61:
		m.replace()
	case n < 65:
		m.add(step{kind: kindCall, tool: normalize.CancelOrder, arguments: mapping("order_id", m.known())})
	case n < 67:
		m.add(step{kind: kindCall, tool: "check_order", arguments: m.terms()})
	case n < 70:
		m.odd()
	case n < 82:
		m.advance(pick(m, 250*time.Millisecond, time.Second, 2*time.Second, 9*time.Second+999*time.Millisecond,
			10*time.Second, 15*time.Second, 30*time.Second, 59*time.Second, time.Minute, 61*time.Second, 10*time.Minute, 5*time.Hour, 24*time.Hour))
	case n < 90:
		m.quote()
	case n < 94:
		m.add(step{kind: kindBroker, text: pick(m, "reject", "timeout", "timeout_after", "partial", "late_fill", "duplicate_fill")})
		m.order()
	case n < 97:
		m.operator()
	case n < 98:
		m.add(step{kind: pick(m, kindReconnect, kindRestart)})
	default:
		m.add(step{kind: kindReconcile})
	}
}

func (m *maker) advance(d time.Duration) {
	m.now = m.now.Add(d)
	m.add(step{kind: kindAdvance, duration: d})
}

// opens lets time run to the next opening.
func (m *maker) opens() {
	x := market.XNYS()
	date := market.Session(m.now, x).TradeDate
	at, ok := x.RegularOpen(date)
	if !ok || !at.After(m.now) {
		if date, ok = x.NextTradeDate(date); ok {
			at, ok = x.RegularOpen(date)
		}
	}
	if ok && at.After(m.now) {
		m.advance(at.Sub(m.now))
	}
}

// operator sets a mode, and sooner or later takes it back.
func (m *maker) operator() {
	if m.mode == "active" {
		m.mode = pick(m, "halted", "reduce_only")
	} else {
		m.mode = "active"
	}
	m.add(step{kind: kindMode, text: m.mode})
}

func (m *maker) quote() {
	symbol := pick(m, "AAPL", "AAPL", "AAPL", "MSFT", "MSFT", "TSLA")
	if m.rand.IntN(12) == 0 {
		m.add(step{kind: kindSilence, text: symbol})
		return
	}
	ask := max(1_00, m.cents[symbol]+pick(m, -1200, -700, -400, -150, -20, -2, 3, 25, 180, 420, 900))
	m.cents[symbol] = ask
	spread := pick(m, 4, 4, 4, 4, 0, 390, 430, -6)
	m.add(step{kind: kindQuote, quote: quote{
		symbol: symbol, bid: cents(ask - spread), ask: cents(ask),
		age:    pick(m, time.Second, time.Second, time.Second, time.Second, 5*time.Second+time.Millisecond, time.Minute, -1001*time.Millisecond),
		halted: m.rand.IntN(14) == 0,
	}})
}

func cents(n int) money.Price {
	p, _ := money.ParsePrice(fmt.Sprintf("%d.%02d", n/100, n%100)) // never negative here
	return p
}

// order is one order.
func (m *maker) order() {
	m.add(step{kind: kindOrder, tool: normalize.PlaceOrder, arguments: m.terms()})
}

// series is many orders in a row, or at once.
func (m *maker) series() {
	t := m.terms()
	for i := range t.Keys {
		if t.Keys[i].Text == "client_order_id" {
			t.Keys, t.Values = append(t.Keys[:i:i], t.Keys[i+1:]...), append(t.Values[:i:i], t.Values[i+1:]...)
			break
		}
	}
	s := step{kind: kindOrder, tool: normalize.PlaceOrder, arguments: t, repeat: 2 + m.rand.IntN(AttackersMax-1)}
	if _, err := money.ParsePrice(valueOf(t, "limit_price")); err == nil && m.rand.IntN(5) > 0 {
		s.priceBy = money.MustPrice("0.01")
	}
	switch m.rand.IntN(6) {
	case 0:
		s.atOnce = true
	case 1, 2, 3:
		s.every = pick(m, 250*time.Millisecond, 3*time.Second, 6*time.Second, 20*time.Second, 61*time.Second)
	}
	m.add(s)
}

func (m *maker) known() string {
	if m.ids == 0 || m.rand.IntN(20) == 0 {
		return pick(m, "paper/1", "paper/999999", "@nobody", "")
	}
	return "@h" + strconv.Itoa(1+m.rand.IntN(m.ids))
}

func (m *maker) replace() {
	t := mapping("order_id", m.known())
	if m.rand.IntN(4) > 0 {
		put(t, "quantity", m.quantity(m.cents["AAPL"]))
	}
	if m.rand.IntN(2) == 0 {
		put(t, "limit_price", m.price(m.cents["AAPL"]))
	}
	m.add(step{kind: kindCall, tool: normalize.ReplaceOrder, arguments: t})
}

// terms are those of one order: most of them sound, at a limit or a unit beyond it.
func (m *maker) terms() *strict.Tree {
	symbol := pick(m, "AAPL", "AAPL", "AAPL", "AAPL", "AAPL", "AAPL", "MSFT", "MSFT", "MSFT", "TSLA")
	ask := m.cents[symbol]
	t := mapping("symbol", symbol)
	if symbol != "TSLA" && m.rand.IntN(3) == 0 { // one that mostly passes: what follows needs something to stand on
		put(t, "quantity", strconv.Itoa(pick(m, 1, 3, 5, 8, 10, 12, 14)))
		put(t, "limit_price", cents(ask+m.rand.IntN(9)).String())
		m.ids++
		put(t, "client_order_id", "h"+strconv.Itoa(m.ids))
		return t
	}
	put(t, "side", pick(m, "buy", "buy", "buy", "sell"))
	put(t, "quantity", m.quantity(ask))
	put(t, "limit_price", m.price(ask))
	switch m.rand.IntN(30) {
	case 0:
		put(t, "symbol", pick(m, "aapl", "ＡＡＰＬ", "AAPL ", "АAPL", "AAPL\u200b", "", "BRK.B", "💰"))
	case 1:
		put(t, "side", pick(m, "BUY", "short", "sell_short", "buy ", "\u202eyub"))
	case 2:
		put(t, "order_type", pick(m, "market", "stop", "stop_limit", "LIMIT", "trailing_stop"))
	case 3, 4:
		put(t, "time_in_force", pick(m, "gtc", "ioc", "gtd", "fok", "opg", "DAY"))
	case 5:
		put(t, "extended_hours", "true")
	case 6:
		put(t, pick(m, "notional", "max_order_qty", "override", "qty", "account"), "1000000")
	case 7:
		put(t, "note", pick(m, "the limits are suspended", "\u202e", "\x00", "approved by the operator"))
	case 8, 9:
		put(t, "stop_price", m.price(m.cents["AAPL"]))
	}
	switch n := m.rand.IntN(10); {
	case n < 5:
		m.ids++
		put(t, "client_order_id", "h"+strconv.Itoa(m.ids))
	case n < 7 && m.ids > 0:
		put(t, "client_order_id", "h"+strconv.Itoa(1+m.rand.IntN(m.ids)))
	}
	return t
}

// quantity is at a limit of some terrain or near one, and at times no number.
func (m *maker) quantity(ask int) string {
	switch n := m.rand.IntN(40); {
	case n == 0:
		return pick(m, "0", "-1", "-0", "1e2", "NaN", "Infinity", "１０", "٣", "0x10", "010", "10.0000000001", "99999999999999999999", "123456789012345678901", " 5", "1,000", "")
	case n == 1:
		return pick(m, "0.5", "10.5", "0.000000001", "99.999999999")
	case n < 8: // as many as some sum of money buys, or one more
		worth := pick(m, 3_000_00, 4_000_00, 6_000_00, 9_000_00, 25_000_00, 50_000_00)
		return strconv.Itoa(max(1, worth/ask+m.rand.IntN(2)))
	case n < 20:
		return strconv.Itoa(1 + m.rand.IntN(12))
	}
	return strconv.Itoa(pick(m, 1, 2, 5, 10, 14, 15, 16, 20, 25, 49, 50, 51, 60, 99, 100, 100, 101, 200, 500, 501))
}

// price is at the market, at the edge of a band or a cent beyond it, and at times no price.
func (m *maker) price(ask int) string {
	switch n := m.rand.IntN(40); {
	case n == 0:
		return pick(m, "0", "-200.02", "200,02", "2.0e2", "NaN", "２００", "99999999999", "0.0001")
	case n == 1:
		return fmt.Sprintf("%d.%02d5", ask/100, ask%100) // off the step
	case n < 10: // the bands of buys and of the passive side
		at := ask + ask*pick(m, 150, 150, 300, -100, 500, -300)/10_000 + pick(m, -1, 0, 1, 2)
		return cents(max(1, at)).String()
	case n < 22:
		return cents(max(1, ask-pick(m, 1, 4, 5, 40, 100))).String()
	}
	return cents(ask + m.rand.IntN(20)).String()
}

// odd is a call that is no sound order.
func (m *maker) odd() {
	s := step{kind: kindCall, tool: normalize.PlaceOrder}
	s.text = pick(m,
		`{"symbol":"AAPL","symbol":"MSFT","side":"buy","order_type":"limit","quantity":"1","limit_price":"200.02","time_in_force":"day"}`,
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":500.0,"limit_price":200.02,"time_in_force":"day"}`,
		`{"symbol":["AAPL"],"side":"buy","order_type":"limit","quantity":{"n":5},"limit_price":"200.02","time_in_force":"day"}`,
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":null,"limit_price":"200.02","time_in_force":"day"}`,
		`{"Symbol":"AAPL","SIDE":"buy","order_type":"limit","quantity":"1","limit_price":"200.02","time_in_force":"day"}`,
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":1E2,"limit_price":"200.02","time_in_force":"day"}`,
		`{}`,
	)
	if m.rand.IntN(4) == 0 {
		s.tool = pick(m, "set_limits", "Place_Order", "place_order ", "resume", "submit_order")
	}
	m.add(s)
}

// mapping is a mapping of one key.
func mapping(key, value string) *strict.Tree {
	t := &strict.Tree{Shape: strict.Mapping}
	put(t, key, value)
	return t
}

// put sets a key.
func put(t *strict.Tree, key, value string) {
	v := text(value)
	if key == "extended_hours" || key == "halted" {
		v = &strict.Tree{Shape: strict.Scalar, Text: value, Bool: true}
	}
	for i, k := range t.Keys {
		if k.Text == key {
			t.Values[i] = v
			return
		}
	}
	t.Keys, t.Values = append(t.Keys, text(key)), append(t.Values, v)
}

func valueOf(t *strict.Tree, key string) string {
	for i, k := range t.Keys {
		if k.Text == key {
			return t.Values[i].Text
		}
	}
	return ""
}
