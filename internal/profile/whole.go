package profile

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
)

// consistent checks what the arguments come to together: the rules of every broker, kept
// here so that no profile can leave one out.
func (c *call) consistent() {
	o := &c.order
	for i := range c.rules.args {
		a := &c.rules.args[i]
		if a.to == "venue" && o.Symbol != "" && !strings.Contains(o.Symbol, ":") && o.AssetClass == "" {
			if venue, given := c.text(a.name); given {
				o.Symbol = venue + ":" + o.Symbol
			}
		}
	}
	switch c.rules.class {
	case Place, Preview, Draft:
		c.sized()
		c.priced()
		if o.Side == "" && len(o.Legs) == 0 {
			c.refuse(MissingSide, "", "the call does not say whether it buys or sells")
		}
		if o.Symbol == "" && o.RawID == "" && len(o.Legs) == 0 {
			c.refuse(MissingArgument, "", "the call names no instrument")
		}
		c.children()
	case Close:
		c.closes()
	case Replace:
		c.priced()
	}
}

// closes wants at most one size, in units or a share of what is held; none is the whole.
func (c *call) closes() {
	o := &c.order
	sizes := 0
	for _, given := range []bool{!o.Quantity.IsZero(), !o.Percent.IsZero(), o.All} {
		if given {
			sizes++
		}
	}
	switch {
	case sizes > 1:
		c.refuse(ExclusiveArgs, "", "gives two sizes")
	case !o.Notional.IsZero() || o.Target != nil:
		c.refuse(NotJudged, "", "closes by another size than units or a share of what is held")
	case o.Symbol == "" && o.RawID == "":
		c.refuse(MissingArgument, "", "the call names no instrument")
	}
	c.priced()
	if o.Side == "" {
		o.Side = "position"
	}
	o.Reduce, o.All = true, sizes == 0 || o.All
}

// sized wants exactly one size.
func (c *call) sized() {
	o := &c.order
	sizes := 0
	for _, given := range []bool{!o.Quantity.IsZero(), !o.Notional.IsZero(), !o.Percent.IsZero(), o.Target != nil} {
		if given {
			sizes++
		}
	}
	switch {
	case sizes > 1 && o.Target == nil:
		c.refuse(ExclusiveArgs, "", "gives two sizes")
	case sizes == 0:
		c.refuse(MissingSize, "", "gives no size")
	case !o.Notional.IsZero() && o.Type != "" && o.Type != "market":
		c.refuse(NotionalWithLimit, "", "gives an amount of money with a price")
	}
}

// priced wants the prices that the order type has, and no other.
func (c *call) priced() {
	o := &c.order
	limit, stop := !o.LimitPrice.IsZero(), !o.StopPrice.IsZero()
	trails := 0
	for _, given := range []bool{!o.TrailAmount.IsZero(), !o.TrailPercent.IsZero()} {
		if given {
			trails++
		}
	}
	var needLimit, needStop bool
	switch o.Type {
	case "limit":
		needLimit = true
	case "stop":
		needStop = true
	case "stop_limit":
		needLimit, needStop = true, true
	case "trailing":
		if trails != 1 {
			c.refuse(MissingPrice, "", "a trailing order has one distance")
		}
	case "market":
	default: // a replace that does not say the type; several legs
		return
	}
	needLimit = needLimit && o.NetPrice == ""
	switch {
	case needLimit && !limit:
		c.refuse(MissingPrice, "", "the order type has a limit price, which is missing")
	case needStop && !stop:
		c.refuse(MissingPrice, "", "the order type has a stop price, which is missing")
	case limit && !needLimit, stop && !needStop, trails > 0 && o.Type != "trailing", o.NetPrice != "" && o.Type != "limit":
		c.refuse(InconsistentPrice, "", "a price is given that the order type does not have")
	}
}

