// Package journal is the record's schema: what an entry is, its canonical bytes,
// and the hash that chains one entry of an account to the next. It is pure; stores
// keep the bytes, the gate makes the entries, account folds them.
package journal

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// SchemaVersion is the version written into every entry.
const SchemaVersion = 1

// ControlAccount is the name of the control chain, which binds all accounts.
const ControlAccount = "*"

// EntryBytesMax is the longest entry that is written or read, in bytes.
const EntryBytesMax = 1 << 20

// Hash is the SHA-256 of an entry's stored bytes. The zero hash precedes seq 1.
type Hash [32]byte

// Kind says what an entry holds. Unknown kinds are refused on reading.
type Kind string

// Kinds of entries.
const (
	KindGenesis   Kind = "genesis"
	KindLimits    Kind = "limits"
	KindOpen      Kind = "open"
	KindDecision  Kind = "decision"
	KindOutcome   Kind = "outcome"
	KindLatch     Kind = "latch"
	KindFill      Kind = "fill"
	KindExternal  Kind = "external"
	KindMode      Kind = "mode"
	KindRefusal   Kind = "refusal"
	KindReconcile Kind = "reconcile"
	KindRecovery  Kind = "recovery"
)

// Entry is one record. Fields stand in the order of their JSON names, which is the
// canonical order; every struct in this package keeps to that.
type Entry struct {
	Account string         `json:"account"`
	At      Time           `json:"at"`
	Body    jsontext.Value `json:"body"` // canonical JSON of the kind's body
	Kind    Kind           `json:"kind"`
	Limits  string         `json:"limits"` // fingerprint in force, hex; empty before the first limits entry
	Prev    Hash           `json:"prev"`   // hash of the account's previous entry; hex in JSON
	Schema  int            `json:"schema"`
	Seq     uint64         `json:"seq"` // from 1, per account

	decoded any  // *T of the body, once DecodeBody has read it
	formed  bool // the body's form was checked
}

// Time is an instant in UTC with nanoseconds, written as RFC 3339 with exactly nine
// decimals and Z, so that one instant has one text.
type Time struct{ time.Time }

// Genesis starts an account's chain.
type Genesis struct {
	Broker    string         `json:"broker"`
	Cash      money.Notional `json:"cash"`
	Currency  string         `json:"currency"`
	Cursor    string         `json:"cursor,omitzero"`   // adopted: what the broker's event stream told up to here is in the figures
	OldHead   string         `json:"old_head,omitzero"` // of a journal that this one replaces (adopt)
	Orders    []BrokerOrder  `json:"orders,omitzero"`   // adopted
	Positions []Position     `json:"positions,omitzero"`
	Reason    string         `json:"reason,omitzero"`
	Version   string         `json:"version"` // of the product
	Who       string         `json:"who"`
}

// Position is what the account holds of one instrument. Quantity is negative for a
// short position; Cost is the average price paid or received per unit.
type Position struct {
	Cost       money.Price      `json:"cost"`
	Instrument order.Instrument `json:"instrument"`
	Quantity   money.Quantity   `json:"quantity"`
}

// BrokerOrder is an open order as a broker shows it.
type BrokerOrder struct {
	BrokerID      string            `json:"broker_id"`
	ClientOrderID string            `json:"client_order_id,omitzero"`
	Filled        money.Quantity    `json:"filled,omitzero"`
	Group         string            `json:"group,omitzero"` // broker-linked one-cancels-other group
	Instrument    order.Instrument  `json:"instrument"`
	LimitPrice    money.Price       `json:"limit_price,omitzero"`
	Quantity      money.Quantity    `json:"quantity"` // total, filled included
	Side          order.Side        `json:"side"`
	StopPrice     money.Price       `json:"stop_price,omitzero"`
	TimeInForce   order.TimeInForce `json:"time_in_force"`
	Type          order.Type        `json:"type"`
}

