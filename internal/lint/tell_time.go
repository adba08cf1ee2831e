package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/scenario"
)

// tooLong reports whether a count is beyond what any scenario file can hold.
func tooLong(n int) bool { return n+3 > scenario.StepsMax }

// times are hours of the day at which something may be different: ends of sessions, and
// of the operator's own hours.
func (g *ground) times() []time.Duration {
	out := []time.Duration{8 * time.Hour, 17 * time.Hour, preOpens, opens, 12 * time.Hour, 15 * time.Hour, closes - time.Minute, postCloses - time.Minute, 21 * time.Hour}
	if w := g.doc.Session.TradingWindow; w.On {
		out = append(out, w.Value.From, w.Value.To)
		if w.Value.From >= time.Minute {
			out = append(out, w.Value.From-time.Minute)
		}
	}
	return out
}

func (g *ground) burst() []story {
	n := g.doc.Session.MaxOrdersPerMinute.Value
	if tooLong(n) {
		return []story{{steps: make([]string, scenario.StepsMax+1), units: zero()}}
	}
	if n == 0 {
		return []story{g.simple()}
	}
	// New orders, each at its own price.
	orders := g.begin()
	p := g.price
	low := p.minus(g.tick(p).times(whole(int64(n))))
	for i := range n {
		o := g.ask(g.opening(), g.unit, low.plus(g.tick(p).times(whole(int64(i)))))
		orders = orders.passes(o)
	}
	// One order that is replaced, which takes no room but a message's.
	replaced := g.begin()
	first := g.ask(g.opening(), g.unit, low)
	first.id = "a"
	replaced = replaced.passes(first)
	for i := 1; i < n; i++ {
		replaced = replaced.with(fmt.Sprintf("replace: {order: a, limit_price: %q}\n    expect: allowed", low.plus(g.tick(p).times(whole(int64(i)))).money()))
	}
	last := replaced.with(fmt.Sprintf("replace: {order: a, limit_price: %q}", p.money()))
	return []story{orders.placed(g.open()), replaced.placed(g.open()), last}
}

func (g *ground) turnoverMinute() []story {
	most := of(g.doc.Session.MaxNotionalPerMinute.Value)
	var out []story
	// One order worth more.
	p := g.above(most.over(g.unit))
	s := g.beginAt(p)
	s.cash = g.rich(larger(g.cash, p.times(g.unit).up(whole(1))).String(), p.times(g.unit))
	out = append(out, s.placed(g.ask(g.opening(), g.unit, p)))
	// A close spends the budget and is spared it; then an order that is just too much.
	spent := g.below(most.over(g.unit).minus(g.price))
	if !spent.positive() {
		return append(out, g.spending(most)...)
	}
	rest := g.above(most.over(g.unit).minus(spent))
	s, side := g.reducing(spent, g.unit)
	s.cash = g.rich(larger(g.cash, spent.times(whole(4)).up(whole(1))).String(), spent.times(g.unit).times(whole(2)))
	s = s.passes(g.ask(side, g.unit, spent))
	last := g.ask(g.opening(), g.unit, rest)
	if other, ok := g.otherListed(); ok {
		t, elsewhere := s, last
		elsewhere.symbol = other
		t.listed = append(slices.Clone(t.listed), g.list(other, "")...)
		out = append(out, t.quoted(other, locked(rest)).placed(elsewhere))
	}
	out = append(out, s.placed(last))
	return append(out, g.spending(most)...)
}

