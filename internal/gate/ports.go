package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Head is the newest entry of a chain. The zero head is an empty chain.
type Head struct {
	Seq  uint64
	Hash journal.Hash
}

// Stored is one entry as a store keeps it: the bytes are the truth, the rest is
// what they say. Index is its place in commit order over all accounts, from 1; a
// store sets it on reading.
type Stored struct {
	Account string
	Seq     uint64
	Hash    journal.Hash
	Bytes   []byte
	Index   uint64
	// Damage says why a row could not be handed over whole: it is longer than an entry may
	// be, or not of the shape that a store writes. Bytes is nil then, which is no entry.
	Damage string
}

// Batch is a group of entries of one account that become durable together or not at
// all. Expect is the account's head before the first entry; Control, when set, is
// the control chain's head that must still hold.
type Batch struct {
	Account string
	Expect  Head
	Control *Head
	Entries []Stored
}

// ConflictError says that a head had moved: nothing was written. The caller reads
// on from what it has, and decides again.
type ConflictError struct {
	Account string // whose head moved: the account, or the control chain
	Have    Head   // the head that the store holds
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("head of %q moved to seq %d", e.Account, e.Have.Seq)
}

// Store keeps the journal. All methods may be called from many goroutines, and many
// processes may share what lies behind a store.
type Store interface {
	// Append writes the batch durably, in one transaction, if and only if the heads
	// are as the batch expects: *ConflictError otherwise. When it returns nil the
	// entries survive a power cut. On any other error nothing may be assumed written,
	// and a store whose flush failed must refuse all later appends.
	Append(ctx context.Context, b *Batch) error
	// Heads returns the account's head and the control chain's head, read together.
	Heads(ctx context.Context, account string) (own, control Head, err error)
	// Read calls each with the account's entries after seq, in order, until each fails.
	Read(ctx context.Context, account string, after uint64, each func(Stored) error) error
	// Snapshots returns where folded states are kept; nil if the store keeps none.
	Snapshots() Snapshots
}

// Snapshots keeps, for an account, the newest folded state. A snapshot is a cache:
// losing it costs time only, and one whose digest does not match is not used.
type Snapshots interface {
	LoadSnapshot(ctx context.Context, account string) (state []byte, at Head, err error) // nil state: none
	SaveSnapshot(ctx context.Context, account string, at Head, state []byte) error
}

// Message is what goes to a broker: our own encoding of a judged intent.
type Message struct {
	Action         order.Action
	ClientOrderID  string // derived from the decision's account, seq and hash
	Instrument     order.Instrument
	Side           order.Side
	Type           order.Type
	Quantity       money.Quantity // for a replace the new total, filled included
	LimitPrice     money.Price
	StopPrice      money.Price
	TimeInForce    order.TimeInForce
	ExpireAt       time.Time
	ExtendedHours  bool
	TargetBrokerID string       // replace and cancel: the order at the broker
	TargetClientID string       // replace and cancel: its client order id
	Quote          market.Quote // that was judged by; where there was none, the last valid one
	At             time.Time    // of the decision
	SendBy         time.Time    // market time after which a broker that can tell must not take it
}

// Sealed is a message that the gate has released: its decision is durable and its
// permit was burned. Only this package can make one; the zero value opens to an error.
type Sealed struct {
	message *Message
}

// Open returns the message; an error for a value that the gate did not make.
func (s Sealed) Open() (Message, error) {
	if s.message == nil {
		return Message{}, errUnsealed
	}
	return *s.message, nil
}

// Execution is one fill as a broker reports it.
type Execution struct {
	ID         string
	Quantity   money.Quantity // positive
	Price      money.Price
	Fees       money.Notional
	ExecutedAt time.Time
	Cursor     string
}

// ReplyResult is what a broker's reply to one message proves. The zero value proves
// nothing: in doubt.
type ReplyResult uint8

// Reply results.
const (
	ReplyInDoubt  ReplyResult = iota // timeout, lost, empty, unreadable or foreign reply
	ReplyAccepted                    // the broker holds the order (or made the change)
	ReplyRejected                    // the broker proved that it did not take it
)