// Limits puts a limits document in force.
type Limits struct {
	Fingerprint string   `json:"fingerprint"`
	Loosens     []string `json:"loosens,omitzero"` // keys, sorted
	Text        string   `json:"text"`             // the document as the operator wrote it
	Tightens    []string `json:"tightens,omitzero"`
	Who         string   `json:"who"`
}

// Open captures the equity at the open of a trade date, once.
type Open struct {
	Equity    money.Notional `json:"equity"`
	Source    string         `json:"source"` // marks, or previous_close
	TradeDate string         `json:"trade_date"`
}

// Verdicts of a decision, as written.
const (
	VerdictAllowed = "allowed"
	VerdictDenied  = "denied"
	VerdictError   = "error"
)

// Decision is one judged intent with every input of risk.Decide that the fold does
// not hold. The entry's At is the now that it was judged by.
type Decision struct {
	Agent       string           `json:"agent,omitzero"`
	Broker      *BrokerFigures   `json:"broker,omitzero"`
	Calendar    string           `json:"calendar"` // digest
	CallID      string           `json:"call_id,omitzero"`
	Clock       Clock            `json:"clock"`
	Control     uint64           `json:"control"` // seq of the control chain that was read
	Door        string           `json:"door"`
	Effects     []Effect         `json:"effects,omitzero"`
	Engine      string           `json:"engine"`           // version of the rules
	Equity      *money.Notional  `json:"equity,omitempty"` // now, when a rail needed it
	Fees        money.Notional   `json:"fees,omitzero"`
	Findings    []Finding        `json:"findings,omitzero"`
	Flags       []string         `json:"flags,omitzero"` // limits_invalid, unreconciled_start, …; sorted
	Instrument  order.Instrument `json:"instrument"`
	Intent      order.Intent     `json:"intent"`
	Marks       []Mark           `json:"marks,omitzero"` // sorted by symbol
	Mode        string           `json:"mode"`           // effective mode it was judged by
	Note        string           `json:"note,omitzero"`  // the agent's free text, bounded
	Off         int              `json:"off"`
	Passes      int              `json:"passes"`
	Quote       *Quote           `json:"quote,omitzero"`
	RawDigest   string           `json:"raw_digest"` // SHA-256 of the raw call, hex
	Reducing    bool             `json:"reducing,omitzero"`
	ReplyBy     Time             `json:"reply_by,omitzero"` // allowed only
	Reservation *Reservation     `json:"reservation,omitzero"`
	StateDigest string           `json:"state_digest"` // of the account before, hex
	Verdict     string           `json:"verdict"`
}

// Clock is what the process's clocks showed.
type Clock struct {
	BootID  string `json:"boot_id,omitzero"`
	BootNS  int64  `json:"boot_ns"` // nanoseconds since boot, running during sleep
	Suspect bool   `json:"suspect,omitzero"`
	Wall    Time   `json:"wall"`
}

// BrokerFigures are the broker's own figures at an instant.
type BrokerFigures struct {
	At          Time           `json:"at"`
	BuyingPower money.Notional `json:"buying_power"`
	Cash        money.Notional `json:"cash"`
}

// Effect is what a decision changes beside its own order: a latch or a mode.
type Effect struct {
	Kind string `json:"kind"` // latch or reduce_only
	Rail string `json:"rail"`
}

// Finding is one rail's answer other than pass and off.
type Finding struct {
	Limit    string `json:"limit,omitzero"`
	Observed string `json:"observed,omitzero"`
	Passes   string `json:"passes,omitzero"` // what would pass
	Rail     string `json:"rail"`
	Status   string `json:"status"` // deny or fault
	Text     string `json:"text,omitzero"`
}

// Mark values a holding other than the order's own instrument.
type Mark struct {
	Ask    money.Price `json:"ask"`
	At     Time        `json:"at"`
	Bid    money.Price `json:"bid"`
	Symbol string      `json:"symbol"`
}