// spending are stories in which orders of the largest value, and a last one that is just
// too much, come to more than a budget: left at work, or canceled, which gives nothing
// back.
func (g *ground) spending(budget number) []story {
	one, some := g.cap()
	if !some {
		return nil
	}
	p := g.below(one.over(g.unit))
	if !p.positive() || budget.over(p.times(g.unit)).cmp(whole(200)) > 0 {
		return nil
	}
	left, ended := g.beginAt(p), g.beginAt(p)
	left.cash = g.rich(g.cash.plus(budget.times(whole(2))).up(whole(1)).String(), one)
	ended.cash = left.cash
	spent := zero()
	for i := int64(1); ; i++ {
		o := g.ask(g.opening(), g.unit, p.minus(g.tick(p).times(whole(i-1))))
		if total := spent.plus(o.limit.times(g.unit)); total.cmp(budget) > 0 {
			last := o
			last.limit = g.above(budget.minus(spent).over(g.unit))
			return []story{left.placed(o), ended.placed(o), left.placed(last), ended.placed(last)}
		}
		spent = spent.plus(o.limit.times(g.unit))
		o.id = fmt.Sprint("a", i)
		left = left.passes(o)
		ended = ended.passes(o).with("cancel: " + o.id)
	}
}

// otherListed is a second symbol that orders may name.
func (g *ground) otherListed() (string, bool) {
	for _, s := range g.doc.Instrument.Symbols {
		_, own := g.doc.Symbols[s]
		if s != g.symbol && !own && !slices.Contains(g.doc.Instrument.RestrictedSymbols, s) {
			return s, true
		}
	}
	return "", false
}

func (g *ground) chatter() []story {
	n := g.doc.Session.MaxMessagesPerMinute.Value
	if tooLong(n) {
		return []story{{steps: make([]string, scenario.StepsMax+1), units: zero()}}
	}
	noise := g.begin()
	for range n {
		noise = noise.with(`raw: "{}"`)
	}
	if g.closing {
		// Malformed calls draw on the bucket of opens, so these are exits that are denied.
		noise = g.begin()
		off := g.open()
		off.limit = off.limit.minus(g.tick(off.limit).over(whole(2)))
		for range n {
			noise = noise.with("order: {" + off.text() + "}")
		}
	}
	again := g.begin()
	o := g.open()
	o.id = "a"
	for range n {
		again = again.passes(o)
	}
	other := g.variants(g.open())[0]
	return []story{noise.placed(g.open()), again.placed(other)}
}

func (g *ground) busyDay() []story {
	s := g.begin()
	s.today = g.doc.Session.MaxOrdersPerDay.Value
	return []story{s.placed(g.open()).when(fmt.Sprintf("after %d orders today", s.today))}
}

func (g *ground) dearDay() []story {
	most := of(g.doc.Session.MaxNotionalPerDay.Value)
	s := g.begin()
	if most.positive() {
		s.turnover = most.String()
	}
	p := g.above(most.over(g.unit))
	one := g.beginAt(p)
	one.cash = g.rich(larger(g.cash, p.times(g.unit).up(whole(1))).String(), p.times(g.unit))
	return []story{s.placed(g.open()).when("after " + most.String() + " ordered today"), one.placed(g.ask(g.opening(), g.unit, p))}
}

func (g *ground) losing() []story {
	l := of(g.doc.Session.MaxDailyLoss.Value)
	fell := g.begin()
	fell.equity = g.cash.plus(l).String()
	// Realized, and won back: sold and bought below the quote, outside the gate.
	quote := l.plus(whole(100))
	sold := g.beside(g.begin(), quote).holding(g.second, whole(1))
	for _, side := range []string{"sell", "buy"} {
		sold = sold.with(fmt.Sprintf("external: {fill: {symbol: %s, side: %s, quantity: 1, price: \"100.00\"}}", g.second, side))
	}
	return []story{fell.placed(g.open()).when("with equity " + l.String() + " below the open"), sold.placed(g.open())}
}

func (g *ground) fallen() []story {
	d := of(g.doc.Session.MaxDrawdown.Value)
	s := g.begin()
	s.equity = g.cash.plus(d).String()
	next := s.with("advance: 24h")
	quote := fmt.Sprintf("quote: {%s: {%s}}", g.symbol, locked(g.price))
	return []story{s.placed(g.open()).when("with equity " + d.String() + " below its peak"), next.placed(g.open()), next.with(quote).placed(g.open())}
}

func (g *ground) halted() []story {
	return []story{g.begin().with("mode: halted").placed(g.open())}
}

