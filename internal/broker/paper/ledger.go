package paper

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// StartingCash is what a new paper account holds, in dollars.
func StartingCash() money.Notional { return money.NotionalFromInt(100_000) }

// Start is what a ledger begins with. The first process to open one writes it down; all
// later ones are told what stands there, and theirs is ignored.
type Start struct {
	Seed   uint64         // of the quotes and of displayed sizes
	Cash   money.Notional // zero is no cash
	Wall   time.Time      // origin of the practice clock: at this instant of the wall's clock
	Market time.Time      // the market's time was this one
}

// State is where an order stands.
type State string

// States. All but open are final, though a late fill may still be booked on them.
const (
	Open     State = "open"
	Filled   State = "filled"
	Canceled State = "canceled"
	Expired  State = "expired"
	Rejected State = "rejected"
)

// Order is an order that the broker took.
type Order struct {
	N             int64 // from 1, in the order of arrival
	BrokerID      string
	ClientOrderID string // empty for an external order
	Instrument    order.Instrument
	Side          order.Side
	Type          order.Type
	TimeInForce   order.TimeInForce
	Quantity      money.Quantity // total, filled included
	Filled        money.Quantity
	LimitPrice    money.Price
	StopPrice     money.Price
	HoldPrice     money.Price // what a unit of an open buy holds back of the cash
	ExtendedHours bool
	Triggered     bool      // the stop was reached
	ExpireAt      time.Time // zero: never
	PlacedAt      time.Time
	State         State

	// What scripted faults left behind.
	DuplicateNext bool        // the next execution is reported twice
	LateAt        time.Time   // a fill is still to come, although the order has ended
	LatePrice     money.Price // at this price
}

// Execution is a trade: an order's, or an external one.
type Execution struct {
	N             int64 // from 1, in the order of booking
	ID            string
	BrokerID      string // of the order; empty for an external trade
	ClientOrderID string
	Symbol        string
	Side          order.Side
	Quantity      money.Quantity // positive
	Price         money.Price
	Cash          money.Notional // what it did to the cash
	At            time.Time      // market time
}

// Effects of a message.
const (
	EffectTook     = "took"     // the broker did what it said
	EffectRejected = "rejected" // it refused
	EffectLost     = "lost"     // it never arrived: a scripted fault
)

// Message is one message that was sent to the broker, whatever became of it.
type Message struct {
	N             int64 // from 1, in the order of arrival
	At            time.Time
	DecidedAt     time.Time
	Action        order.Action
	ClientOrderID string
	BrokerID      string // of the order that it made, changed or would have changed
	Symbol        string
	Side          order.Side
	Quantity      money.Quantity
	LimitPrice    money.Price
	Effect        string
	Reason        string
}

// Ledger is the broker's record, in a file or in memory. It may be used from many
// goroutines, and a file by many processes.
type Ledger struct {
	store store
	start Start
}

// store keeps a ledger.
type store interface {
	// update runs change on the book as it stands, and keeps what was changed: all of
	// it, durably, or on an error nothing. Nothing else changes the ledger meanwhile.
	update(ctx context.Context, change func(*book) error) error
	// view runs read on one state of the ledger.
	view(ctx context.Context, read func(rows) error) error
	close() error
}

// rows reads what a book does not load.
type rows interface {
	meta() (meta, error)
	orderBy(field orderField, id string) (Order, bool, error)
	orders(liveOnly bool) ([]Order, error)
	executions(brokerID string) ([]Execution, error) // all, if empty
	messagesAfter(n int64) ([]Message, error)
	executionsAfter(n int64) ([]Execution, error)
	executionKnown(id string) (bool, error)
	positions() ([]journal.Position, error)
	events(after int64, most int) ([]gate.Event, error)
	messages(clientOrderID string) ([]Message, error) // all, if empty
}

// orderField is what an order is looked up by.
type orderField string

const (
	byBrokerID orderField = "broker_id"
	byClientID orderField = "client_order_id"
)

// Start is what the ledger began with.
func (l *Ledger) Start() Start { return l.start }

// Close releases the file. The ledger cannot be used after it.
func (l *Ledger) Close() error { return l.store.close() }

// Orders returns every order ever taken, in the order of arrival.
func (l *Ledger) Orders(ctx context.Context) (out []Order, err error) {
	err = l.store.view(ctx, func(r rows) error { out, err = r.orders(false); return err })
	return out, err
}

// Executions returns every trade, in the order of booking.
func (l *Ledger) Executions(ctx context.Context) (out []Execution, err error) {
	err = l.store.view(ctx, func(r rows) error { out, err = r.executions(""); return err })
	return out, err
}

// Positions returns what is held, sorted by symbol, without zeros.
func (l *Ledger) Positions(ctx context.Context) (out []journal.Position, err error) {
	err = l.store.view(ctx, func(r rows) error { out, err = r.positions(); return err })
	return out, err
}

// Cash returns the cash in the account.
func (l *Ledger) Cash(ctx context.Context) (out money.Notional, err error) {
	err = l.store.view(ctx, func(r rows) error {
		m, err := r.meta()
		out = m.cash
		return err
	})
	return out, err
}

// Messages returns every message that was sent, in the order of arrival.
func (l *Ledger) Messages(ctx context.Context) (out []Message, err error) {
	err = l.store.view(ctx, func(r rows) error { out, err = r.messages(""); return err })
	return out, err
}

// SubmitCount returns how many messages for a new order bore this client order id,
// rejected and lost ones too.
func (l *Ledger) SubmitCount(ctx context.Context, clientOrderID string) (int, error) {
	n := 0
	err := l.store.view(ctx, func(r rows) error {
		if clientOrderID == "" {
			return nil
		}
		sent, err := r.messages(clientOrderID)
		for _, m := range sent {
			if m.Action == order.ActionNew {
				n++
			}
		}
		return err
	})
	return n, err
}

// open reports whether the order can still fill.
func (o *Order) open() bool { return o.State == Open }

// live reports whether the order still has to be looked at.
func (o *Order) live() bool { return o.open() || !o.LateAt.IsZero() }

// left is the quantity that is not filled; never negative.
func (o *Order) left() money.Quantity {
	left, ok := o.Quantity.Sub(o.Filled)
	if !ok || left.IsNegative() {
		return money.Quantity{}
	}
	return left
}

// shown is the order as a broker shows it.
func (o *Order) shown() journal.BrokerOrder {
	return journal.BrokerOrder{
		BrokerID: o.BrokerID, ClientOrderID: o.ClientOrderID, Filled: o.Filled,
		Instrument: o.Instrument, LimitPrice: o.LimitPrice, Quantity: o.Quantity,
		Side: o.Side, StopPrice: o.StopPrice, TimeInForce: o.TimeInForce, Type: o.Type,
	}
}

// ended is the word for an order that ended without filling up, else empty.
func (o *Order) ended() string {
	switch o.State {
	case Canceled, Expired, Rejected:
		return string(o.State)
	}
	return ""
}

// reported is the execution as the broker reports it. It carries no cursor: only the
// event stream tells how far a reader has come.
func (e Execution) reported() gate.Execution {
	return gate.Execution{ID: e.ID, Quantity: e.Quantity, Price: e.Price, ExecutedAt: e.At}
}
