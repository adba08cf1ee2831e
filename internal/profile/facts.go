package profile

import "strconv"

// Facts returns what an order says, as names and texts in a fixed order, without what it
// does not say. Legs and exits follow with their place before the name, as in leg.1.symbol.
func (o *Order) Facts() []Word {
	var out []Word
	add := func(name, text string) {
		if text != "" {
			out = append(out, Word{name, text})
		}
	}
	figure := func(name, text string, zero bool) {
		if !zero {
			add(name, text)
		}
	}
	flag := func(name string, on bool) {
		if on {
			add(name, "true")
		}
	}
	add("symbol", o.Symbol)
	add("raw_id", o.RawID)
	add("asset_class", o.AssetClass)
	add("venue", o.Venue)
	add("currency", o.Currency)
	add("side", o.Side)
	add("effect", o.Effect)
	figure("quantity", o.Quantity.String(), o.Quantity.IsZero())
	figure("notional", o.Notional.String(), o.Notional.IsZero())
	add("notional_currency", o.NotionalCurrency)
	figure("percent", o.Percent.String(), o.Percent.IsZero())
	if o.Target != nil {
		add("target", o.Target.String())
	}
	flag("all", o.All)
	add("order_type", o.Type)
	figure("limit_price", o.LimitPrice.String(), o.LimitPrice.IsZero())
	figure("stop_price", o.StopPrice.String(), o.StopPrice.IsZero())
	figure("trail_amount", o.TrailAmount.String(), o.TrailAmount.IsZero())
	figure("trail_percent", o.TrailPercent.String(), o.TrailPercent.IsZero())
	add("net_price", o.NetPrice)
	add("time_in_force", o.Force)
	add("expire_at", o.ExpireAt)
	add("session", o.Session)
	add("product", o.Product)
	add("order_class", o.OrderClass)
	flag("reduce", o.Reduce)
	add("account", o.Account)
	add("environment", o.Environment)
	add("client_order_id", o.ClientOrderID)
	add("order_id", o.OrderID)
	add("token", o.Token)
	for i := range o.Legs {
		out = append(out, placed("leg", i, o.Legs[i].Facts())...)
	}
	for i := range o.Children {
		out = append(out, placed("exit", i, o.Children[i].Facts())...)
	}
	return out
}

func placed(part string, i int, facts []Word) []Word {
	for j := range facts {
		facts[j].From = part + "." + strconv.Itoa(i+1) + "." + facts[j].From
	}
	return facts
}

// Facts returns what the whole call asks for: its order's facts, or those of each order of
// a basket.
func (r *Reading) Facts() []Word {
	out := r.Order.Facts()
	for i := range r.Basket {
		out = append(out, placed("order", i, r.Basket[i].Facts())...)
	}
	return out
}