func (g *ground) closed() []story {
	var out []story
	for _, at := range []time.Duration{21 * time.Hour, 20 * time.Hour, 2 * time.Hour, time.Hour} {
		s := g.begin()
		r, side := g.reducing(g.price, g.unit)
		s.at, r.at = clock(at), clock(at)
		o, exit := g.open(), g.ask(side, g.unit, g.price)
		o.extended, exit.extended = true, true
		out = append(out, s.placed(o).when("at "+short(at)), r.placed(exit).when("closing, at "+short(at)))
	}
	return out
}

func (g *ground) otherHours() []story {
	var out []story
	w := g.doc.Session.TradingWindow.Value
	for _, at := range g.times() {
		if at >= w.From && at < w.To {
			continue
		}
		s := g.begin()
		s.at = clock(at)
		o := g.open()
		o.extended = at < opens || at >= closes
		out = append(out, s.placed(o).when("at "+short(at)))
	}
	return out
}

func (g *ground) sameID() []story {
	o := g.open()
	o.id = "a"
	var out []story
	for _, other := range g.variants(o) {
		out = append(out, g.begin().passes(o).placed(other))
	}
	return out
}

func (g *ground) sameOrder() []story {
	return []story{g.begin().passes(g.open()).placed(g.open())}
}

// storm: the denial that is one too many sets reduce_only and brings kill_switch with it,
// so the count is reached under looser limits, which the operator then tightens.
func (g *ground) storm() []story {
	t := &g.doc.Session
	n := t.DenialStorm.Value.Denials
	if tooLong(n) {
		return []story{{steps: make([]string, scenario.StepsMax+1), units: zero()}}
	}
	figures := fmt.Sprintf("denial_storm: {denials: %d, window: %s}", n, span(t.DenialStorm.Value.Window))
	loose := "denial_storm: off"
	messages := t.MaxMessagesPerMinute
	if messages.On {
		loose += ", max_messages_per_minute: off"
		figures += fmt.Sprintf(", max_messages_per_minute: %d", messages.Value)
	}
	s := g.begin()
	s.over = "session: {" + loose + "}"
	for range n + 1 {
		s = s.with(`raw: "{}"`)
	}
	at := s.with("limits: {session: {" + figures + "}}").placed(g.open())
	later := s.with("advance: 61s").with(fmt.Sprintf("quote: {%s: {%s}}", g.symbol, locked(g.price)))
	return []story{at, later.with("limits: {session: {" + figures + "}}").placed(g.open())}
}

// span writes a duration as the document does.
func span(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%u.unit == 0 {
			return fmt.Sprint(int64(d/u.unit), u.name)
		}
	}
	return fmt.Sprint(d.Milliseconds(), "ms")
}

func (g *ground) cycles() []story {
	n := g.doc.Session.RepeatedExecution.Value.Cycles
	if tooLong(n) {
		return []story{{steps: make([]string, scenario.StepsMax+1), units: zero()}}
	}
	p := smaller(g.price, whole(1))
	units := whole(2 * int64(n+2))
	begin := g.beside(g.begin(), p)
	begin.cash = parse(begin.cash).plus(units.times(p).times(whole(4))).String()
	b, s := g.ask("buy", units, p), g.ask("sell", units, p)
	b.symbol, s.symbol = g.second, g.second
	begin = begin.working("b", ask2(b)).working("s", ask2(s))
	fill := func(name string, quantity int64) string {
		return fmt.Sprintf("fill: {order: %s, quantity: %d, price: %q}", name, quantity, p.money())
	}
	// Through zero and back: each fill but the first ends one cycle and begins the next.
	flips := begin.with(fill("b", 1))
	sides := []string{"s", "b"}
	for i := range n {
		flips = flips.with(fill(sides[i%2], 2))
	}
	// Beside a holding, one unit in and out.
	pairs := begin.holding(g.second, units)
	for range n {
		pairs = pairs.with(fill("b", 1)).with(fill("s", 1))
	}
	return []story{flips.placed(g.open()), pairs.placed(g.open())}
}

func (g *ground) clockSet() []story {
	return []story{g.begin().with("wall_clock: -1h").placed(g.open()), g.begin().with("wall_clock: 1h").placed(g.open())}
}
