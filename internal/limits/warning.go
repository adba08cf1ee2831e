package limits

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Warning is a figure that is valid but does not do what it seems to.
type Warning struct {
	Key     string `json:"key"`
	Problem string `json:"problem"`
}

// takesTheMarket reports whether order types are allowed that bound no price.
func (d *Document) takesTheMarket() bool {
	return slices.Contains(d.Instrument.OrderTypes, order.Market) || slices.Contains(d.Instrument.OrderTypes, order.Stop)
}

// Warnings lists figures that are out of order with each other, in a fixed order.
func (d *Document) Warnings() []Warning {
	w := warner{d: d}
	w.lists()
	w.nested()
	w.ofSections("", d.For(""))
	for _, symbol := range d.overridden() {
		if !slices.Contains(d.Instrument.Symbols, symbol) {
			w.add("symbols."+symbol, "the symbol is not in instrument.symbols")
		}
		w.ofSections("symbols."+symbol+".", d.For(symbol))
	}
	return w.list
}

type warner struct {
	d    *Document
	list []Warning
}

func (w *warner) add(key, problem string) {
	w.list = append(w.list, Warning{Key: key, Problem: problem})
}

// above warns when both limits are on and the first is more than the second.
func above[T interface{ Cmp(T) int }](w *warner, key string, a Limit[T], other string, b Limit[T]) {
	if a.On && b.On && a.Value.Cmp(b.Value) > 0 {
		w.add(key, "is more than "+other+", which is reached first")
	}
}

func (w *warner) countAbove(key string, a Limit[int], other string, b Limit[int]) {
	if a.On && b.On && a.Value > b.Value {
		w.add(key, "is more than "+other+", which is reached first")
	}
}

func (w *warner) lists() {
	in := &w.d.Instrument
	for _, l := range [...]struct {
		name  string
		empty bool
	}{
		{"symbols", len(in.Symbols) == 0}, {"asset_classes", len(in.AssetClasses) == 0}, {"sides", len(in.Sides) == 0},
		{"order_types", len(in.OrderTypes) == 0}, {"times_in_force", len(in.TimesInForce) == 0},
	} {
		if l.empty {
			w.add("instrument."+l.name, "is empty and allows nothing")
		}
	}
	for _, s := range in.Symbols {
		if slices.Contains(in.RestrictedSymbols, s) {
			w.add("instrument.restricted_symbols", s+" is in symbols as well; restricted wins")
		}
	}
	if w.d.Position.AllowFlip && !in.AllowShort {
		w.add("position.allow_flip", "does nothing while instrument.allow_short is false")
	}
}

// nested compares figures that hold for the whole account.
func (w *warner) nested() {
	p, s := &w.d.Position, &w.d.Session
	above(w, "position.max_net_exposure", p.MaxNetExposure, "position.max_gross_exposure", p.MaxGrossExposure)
	above(w, "session.max_notional_per_minute", s.MaxNotionalPerMinute, "session.max_notional_per_day", s.MaxNotionalPerDay)
	above(w, "session.max_daily_loss", s.MaxDailyLoss, "session.max_drawdown", s.MaxDrawdown)
	w.countAbove("session.max_orders_per_minute", s.MaxOrdersPerMinute, "session.max_orders_per_day", s.MaxOrdersPerDay)
	w.countAbove("session.max_orders_per_minute", s.MaxOrdersPerMinute, "session.max_messages_per_minute", s.MaxMessagesPerMinute)
	w.countAbove("position.max_open_orders", p.MaxOpenOrders, "session.max_orders_per_day", s.MaxOrdersPerDay)
}

// ofSections compares figures that overrides can change. For overrides it repeats
// nothing that the document itself was warned of.
func (w *warner) ofSections(prefix string, e Effective) {
	before := len(w.list)
	z, p, c, s := e.Size, e.Position, e.Collar, &w.d.Session
	above(w, prefix+"size.max_order_qty", z.MaxOrderQuantity, "position.max_position_qty", p.MaxPositionQuantity)
	above(w, prefix+"size.max_order_notional", z.MaxOrderNotional, "position.max_position_notional", p.MaxPositionNotional)
	above(w, prefix+"size.max_order_notional", z.MaxOrderNotional, "position.max_gross_exposure", p.MaxGrossExposure)
	above(w, prefix+"size.max_order_notional", z.MaxOrderNotional, "session.max_notional_per_minute", s.MaxNotionalPerMinute)
	above(w, prefix+"size.max_order_notional", z.MaxOrderNotional, "session.max_notional_per_day", s.MaxNotionalPerDay)
	above(w, prefix+"size.max_order_pct_of_equity", z.MaxOrderPctOfEquity, "position.max_concentration", p.MaxConcentration)
	above(w, prefix+"position.max_position_notional", p.MaxPositionNotional, "position.max_gross_exposure", p.MaxGrossExposure)
	above(w, prefix+"collar.market_order_spread", c.MarketOrderSpread, "collar.max_spread", c.MaxSpread)
	if z.MinOrderNotional.On && z.MaxOrderNotional.On && z.MinOrderNotional.Value.Cmp(z.MaxOrderNotional.Value) > 0 {
		w.add(prefix+"size.min_order_notional", "is more than size.max_order_notional: no order can pass")
	}
	if z.MinOrderNotional.On && z.MinOrderNotional.Value.IsZero() {
		w.add(prefix+"size.min_order_notional", "is 0 and refuses nothing; off says so")
	}
	if z.QuantityStep.On && z.MaxOrderQuantity.On && z.QuantityStep.Value.Cmp(z.MaxOrderQuantity.Value) > 0 {
		w.add(prefix+"size.quantity_step", "is more than size.max_order_qty: no order can pass")
	}
	if c.LimitPriceCollar.On && c.ExitPriceCollar.On && c.ExitPriceCollar.Value.Cmp(c.LimitPriceCollar.Value) < 0 {
		w.add(prefix+"collar.exit_price_collar", "is less than collar.limit_price_collar: exits are held tighter than entries")
	}
	wide := money.BasisPointsFromInt(5_000)
	for _, b := range [...]struct {
		name string
		band Limit[money.BasisPoints]
	}{
		{"limit_price_collar", c.LimitPriceCollar}, {"exit_price_collar", c.ExitPriceCollar},
		{"passive_price_collar", c.PassivePriceCollar}, {"market_order_slippage", c.MarketOrderSlippage},
	} {
		if b.band.On && b.band.Value.Cmp(wide) >= 0 {
			w.add(prefix+"collar."+b.name, "is 50% (5000) or more")
		}
	}
	if prefix == "" {
		return
	}
	own := w.list[:before]
	w.list = slices.DeleteFunc(w.list, func(x Warning) bool {
		return slices.ContainsFunc(own, func(o Warning) bool { return prefix+o.Key == x.Key && o.Problem == x.Problem })
	})
}
