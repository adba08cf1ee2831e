// Package limits reads the operator's limits document: strictly, whole, and into
// typed values that the rails compare with. A document that cannot be read whole
// is refused; nothing in it has a default.
package limits

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// Limit is one key of the document: a value, or off. The zero value is neither and
// never comes out of Load; a rail that meets it (Set false) must refuse.
type Limit[T any] struct {
	Set   bool // the document named the key
	On    bool // false: the operator wrote off
	Value T
}

// Document is one limits document, whole and valid. One document, one account.
type Document struct {
	Version    int
	Account    string
	Mode       TradingMode
	Currency   string // ISO 4217
	Calendar   string // ISO 10383 MIC; XNYS
	Instrument Instrument
	Size       Size
	Position   Position
	Collar     Collar
	Session    Session
	Soft       []string            // reserved; always empty
	Symbols    map[string]Override // per-symbol overrides, tightening only

	// Fingerprint is the SHA-256 of the canonical form, in lower-case hex. Set by Load.
	Fingerprint string
	// Canonical is the canonical JSON form that Fingerprint was computed over. Set by Load.
	Canonical []byte

	merged map[string]*Document // each symbol's overrides over the sections; set by Load
}

// TradingMode says what account the document is for. The zero value is neither.
type TradingMode uint8

// Trading modes.
const (
	ModeNone TradingMode = iota
	Paper
	Live
)

// Instrument holds what may be traded, and how. Lists are sorted and hold no
// duplicates; symbols are upper case. An empty list allows nothing.
type Instrument struct {
	Symbols            []string
	RestrictedSymbols  []string
	AssetClasses       []order.AssetClass
	Sides              []order.Side
	OrderTypes         []order.Type
	TimesInForce       []order.TimeInForce
	AllowExtendedHours bool
	AllowFractional    bool
	AllowShort         bool
}

// Size holds limits on one order.
type Size struct {
	MaxOrderQuantity    Limit[money.Quantity] // max_order_qty
	MaxOrderNotional    Limit[money.Notional]
	MinOrderNotional    Limit[money.Notional]
	MaxOrderPctOfEquity Limit[money.Percent]
	QuantityStep        Limit[money.Quantity]
}

// Position holds limits on what the account holds and could come to hold.
type Position struct {
	MaxPositionQuantity Limit[money.Quantity] // max_position_qty
	MaxPositionNotional Limit[money.Notional]
	MaxGrossExposure    Limit[money.Notional]
	MaxNetExposure      Limit[money.Notional]
	MaxConcentration    Limit[money.Percent]
	RequireBuyingPower  bool
	AllowFlip           bool
	MaxOpenOrders       Limit[int]
	AllowSelfCross      bool
	MaxInDoubt          Limit[int]
}

// Collar holds limits on prices and quotes.
type Collar struct {
	LimitPriceCollar    Limit[money.BasisPoints]
	ExitPriceCollar     Limit[money.BasisPoints]
	PassivePriceCollar  Limit[money.BasisPoints]
	MarketOrderSpread   Limit[money.BasisPoints]
	MarketOrderSlippage Limit[money.BasisPoints]
	MaxQuoteAge         Limit[time.Duration]
	MaxSpread           Limit[money.BasisPoints]
	PriceStep           Limit[PriceStep]
	StopPriceSide       Limit[bool] // on or off only; Value is true when on
}

// PriceStep is a fixed step, or the US equity rule: 0.01, below 1.00 0.0001
// (Regulation NMS rule 612).
type PriceStep struct {
	USEquity bool
	Step     money.Price // when USEquity is false
}

// Session holds limits over time.
type Session struct {
	RequireMarketOpen    bool
	TradingWindow        Limit[TimeWindow]
	MaxOrdersPerMinute   Limit[int]
	MaxNotionalPerMinute Limit[money.Notional]
	MaxMessagesPerMinute Limit[int]
	MaxOrdersPerDay      Limit[int]
	MaxNotionalPerDay    Limit[money.Notional]
	MaxDailyLoss         Limit[money.Notional]
	MaxDrawdown          Limit[money.Notional]
	DuplicateWindow      Limit[time.Duration]
	DenialStorm          Limit[DenialStorm]
	RepeatedExecution    Limit[RepeatedExecution]
}

// TimeWindow is a half-open window of the exchange's local time of day, as offsets
// from local midnight.
type TimeWindow struct{ From, To time.Duration }

// DenialStorm trips on the denial after Denials within Window.
type DenialStorm struct {
	Denials int
	Window  time.Duration
}

// RepeatedExecution trips when Cycles open-close cycles ended within Window.
type RepeatedExecution struct {
	Cycles int
	Window time.Duration
}

// Override holds one symbol's tighter figures: the document's own sections, only
// the keys that were written have Set true.
type Override struct {
	Size     Size
	Position PositionOverride
	Collar   Collar
}

// PositionOverride is the part of Position that one symbol can tighten.
type PositionOverride struct {
	MaxPositionQuantity Limit[money.Quantity]
	MaxPositionNotional Limit[money.Notional]
	MaxConcentration    Limit[money.Percent]
}

// Bounds of the document's own numbers: what the account's windows keep at the most.
const (
	DuplicateWindowMax = time.Hour
	BehaviourWindowMax = 24 * time.Hour // denial_storm and repeated_execution
	DenialsMax         = 10_000
	CyclesMax          = 10_000
	OrdersPerMinuteMax = 10_000
	MessagesMax        = 10_000
	DocumentBytesMax   = strict.TextBytesMax
)
