package profile

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Closing turns a close into the explicit order that it comes to against what is held, as
// Held does, and writes the quantity into what goes on, where a percentage or nothing stood:
// what is held when the call arrives may be something else. A tool that takes no quantity
// cannot be told one, and is refused.
func (r *Reading) Closing(position money.Quantity) (Reading, *Refusal) {
	o, refusal := r.Held(position)
	if refusal != nil {
		return Reading{}, refusal
	}
	out, c := r.completed(o)
	if !c.figure("quantity", o.Quantity.String()) {
		return Reading{}, &Refusal{Reason: NotJudged, Problem: "closes by a tool that takes no quantity"}
	}
	for i := range r.rules.args {
		if r.rules.args[i].to == "percent" {
			c.drop(r.rules.args[i].name)
		}
	}
	return out, nil
}

// Kept turns a replace into the whole order that is to result, with the terms of the working
// order that the call does not name, and writes them into what goes on where the tool takes
// them. The working order's instrument and side stay; a call that names others is refused.
func (r *Reading) Kept(base *order.Intent) (Reading, *Refusal) {
	o := r.Order
	if r.Class != Replace || r.rules == nil {
		return Reading{}, &Refusal{Reason: NotJudged, Problem: "is not a change of an order"}
	}
	side := "buy"
	if base.Side == order.Sell {
		side = "sell"
	}
	switch {
	case o.Symbol != "" && o.Symbol != base.Symbol:
		return Reading{}, &Refusal{Reason: AssetClassMismatch, Problem: "names another instrument than the order has"}
	case o.Side != "" && sold(o.Side) != sold(side):
		return Reading{}, &Refusal{Reason: Enum, Problem: "names another side than the order has"}
	}
	o.Symbol = base.Symbol
	if o.Side == "" {
		o.Side = side
	}
	if r.Keeps {
		o.keep(base)
	}
	out, c := r.completed(o)
	if r.Keeps {
		c.spellOut(&o)
	}
	if c.priced(); c.refusal != nil {
		return Reading{}, c.refusal
	}
	return out, nil
}

// keep takes what is not said from the working order. A price goes with its type: one that
// the resulting type does not have is not kept.
func (o *Order) keep(base *order.Intent) {
	if o.Type == "" {
		o.Type = typeWord(base.Type)
	}
	if o.Force == "" {
		o.Force = forceWord(base.TimeInForce)
	}
	if o.Quantity.IsZero() {
		o.Quantity = base.Quantity
	}
	if o.LimitPrice.IsZero() && (o.Type == "limit" || o.Type == "stop_limit") {
		o.LimitPrice = base.LimitPrice
	}
	if o.StopPrice.IsZero() && (o.Type == "stop" || o.Type == "stop_limit") {
		o.StopPrice = base.StopPrice
	}
	if o.Session == "" && base.ExtendedHours {
		o.Session = "extended"
	}
}

// completed is the reading with another order, and a call to write its arguments with.
func (r *Reading) completed(o Order) (Reading, *call) {
	out := *r
	out.Order, out.Need, out.Keeps, out.arguments = o, NeedNothing, false, r.arguments.clone()
	return out, &call{rules: r.rules, object: out.arguments, order: o}
}

// spellOut writes each term of the order that the tool takes and the call left unsaid.
func (c *call) spellOut(o *Order) {
	for _, term := range []struct {
		to, text string
		given    bool
	}{
		{"quantity", o.Quantity.String(), !o.Quantity.IsZero()},
		{"limit_price", o.LimitPrice.String(), !o.LimitPrice.IsZero()},
		{"stop_price", o.StopPrice.String(), !o.StopPrice.IsZero()},
	} {
		if term.given {
			c.figure(term.to, term.text)
		}
	}
	for i := range c.rules.args {
		a := &c.rules.args[i]
		if a.to != "time_in_force" {
			continue
		}
		if at := slices.IndexFunc(a.words, func(w Word) bool { return w.To == o.Force }); at >= 0 && c.object.path(a.name) == nil {
			c.write(a.name, text(a.words[at].From))
		}
	}
}

// figure writes a figure as the tool's argument for it has figures; false when it has none.
func (c *call) figure(to, s string) bool {
	for i := range c.rules.args {
		a := &c.rules.args[i]
		if a.to != to {
			continue
		}
		v := text(s)
		if a.kind == "number" || a.kind == "integer" {
			v = &value{kind: '0', text: s}
		}
		if a.fits(v) != "" {
			return false
		}
		c.write(a.name, v)
		return true
	}
	return false
}

func typeWord(t order.Type) string {
	switch t {
	case order.Market:
		return "market"
	case order.Limit:
		return "limit"
	case order.Stop:
		return "stop"
	case order.StopLimit:
		return "stop_limit"
	}
	return ""
}

func forceWord(f order.TimeInForce) string {
	switch f {
	case order.Day:
		return "day"
	case order.GTC:
		return "gtc"
	case order.IOC:
		return "ioc"
	}
	return ""
}
