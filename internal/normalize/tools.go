package normalize

import (
	"github.com/broker-rails/broker-rails/internal/order"
)

// Names of the tools of rails' own server that write. Everything else reads, or does
// not exist.
const (
	PlaceOrder   = "place_order"
	ReplaceOrder = "replace_order"
	CancelOrder  = "cancel_order"
	CheckOrder   = "check_order" // reads: place_order's arguments, judged and not sent
)

// NoteCharactersMax bounds the agent's note.
const NoteCharactersMax = 256

// OrderIDBytesMax bounds an order id: account/seq, or ext/ and a broker's id.
const OrderIDBytesMax = 128

func placeFields() []string {
	return []string{
		"symbol", "side", "order_type", "quantity", "time_in_force", "limit_price", "stop_price",
		"extended_hours", "client_order_id", "note",
	}
}

func replaceFields() []string { return []string{"order_id", "quantity", "limit_price", "stop_price"} }

func cancelFields() []string { return []string{"order_id"} }

// Fields returns the argument names of a write tool, or of check_order; nil for others.
func Fields(tool string) []string {
	switch tool {
	case PlaceOrder, CheckOrder:
		return placeFields()
	case ReplaceOrder:
		return replaceFields()
	case CancelOrder:
		return cancelFields()
	}
	return nil
}

// Normalized is what a call asks for. A term that a replace did not name is zero: it
// stays as it is, and the gate fills it in from the order that is replaced.
type Normalized struct {
	Intent order.Intent
	Note   string
}

// Call reads the arguments of one of the tools above. A refusal says why it cannot.
func Call(tool string, raw []byte) (Normalized, *Refusal) {
	fields := Fields(tool)
	if fields == nil {
		return Normalized{}, &Refusal{Code: UnknownTool, Problem: "no such tool"}
	}
	args, refusal := readArguments(raw, fields)
	if refusal != nil {
		return Normalized{}, refusal
	}
	r := reader{args: args}
	var n Normalized
	switch tool {
	case PlaceOrder, CheckOrder:
		n = r.place()
	case ReplaceOrder:
		n = r.replace()
	case CancelOrder:
		n = Normalized{Intent: order.Intent{Action: order.ActionCancel, Target: r.orderID()}}
	}
	if r.refusal != nil {
		return Normalized{}, r.refusal
	}
	return n, nil
}

func (r *reader) place() Normalized {
	in := order.Intent{Action: order.ActionNew}
	in.Symbol = r.symbol()
	in.Side = word(r, "side", order.ParseSide)
	in.Type = word(r, "order_type", order.ParseType)
	in.Quantity = r.quantity(true)
	in.TimeInForce = word(r, "time_in_force", parseOfferedTimeInForce)
	in.LimitPrice, _ = r.price("limit_price")
	in.StopPrice, _ = r.price("stop_price")
	in.ExtendedHours = r.flag("extended_hours")
	in.ClientOrderID = r.clientOrderID()
	note := r.note()
	if r.refusal == nil {
		r.fit(&in)
	}
	return Normalized{Intent: in, Note: note}
}

// parseOfferedTimeInForce reads the times in force that this server offers; gtd would
// need an expiry, which its tools do not have.
func parseOfferedTimeInForce(text string) (order.TimeInForce, error) {
	tif, err := order.ParseTimeInForce(text)
	if err == nil && tif == order.GTD {
		return order.TimeInForceNone, &order.UnknownWordError{Kind: "time_in_force", Know: []string{"day", "gtc", "ioc"}}
	}
	return tif, err
}

func (r *reader) replace() Normalized {
	in := order.Intent{Action: order.ActionReplace, Target: r.orderID()}
	_, hasQuantity := r.args["quantity"]
	if hasQuantity {
		in.Quantity = r.quantity(true)
	}
	var hasLimit, hasStop bool
	in.LimitPrice, hasLimit = r.price("limit_price")
	in.StopPrice, hasStop = r.price("stop_price")
	if r.refusal == nil && !hasQuantity && !hasLimit && !hasStop {
		r.refuse(ConflictingFields, "", "quantity, limit_price and stop_price are all missing: a replace changes at least one")
	}
	return Normalized{Intent: in}
}

// fit holds the prices against the order type: each type has exactly its own.
func (r *reader) fit(in *order.Intent) {
	_, hasLimit := r.args["limit_price"]
	_, hasStop := r.args["stop_price"]
	switch {
	case in.Type.HasLimit() && !hasLimit:
		r.refuse(ConflictingFields, "limit_price", "is missing: order_type "+in.Type.String()+" needs it")
	case !in.Type.HasLimit() && hasLimit:
		r.refuse(ConflictingFields, "limit_price", "does not go with order_type "+in.Type.String())
	case in.Type.HasStop() && !hasStop:
		r.refuse(ConflictingFields, "stop_price", "is missing: order_type "+in.Type.String()+" needs it")
	case !in.Type.HasStop() && hasStop:
		r.refuse(ConflictingFields, "stop_price", "does not go with order_type "+in.Type.String())
	}
}