// Quote is a quote as it was judged by. A side that was absent is nil and left out; one
// that was zero is written, since the two are judged differently. (omitzero would ask a
// pointer's IsZero, and lose the zero.)
type Quote struct {
	Absent   bool         `json:"absent,omitzero"` // there was no quote; only LastValid is told
	Ask      *money.Price `json:"ask,omitempty"`
	At       Time         `json:"at"`
	Bid      *money.Price `json:"bid,omitempty"`
	Currency string       `json:"currency,omitzero"`
	Feed     string       `json:"feed,omitzero"`
	Halted   bool         `json:"halted,omitzero"`
	Last     *money.Price `json:"last,omitempty"`
	// LastValid is the newest valid quote of this trade date, or the previous close, for
	// pricing a reducing order when the quote itself is not fresh or not valid.
	LastValid *Mark `json:"last_valid,omitzero"`
}

// Reservation is the exposure that an allowed intent takes, from decision to outcome.
type Reservation struct {
	Bucket   string         `json:"bucket"`   // open or exit: which counters it draws on
	Cost     money.Notional `json:"cost"`     // cash held back, zero for sells of a holding
	Notional money.Notional `json:"notional"` // counted by the minute and the day
	Price    money.Price    `json:"price"`    // risk price
	Quantity money.Quantity `json:"quantity"` // of the order; for a replace the new total
}

// FlagAtomicReplace is the flag of a decision whose broker replaces in one step: while
// a replace is pending the exposure is the larger of old and new, else their sum.
const FlagAtomicReplace = "atomic_replace"

// Buckets that a reservation draws on: opens cannot starve exits.
const (
	BucketOpen = "open"
	BucketExit = "exit"
)

// Results of an outcome.
const (
	ResultAccepted = "accepted"
	ResultRejected = "rejected"
	ResultNotSent  = "not_sent"
	ResultInDoubt  = "in_doubt"
	ResultCanceled = "canceled"
	ResultExpired  = "expired"
)

// Outcome says what became of a decision's message, or of its order later.
// Canceled and expired name the order that ended; accepted, rejected, not_sent and
// in_doubt answer a decision (new, replace or cancel).
type Outcome struct {
	BrokerID    string `json:"broker_id,omitzero"`
	Cursor      string `json:"cursor,omitzero"`   // of the broker's event stream after this event
	Decision    uint64 `json:"decision"`          // seq of the decision answered, or of the order that ended
	OrderID     string `json:"order_id,omitzero"` // the order, when it is not the decision's own (replace, cancel, external)
	Reason      string `json:"reason,omitzero"`
	ReplyDigest string `json:"reply_digest,omitzero"`
	Result      string `json:"result"`
}

// LatchDailyLoss is the rail whose latch lasts for the rest of the trade date.
const LatchDailyLoss = "max_daily_loss"

// Latch is a rail's state that ends by itself with the trade date.
type Latch struct {
	Rail      string `json:"rail"`
	TradeDate string `json:"trade_date"`
}

// Fill is one execution of an order of ours. It applies once by (broker, execution id).
type Fill struct {
	Cursor      string         `json:"cursor,omitzero"` // of the broker's event stream after this event
	ExecutedAt  Time           `json:"executed_at"`
	ExecutionID string         `json:"execution_id"`
	Fees        money.Notional `json:"fees"`
	OrderID     string         `json:"order_id"`
	Price       money.Price    `json:"price"`
	Quantity    money.Quantity `json:"quantity"` // always positive; the order's side gives the sign
}

// External is what happened outside the gate: exactly one of its parts is set.
type External struct {
	Cash   *CashFlow     `json:"cash,omitzero"`
	Cursor string        `json:"cursor,omitzero"` // of the broker's event stream after this event
	Ended  *ExternalEnd  `json:"ended,omitzero"`
	Fill   *ExternalFill `json:"fill,omitzero"`
	Order  *BrokerOrder  `json:"order,omitzero"`
	ID     string        `json:"source_id"` // the broker's id of the event; applies once
}

// CashFlow is a deposit (positive) or a withdrawal.
type CashFlow struct {
	Amount money.Notional `json:"amount"`
	Reason string         `json:"reason,omitzero"`
}

