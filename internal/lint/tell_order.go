package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func (g *ground) throughZero() []story {
	two := g.unit.plus(g.unit)
	return []story{
		g.begin().holding(g.symbol, zero().minus(g.unit)).placed(g.ask("buy", two, g.price)).when("with " + g.unit.String() + " short"),
		g.begin().holding(g.symbol, g.unit).placed(g.ask("sell", two, g.price)).when("with " + g.unit.String() + " held"),
	}
}

func (g *ground) crowded() []story {
	n := g.doc.Position.MaxOpenOrders.Value
	if g.closing {
		n += exitSlots
	}
	p := smaller(g.price, whole(1))
	s := g.begin()
	if n > 0 {
		s = g.beside(s, p)
	}
	for i := range n {
		s.open = append(s.open, fmt.Sprintf("{id: o%d, symbol: %s, side: buy, quantity: \"1\", limit_price: %q}", i+1, g.second, p.money()))
	}
	s.cash = parse(s.cash).plus(p.times(whole(int64(n)))).up(whole(1)).String()
	return []story{s.placed(g.open()).when(fmt.Sprintf("with %d orders at work", n))}
}

// exitSlots is how many orders beyond max_open_orders may close (the rail's own figure).
const exitSlots = 5

func (g *ground) crossed() []story {
	long := g.begin().holding(g.symbol, g.unit)
	buy, sell := g.ask("buy", g.unit, g.price), g.ask("sell", g.unit, g.price)
	return []story{
		long.working("own", ask2(sell)).placed(buy).when("against the account's own sell"),
		long.working("own", ask2(buy)).placed(sell).when("against the account's own buy"),
	}
}

func (g *ground) lost() []story {
	var out []story
	first := g.open()
	for _, second := range g.variants(first) {
		out = append(out, g.begin().with("broker: timeout").passes(first).placed(second))
	}
	return out
}

// variants are the same order with terms that make it another one.
func (g *ground) variants(o ask) []ask {
	cheaper, more := o, o
	cheaper.limit = o.limit.minus(g.tick(o.limit))
	more.quantity = o.quantity.plus(g.unit)
	return []ask{cheaper.as(g, o.kind), more}
}

// differing: the broker shows more than the ledger holds, on the same side, so that what
// position there is stays known.
func (g *ground) differing() []story {
	held := g.unit
	if g.opening() == "sell" {
		held = zero().minus(held)
	}
	shown := fmt.Sprintf("external: {position: {symbol: %s, quantity: %q}}", g.symbol, held.plus(held))
	s := g.begin().holding(g.symbol, held).with(shown)
	return []story{
		s.placed(g.open()),
		s.with("reconcile: true").placed(g.open()),
		s.with("restart: true").placed(g.open()),
	}
}

// through is a price beyond a band round the quote.
func (g *ground) through(band money.BasisPoints, side string) number {
	ratio := of(band).over(whole(10_000))
	if side == "buy" {
		return g.above(g.price.plus(g.price.times(ratio)))
	}
	p := g.price.minus(g.price.times(ratio))
	down := g.below(p)
	if down.cmp(p) == 0 {
		down = down.minus(g.tick(down))
	}
	return down
}

func (g *ground) throughMarket() []story {
	var out []story
	c := g.figures.Collar
	if c.LimitPriceCollar.On {
		o := g.open()
		o.kind, o.limit = "limit", g.through(c.LimitPriceCollar.Value, o.side)
		out = append(out, g.begin().placed(o))
		// A stop-limit's limit is held against its own stop, and the passive collar does not
		// apply to it.
		for _, o := range g.typed(order.StopLimit) {
			h := *g
			h.price = o.stop
			o.limit = h.through(c.LimitPriceCollar.Value, o.side)
			out = append(out, g.begin().placed(o))
		}
	}
	if c.ExitPriceCollar.On {
		s, side := g.reducing(g.price, g.unit)
		o := g.ask(side, g.unit, g.price)
		o.kind, o.limit = "limit", g.through(c.ExitPriceCollar.Value, side)
		out = append(out, s.placed(o))
	}
	return out
}

func (g *ground) farAway() []story {
	band := g.figures.Collar.PassivePriceCollar.Value
	o := g.open()
	o.kind = "limit"
	other := "sell"
	if o.side == "sell" {
		other = "buy"
	}
	o.limit = g.through(band, other)
	return []story{g.begin().placed(o)}
}

// spread is a quote whose spread is just over a maximum, in bps of mid.
func (g *ground) spread(most money.BasisPoints) (bid, ask number) {
	s := of(most)
	bid = g.price
	// (ask-bid)/mid > s  <=>  ask > bid x (20000+s)/(20000-s)
	ask = bid.times(whole(20_000).plus(s)).over(whole(20_000).minus(s))
	return bid, g.above(ask)
}

func (g *ground) guarded() []story {
	o := g.open().as(g, "market")
	var out []story
	if guard := g.figures.Collar.MarketOrderSpread; guard.On {
		s := g.begin()
		s.quotes = []string{g.symbol + ": {" + between(g.spread(guard.Value)) + "}"}
		out = append(out, s.placed(o).when("with a spread just over "+guard.Value.String()+" bps"))
	}
	return out
}

func (g *ground) wide() []story {
	bid, ask := g.spread(g.figures.Collar.MaxSpread.Value)
	mid := g.below(bid.plus(ask).over(whole(2)))
	var out []story
	for _, p := range []number{mid, bid, ask} {
		s := g.begin()
		s.quotes = []string{g.symbol + ": {" + between(bid, ask) + "}"}
		out = append(out, s.placed(g.ask(g.opening(), g.unit, p)).when("with the quote at "+bid.money()+"-"+ask.money()))
	}
	return out
}

func (g *ground) old() []story {
	age := g.figures.Collar.MaxQuoteAge.Value + time.Millisecond
	s := g.begin()
	s.quotes = []string{fmt.Sprintf("%s: {%s, age: %dms}", g.symbol, locked(g.price), age.Milliseconds())}
	future := g.begin()
	future.quotes = []string{fmt.Sprintf("%s: {%s, age: -1001ms}", g.symbol, locked(g.price))}
	return []story{s.placed(g.open()).when("on a quote " + age.String() + " old"), future.placed(g.open()).when("on a quote 1.001s from the future")}
}

func (g *ground) badQuote() []story {
	var out []story
	for _, last := range []string{"0", "-0.01"} {
		s := g.begin()
		s.quotes = []string{fmt.Sprintf("%s: {%s, last: %q}", g.symbol, locked(g.price), last)}
		out = append(out, s.placed(g.open()).when("on a quote whose last price is "+last))
	}
	return out
}

func (g *ground) offTick() []story {
	o := g.open()
	if o.kind == "market" {
		return nil
	}
	var out []story
	for _, part := range []int64{10, 2} {
		off := g.tick(g.price).over(whole(part))
		p := o
		if p.kind == "stop" {
			p.stop = o.stop.plus(off)
		} else {
			p.limit = o.limit.minus(off)
		}
		out = append(out, g.begin().placed(p))
	}
	return out
}

func (g *ground) stopAtOnce() []story {
	var out []story
	for _, o := range g.typed(order.StopLimit, order.Stop) {
		o.stop, o.limit = g.price, g.price
		out = append(out, g.begin().placed(o))
	}
	return out
}

// typed is the plain order in each of some types that the document lists.
func (g *ground) typed(types ...order.Type) []ask {
	var out []ask
	for _, t := range types {
		if slices.Contains(g.doc.Instrument.OrderTypes, t) {
			out = append(out, g.open().as(g, t.String()))
		}
	}
	return out
}
