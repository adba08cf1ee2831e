package fakealpaca

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Order is one order as the broker holds it. Prices that its type does not have are zero.
type Order struct {
	ID, ClientOrderID         string
	Symbol, Side, Type, Force string
	Quantity, Filled          money.Quantity
	Limit, Stop               money.Price
	Extended                  bool
	Status                    string
	Replaces, ReplacedBy      string
	ByHand                    bool // placed in the broker's own application
	paid                      money.Notional
	triggered                 bool
	created, updated, ended   time.Time
}

// Average returns what a unit cost; zero when nothing filled.
func (o *Order) Average() money.Price {
	p, _ := o.paid.Per(o.Filled, money.Down) // zero for nothing filled
	return p
}

func (o *Order) open() bool {
	return slices.Contains([]string{"new", "accepted", "partially_filled", "pending_cancel", "pending_replace"}, o.Status)
}

// Fill is one execution.
type Fill struct {
	ID, OrderID, Symbol, Side string
	Quantity                  money.Quantity
	Price                     money.Price
	At                        time.Time
}

// Quote is two-sided, in the account's currency.
type Quote struct{ Bid, Ask, Last money.Price }

// Ledger is what the broker's books say. It is the oracle: a copy that nothing changes.
type Ledger struct {
	Cash      money.Notional
	Positions []Position // sorted by symbol, none flat
	Orders    []Order    // in the order of their arrival
	Fills     []Fill
	Requests  int // that reached the trading interface, refused ones too
}

// Position is what is held; negative is short. Cost is what it was bought or sold for.
type Position struct {
	Symbol   string
	Quantity money.Quantity
	Cost     money.Notional
}

// event is what the trade_updates stream tells.
type event struct {
	Kind  string
	Order Order
	Fill  *Fill
	Held  money.Quantity
	At    time.Time
}

// book holds the account. Its owner holds a lock.
type book struct {
	cash      money.Notional
	start     money.Notional
	positions map[string]*Position
	orders    []*Order
	fills     []Fill
	quotes    map[string]Quote
	activity  []activity
	partial   int // of how many orders to come only the first half fills at once
	tell      func(event)
	ids       int
}

type activity struct {
	id, kind string
	at       time.Time
	fill     *Fill
	amount   money.Notional
	note     string
}

