package lint

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// proof says that whatever a rail denies, one of by refuses too.
type proof struct {
	by      []rail.ID
	because string
}

// prove makes every claim that holds for all prices, quantities and states, for the
// document's own figures and for those of every symbol that has its own. It holds for
// orders by the tools of this version, under limits that do not change meanwhile.
func prove(doc *limits.Document) map[rail.ID]proof {
	p := &prover{doc: doc, all: everywhere(doc), out: map[rail.ID]proof{}}
	p.everyOrder()
	p.everyOpening()
	p.words()
	p.quantities()
	p.hours()
	p.values()
	p.prices()
	p.windows()
	return p.out
}

type prover struct {
	doc *limits.Document
	all []limits.Effective
	out map[rail.ID]proof
}

// everywhere is the document's own sections and those of each symbol with its own.
func everywhere(doc *limits.Document) []limits.Effective {
	out := []limits.Effective{doc.For("")}
	for _, s := range slices.Sorted(maps.Keys(doc.Symbols)) {
		out = append(out, doc.For(s))
	}
	return out
}

// claim keeps the first proof of a rail.
func (p *prover) claim(id rail.ID, because string, by ...rail.ID) {
	if _, had := p.out[id]; !had {
		p.out[id] = proof{by, because}
	}
}

// holds reports whether something is so for every symbol.
func (p *prover) holds(f func(e limits.Effective) bool) bool {
	return !slices.ContainsFunc(p.all, func(e limits.Effective) bool { return !f(e) })
}

// covers claims every other rail for one that denies every order there is.
func (p *prover) covers(by rail.ID, because string) {
	for _, r := range rail.All() {
		if r.ID != by {
			p.claim(r.ID, because, by)
		}
	}
}

// offered are the times in force that tools have a word for.
func offered() []order.TimeInForce {
	return []order.TimeInForce{order.Day, order.GTC, order.IOC}
}

func (p *prover) everyOrder() {
	in, t := &p.doc.Instrument, &p.doc.Session
	tif := slices.ContainsFunc(offered(), func(t order.TimeInForce) bool { return slices.Contains(in.TimesInForce, t) })
	for _, c := range []struct {
		so  bool
		by  rail.ID
		why string
	}{
		{len(in.AssetClasses) == 0, rail.AssetClassNotAllowed, "instrument.asset_classes is empty"},
		{len(in.Sides) == 0, rail.SideNotAllowed, "instrument.sides is empty"},
		{len(in.OrderTypes) == 0, rail.OrderTypeNotAllowed, "instrument.order_types is empty"},
		{!tif, rail.TimeInForceNotAllowed, "instrument.times_in_force lists none of day, gtc and ioc, which are all that a tool can ask for"},
		{p.holds(func(e limits.Effective) bool { return isZero(e.Size.MaxOrderQuantity) }), rail.MaxOrderQty, "size.max_order_qty is 0 and every quantity is more"},
		{t.MaxMessagesPerMinute.On && t.MaxMessagesPerMinute.Value == 0, rail.MaxMessagesPerMinute, "session.max_messages_per_minute is 0"},
		{t.MaxOrdersPerMinute.On && t.MaxOrdersPerMinute.Value == 0, rail.MaxOrdersPerMinute, "session.max_orders_per_minute is 0"},
	} {
		if c.so {
			p.covers(c.by, c.why+": "+string(c.by)+" denies every order")
		}
	}
}

func isZero[T interface{ IsZero() bool }](l limits.Limit[T]) bool { return l.On && l.Value.IsZero() }

// everyOpening covers the rails that reducing orders pass, where another denies all that
// does not reduce.
func (p *prover) everyOpening() {
	for _, c := range []struct {
		so  bool
		by  rail.ID
		why string
	}{
		{len(p.doc.Instrument.Symbols) == 0, rail.SymbolNotAllowed, "instrument.symbols is empty"},
		{p.holds(func(e limits.Effective) bool { return isZero(e.Size.MaxOrderNotional) }), rail.MaxOrderNotional, "size.max_order_notional is 0"},
		{p.holds(func(e limits.Effective) bool { return isZero(e.Position.MaxPositionQuantity) }), rail.MaxPositionQty, "position.max_position_qty is 0"},
		{p.holds(func(e limits.Effective) bool { return isZero(e.Position.MaxPositionNotional) }), rail.MaxPositionNotional, "position.max_position_notional is 0"},
		{isZero(p.doc.Position.MaxGrossExposure), rail.MaxGrossExposure, "position.max_gross_exposure is 0"},
	} {
		if !c.so {
			continue
		}
		for _, r := range rail.All() {
			if r.ID != c.by && (r.Exempt == rail.ExemptAll || r.ID == rail.ShortNotAllowed || r.ID == rail.PositionFlip) {
				p.claim(r.ID, c.why+": "+string(c.by)+" denies every order that does not reduce, and reducing orders pass both", c.by)
			}
		}
	}
}