// children are the exits that the broker starts by itself, each the opposite of the order.
func (c *call) children() {
	o := &c.order
	exit := Order{
		Symbol: o.Symbol, AssetClass: o.AssetClass, Currency: o.Currency, Side: opposite(o.Side), Quantity: o.Quantity,
		Force: o.Force, Reduce: true,
	}
	if !c.childTake.IsZero() {
		take := exit
		take.Type, take.LimitPrice = "limit", c.childTake
		o.Children = append(o.Children, take)
	}
	switch {
	case !c.childStop.IsZero():
		stop := exit
		stop.Type, stop.StopPrice = "stop", c.childStop
		if !c.childLim.IsZero() {
			stop.Type, stop.LimitPrice = "stop_limit", c.childLim
		}
		o.Children = append(o.Children, stop)
	case !c.childLim.IsZero():
		c.refuse(MissingPrice, "", "an exit has a limit price and no stop price")
	}
	switch simple := o.OrderClass == "" || o.OrderClass == "simple" || o.OrderClass == "multileg"; {
	case simple && len(o.Children) > 0:
		c.refuse(InconsistentPrice, "", "exits are given for a simple order")
	case !simple && len(o.Children) == 0:
		c.refuse(MissingPrice, "", "an order with exits names none")
	}
}

func opposite(side string) string {
	switch side {
	case "buy":
		return "sell"
	case "sell", "sell_short":
		return "buy"
	}
	return ""
}

// inner reads one object of a list by rules of its own.
func (c *call) inner(l *list, v *value) (*call, bool) {
	if v.kind != '{' {
		c.refuse(TypeMismatch, l.in, "holds what is not an object")
		return nil, false
	}
	in := &call{rules: l.rules, object: v, numbers: map[string]string{}}
	in.flatten()
	if in.refusal == nil {
		in.arguments()
	}
	if in.refusal != nil {
		in.refusal.Field = join(l.in, in.refusal.Field)
		c.refusal = in.refusal
		return nil, false
	}
	return in, true
}

func join(path, field string) string {
	if field == "" {
		return path
	}
	return path + "." + field
}

func (c *call) listed(l *list) []*value {
	v := c.object.get(l.in)
	switch {
	case v == nil || v.kind != '[':
		c.refuse(MissingArgument, l.in, "is not a list of objects")
		return nil
	case len(v.members) == 0:
		c.refuse(MissingArgument, l.in, "is empty")
		return nil
	case len(v.members) > l.most:
		c.refuse(MalformedCall, l.in, "holds more than this tool takes")
		return nil
	}
	return v.members
}

// legs reads the parts of one order that fills as a whole. A leg's quantity is the
// order's times the leg's ratio.
func (c *call) legs() {
	for _, v := range c.listed(c.rules.legs) {
		in, ok := c.inner(c.rules.legs, v)
		if !ok {
			return
		}
		leg := in.order
		if !in.ratio.IsZero() {
			q, ok := times(in.ratio, c.order.Quantity)
			if !ok {
				c.refuse(NumberFormat, c.rules.legs.in, "comes to a quantity out of range")
				return
			}
			leg.Quantity = q
		}
		if leg.Quantity.IsZero() {
			c.refuse(MissingQuantity, c.rules.legs.in, "a leg does not say how much")
		}
		if leg.Side == "" {
			c.refuse(MissingSide, c.rules.legs.in, "a leg does not say whether it buys or sells")
		}
		c.order.Legs = append(c.order.Legs, leg)
	}
	if c.order.OrderClass == "" {
		c.order.OrderClass = "multileg"
	}
}

// times multiplies by a whole ratio of at most 1,000; not ok beyond, or out of range.
func times(ratio, q money.Quantity) (product money.Quantity, ok bool) {
	const most = 1_000
	if !ratio.IsWhole() || ratio.Cmp(money.QuantityFromInt(most)) > 0 {
		return product, false
	}
	for n := int64(0); money.QuantityFromInt(n).Cmp(ratio) < 0; n++ {
		if product, ok = product.Add(q); !ok {
			return product, false
		}
	}
	return product, true
}

// basket reads several orders of one call. One that has no reading refuses all.
func (c *call) basket() []Order {
	var out []Order
	for _, v := range c.listed(c.rules.basket) {
		in, ok := c.inner(c.rules.basket, v)
		if !ok {
			return nil
		}
		if in.consistent(); in.refusal != nil {
			in.refusal.Field = join(c.rules.basket.in, in.refusal.Field)
			c.refusal = in.refusal
			return nil
		}
		out = append(out, in.order)
	}
	return out
}
