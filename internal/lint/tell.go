package lint

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// stories are what is tried to see a rail alone, the shortest first. Each list is made of
// the document's figures, at the limit and one step beyond.
func (g *ground) stories(id rail.ID) []story {
	tell, ok := g.tellers()[id]
	if !ok {
		return nil
	}
	list := tell()
	if !g.closing && !sparesExits(id) {
		list = append(list, g.exits().stories(id)...)
	}
	slices.SortStableFunc(list, shorter)
	return list
}

// sparesExits reports whether a rail passes every order that reduces.
func sparesExits(id rail.ID) bool {
	all := rail.All()
	return slices.ContainsFunc(all[:], func(r rail.Rail) bool { return r.ID == id && r.Exempt == rail.ExemptAll })
}

func (g *ground) tellers() map[rail.ID]func() []story {
	return map[rail.ID]func() []story{
		rail.InstrumentUnknown: g.inactive, rail.InstrumentHalted: g.haltedQuote, rail.SymbolNotAllowed: g.otherSymbol,
		rail.SymbolRestricted: g.restricted, rail.AssetClassNotAllowed: g.otherClass, rail.SideNotAllowed: g.otherSide,
		rail.OrderTypeNotAllowed: g.otherType, rail.TimeInForceNotAllowed: g.otherTIF, rail.ExtendedHoursNotAllowed: g.outOfHours,
		rail.FractionalNotAllowed: g.fraction, rail.ShortNotAllowed: g.shortSale,

		rail.MaxOrderQty: g.tooMany, rail.MaxOrderNotional: g.tooDear, rail.MinOrderNotional: g.tooSmall,
		rail.MaxOrderPctOfEquity: g.tooLargeAShare, rail.QuantityStep: g.offStep,

		rail.MaxPositionQty: g.positionUnits, rail.MaxPositionNotional: g.positionValue, rail.MaxGrossExposure: g.gross,
		rail.MaxNetExposure: g.net, rail.MaxConcentration: g.concentrated, rail.InsufficientBuyingPower: g.poor,
		rail.PositionFlip: g.throughZero, rail.MaxOpenOrders: g.crowded, rail.SelfCross: g.crossed,
		rail.OrderInDoubt: g.lost, rail.AccountUnreconciled: g.differing,

		rail.LimitPriceCollar: g.throughMarket, rail.PassivePriceCollar: g.farAway, rail.MarketOrderGuard: g.guarded,
		rail.QuoteStale: g.old, rail.QuoteInvalid: g.badQuote, rail.SpreadTooWide: g.wide, rail.PriceStep: g.offTick,
		rail.StopPriceSide: g.stopAtOnce,

		rail.MaxOrdersPerMinute: g.burst, rail.MaxNotionalPerMinute: g.turnoverMinute, rail.MaxMessagesPerMinute: g.chatter,
		rail.MaxOrdersPerDay: g.busyDay, rail.MaxNotionalPerDay: g.dearDay, rail.MaxDailyLoss: g.losing, rail.MaxDrawdown: g.fallen,
		rail.KillSwitch: g.halted, rail.MarketClosed: g.closed, rail.TradingWindow: g.otherHours,
		rail.DuplicateClientOrderID: g.sameID, rail.DuplicateOrder: g.sameOrder, rail.DenialStorm: g.storm,
		rail.RepeatedExecution: g.cycles, rail.ClockSuspect: g.clockSet,
	}
}

// simple is a story of the plain order alone.
func (g *ground) simple() story { return g.begin().placed(g.open()) }

// reducing is a story in which a position is closed, in the side that is listed.
func (g *ground) reducing(p, held number) (story, string) {
	s := g.beginAt(p)
	if g.may("sell") {
		return s.holding(g.symbol, held), "sell"
	}
	return s.holding(g.symbol, zero().minus(held)), "buy"
}

func (g *ground) inactive() []story {
	s := g.begin()
	s.listed = g.list(g.symbol, "active: false")
	return []story{s.placed(g.open()).when("which is listed as not active")}
}