// words are the claims about closed lists.
func (p *prover) words() {
	in := &p.doc.Instrument
	has := func(types ...order.Type) bool {
		return slices.ContainsFunc(types, func(t order.Type) bool { return slices.Contains(in.OrderTypes, t) })
	}
	types := "instrument.order_types is [" + join(in.OrderTypes) + "]"
	if !has(order.Market) {
		p.claim(rail.MarketOrderGuard, types+" and the guard judges market orders only", rail.OrderTypeNotAllowed)
	}
	if !has(order.Stop, order.StopLimit) {
		p.claim(rail.StopPriceSide, types+" and only stop and stop_limit orders have a stop price", rail.OrderTypeNotAllowed)
	}
	if !has(order.Limit, order.StopLimit) {
		p.claim(rail.LimitPriceCollar, types+" and only limit and stop_limit orders have a limit price", rail.OrderTypeNotAllowed)
	}
	if !has(order.Limit) {
		p.claim(rail.PassivePriceCollar, types+" and the collar judges limit orders only", rail.OrderTypeNotAllowed)
	}
	if !slices.Contains(in.Sides, order.Sell) {
		p.claim(rail.ShortNotAllowed, "instrument.sides is ["+join(in.Sides)+"] and only a sell opens a short", rail.SideNotAllowed)
	}
	if !slices.Contains(in.Sides, order.Buy) && !in.AllowShort {
		p.claim(rail.PositionFlip, "instrument.sides is ["+join(in.Sides)+"], and a sell through zero is a short, which allow_short: false denies",
			rail.SideNotAllowed, rail.ShortNotAllowed)
	}
	if p.holds(func(e limits.Effective) bool { return e.Collar.MarketOrderSpread.Set && !e.Collar.MarketOrderSpread.On }) {
		p.claim(rail.MarketOrderGuard, "collar.market_order_spread is off, so it only denies outside the regular session, where "+
			"extended_hours_not_allowed denies every market order, with or without leave", rail.ExtendedHoursNotAllowed)
	}
	if in.AllowExtendedHours {
		return
	}
	outside := "allow_extended_hours is false: outside the regular session extended_hours_not_allowed denies every order, and past the calendar it cannot decide, which refuses too"
	p.claim(rail.MarketClosed, outside, rail.ExtendedHoursNotAllowed)
}

func join[T fmt.Stringer](list []T) string {
	text := ""
	for i, w := range list {
		if i > 0 {
			text += ", "
		}
		text += w.String()
	}
	return text
}

// quantities: a quantity step and whole units can be the same question.
func (p *prover) quantities() {
	one := money.QuantityFromInt(1)
	if p.holds(func(e limits.Effective) bool {
		return e.Size.QuantityStep.On && of(e.Size.QuantityStep.Value).cmp(least()) == 0
	}) {
		p.claim(rail.QuantityStep, "size.quantity_step is 0.000000001 and no quantity is finer")
	}
	if p.doc.Instrument.AllowFractional {
		return
	}
	if p.holds(func(e limits.Effective) bool {
		return e.Size.QuantityStep.On && one.MultipleOf(e.Size.QuantityStep.Value)
	}) {
		p.claim(rail.QuantityStep, "allow_fractional is false and 1 is a multiple of quantity_step "+p.doc.Size.QuantityStep.Value.String()+
			": what is off the step is not whole either", rail.FractionalNotAllowed)
	}
	if p.holds(func(e limits.Effective) bool { return e.Size.QuantityStep.On && e.Size.QuantityStep.Value.IsWhole() }) {
		p.claim(rail.FractionalNotAllowed, "quantity_step "+p.doc.Size.QuantityStep.Value.String()+
			" is whole: what is not whole is off the step as well, and a whole close passes both", rail.QuantityStep)
	}
}

func (p *prover) hours() {
	w := p.doc.Session.TradingWindow
	if !w.On {
		return
	}
	text := "trading_window " + short(w.Value.From) + "-" + short(w.Value.To)
	switch in := &p.doc.Instrument; {
	case !in.AllowExtendedHours && w.Value.From <= opens && w.Value.To >= closes:
		p.claim(rail.TradingWindow, text+" holds all of the regular session 09:30-16:00, and allow_extended_hours is false: what is outside it is outside the session",
			rail.ExtendedHoursNotAllowed)
	case p.doc.Session.RequireMarketOpen && w.Value.From <= preOpens && w.Value.To >= postCloses:
		p.claim(rail.TradingWindow, text+" holds all sessions 04:00-20:00, and require_market_open is true: what is outside it is closed", rail.MarketClosed)
	}
}

func short(d time.Duration) string { return time.Time{}.Add(d).Format("15:04") }
