// Package order holds what an agent asks for, before any decision: the Intent,
// and the words of FIX that it is made of. It is pure data.
package order

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Action is what an intent does to the book. The zero value is no action and is
// refused wherever an intent is judged.
type Action uint8

// Actions. A replace changes quantity or prices of one working order; a cancel
// takes it out.
const (
	ActionNone Action = iota
	ActionNew
	ActionReplace
	ActionCancel
)

// Side is FIX tag 54, reduced to buy and sell. The zero value is no side.
type Side uint8

// Sides.
const (
	SideNone Side = iota
	Buy
	Sell
)

// Opposite returns the other side; SideNone for SideNone.
func (s Side) Opposite() Side {
	switch s {
	case Buy:
		return Sell
	case Sell:
		return Buy
	}
	return SideNone
}

// Type is FIX tag 40. The zero value is no type. Trailing and auction orders are
// not offered.
type Type uint8

// Order types.
const (
	TypeNone Type = iota
	Limit
	Market
	Stop
	StopLimit
)

// HasLimit reports whether orders of this type carry a limit price.
func (t Type) HasLimit() bool { return t == Limit || t == StopLimit }

// HasStop reports whether orders of this type carry a stop price.
func (t Type) HasStop() bool { return t == Stop || t == StopLimit }

// TimeInForce is FIX tag 59. The zero value is none.
type TimeInForce uint8

// Times in force. GTD needs an expiry.
const (
	TimeInForceNone TimeInForce = iota
	Day
	GTC
	IOC
	GTD
)

// AssetClass is the class of a resolved instrument, never guessed from its text.
type AssetClass uint8

// Asset classes. ClassNone is unknown and refused.
const (
	ClassNone AssetClass = iota
	USEquity
	USOption
	Crypto
	Future
	Forex
)

// Instrument is a resolved instrument. Multiplier is units of the underlying per
// unit of quantity (1 for shares, 100 for a US option); zero is unknown. Fields stand
// in the order of their JSON names, which is the journal's canonical order.
type Instrument struct {
	Active     bool           `json:"active"`
	Class      AssetClass     `json:"class"`
	Currency   string         `json:"currency"`
	Multiplier money.Quantity `json:"multiplier"`
	Symbol     string         `json:"symbol"`
	Underlying string         `json:"underlying,omitzero"`
}

// Intent is an order asked for: normalized, before any decision. Prices that the
// type does not carry are zero. For a replace, Target names the order, Quantity is
// the new total (filled included) and the other terms are the resulting order's.
// For a cancel only Account, Symbol and Target are set. Fields stand in the order of
// their JSON names, which is the journal's canonical order.
type Intent struct {
	Account string `json:"account"`
	Action  Action `json:"action"`
	// ClientOrderID is the agent's own id for the order, at most 64 characters of
	// [A-Za-z0-9._:-]; empty when the agent gave none. It is not the id sent to the broker.
	ClientOrderID string         `json:"client_order_id,omitzero"`
	ExpireAt      time.Time      `json:"expire_at,omitzero"`
	ExtendedHours bool           `json:"extended_hours,omitzero"`
	LimitPrice    money.Price    `json:"limit_price,omitzero"`
	Type          Type           `json:"order_type"`
	Quantity      money.Quantity `json:"quantity"`
	Side          Side           `json:"side"`
	StopPrice     money.Price    `json:"stop_price,omitzero"`
	Symbol        string         `json:"symbol"`
	// Target is the order id (account/seq) that a replace or cancel names.
	Target      string      `json:"target,omitzero"`
	TimeInForce TimeInForce `json:"time_in_force"`
}

// Limits of an intent's texts, in bytes.
const (
	SymbolBytesMax        = 32
	ClientOrderIDBytesMax = 64
)

// DotShareClass writes a share class of one letter after a dash or slash with a dot, in
// a symbol of upper case letters: BRK-B and BRK/B are BRK.B. Calls and limits both go
// through it, so that a limit on one spelling binds all.
func DotShareClass(symbol []byte) {
	n := len(symbol)
	if n >= 3 && (symbol[n-2] == '-' || symbol[n-2] == '/') && 'A' <= symbol[n-1] && symbol[n-1] <= 'Z' {
		symbol[n-2] = '.'
	}
}