// Reply is a broker's answer to one message. Symbol, Side and Quantity echo what the
// broker holds; an echo that differs from the message makes the order in doubt.
type Reply struct {
	Result   ReplyResult
	BrokerID string
	Symbol   string
	Side     order.Side
	Quantity money.Quantity
	Fills    []Execution
	// Ended is canceled or expired when the order is already over (an ioc remainder, a
	// cancel that took effect), else empty.
	Ended  string
	Reason string // for people, bounded; never shown to the agent as an instruction
	Digest string // SHA-256 of the reply's bytes, hex; empty where there are none
}

// EventKind says what a broker event tells.
type EventKind uint8

// Event kinds.
const (
	EventNone     EventKind = iota
	EventFill               // an execution
	EventEnded              // an order ended without filling up: canceled, expired, rejected
	EventReplaced           // an order's terms changed
	EventOrder              // an order appeared that did not come through the gate
	EventCash               // cash moved
)

// Event is one thing that happened at the broker. ID is unique and applies once.
type Event struct {
	Kind          EventKind
	ID            string
	Cursor        string // hand it back to Events to read on after this one
	ClientOrderID string // of the order; empty for an order that is not ours
	BrokerID      string
	Instrument    order.Instrument
	Side          order.Side
	Fill          Execution           // EventFill
	Ended         string              // EventEnded: canceled, expired or rejected
	Order         journal.BrokerOrder // EventOrder, EventReplaced
	Cash          money.Notional      // EventCash
	At            time.Time
	Reason        string
}

// BrokerAccount is what a broker shows of the account at one instant.
type BrokerAccount struct {
	At          time.Time
	AccountID   string
	Cash        money.Notional
	BuyingPower money.Notional
	Positions   []journal.Position // sorted by symbol, no zero quantities
	Orders      []journal.BrokerOrder
	// PreviousCloseEquity is the equity at the previous regular close; nil if unknown.
	PreviousCloseEquity *money.Notional
}

// Standing is what a broker says of one order that it was asked for by id.
type Standing struct {
	Known    bool // false: the broker is sure that it has no such order
	Open     bool
	BrokerID string
	Order    journal.BrokerOrder
	Fills    []Execution
	Ended    string // canceled, expired or rejected, when it ended without filling up
}

// Broker is one account at one broker. Nothing but this package calls Send.
type Broker interface {
	// Send transmits one message, at most once, and says what the reply proves. It
	// never retries, and it never reports a rejection that the broker did not state.
	Send(ctx context.Context, s Sealed) Reply
	// Events returns what happened after the cursor (empty: from the start), in order.
	Events(ctx context.Context, cursor string) ([]Event, error)
	// Account reads positions, cash and open orders whole, or fails.
	Account(ctx context.Context) (BrokerAccount, error)
	// Find looks one order up by the client order id that the gate derived.
	Find(ctx context.Context, clientOrderID string) (Standing, error)
}

// Quotes is where instruments and prices come from. Absence is said by a zero value,
// never by an invented price; an error means that the source could not be asked.
type Quotes interface {
	// Instrument resolves a symbol to exactly one instrument; ok is false if there is
	// none or more than one.
	Instrument(ctx context.Context, symbol string) (in order.Instrument, ok bool, err error)
	// Quote returns the newest quote; Present is false if there is none.
	Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error)
	// LastValid returns the newest valid quote at or before now, not older than since;
	// Present is false if there is none.
	LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error)
	// PreviousClose returns the last valid quote of the previous trade date.
	PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error)
}

// Stop is a halt that can be asked for without the journal. nil is none.
type Stop interface {
	// Requested reports whether a halt is asked for, and why.
	Requested() (reason string, requested bool)
	// Take is Requested with what to call once a mode entry says the same. done ends the
	// request that was seen, and none that was made after it.
	Take() (reason string, requested bool, done func() error)
}

// Mark is a fact that every process of an account sees without the journal. nil is none.
type Mark interface {
	// Request makes it so, durably.
	Request(reason string) error
	// Requested reports whether it is so.
	Requested() (reason string, requested bool)
	// Done ends it.
	Done() error
}

// Clock reads the process's clocks once.
type Clock interface {
	Read() Reading
}

// Reading is one look at the clocks. Market is the instant that orders are judged by
// (the practice clock's, or the wall's); Wall and Boot prove each other.
type Reading struct {
	Market time.Time
	Wall   time.Time
	Boot   time.Duration // since boot, running during sleep
	BootID string
}
