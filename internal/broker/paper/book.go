package paper

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// errFigure says that a sum left the range of the money package. What was being booked
// is not booked.
var errFigure = errors.New("figure out of range")

// meta is the ledger's single row.
type meta struct {
	start     Start
	cash      money.Notional
	evaluated int64 // the whole second of market time up to which resting orders were looked at
	// How many of each there are; the next one's number is one more.
	orderCount, executionCount, eventCount, messageCount, faultCount int64
	// The equity at the newest regular close, if all that was held had a quote.
	closeDate   market.TradeDate
	closeKnown  bool
	closeEquity money.Notional
}

// book is one change of the ledger in the making: what is live, and what was changed.
// Whoever changes an order calls touch.
type book struct {
	meta
	rows   rows
	live   []*Order           // by N; orders that ended meanwhile stay until the book is kept
	held   []journal.Position // sorted by symbol; zeros stay until the book is kept
	faults []queued           // by N

	changed struct {
		any        bool
		orders     []*Order
		executions []Execution
		events     []gate.Event
		messages   []Message
		positions  []string // symbols
		queued     []queued
		spent      []int64 // faults
	}
}

// touch marks an order as changed.
func (k *book) touch(o *Order) {
	k.changed.any = true
	if !slices.Contains(k.changed.orders, o) {
		k.changed.orders = append(k.changed.orders, o)
	}
}

// find returns the order with this id; nil if there is none.
func (k *book) find(field orderField, id string) (*Order, error) {
	if id == "" {
		return nil, nil
	}
	same := func(o *Order) bool {
		return field == byBrokerID && o.BrokerID == id || field == byClientID && o.ClientOrderID == id
	}
	for _, list := range [][]*Order{k.live, k.changed.orders} {
		if i := slices.IndexFunc(list, same); i >= 0 {
			return list[i], nil
		}
	}
	o, ok, err := k.rows.orderBy(field, id)
	if err != nil || !ok {
		return nil, err
	}
	return &o, nil
}

// add takes a new order in, with the next number.
func (k *book) add(o *Order) {
	k.orderCount++
	o.N = k.orderCount
	o.BrokerID = "paper-o" + strconv.FormatInt(o.N, 10)
	o.State = Open
	k.live = append(k.live, o)
	k.touch(o)
}

// emit puts an event on the stream.
func (k *book) emit(e gate.Event) {
	k.changed.any = true
	k.eventCount++
	e.Cursor = strconv.FormatInt(k.eventCount, 10)
	e.ID = "paper/" + e.Cursor
	k.changed.events = append(k.changed.events, e)
}

// about is an event that concerns an order.
func about(kind gate.EventKind, o *Order, at time.Time) gate.Event {
	return gate.Event{
		Kind: kind, ClientOrderID: o.ClientOrderID, BrokerID: o.BrokerID,
		Instrument: o.Instrument, Side: o.Side, At: at,
	}
}

// end closes an open order that did not fill up.
func (k *book) end(o *Order, as State, at time.Time, reason string) {
	o.State = as
	k.touch(o)
	e := about(gate.EventEnded, o, at)
	e.Ended = string(as)
	e.Reason = reason
	k.emit(e)
}

// trade books an execution of an order, and the id that it was booked under. An empty
// id is given the next one. An ended order is booked on as well: fills come late.
func (k *book) trade(o *Order, quantity money.Quantity, price money.Price, at time.Time, id string) (Execution, error) {
	x, err := k.settle(o.Instrument, o.Side, quantity, price, at, id)
	if err != nil {
		return Execution{}, err
	}
	filled, ok := o.Filled.Add(quantity)
	if !ok {
		return Execution{}, errFigure
	}
	o.Filled = filled
	if o.open() && o.left().IsZero() {
		o.State = Filled
	}
	k.touch(o)
	x.BrokerID, x.ClientOrderID = o.BrokerID, o.ClientOrderID
	k.changed.executions = append(k.changed.executions, x)
	k.report(o, x)
	if o.DuplicateNext {
		o.DuplicateNext = false
		k.report(o, x)
	}
	return x, nil
}

