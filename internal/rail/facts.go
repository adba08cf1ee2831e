package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Facts is everything that a rail may look at. risk.Decide fills it once per request;
// rails only read it. A figure that could not be worked out has its flag false, and
// the rails that need it answer Fault.
type Facts struct {
	Request *Request
	State   *account.State
	Limits  *limits.Document
	Figures *limits.Effective // the symbol's: overrides laid over the document

	Intent     *order.Intent // as asked; for a replace merged with the order it names
	Instrument order.Instrument
	Target     *account.Order   // replace and cancel: the open order named; nil if none
	Holding    *account.Holding // nil: flat and no open orders

	Session  market.SessionInfo
	Calendar market.Calendar

	// Position is signed and from fills only. WorstLong is the most long, WorstShort the
	// most short that it could come to with this order in, for a replace with the larger
	// of old and new, or their sum where the broker does not replace in one step. Both
	// count their own direction as positive: of a long position that nothing sells,
	// WorstShort is negative.
	PositionKnown bool
	Position      money.Quantity
	WorstLong     money.Quantity
	WorstShort    money.Quantity
	// Closable is |position| minus what works or is reserved on the closing side, without
	// the order that a replace names. Zero when flat, unknown, or all of it is closing.
	Closable   money.Quantity
	Reducing   bool // as rails.md defines it
	WholeClose bool // reducing, and it closes all that is closable
	LowersOnly bool // a replace that only lowers quantity
	// Increment is the quantity that this action adds: all of a new order, the positive
	// increment of a replace.
	Increment money.Quantity

	// Quote is the order's own, good or bad; one of another symbol is absent. QuoteFresh:
	// valid, in the document's currency and within max_quote_age. PricingQuote
	// is the one that prices and collars: the quote itself, or for a reducing order
	// without a fresh one the last valid quote.
	Quote        market.Quote
	QuoteFresh   bool
	PricingQuote market.Quote
	PricingOK    bool

	RiskPrice   money.Price
	RiskPriceOK bool
	// Notional is quantity × multiplier × risk price of the whole resulting order;
	// IncrementNotional that of the increment. Rounded up.
	NotionalOK        bool
	Notional          money.Notional
	IncrementNotional money.Notional
	// Cost is the cash that the increment could take, fees included; CostOK as above.
	Cost   money.Notional
	CostOK bool

	// Exposures with this order in. Each has its own flag, since each needs marks.
	GrossOK  bool
	Gross    money.Notional
	NetOK    bool
	NetLong  money.Notional // sum of worst long values, shorts negative
	NetShort money.Notional // sum of worst short values, longs negative
	OwnOK    bool
	Own      money.Notional // this symbol's worst side × price
	EquityOK bool
	Equity   money.Notional // now
	// CommittedCost is the cash held back by all working and reserved orders.
	CommittedOK   bool
	CommittedCost money.Notional
	// BuyingPower is what the increment's Cost is compared with: the smaller of the
	// broker's figure less the cost of what was reserved after it, and ledger cash less
	// CommittedCost and less short positions at ask. May be negative.
	BuyingPowerOK bool
	BuyingPower   money.Notional

	Mode account.Mode // effective: the stricter of the account's and the control chain's

	complete bool // set by Run while it runs: absent has nothing to name
}

// Request is one intent to judge, with every input that the account's fold does not
// hold. The zero request is refused.
type Request struct {
	Intent order.Intent
	Now    time.Time // UTC, never before the state's newest entry
	// Instrument: Asked false means the source could not be asked (a fault), Known
	// false that it is not exactly one active instrument.
	InstrumentAsked bool
	InstrumentKnown bool
	Instrument      order.Instrument

	Quote     market.Quote // Present false: absent
	LastValid market.Quote // newest valid of this trade date, else the previous close
	Marks     []Mark       // sorted by symbol; other holdings

	Broker        BrokerFigures
	ClockSuspect  bool
	LimitsInvalid bool // the newest load failed: only reducing orders pass
	StartPending  bool // this process has not ended its first reconciliation
	PaperBroker   bool // reconciliation is immediate; account_unreconciled's age does not apply
	AtomicReplace bool // the broker replaces in one step
	ControlMode   account.Mode
	Fees          money.Notional // the profile's figure for this order; zero on paper
}

// Mark values another holding: its last valid quote of this or the previous trade date.
type Mark struct {
	Symbol string
	Bid    money.Price
	Ask    money.Price
	At     time.Time
}

// BrokerFigures are the broker's own, with their time. Present false: none given, and
// only the ledger's cash counts (a broker that has none to give says so).
type BrokerFigures struct {
	Present     bool
	Cash        money.Notional
	BuyingPower money.Notional
	At          time.Time
}
