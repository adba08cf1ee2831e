package lint

import (
	"fmt"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// atLeast reports whether a limit that is on is no tighter than another that is on.
func atLeast[T interface{ Cmp(T) int }](a, b limits.Limit[T]) bool {
	return a.On && b.On && a.Value.Cmp(b.Value) >= 0
}

// values are the claims about money.
func (p *prover) values() {
	if p.holds(func(e limits.Effective) bool { return atLeast(e.Position.MaxNetExposure, e.Position.MaxGrossExposure) }) {
		d := &p.doc.Position
		p.claim(rail.MaxNetExposure, fmt.Sprintf("net exposure is never more than gross exposure, and max_net_exposure %s >= max_gross_exposure %s",
			d.MaxNetExposure.Value, d.MaxGrossExposure.Value), rail.MaxGrossExposure)
	}
	p.leastOrder()
	p.mostUnits()
}

// lowestPrice is the least price on a step, which every order with a limit price has;
// false if orders may have none.
func lowestPrice(doc *limits.Document, e limits.Effective) (number, bool) {
	for _, t := range doc.Instrument.OrderTypes {
		if t != order.Limit && t != order.StopLimit {
			return zero(), false
		}
	}
	g := ground{doc: doc, figures: e}
	return g.lowest(), true
}

// leastOrder: where even the least quantity at the least price is worth the minimum.
func (p *prover) leastOrder() {
	if p.holds(func(e limits.Effective) bool { return isZero(e.Size.MinOrderNotional) }) {
		p.claim(rail.MinOrderNotional, "size.min_order_notional is 0, and no order is worth less")
		return
	}
	// A fraction, a quantity off its step and a price off its step are each denied, by
	// rails that spare a whole close as this one does.
	why := ""
	so := p.holds(func(e limits.Effective) bool {
		low, ok := lowestPrice(p.doc, e)
		unit := unitOf(p.doc, e)
		if !ok || !e.Size.MinOrderNotional.On || !unit.positive() || !e.Collar.PriceStep.On {
			return false
		}
		why = fmt.Sprintf("the least quantity %s x the least price %s = %s >= min_order_notional %s",
			unit, low, unit.times(low), e.Size.MinOrderNotional.Value)
		return unit.times(low).cmp(of(e.Size.MinOrderNotional.Value)) >= 0
	})
	if so {
		p.claim(rail.MinOrderNotional, why, rail.QuantityStep, rail.FractionalNotAllowed, rail.PriceStep)
	}
}

// unitOf is the least quantity that passes the steps; zero if there is no such bound.
func unitOf(doc *limits.Document, e limits.Effective) number {
	unit := zero()
	if !doc.Instrument.AllowFractional {
		unit = whole(1)
	}
	if e.Size.QuantityStep.On {
		unit = common(unit, of(e.Size.QuantityStep.Value))
		if !unit.positive() {
			unit = of(e.Size.QuantityStep.Value)
		}
	}
	return unit
}

// mostUnits: where more units than max_order_qty are worth more than an order may be, at
// the least price there is.
func (p *prover) mostUnits() {
	why := ""
	so := p.holds(func(e limits.Effective) bool {
		low, ok := lowestPrice(p.doc, e)
		z := e.Size
		if !z.MaxOrderQuantity.On || !z.MaxOrderNotional.On || !(ok && e.Collar.PriceStep.On) && !z.MaxOrderNotional.Value.IsZero() {
			return false
		}
		next := of(z.MaxOrderQuantity.Value).plus(least())
		// A reducing order of one step is spared the notional.
		step := whole(1)
		if z.QuantityStep.On {
			step = of(z.QuantityStep.Value)
		}
		why = fmt.Sprintf("more than max_order_qty %s at the least price %s is worth more than max_order_notional %s",
			z.MaxOrderQuantity.Value, low, z.MaxOrderNotional.Value)
		return next.cmp(step) > 0 && of(z.MaxOrderQuantity.Value).times(low).cmp(of(z.MaxOrderNotional.Value)) >= 0
	})
	if so {
		p.claim(rail.MaxOrderQty, why, rail.MaxOrderNotional, rail.PriceStep)
	}
}

// prices are the claims about bands and spreads.
func (p *prover) prices() {
	only := func(t order.Type) bool {
		return len(p.doc.Instrument.OrderTypes) == 1 && p.doc.Instrument.OrderTypes[0] == t
	}
	c := &p.doc.Collar
	if p.holds(func(e limits.Effective) bool { return atLeast(e.Collar.MarketOrderSpread, e.Collar.MaxSpread) }) {
		p.claim(rail.MarketOrderGuard, fmt.Sprintf("market_order_spread %s bps >= max_spread %s bps, and outside the regular session extended_hours_not_allowed denies every market order",
			c.MarketOrderSpread.Value, c.MaxSpread.Value), rail.SpreadTooWide, rail.ExtendedHoursNotAllowed)
	}
	if only(order.Market) && p.holds(func(e limits.Effective) bool { return atLeast(e.Collar.MaxSpread, e.Collar.MarketOrderSpread) }) {
		p.claim(rail.SpreadTooWide, fmt.Sprintf("instrument.order_types is [market] and max_spread %s bps >= market_order_spread %s bps",
			c.MaxSpread.Value, c.MarketOrderSpread.Value), rail.MarketOrderGuard, rail.OrderTypeNotAllowed)
	}
	stopLimits := false
	for _, t := range p.doc.Instrument.OrderTypes {
		stopLimits = stopLimits || t == order.StopLimit
	}
	if !stopLimits && p.holds(func(e limits.Effective) bool { return passiveWithin(e.Collar) }) {
		p.claim(rail.LimitPriceCollar, fmt.Sprintf("a price %s bps through the market is further than %s bps from mid, and passive_price_collar %s bps is no wider than either band",
			c.LimitPriceCollar.Value, c.PassivePriceCollar.Value, c.PassivePriceCollar.Value), rail.PassivePriceCollar, rail.OrderTypeNotAllowed)
	}
	if p.holds(func(e limits.Effective) bool {
		s := e.Collar.PriceStep
		return s.On && !s.Value.USEquity && of(s.Value.Step).cmp(least()) == 0
	}) {
		p.claim(rail.PriceStep, "collar.price_step is 0.000000001 and no price is finer")
	}
}

func passiveWithin(c *limits.Collar) bool {
	within := func(b limits.Limit[money.BasisPoints]) bool { return !b.On || atLeast(b, c.PassivePriceCollar) }
	return c.PassivePriceCollar.On && within(c.LimitPriceCollar) && within(c.ExitPriceCollar)
}

// windows are the claims about counts over time.
func (p *prover) windows() {
	s, in := &p.doc.Session, &p.doc.Instrument
	if s.MaxOrdersPerMinute.On && s.MaxMessagesPerMinute.On && s.MaxOrdersPerMinute.Value >= s.MaxMessagesPerMinute.Value {
		p.claim(rail.MaxOrdersPerMinute, fmt.Sprintf("every order is a message, in the same bucket, and max_orders_per_minute %d >= max_messages_per_minute %d",
			s.MaxOrdersPerMinute.Value, s.MaxMessagesPerMinute.Value), rail.MaxMessagesPerMinute)
	}
	// At New York's midnight the day begins again and the minute does not; nothing is
	// reserved near it while orders are kept to the sessions.
	if (s.RequireMarketOpen || !in.AllowExtendedHours) && atLeast(s.MaxNotionalPerMinute, s.MaxNotionalPerDay) {
		p.claim(rail.MaxNotionalPerMinute, fmt.Sprintf("what was ordered in the last minute was ordered today, and max_notional_per_minute %s >= max_notional_per_day %s",
			s.MaxNotionalPerMinute.Value, s.MaxNotionalPerDay.Value), rail.MaxNotionalPerDay)
	}
	if !slicesHasMissing(in.TimesInForce) {
		p.claim(rail.TimeInForceNotAllowed, "instrument.times_in_force lists day, gtc and ioc, all that a tool can ask for; gtd needs an expiry, which no tool has")
	}
}

// slicesHasMissing reports whether a tool can ask for a time in force that is not listed.
func slicesHasMissing(listed []order.TimeInForce) bool {
	for _, t := range offered() {
		found := false
		for _, l := range listed {
			found = found || l == t
		}
		if !found {
			return true
		}
	}
	return false
}

// switchedOff says with which words the document switches a rail off; empty if it does
// not.
func switchedOff(doc *limits.Document, e limits.Effective, id rail.ID) string {
	in, z, p, c, s := &doc.Instrument, e.Size, e.Position, e.Collar, &doc.Session
	all := map[rail.ID]bool{
		rail.SymbolRestricted: len(in.RestrictedSymbols) == 0, rail.FractionalNotAllowed: in.AllowFractional,
		rail.ShortNotAllowed: in.AllowShort, rail.InsufficientBuyingPower: !p.RequireBuyingPower, rail.PositionFlip: p.AllowFlip,
		rail.SelfCross: p.AllowSelfCross, rail.MarketClosed: !s.RequireMarketOpen, rail.TradingWindow: !s.TradingWindow.On,
		rail.MaxOrderQty: !z.MaxOrderQuantity.On, rail.MaxOrderNotional: !z.MaxOrderNotional.On, rail.MinOrderNotional: !z.MinOrderNotional.On,
		rail.MaxOrderPctOfEquity: !z.MaxOrderPctOfEquity.On, rail.QuantityStep: !z.QuantityStep.On,
		rail.MaxPositionQty: !p.MaxPositionQuantity.On, rail.MaxPositionNotional: !p.MaxPositionNotional.On, rail.MaxGrossExposure: !p.MaxGrossExposure.On,
		rail.MaxNetExposure: !p.MaxNetExposure.On, rail.MaxConcentration: !p.MaxConcentration.On, rail.MaxOpenOrders: !p.MaxOpenOrders.On,
		rail.LimitPriceCollar: !c.LimitPriceCollar.On && !c.ExitPriceCollar.On, rail.PassivePriceCollar: !c.PassivePriceCollar.On,
		rail.QuoteStale: !c.MaxQuoteAge.On, rail.SpreadTooWide: !c.MaxSpread.On, rail.PriceStep: !c.PriceStep.On, rail.StopPriceSide: !c.StopPriceSide.On,
		rail.MaxOrdersPerMinute: !s.MaxOrdersPerMinute.On, rail.MaxNotionalPerMinute: !s.MaxNotionalPerMinute.On,
		rail.MaxMessagesPerMinute: !s.MaxMessagesPerMinute.On, rail.MaxOrdersPerDay: !s.MaxOrdersPerDay.On, rail.MaxNotionalPerDay: !s.MaxNotionalPerDay.On,
		rail.MaxDailyLoss: !s.MaxDailyLoss.On, rail.MaxDrawdown: !s.MaxDrawdown.On, rail.DuplicateOrder: !s.DuplicateWindow.On,
		rail.DenialStorm: !s.DenialStorm.On, rail.RepeatedExecution: !s.RepeatedExecution.On,
		rail.AssetClassNotAllowed: len(in.AssetClasses) >= classes, rail.SideNotAllowed: len(in.Sides) >= 2, rail.OrderTypeNotAllowed: len(in.OrderTypes) >= 4,
	}
	if !all[id] {
		return ""
	}
	switch id {
	case rail.AssetClassNotAllowed, rail.SideNotAllowed, rail.OrderTypeNotAllowed:
		return "every one there is is listed"
	}
	for _, r := range rail.All() {
		if r.ID == id && len(r.Keys) > 0 {
			return r.Keys[0] + offWords(doc, r.Keys[0])
		}
	}
	return "switched off"
}

// classes is how many asset classes there are.
const classes = 5

func offWords(doc *limits.Document, key string) string {
	for _, c := range limits.Diff(nil, doc) {
		if c.Key == key {
			return ": " + c.New
		}
	}
	return " is off"
}
