package normalize

import (
	"slices"
	"strconv"
)

// Names of the tools of rails' own server that only read.
const (
	GetQuote        = "get_quote"
	GetPositions    = "get_positions"
	GetAccount      = "get_account"
	GetOrders       = "get_orders"
	GetLimits       = "get_limits"
	MarketContext   = "market_context"
	RecentDecisions = "recent_decisions"
)

// Bounds of recent_decisions' limit.
const (
	DecisionsMax     = 100
	decisionsUnasked = 20
)

// Query is what a reading call asks for. A field that the tool does not have, or that
// the call left out, is zero.
type Query struct {
	Symbol  string
	Status  string // of get_orders: one of OrderStatuses
	OrderID string
	Limit   int // of recent_decisions: 1 to DecisionsMax
}

// OrderStatuses returns the words that get_orders filters by.
func OrderStatuses() []string {
	return []string{"reserved", "working", "partially_filled", "in_doubt"}
}

// queryFields returns the argument names of a reading tool; ok is false for others.
func queryFields(tool string) (fields []string, ok bool) {
	switch tool {
	case GetQuote:
		return []string{"symbol"}, true
	case GetOrders:
		return []string{"order_id", "status"}, true
	case RecentDecisions:
		return []string{"limit"}, true
	case GetPositions, GetAccount, GetLimits, MarketContext:
		return nil, true
	}
	return nil, false
}

// Ask reads the arguments of a reading tool, as strictly as those of an order. Absent
// arguments are an empty object.
func Ask(tool string, raw []byte) (Query, *Refusal) {
	fields, ok := queryFields(tool)
	if !ok {
		return Query{}, &Refusal{Code: UnknownTool, Problem: "no such tool"}
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	args, refusal := readArguments(raw, fields)
	if refusal != nil {
		return Query{}, refusal
	}
	r := reader{args: args}
	var q Query
	switch tool {
	case GetQuote:
		q.Symbol = r.symbol()
	case GetOrders:
		q.Status = r.status()
		if _, given := args["order_id"]; given {
			q.OrderID = r.orderID()
		}
	case RecentDecisions:
		q.Limit = r.limit()
	}
	if r.refusal != nil {
		return Query{}, r.refusal
	}
	return q, nil
}

func (r *reader) status() string {
	text, ok := r.text("status", false)
	if ok && !slices.Contains(OrderStatuses(), text) {
		r.refuse(MalformedCall, "status", "is not one of the words that the tool lists")
		return ""
	}
	return text
}

func (r *reader) limit() int {
	text, given := r.number("limit")
	if !given {
		return decisionsUnasked
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > DecisionsMax || strconv.Itoa(n) != text {
		r.refuse(InvalidNumber, "limit", "is not a whole number from 1 to 100")
		return 0
	}
	return n
}