func (g *ground) haltedQuote() []story {
	s := g.begin()
	s.quotes = []string{g.symbol + ": {" + locked(g.price) + ", halted: true}"}
	return []story{s.placed(g.open()).when("which its exchange has halted")}
}

func (g *ground) otherSymbol() []story {
	h := *g
	for _, name := range []string{foreignName, "ZZD", "ZZE"} {
		if !slices.Contains(g.doc.Instrument.Symbols, name) && !slices.Contains(g.doc.Instrument.RestrictedSymbols, name) {
			h.symbol = name
			break
		}
	}
	return []story{h.simple().when("which instrument.symbols does not list")}
}

func (g *ground) restricted() []story {
	var out []story
	list := g.doc.Instrument.RestrictedSymbols
	for _, s := range list {
		if slices.Contains(g.doc.Instrument.Symbols, s) {
			h := *g
			h.symbol = s
			return []story{h.simple().when("which is restricted")}
		}
	}
	if len(list) > 0 {
		s := g.begin()
		s.listed = g.list(g.symbol, "underlying: "+list[0])
		out = append(out, s.placed(g.open()).when("whose underlying "+list[0]+" is restricted"))
	}
	return out
}

func (g *ground) otherClass() []story {
	for c := order.USEquity; ; c++ {
		if c.String() == "" {
			return nil
		}
		if !slices.Contains(g.doc.Instrument.AssetClasses, c) {
			h := *g
			h.class = c.String()
			return []story{h.simple().when("which is resolved to " + h.class)}
		}
	}
}

func (g *ground) otherSide() []story {
	if !g.may("buy") {
		out := []story{g.begin().placed(g.ask("buy", g.unit, g.price))}
		return append(out, g.begin().holding(g.symbol, zero().minus(g.unit)).placed(g.ask("buy", g.unit, g.price)))
	}
	out := []story{g.begin().holding(g.symbol, g.unit).placed(g.ask("sell", g.unit, g.price))}
	return append(out, g.begin().placed(g.ask("sell", g.unit, g.price)))
}

func (g *ground) otherType() []story {
	var out []story
	for _, t := range []order.Type{order.Market, order.Limit, order.StopLimit, order.Stop} {
		if !slices.Contains(g.doc.Instrument.OrderTypes, t) {
			out = append(out, g.begin().placed(g.open().as(g, t.String())))
		}
	}
	return out
}

func (g *ground) otherTIF() []story {
	var out []story
	for _, t := range offered() {
		if !slices.Contains(g.doc.Instrument.TimesInForce, t) {
			o := g.open()
			o.tif = t.String()
			out = append(out, g.begin().placed(o).when(o.tif))
		}
	}
	return out
}

func (g *ground) outOfHours() []story {
	o := g.open()
	o.extended = true
	out := []story{g.begin().placed(o).when("with extended_hours set")}
	for _, at := range g.times() {
		s := g.begin()
		s.at = clock(at)
		o.extended = false
		out = append(out, s.placed(o).when("without extended_hours, at "+short(at)))
		// The operator's hours spare a reducing order, the session does not.
		r, side := g.reducing(g.price, g.unit)
		r.at = clock(at)
		o := g.ask(side, g.unit, g.price)
		o.extended = false
		out = append(out, r.placed(o).when("closing, without extended_hours, at "+short(at)))
	}
	return out
}

func (g *ground) fraction() []story {
	var out []story
	half := parse("0.5")
	parts := []number{half, whole(1).plus(half), whole(10).plus(half)}
	if step := g.figures.Size.QuantityStep; step.On {
		parts = nil
		for n := int64(1); n <= 4; n++ {
			parts = append(parts, of(step.Value).times(whole(n)))
		}
	}
	for _, q := range parts {
		if !q.multipleOf(whole(1)) {
			out = append(out, g.begin().placed(g.ask(g.opening(), q, g.price)))
		}
	}
	return out
}

func (g *ground) shortSale() []story {
	return []story{g.begin().placed(g.ask("sell", g.unit, g.price)).when("with nothing held")}
}