// report puts an execution of an order on the stream.
func (k *book) report(o *Order, x Execution) {
	e := about(gate.EventFill, o, x.At)
	e.Fill = x.reported()
	k.emit(e)
}

// settle moves cash and position by a trade. The caller records the execution.
func (k *book) settle(in order.Instrument, side order.Side, quantity money.Quantity, price money.Price, at time.Time, id string) (Execution, error) {
	if !quantity.IsPositive() || side == order.SideNone {
		return Execution{}, errFigure
	}
	signed, rounding := quantity, money.Up
	if side == order.Sell {
		signed, rounding = quantity.Neg(), money.Down
	}
	value, ok := price.TimesMultiplied(quantity, in.Multiplier, rounding)
	if !ok {
		return Execution{}, errFigure
	}
	if side == order.Buy {
		value = value.Neg()
	}
	cash, ok := k.cash.Add(value)
	if !ok {
		return Execution{}, errFigure
	}
	if err := k.move(in, signed, price); err != nil {
		return Execution{}, err
	}
	k.cash = cash
	k.changed.any = true
	k.executionCount++
	if id == "" {
		id = "paper-x" + strconv.FormatInt(k.executionCount, 10)
	}
	return Execution{
		N: k.executionCount, ID: id, Symbol: in.Symbol, Side: side,
		Quantity: quantity, Price: price, Cash: value, At: at,
	}, nil
}

// move changes a position by a signed quantity that was traded at a price.
func (k *book) move(in order.Instrument, by money.Quantity, price money.Price) error {
	i, found := slices.BinarySearchFunc(k.held, in.Symbol, func(p journal.Position, s string) int {
		return strings.Compare(p.Instrument.Symbol, s)
	})
	if !found {
		k.held = slices.Insert(k.held, i, journal.Position{Instrument: in})
	}
	p := &k.held[i]
	after, ok := p.Quantity.Add(by)
	if !ok {
		return errFigure
	}
	switch {
	case after.IsZero():
		p.Cost = money.Price{}
	case p.Quantity.Sign()*by.Sign() >= 0: // opened or grew
		cost, ok := averaged(*p, by.Abs(), price)
		if !ok {
			return errFigure
		}
		p.Cost = cost
	case after.Sign() != p.Quantity.Sign(): // crossed zero
		p.Cost = price
	}
	p.Quantity = after
	if !slices.Contains(k.changed.positions, in.Symbol) {
		k.changed.positions = append(k.changed.positions, in.Symbol)
	}
	return nil
}

// averaged is the average price of a position that grows.
func averaged(p journal.Position, by money.Quantity, price money.Price) (money.Price, bool) {
	was, ok1 := p.Cost.Times(p.Quantity.Abs(), money.Up)
	more, ok2 := price.Times(by, money.Up)
	sum, ok3 := was.Add(more)
	units, ok4 := p.Quantity.Abs().Add(by)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return money.Price{}, false
	}
	return sum.Per(units, money.Up)
}

// position is the signed quantity held of a symbol.
func (k *book) position(symbol string) money.Quantity {
	for i := range k.held {
		if k.held[i].Instrument.Symbol == symbol {
			return k.held[i].Quantity
		}
	}
	return money.Quantity{}
}

// freeCash is the cash that open buys other than one do not hold back.
func (k *book) freeCash(other *Order) (money.Notional, bool) {
	free := k.cash
	for _, o := range k.live {
		if o == other || !o.open() || o.Side != order.Buy {
			continue
		}
		hold, ok := o.HoldPrice.TimesMultiplied(o.left(), o.Instrument.Multiplier, money.Up)
		if !ok {
			return money.Notional{}, false
		}
		if free, ok = free.Sub(hold); !ok {
			return money.Notional{}, false
		}
	}
	return free, true
}

// freeShares is what is held of a symbol and no open sell other than one has claimed.
func (k *book) freeShares(symbol string, other *Order) (money.Quantity, bool) {
	free := k.position(symbol)
	for _, o := range k.live {
		if o == other || !o.open() || o.Side != order.Sell || o.Instrument.Symbol != symbol {
			continue
		}
		var ok bool
		if free, ok = free.Sub(o.left()); !ok {
			return money.Quantity{}, false
		}
	}
	return free, true
}
