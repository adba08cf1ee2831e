package profile

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Intent narrows a reading to what the gate judges. What the gate has no figures for is
// refused, never approximated: an order of several legs, with exits of the broker's own,
// sized in money or by a target, trailing, or of another time in force.
func (r *Reading) Intent() (order.Intent, *Refusal) {
	o := &r.Order
	unjudged := func(problem string) (order.Intent, *Refusal) {
		return order.Intent{}, &Refusal{Reason: NotJudged, Problem: problem}
	}
	switch {
	case r.Class == Conditional, r.rules != nil && r.rules.standing:
		return order.Intent{}, &Refusal{Reason: StandingOrder, Problem: "would place orders later, which no limit would see"}
	case r.Need != NeedNothing:
		return unjudged("is not known whole: it needs the " + string(r.Need))
	case len(o.Symbol) > order.SymbolBytesMax:
		return unjudged("names an instrument by a text that is too long")
	case len(r.Basket) > 0, len(o.Legs) > 0, len(o.Children) > 0:
		return unjudged("asks for more than one order")
	}
	in := order.Intent{Symbol: o.Symbol, ClientOrderID: o.ClientOrderID}
	switch r.Class {
	case Cancel:
		if o.OrderID == "" {
			return unjudged("does not name the order that it cancels")
		}
		in.Action, in.Target = order.ActionCancel, o.OrderID
		return in, nil
	case Place, Close, Preview: // a preview is judged as the order that its token would place
		in.Action = order.ActionNew
	case Replace:
		if o.OrderID == "" {
			return unjudged("does not name the order that it changes")
		}
		in.Action, in.Target = order.ActionReplace, o.OrderID
	default:
		return unjudged("is not an order")
	}
	var ok bool
	if in.Type, in.TimeInForce, ok = o.words(); !ok {
		return unjudged("is of an order type or a time in force that is not offered here")
	}
	switch {
	case o.Side == "buy", o.Side == "buy_to_cover":
		in.Side = order.Buy
	case o.Side == "sell", o.Side == "sell_short":
		in.Side = order.Sell
	case r.Class != Replace:
		return unjudged("has no side")
	}
	if o.Quantity.IsZero() {
		return unjudged("is not sized in units")
	}
	in.Quantity, in.LimitPrice, in.StopPrice = o.Quantity, o.LimitPrice, o.StopPrice
	switch o.Session {
	case "", "regular":
	case "extended":
		in.ExtendedHours = true
	default:
		return unjudged("is for a session that is not offered here")
	}
	return in, nil
}

func (o *Order) words() (order.Type, order.TimeInForce, bool) {
	var t order.Type
	switch o.Type {
	case "market":
		t = order.Market
	case "limit":
		t = order.Limit
	case "stop":
		t = order.Stop
	case "stop_limit":
		t = order.StopLimit
	default:
		return 0, 0, false
	}
	switch o.Force {
	case "day":
		return t, order.Day, true
	case "gtc":
		return t, order.GTC, true
	case "ioc":
		return t, order.IOC, true
	}
	return 0, 0, false
}

// Held turns a close into an explicit order against what is held: the opposite side, and
// the whole, a quantity of it, or a percentage rounded down to whole units. It refuses to
// close what is not held, and more than is held.
func (r *Reading) Held(position money.Quantity) (Order, *Refusal) {
	o := r.Order
	held := position.Abs()
	if r.Class != Close || held.IsZero() {
		return Order{}, &Refusal{Reason: NotJudged, Problem: "closes a position that is not held"}
	}
	o.Side = "sell"
	if position.IsNegative() {
		o.Side = "buy"
	}
	switch {
	case o.All:
		o.Quantity = held
	case !o.Percent.IsZero():
		part, ok := held.WholeShare(o.Percent)
		if !ok || part.IsZero() {
			return Order{}, &Refusal{Reason: ZeroQuantity, Problem: "comes to no whole unit"}
		}
		o.Quantity = part
	case o.Quantity.Cmp(held) > 0:
		return Order{}, &Refusal{Reason: NotJudged, Problem: "closes more than is held"}
	}
	o.All, o.Percent = false, money.Percent{}
	return o, nil
}
