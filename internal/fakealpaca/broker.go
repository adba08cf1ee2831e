package fakealpaca

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Options of a fake broker. The zero value is a paper account with 100,000 in cash that
// trades at the exchange's hours by the clock of the machine.
type Options struct {
	Now        func() time.Time // nil: the machine's clock
	AlwaysOpen bool             // the session never ends
	Cash       money.Notional   // zero: 100,000
	RateMax    int              // calls a minute; zero: RatePerMinute
	Binary     bool             // the stream sends binary frames, as Alpaca's paper stream does
	Key        string           // empty: made by chance
	Secret     string
}

// Limits of the fake.
const (
	BodyBytesMax   = 64 << 10
	OrdersMax      = 100_000
	StreamQueueMax = 1_024
	RatePerMinute  = 200
)

// Broker is the fake. Its methods may be called from many goroutines.
type Broker struct {
	options  Options
	calendar market.Calendar

	mu      sync.Mutex // guards all below
	book    book
	faults  []*Fault
	streams map[*stream]struct{}
	hidden  []event // held back by a fault
	calls   int     // to the trading interface
	blocked bool
	skew    time.Duration
	early   market.TradeDate // a day that the clock says is over by noon; zero: none
	minute  int64
	used    int // calls in that minute
	shut    bool
}

// New makes a fake with an empty account.
func New(o Options) (*Broker, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cash.IsZero() {
		o.Cash = money.NotionalFromInt(100_000)
	}
	if o.RateMax <= 0 {
		o.RateMax = RatePerMinute
	}
	if o.Key == "" {
		var raw [24]byte
		if _, err := rand.Read(raw[:]); err != nil {
			return nil, err
		}
		o.Key, o.Secret = "PK"+hex.EncodeToString(raw[:8]), hex.EncodeToString(raw[8:])
	}
	if o.Secret == "" {
		return nil, errors.New("fakealpaca: a key without a secret")
	}
	b := &Broker{options: o, calendar: market.XNYS(), streams: map[*stream]struct{}{}}
	b.book = book{cash: o.Cash, start: o.Cash, positions: map[string]*Position{}, quotes: map[string]Quote{}}
	b.book.tell = b.tell
	for symbol, q := range quotes() {
		b.book.quotes[symbol] = q
	}
	return b, nil
}

// quotes are the symbols that the fake trades from the start.
func quotes() map[string]Quote {
	q := func(bid, ask string) Quote {
		return Quote{Bid: money.MustPrice(bid), Ask: money.MustPrice(ask), Last: money.MustPrice(bid)}
	}
	return map[string]Quote{
		"AAPL": q("199.98", "200.02"), "MSFT": q("419.95", "420.05"), "SPY": q("569.99", "570.01"),
		"NVDA": q("119.98", "120.02"), "BRK.B": q("459.90", "460.10"),
	}
}

// Keys returns what a client must send to be heard.
func (b *Broker) Keys() (key, secret string) { return b.options.Key, b.options.Secret }

// Ledger returns a copy of the books.
func (b *Broker) Ledger() Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Ledger{Cash: b.book.cash, Positions: b.book.sorted(), Fills: append([]Fill(nil), b.book.fills...), Requests: b.calls}
	for _, o := range b.book.orders {
		out.Orders = append(out.Orders, *o)
	}
	return out
}

// SetQuote changes a symbol's quote and matches what rests. A new symbol trades from now.
func (b *Broker) SetQuote(symbol string, q Quote) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book.quotes[symbol] = q
	for _, o := range b.book.orders {
		if o.Symbol == symbol {
			b.book.match(o, b.now(), b.open())
		}
	}
}

// FillHalf lets the next n orders fill by half at first.
func (b *Broker) FillHalf(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book.partial = n
}

// PlaceByHand puts an order into the account as its owner would, past every client.
func (b *Broker) PlaceByHand(symbol, side string, q money.Quantity, limit money.Price) Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := &Order{
		ID: b.book.id("order"), ClientOrderID: b.book.id("hand"), Symbol: symbol, Side: side, Type: "market", Force: "day",
		Quantity: q, Limit: limit, ByHand: true,
	}
	if !limit.IsZero() {
		o.Type = "limit"
	}
	b.book.take(o, b.now(), b.open())
	return *o
}

// Drift changes a position without an order, as a split or a correction does.
func (b *Broker) Drift(symbol string, q money.Quantity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.book.positions, symbol)
	if !q.IsZero() {
		b.book.positions[symbol] = &Position{Symbol: symbol, Quantity: q}
	}
	b.book.activity = append(b.book.activity, activity{id: b.book.id("activity"), kind: "JNLS", at: b.now(), note: symbol})
}

// Deposit moves cash in, or out if it is negative.
func (b *Broker) Deposit(amount money.Notional) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book.cash, _ = b.book.cash.Add(amount)
	kind := "CSD"
	if amount.IsNegative() {
		kind = "CSW"
	}
	b.book.activity = append(b.book.activity, activity{id: b.book.id("activity"), kind: kind, at: b.now(), amount: amount})
}

// Block makes the account refuse orders, or take them again.
func (b *Broker) Block(blocked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocked = blocked
}

// Skew sets by how much the broker's clock is ahead of ours.
func (b *Broker) Skew(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.skew = d
}

// CloseEarly makes a day end at noon, New York time, in clock and calendar.
func (b *Broker) CloseEarly(d market.TradeDate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.early = d
}

func (b *Broker) now() time.Time { return b.options.Now().Add(b.skew).UTC() }

func (b *Broker) open() bool {
	if b.options.AlwaysOpen {
		return true
	}
	now := b.now()
	s := market.Session(now, b.calendar)
	if s.Kind != market.Regular {
		return false
	}
	return b.early != s.TradeDate || now.Before(market.FromNewYork(b.early, 12*time.Hour))
}