// id makes the next id: a UUID of version 8, the same in each run.
func (b *book) id(what string) string {
	b.ids++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", what, b.ids))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-8" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func (b *book) find(id string) *Order {
	for _, o := range b.orders {
		if o.ID == id {
			return o
		}
	}
	return nil
}

func (b *book) byClientID(id string) *Order {
	for _, o := range b.orders {
		if o.ClientOrderID == id {
			return o
		}
	}
	return nil
}

// take books an order that was checked, and matches it.
func (b *book) take(o *Order, now time.Time, isOpen bool) {
	o.created, o.updated, o.Status = now, now, "new"
	if !isOpen && !o.Extended {
		o.Status = "accepted"
	}
	b.orders = append(b.orders, o)
	b.tell(event{Kind: o.Status, Order: *o, At: now})
	b.match(o, now, isOpen)
	if o.Force == "ioc" && o.open() {
		b.end(o, "canceled", now)
	}
}

// match fills an order as far as the quote lets it.
func (b *book) match(o *Order, now time.Time, isOpen bool) {
	q, known := b.quotes[o.Symbol]
	if !known || !o.open() || !isOpen && !o.Extended {
		return
	}
	if o.Status == "accepted" {
		o.Status = "new"
	}
	price := q.Ask
	if o.Side == "sell" {
		price = q.Bid
	}
	if (o.Type == "stop" || o.Type == "stop_limit") && !o.triggered {
		if o.Side == "buy" && price.Cmp(o.Stop) < 0 || o.Side == "sell" && price.Cmp(o.Stop) > 0 {
			return
		}
		o.triggered = true
	}
	if o.Type == "limit" || o.Type == "stop_limit" {
		if o.Side == "buy" && price.Cmp(o.Limit) > 0 || o.Side == "sell" && price.Cmp(o.Limit) < 0 {
			return
		}
	}
	rest, _ := o.Quantity.Sub(o.Filled)
	if b.partial > 0 && o.Filled.IsZero() {
		if half, ok := rest.WholeShare(money.PercentFromInt(50)); ok && !half.IsZero() {
			b.partial--
			rest = half
		}
	}
	b.fill(o, rest, price, now)
}

// fill books an execution.
func (b *book) fill(o *Order, q money.Quantity, price money.Price, now time.Time) {
	f := Fill{ID: b.id("fill"), OrderID: o.ID, Symbol: o.Symbol, Side: o.Side, Quantity: q, Price: price, At: now}
	amount, ok := price.Times(q, money.Down)
	if !ok {
		return // out of the range of figures: nothing is booked
	}
	b.fills = append(b.fills, f)
	b.activity = append(b.activity, activity{id: b.id("activity"), kind: "FILL", at: now, fill: &f})
	o.Filled, _ = o.Filled.Add(q)
	o.paid, _ = o.paid.Add(amount)
	o.updated = now
	held := b.book(o.Symbol, o.Side, q, amount)
	kind := "partial_fill"
	if o.Status = "partially_filled"; o.Filled.Cmp(o.Quantity) >= 0 {
		o.Status, kind, o.ended = "filled", "fill", now
	}
	b.tell(event{Kind: kind, Order: *o, Fill: &f, Held: held, At: now})
}

// book moves cash and position.
func (b *book) book(symbol, side string, q money.Quantity, amount money.Notional) money.Quantity {
	p := b.positions[symbol]
	if p == nil {
		p = &Position{Symbol: symbol}
		b.positions[symbol] = p
	}
	if side == "buy" {
		p.Quantity, _ = p.Quantity.Add(q)
		p.Cost, _ = p.Cost.Add(amount)
		b.cash, _ = b.cash.Sub(amount)
	} else {
		p.Quantity, _ = p.Quantity.Sub(q)
		p.Cost, _ = p.Cost.Sub(amount)
		b.cash, _ = b.cash.Add(amount)
	}
	held := p.Quantity
	if held.IsZero() {
		delete(b.positions, symbol)
	}
	return held
}

func (b *book) end(o *Order, status string, now time.Time) {
	o.Status, o.ended, o.updated = status, now, now
	b.tell(event{Kind: status, Order: *o, At: now})
}

// worth is cash and positions at their last prices.
func (b *book) worth() (equity, long, short money.Notional) {
	equity = b.cash
	for _, p := range b.sorted() {
		v, _ := b.last(p.Symbol).Times(p.Quantity.Abs(), money.Down)
		if p.Quantity.IsNegative() {
			short, _ = short.Add(v)
			equity, _ = equity.Sub(v)
		} else {
			long, _ = long.Add(v)
			equity, _ = equity.Add(v)
		}
	}
	return equity, long, short
}

func (b *book) last(symbol string) money.Price {
	q := b.quotes[symbol]
	if !q.Last.IsZero() {
		return q.Last
	}
	return q.Bid
}

func (b *book) sorted() []Position {
	out := make([]Position, 0, len(b.positions))
	for _, p := range b.positions {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y Position) int {
		if x.Symbol < y.Symbol {
			return -1
		}
		return 1
	})
	return out
}

// reserved is what open buys may still cost.
func (b *book) reserved() (sum money.Notional) {
	for _, o := range b.orders {
		if o.open() && o.Side == "buy" {
			rest, _ := o.Quantity.Sub(o.Filled)
			v, _ := b.dearest(o).Times(rest, money.Up)
			sum, _ = sum.Add(v)
		}
	}
	return sum
}

func (b *book) dearest(o *Order) money.Price {
	switch {
	case !o.Limit.IsZero():
		return o.Limit
	case !o.Stop.IsZero():
		return o.Stop
	}
	return b.quotes[o.Symbol].Ask
}