// ExternalFill is an execution of an order that did not come through the gate.
type ExternalFill struct {
	BrokerID   string           `json:"broker_id,omitzero"` // of the order, when known
	Fees       money.Notional   `json:"fees"`
	Instrument order.Instrument `json:"instrument"`
	Price      money.Price      `json:"price"`
	Quantity   money.Quantity   `json:"quantity"`
	Side       order.Side       `json:"side"`
}

// ExternalEnd says that an external order is no longer open.
type ExternalEnd struct {
	BrokerID string `json:"broker_id"`
	Result   string `json:"result"` // canceled, expired, filled
}

// Mode changes the mode of an account, or of all on the control chain.
type Mode struct {
	By         string `json:"by"` // operator, or the id of a rail
	Mode       string `json:"mode"`
	Reason     string `json:"reason"`
	RebasePeak bool   `json:"rebase_peak,omitzero"`
	Who        string `json:"who"`
}

// ByOperator is the By of a mode that a person set.
const ByOperator = "operator"

// Modes as written.
const (
	ModeActive     = "active"
	ModeReduceOnly = "reduce_only"
	ModeHalted     = "halted"
)

// Refusal is a call that never became a judged intent. Message tells that it counts
// as a message; Count is over 1 where one entry stands for many of one second.
type Refusal struct {
	Agent     string `json:"agent,omitzero"`
	CallID    string `json:"call_id,omitzero"`
	Code      string `json:"code"` // malformed_call, unknown_tool, …
	Count     int    `json:"count"`
	Denial    bool   `json:"denial,omitzero"` // counts for denial_storm: a denial, not a fault
	Door      string `json:"door"`
	Message   bool   `json:"message,omitzero"`
	RawBytes  int    `json:"raw_bytes"`
	RawDigest string `json:"raw_digest,omitzero"`
	Text      string `json:"text,omitzero"` // ours, never the agent's
	Tool      string `json:"tool,omitzero"` // bounded, escaped
}

// Reconcile is what the broker said, what differed, and what was adopted.
type Reconcile struct {
	Adopted     []string       `json:"adopted,omitzero"` // symbols set to the broker's position; empty text: cash
	AsOf        Time           `json:"as_of"`
	Cash        money.Notional `json:"cash"`
	Differences []Difference   `json:"differences,omitzero"` // sorted by symbol
	Order       *Resolution    `json:"order,omitzero"`       // a person's or a lookup's finding about one order
	Positions   []Holding      `json:"positions,omitzero"`   // sorted by symbol
	Reason      string         `json:"reason,omitzero"`      // of an operator who adopts
	Who         string         `json:"who,omitzero"`
	Whole       bool           `json:"whole"` // positions, cash and orders were all read
}

// Holding is a position as the broker shows it. Cost and Instrument matter when the
// position is adopted: the instrument must be given when the ledger does not know it.
type Holding struct {
	Cost       money.Price       `json:"cost,omitzero"`
	Instrument *order.Instrument `json:"instrument,omitzero"`
	Quantity   money.Quantity    `json:"quantity"`
	Symbol     string            `json:"symbol"`
}

// Difference is one disagreement between ledger and broker that stays open.
type Difference struct {
	Broker money.Quantity `json:"broker"`
	Ledger money.Quantity `json:"ledger"`
	Symbol string         `json:"symbol"` // empty: cash
}

// Resolution settles one order in doubt.
type Resolution struct {
	BrokerID string         `json:"broker_id,omitzero"`
	OrderID  string         `json:"order_id"`
	Price    money.Price    `json:"price,omitzero"`
	Quantity money.Quantity `json:"quantity,omitzero"`
	Reason   string         `json:"reason"`
	Result   string         `json:"result"` // placed, not_placed, filled
}

// Results of a resolution.
const (
	ResolvedPlaced    = "placed"
	ResolvedNotPlaced = "not_placed"
	ResolvedFilled    = "filled"
)

// Recovery is what a start found.
type Recovery struct {
	InDoubt []string `json:"in_doubt,omitzero"` // order ids
	Note    string   `json:"note,omitzero"`
	Version string   `json:"version"`
}
