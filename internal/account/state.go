// Package account folds a journal to the state of one account: what it holds, what
// works at the broker, what is reserved or in doubt, and what the windows have
// counted. State is only ever changed by Apply, one entry at a time, so a restart,
// a second process, the verifier and a replay all come to the same state.
package account

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// State is the fold of an account's entries. The zero state is an account without a
// genesis: every rail that reads it refuses.
type State struct {
	Account  string
	Broker   string
	Currency string
	Started  bool // a genesis was applied

	Seq  uint64
	Head journal.Hash
	At   time.Time // of the newest entry; now never goes back of it
	// Clock is the newest journaled clock reading, for finding steps across processes.
	Clock journal.Clock

	Fingerprint string // of the limits in force; empty before the first limits entry
	LimitsText  string

	Mode       Mode
	ModeBy     string // operator, or the id of a rail
	ModeReason string
	ModeAt     time.Time

	Cash     money.Notional // ledger cash: filled sells count at once
	Holdings []Holding      // sorted by symbol; instruments with a position or open orders
	Orders   []*Order       // open orders of ours and external ones, sorted by the seq of their decision or entry
	Cursor   string         // of the broker's event stream, after the newest applied event

	Day  Day
	Peak Peak

	Messages Bucketed // 60 s: every order, replace and cancel, on arrival
	Rate     Bucketed // 60 s: new orders and replaces, at reservation
	Turnover Window   // 60 s: notional, at reservation
	Denials  Window   // up to limits' BehaviourWindowMax
	Cycles   Window   // by their close
	Recent   []Twin   // allowed orders of the last limits' DuplicateWindowMax, oldest first

	Reconciled Reconciled

	ids  idSet // client order ids of allowed decisions, execution and event ids
	side sidecar
}

// sidecar is bookkeeping that no rail reads.
type sidecar struct {
	bySeq    map[string]*Order // open orders by id
	ended    []ended           // orders that are no longer open, in the order of their end
	realized []symbolProfit    // of this trade date, of instruments that are flat now
	calendar market.Calendar
	behind   *sidecar // of the state that this is a fork of; its ended orders are only read
	twins    uint64   // sum of the mixes of Recent, for the digest
	scratch  []byte   // room for Digest to write in; says nothing
}

type symbolProfit struct {
	symbol string
	profit money.Notional
}

type tradeDate = market.TradeDate

// Mode is what the account may do. The zero value is halted.
type Mode uint8

// Modes, the stricter the lower.
const (
	Halted Mode = iota
	ReduceOnly
	Active
)

// Holding is an instrument's position and the open orders in it.
type Holding struct {
	Instrument order.Instrument
	Position   money.Quantity // from fills only; negative is short
	Cost       money.Price    // average price of the position
	Realized   money.Notional // profit of this trade date, average cost
	// OpenBuy and OpenSell are what can still fill on each side: working, reserved, in
	// flight and in doubt. Opposite orders are never netted; orders that the broker
	// links one-cancels-other count once, by the largest leg.
	OpenBuy  money.Quantity
	OpenSell money.Quantity
	Orders   []*Order // open orders of this instrument, in the order of State.Orders
	// OpenedInCycle is set from an own opening to the own closing after it.
	OpenedInCycle bool
}

// Stage is where an open order stands.
type Stage uint8

// Stages. A reserved order's message may be in flight; after ReplyBy it is in doubt
// without any entry saying so (Order.InDoubt).
const (
	StageNone Stage = iota
	Reserved        // decided, no reply journaled
	Working         // live at the broker
	Doubtful        // the journal says in doubt
)

// Order is one open order. Quantity is the total, Filled what has filled.
type Order struct {
	ID            string // account/seq of its decision, or ext/BROKERID
	Seq           uint64 // of its decision, or of the entry that brought it
	External      bool
	ClientOrderID string // sent to the broker; derived
	AgentID       string // the agent's own client order id
	BrokerID      string
	Group         string
	Terms
	Side      order.Side
	Symbol    string
	Filled    money.Quantity
	Reducing  bool // drew on the exit buckets and slots
	Stage     Stage
	DecidedAt time.Time
	ReplyBy   time.Time
	DoubtAt   time.Time // when it became in doubt by an entry
	// Pending is a replace that is reserved or in doubt: the terms that may come, and
	// the decision that asked. Canceling is a cancel that has no proven end yet.
	Pending   *Pending
	Canceling *Pending
}

// Terms are what a replace can change, and the price it is valued at.
type Terms struct {
	Type          order.Type
	Quantity      money.Quantity
	LimitPrice    money.Price
	StopPrice     money.Price
	TimeInForce   order.TimeInForce
	ExtendedHours bool
	ExpireAt      time.Time
	RiskPrice     money.Price    // at its decision
	Cost          money.Notional // cash held back for the whole quantity, fees included
}

// Pending is a replace or cancel without a proven end.
type Pending struct {
	Seq      uint64 // of its decision
	Terms    Terms  // zero for a cancel
	Atomic   bool   // the broker replaces in one step: exposure is the larger of old and new, not the sum
	ReplyBy  time.Time
	Doubtful bool
}

// Day is the figures of one trade date.
type Day struct {
	Date         market.TradeDate
	HasOpen      bool
	EquityAtOpen money.Notional
	Orders       int // new orders at reservation, reducing ones not counted
	ExitOrders   int
	Notional     money.Notional // at reservation, buys and sells, reducing ones too
	Realized     money.Notional
	Flows        money.Notional // deposits minus withdrawals since the open
	LossLatched  bool
}

// Peak is the highest equity seen, adjusted for cash flows.
type Peak struct {
	Known  bool
	Equity money.Notional
}

// Twin is an allowed order, for finding the same one again.
type Twin struct {
	At      time.Time
	OrderID string
	Mark    TwinMark
}

// TwinMark is what two orders must share to be duplicates: instrument, side, type,
// prices and quantity.
type TwinMark struct {
	Symbol     string
	Side       order.Side
	Type       order.Type
	Quantity   money.Quantity
	LimitPrice money.Price
	StopPrice  money.Price
}

// Reconciled is the newest whole reconciliation.
type Reconciled struct {
	At          time.Time            // zero: never
	Differences []journal.Difference // open ones, sorted by symbol
}
