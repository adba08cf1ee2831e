package lint

import (
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// Kind is what a finding is about.
type Kind string

// Kinds of finding.
const (
	Trap          Kind = "trap"           // a position that can be opened and not closed
	Stuck         Kind = "stuck"          // a position held from before that cannot be closed
	SlowExit      Kind = "slow_exit"      // one that takes minutes to close
	Contradiction Kind = "contradiction"  // figures of which no order can satisfy all
	NoEffect      Kind = "no_effect"      // a figure that refuses nothing
	BeyondAccount Kind = "beyond_account" // a figure that the account cannot reach
	OutOfOrder    Kind = "out_of_order"   // valid, and not what it seems
)

// Finding is something about the figures together. Danger marks what --strict fails on.
type Finding struct {
	Kind       Kind   `json:"kind"`
	Danger     bool   `json:"danger"`
	Key        string `json:"key"`
	What       string `json:"what"`
	Arithmetic string `json:"arithmetic"`
	Hint       string `json:"hint"`
	// Scenario shows it, where one can; File is its name.
	Scenario string `json:"scenario,omitempty"`
	File     string `json:"file,omitempty"`
}

// shown is a finding with the story that should show it and what its last step comes to.
type shown struct {
	Finding
	story  *story
	expect string
}

// findings are all of them, in a fixed order: what traps, then what contradicts, then the
// rest. A trap whose story does not come true is none, and is not reported.
func (l *linter) findings(equity number) ([]Finding, error) {
	out := []Finding{}
	for i, s := range l.traps() {
		if s.story != nil {
			text := s.story.text(fmt.Sprintf("%s %d", s.Kind, i+1), s.What+"\n"+s.Arithmetic+".", s.expect)
			r, err := l.play(text)
			switch {
			case l.ctx.Err() != nil:
				return nil, l.ctx.Err()
			case err != nil || !r.Passed():
				continue
			}
			s.Scenario, s.File = text, fmt.Sprintf("%s_%d.yaml", s.Kind, i+1)
		}
		out = append(out, s.Finding)
	}
	out = append(out, warnings(l.g.doc)...)
	out = append(out, idle(l.g.doc)...)
	return append(out, beyondAccount(l.g, equity)...), nil
}

func refusing(ids ...rail.ID) string {
	return "{verdict: denied, rails_include: [" + joined(ids) + "], forwarded: 0}"
}

func joined(ids []rail.ID) string {
	text := ""
	for i, id := range ids {
		if i > 0 {
			text += ", "
		}
		text += string(id)
	}
	return text
}

func (l *linter) traps() []shown {
	g := l.g
	var out []shown
	out = append(out, g.oneWay()...)
	out = append(out, g.stopsOnly()...)
	for _, h := range l.all {
		out = append(out, h.neitherSize()...)
		out = append(out, h.tooCheapToSell()...)
		out = append(out, h.coarse()...)
	}
	out = append(out, g.heldRestricted()...)
	return append(out, g.slow()...)
}

// opened is a story that opens a position through the gate and fills it.
func (g *ground) opened() story {
	o := g.open()
	o.id = "entry"
	fill := fmt.Sprintf("fill: {order: entry, quantity: %q, price: %q}", g.unit, g.price.money())
	return g.begin().passes(o).with(fill)
}

func opposite(side string) string {
	if side == "buy" {
		return "sell"
	}
	return "buy"
}

func (g *ground) oneWay() []shown {
	exit := opposite(g.opening())
	if len(g.sides) == 0 || g.may(exit) || !g.may(g.opening()) {
		return nil
	}
	s := g.opened().placed(g.ask(exit, g.unit, g.price))
	return []shown{{
		Finding: Finding{
			Kind: Trap, Danger: true, Key: "instrument.sides", What: "A position can be opened by a " + g.opening() + " and not closed: every " + exit + " is denied",
			Arithmetic: "instrument.sides is [" + join(g.doc.Instrument.Sides) + "], and side_not_allowed judges reducing orders too",
			Hint:       "list " + exit + ", or know that a person closes at the broker",
		},
		story: &s, expect: refusing(rail.SideNotAllowed),
	}}
}

func (g *ground) stopsOnly() []shown {
	types := g.doc.Instrument.OrderTypes
	stop := g.figures.Collar.StopPriceSide
	if len(types) == 0 || !stop.On || slices.Contains(types, order.Limit) || slices.Contains(types, order.Market) {
		return nil
	}
	exit := opposite(g.opening())
	o := g.ask(exit, g.unit, g.price)
	o.stop, o.limit = g.price, g.price
	s := g.opened().placed(o)
	return []shown{{
		Finding: Finding{
			Kind: Trap, Danger: true, Key: "instrument.order_types", What: "A position cannot be closed at the market: only a stop that waits for a worse price passes",
			Arithmetic: "instrument.order_types is [" + join(types) + "] and stop_price_side denies a stop that the quote has reached",
			Hint:       "list limit",
		},
		story: &s, expect: refusing(rail.StopPriceSide),
	}}
}

// of which symbol a finding speaks, where it has figures of its own.
func (g *ground) key(path string) string {
	if _, own := g.doc.Symbols[g.symbol]; own {
		return "symbols." + g.symbol + "." + path
	}
	return path
}

// long reports whether positions can be long and sold in parts at a limit price.
func (g *ground) long() bool {
	return g.may("buy") && g.may("sell") && slices.Contains(g.doc.Instrument.OrderTypes, order.Limit)
}

// neitherSize: a close in one piece is too dear and in pieces too cheap.
func (g *ground) neitherSize() []shown {
	z := g.figures.Size
	if !z.MinOrderNotional.On || !z.MaxOrderNotional.On || !g.long() {
		return nil
	}
	least, most := of(z.MinOrderNotional.Value), of(z.MaxOrderNotional.Value)
	if least.plus(least).cmp(most) <= 0 || least.cmp(most) > 0 {
		return nil
	}
	two := g.unit.plus(g.unit)
	p := g.above(most.over(two))
	if p.times(g.unit).cmp(least) >= 0 {
		return nil
	}
	s := g.beginAt(p).holding(g.symbol, two).with("order: {" + g.ask("sell", g.unit, p).text() + "}\n    expect: " + refusing(rail.MinOrderNotional))
	s = s.placed(g.ask("sell", two, p))
	return []shown{{
		Finding: Finding{
			Kind: Trap, Danger: true, Key: g.key("size.min_order_notional"), What: "A position of two units can be closed neither at once nor one by one",
			Arithmetic: fmt.Sprintf("2 x min_order_notional %s = %s > max_order_notional %s: at %s one unit of %s is worth less than the one and two are worth more than the other",
				least, least.plus(least), most, p.money(), g.unit),
			Hint: "put min_order_notional at no more than half of max_order_notional",
		},
		story: &s, expect: refusing(rail.MaxOrderNotional),
	}}
}

// tooCheapToSell: the price fell so far that the largest part is worth too little.
func (g *ground) tooCheapToSell() []shown {
	z := g.figures.Size
	if !z.MinOrderNotional.On || !z.MaxOrderQuantity.On || !z.MaxOrderQuantity.Value.IsPositive() || !g.long() {
		return nil
	}
	least, most := of(z.MinOrderNotional.Value), of(z.MaxOrderQuantity.Value).down(g.unit)
	held := most.plus(g.unit)
	if cap := g.figures.Position.MaxPositionQuantity; cap.On && of(cap.Value).cmp(held) < 0 || !least.positive() || !most.positive() {
		return nil
	}
	edge := least.over(most)
	p := g.below(edge)
	if p.times(most).cmp(least) >= 0 {
		p = g.below(p.minus(g.tick(p.minus(g.lowest()))))
	}
	if !p.positive() {
		return nil
	}
	s := g.beginAt(p).holding(g.symbol, held).with("order: {" + g.ask("sell", most, p).text() + "}\n    expect: " + refusing(rail.MinOrderNotional))
	s = s.placed(g.ask("sell", held, p))
	return []shown{{
		Finding: Finding{
			Kind: Trap, Danger: edge.cmp(whole(1)) >= 0, Key: g.key("size.min_order_notional"),
			What: fmt.Sprintf("A position of more than %s cannot be sold at a bid below %s", most, edge.money()),
			Arithmetic: fmt.Sprintf("max_order_qty %s x a bid below %s < min_order_notional %s, and a whole close of more than %s is over max_order_qty",
				most, edge.money(), least, most),
			Hint: "lower min_order_notional, or hold no more than max_order_qty",
		},
		story: &s, expect: refusing(rail.MaxOrderQty),
	}}
}

// coarse: a step of prices so wide that no price at the market is both on it and within
// the exit collar.
func (g *ground) coarse() []shown {
	step, exit := g.figures.Collar.PriceStep, g.figures.Collar.ExitPriceCollar
	if !step.On || step.Value.USEquity || !g.long() || slices.Contains(g.doc.Instrument.OrderTypes, order.Market) {
		return nil
	}
	wide := of(step.Value.Step)
	if wide.cmp(parse("0.01")) <= 0 {
		return nil
	}
	edge, why := wide, fmt.Sprintf("the lowest limit price is price_step %s, and a sell at it does not trade at a lower bid", wide)
	if exit.On {
		edge = wide.times(whole(10_000)).over(of(exit.Value))
		why = fmt.Sprintf("price_step %s / exit_price_collar %s bps = %s: below it the next price on the step can be further under the bid than the collar lets through",
			wide, exit.Value, edge.money())
	}
	bid := wide.plus(wide).minus(parse("0.01"))
	if !exit.On {
		bid = wide.minus(parse("0.01"))
	}
	h := *g
	h.price = bid
	sell := h.ask("sell", g.unit, bid)
	sell.kind = "limit"
	s := h.beginAt(bid).holding(g.symbol, g.unit).with("order: {" + sell.text() + "}\n    expect: " + refusing(rail.PriceStep))
	expect := refusing(rail.LimitPriceCollar)
	if sell.limit = wide; !exit.On {
		sell.limit, expect = bid.minus(parse("0.01")), refusing(rail.PriceStep)
	}
	s = s.placed(sell)
	return []shown{{
		Finding: Finding{
			Kind: Trap, Danger: edge.cmp(whole(1)) >= 0, Key: g.key("collar.price_step"),
			What:       fmt.Sprintf("A position cannot always be sold at the market while its price is below %s", edge.money()),
			Arithmetic: why, Hint: "write us_equity, or widen exit_price_collar",
		},
		story: &s, expect: expect,
	}}
}

func (g *ground) heldRestricted() []shown {
	list := g.doc.Instrument.RestrictedSymbols
	if len(list) == 0 || !g.may("sell") {
		return nil
	}
	h := *g
	h.symbol = list[0]
	s := h.begin().holding(h.symbol, g.unit).placed(h.ask("sell", g.unit, g.price))
	return []shown{{
		Finding: Finding{
			Kind: Stuck, Key: "instrument.restricted_symbols", What: "What is held of a restricted symbol cannot be closed through the gate",
			Arithmetic: "symbol_restricted judges reducing orders too: [" + fmt.Sprint(len(list)) + " restricted]", Hint: "close it at the broker before it is restricted",
		},
		story: &s, expect: refusing(rail.SymbolRestricted),
	}}
}

// slow says how long the largest position takes to close.
func (g *ground) slow() []shown {
	z, rate, cap := g.figures.Size, g.doc.Session.MaxOrdersPerMinute, g.figures.Position.MaxPositionQuantity
	if !cap.On || !rate.On || rate.Value == 0 || !of(cap.Value).positive() {
		return nil
	}
	held := of(cap.Value).down(g.unit)
	each, at := held, ""
	if z.MaxOrderQuantity.On {
		each = smaller(each, of(z.MaxOrderQuantity.Value).down(g.unit))
	}
	if z.MaxOrderNotional.On {
		each, at = g.unit, fmt.Sprintf(" at a price above %s (it may have risen since), where max_order_notional %s leaves %s an order,",
			of(z.MaxOrderNotional.Value).over(g.unit.plus(g.unit)).money(), z.MaxOrderNotional.Value, g.unit)
	}
	if !each.positive() {
		return nil
	}
	orders := held.over(each).up(whole(1))
	minutes := orders.over(whole(int64(rate.Value))).up(whole(1))
	if minutes.cmp(whole(1)) <= 0 {
		return nil
	}
	return []shown{{Finding: Finding{
		Kind: SlowExit, Key: "session.max_orders_per_minute", What: "The largest position can take " + minutes.String() + " minutes to close",
		Arithmetic: fmt.Sprintf("%s units%s are %s orders, and exits have a bucket of %d a minute", held, at, orders, rate.Value),
		Hint:       "raise max_order_notional or max_orders_per_minute, or hold less",
	}}}
}

// warnings are what the document itself warns of, with a kind and a hint.
func warnings(doc *limits.Document) []Finding {
	var out []Finding
	for _, w := range doc.Warnings() {
		f := Finding{Kind: OutOfOrder, Key: w.Key, What: w.Key + " " + w.Problem, Hint: "put the two in order, or write off"}
		switch {
		case ends(w.Problem, "no order can pass"):
			f.Kind, f.Danger, f.Hint = Contradiction, true, "lower the minimum or raise the maximum"
		case ends(w.Problem, "is empty and allows nothing"):
			f.Kind, f.Danger, f.Hint = Contradiction, true, "list what may pass; rails halt stops everything as well"
		case ends(w.Problem, "which is reached first"):
			f.Kind, f.Hint = NoEffect, "lower it below the other, or write off: the other holds"
		case ends(w.Problem, "restricted wins"):
			f.Kind, f.Hint = NoEffect, "take the symbol off one of the two lists"
		case ends(w.Problem, "or more"):
			f.Hint = "a band this wide lets through what it should stop"
		case ends(w.Problem, "exits are held tighter than entries"):
			f.Hint = "widen exit_price_collar: what can be bought at a price should be sellable at one as far away"
		}
		out = append(out, f)
	}
	return out
}

func ends(text, with string) bool {
	return len(text) >= len(with) && text[len(text)-len(with):] == with
}
