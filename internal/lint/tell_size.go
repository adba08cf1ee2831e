package lint

// prices in the order in which they are tried where a limit leaves them free.
func (g *ground) tooMany() []story {
	l := of(g.figures.Size.MaxOrderQuantity.Value)
	q := l.down(g.unit).plus(g.unit)
	var out []story
	p := g.fit(q, g.price)
	out = append(out, g.beginAt(p).placed(g.ask(g.opening(), q, p)))
	// A reducing order is judged too, and spared all limits on positions.
	r := whole(100)
	if most := g.figures.Size.MaxOrderNotional; most.On {
		r = smaller(r, of(most.Value).over(q))
	}
	if r = larger(g.below(r), g.lowest()); r.positive() {
		s, side := g.reducing(r, q)
		s.cash = larger(g.cash, q.times(r).up(whole(1))).String()
		out = append(out, s.placed(g.ask(side, q, r)))
	}
	return out
}

func (g *ground) tooDear() []story {
	n := of(g.figures.Size.MaxOrderNotional.Value)
	var out []story
	p := g.above(n.over(g.unit))
	s := g.beginAt(p)
	s.cash = larger(g.cash, p.times(g.unit).times(whole(2)).up(whole(1))).String()
	s.cash = g.rich(s.cash, p.times(g.unit))
	out = append(out, s.placed(g.ask(g.opening(), g.unit, p)))
	two := g.unit.plus(g.unit)
	p = g.above(n.over(two))
	s, side := g.reducing(p, two)
	out = append(out, s.placed(g.ask(side, two, p)))
	// With the step off one share is spared, a smaller step spares less.
	return out
}

// rich is cash with which a value is within every share of equity.
func (g *ground) rich(cash string, value number) string {
	need := parse(cash)
	for _, l := range g.shares() {
		need = larger(need, value.times(whole(200)).over(l).up(whole(1)))
	}
	return need.String()
}

// shares are the limits in percent of equity that are on and above 0.
func (g *ground) shares() []number {
	var out []number
	if l := g.figures.Size.MaxOrderPctOfEquity; l.On && l.Value.IsPositive() {
		out = append(out, of(l.Value))
	}
	if l := g.figures.Position.MaxConcentration; l.On && l.Value.IsPositive() {
		out = append(out, of(l.Value))
	}
	return out
}

func (g *ground) tooSmall() []story {
	m := of(g.figures.Size.MinOrderNotional.Value)
	p := g.below(m.minus(least()).over(g.unit)) // a product is rounded up to nine places
	if !p.positive() {
		return nil
	}
	return []story{g.beginAt(p).placed(g.ask(g.opening(), g.unit, p))}
}

func (g *ground) tooLargeAShare() []story {
	pct := of(g.figures.Size.MaxOrderPctOfEquity.Value)
	value := g.price.times(g.unit)
	if !pct.positive() {
		return []story{g.simple()}
	}
	short := value.times(whole(100)).over(pct).minus(parse("0.01"))
	if !short.positive() {
		return nil
	}
	// Equity at the open is the smaller of the two, and no other rail goes by it alone.
	s := g.begin()
	s.equity = short.String()
	t := g.begin()
	t.cash = short.String()
	return []story{s.placed(g.open()).when("with equity at the open " + short.String()), t.placed(g.open()).when("with equity " + short.String())}
}

func (g *ground) offStep() []story {
	step := of(g.figures.Size.QuantityStep.Value)
	var out []story
	for _, q := range []number{whole(1), step.over(whole(2)), step.plus(whole(1)), step.plus(step.over(whole(2))), step.plus(least())} {
		if q.positive() && !q.multipleOf(step) && (g.doc.Instrument.AllowFractional || q.multipleOf(whole(1))) {
			p := g.fit(q, g.price)
			out = append(out, g.beginAt(p).placed(g.ask(g.opening(), q, p)))
		}
	}
	return out
}

func (g *ground) positionUnits() []story {
	l := of(g.figures.Position.MaxPositionQuantity.Value)
	held := l.down(g.unit)
	next := held.plus(g.unit)
	var out []story
	p := g.fit(next, g.price)
	s := g.beginAt(p)
	s.cash = g.rich(s.cash, p.times(next))
	out = append(out, s.placed(g.ask(g.opening(), next, p)))
	if held.positive() {
		if g.opening() == "sell" {
			held = zero().minus(held)
		}
		out = append(out, s.holding(g.symbol, held).placed(g.ask(g.opening(), g.unit, p)).when("with "+held.String()+" held"))
		// At a low price one unit may be worth less than an order may be.
		if floor := g.figures.Size.MinOrderNotional; floor.On && p.positive() {
			q := larger(g.unit, of(floor.Value).over(p).up(g.unit).plus(g.unit))
			if rest := held.minus(q).plus(g.unit); g.opening() == "buy" && rest.positive() {
				out = append(out, s.holding(g.symbol, rest).placed(g.ask("buy", q, p)).when("with "+rest.String()+" held"))
			}
		}
		// Where the value of the position is bounded too, the price is as low as it may be.
		if low := g.fit(next, g.lowest()); low.cmp(p) != 0 {
			out = append(out, g.beginAt(low).holding(g.symbol, held).placed(g.ask(g.opening(), g.unit, low)).when("with "+held.String()+" held"))
		}
	}
	return out
}

// filling are stories in which a position and one order come to just over a value.
func (g *ground) filling(value number) []story {
	var out []story
	for _, n := range []int64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		units := g.unit.times(whole(n))
		p := g.above(value.over(units))
		s := g.beginAt(p)
		s.cash = g.rich(larger(g.cash, p.times(g.unit).up(whole(1))).String(), p.times(units))
		if n > 1 {
			held := units.minus(g.unit)
			if g.opening() == "sell" {
				held = zero().minus(held)
				s.cash = parse(s.cash).plus(p.times(units).times(whole(2))).up(whole(1)).String()
			}
			s = s.holding(g.symbol, held).when("with " + held.String() + " held")
		}
		out = append(out, s.placed(g.ask(g.opening(), g.unit, p)))
	}
	return out
}

func (g *ground) positionValue() []story {
	v := of(g.figures.Position.MaxPositionNotional.Value)
	return append(g.filling(v), g.oversold(v)...)
}

// oversold is for a document whose gross exposure is as tight as one position: a holding
// with more sells at work than it covers, and a buy below the market. The sells beyond it
// are valued at their own price, what covers them at the buy's price, and gross exposure
// takes the ask for both.
func (g *ground) oversold(v number) []story {
	ask := g.price
	if l := g.figures.Position.MaxPositionQuantity; l.On && of(l.Value).cmp(g.unit.plus(g.unit)) > 0 {
		ask = larger(ask, g.above(v.over(of(l.Value).minus(g.unit))))
	}
	low := larger(g.below(ask.over(whole(2))), g.lowest())
	if band := g.figures.Collar.PassivePriceCollar; band.On {
		low = g.above(ask.minus(ask.times(of(band.Value)).over(whole(10_000))))
	}
	bare := v.over(ask).down(g.unit)
	held := bare.over(whole(2)).down(g.unit)
	if !held.positive() || !g.may("buy") || g.closing {
		return nil
	}
	s := g.beginAt(ask).holding(g.symbol, held)
	s.cash = g.rich(whole(4).times(bare).times(ask).up(whole(1)).String(), bare.times(ask))
	s = s.working("s", ask2(g.ask("sell", bare.plus(held), ask)))
	return []story{s.placed(g.ask("buy", g.unit, low)).when("with " + held.String() + " held and a sell of " + bare.plus(held).String() + " at work")}
}

// ask2 is an order at work, which the beginning of a story takes as a limit order.
func ask2(o ask) ask { o.kind = "limit"; return o }

// beyond are stories in which a holding in the second instrument, with the order, comes to
// just over a value.
func (g *ground) beyondWith(value number) []story {
	rest := value.minus(g.price.times(g.unit))
	if !rest.positive() {
		return nil
	}
	s := g.begin()
	s.cash = g.rich(s.cash, g.price.times(g.unit))
	p := rest.down(parse("0.01")).plus(parse("0.01"))
	held := whole(1)
	if g.opening() == "sell" {
		held = zero().minus(held)
		s.cash = parse(s.cash).plus(p.times(whole(2))).up(whole(1)).String()
	}
	s = g.beside(s, p).holding(g.second, held)
	return []story{s.placed(g.open()).when("with " + held.String() + " of another at " + p.money() + " held")}
}

func (g *ground) gross() []story {
	v := of(g.doc.Position.MaxGrossExposure.Value)
	return append(append(g.filling(v), g.beyondWith(v)...), g.balanced(v)...)
}

// balanced is a story in which a long and a short come to just over a value, gross, and
// to nothing, net.
func (g *ground) balanced(value number) []story {
	half := value.minus(g.price.times(g.unit)).over(whole(2)).down(parse("0.01")).plus(parse("0.01"))
	if !half.positive() {
		return nil
	}
	const third = "ZZF"
	s := g.begin()
	s.cash = parse(g.rich(s.cash, g.price.times(g.unit))).plus(half.times(whole(2))).up(whole(1)).String()
	s = g.beside(s, half).holding(g.second, whole(1))
	h := *g
	h.second = third
	return []story{h.beside(s, half).holding(third, zero().minus(whole(1))).placed(g.open()).when("with one long and one short at " + half.money() + " held")}
}

func (g *ground) net() []story {
	v := of(g.doc.Position.MaxNetExposure.Value)
	return append(g.filling(v), g.beyondWith(v)...)
}

func (g *ground) concentrated() []story {
	pct := of(g.figures.Position.MaxConcentration.Value)
	value := g.price.times(g.unit)
	if !pct.positive() {
		return []story{g.simple()}
	}
	var out []story
	for _, n := range []int64{0, 1, 2, 4, 9, 19, 49, 99} {
		held := g.unit.times(whole(n))
		own := value.times(whole(n + 1))
		cash := own.times(whole(100)).over(pct).minus(value.times(whole(n))).minus(parse("0.01"))
		if !cash.positive() {
			continue
		}
		s := g.begin()
		s.cash = cash.String()
		if n > 0 {
			if g.opening() == "sell" {
				held = zero().minus(held)
				s.cash = cash.plus(value.times(whole(2 * n))).String()
			}
			s = s.holding(g.symbol, held)
		}
		out = append(out, s.placed(g.open()).when("with "+held.String()+" held and cash "+s.cash))
	}
	// Equity in another instrument, so that the cash may cover the order and no more.
	total := value.times(whole(100)).over(pct).minus(parse("0.01"))
	if rest := total.minus(value); rest.positive() {
		s := g.begin()
		s.cash = value.String()
		out = append(out, g.beside(s, rest.down(parse("0.01"))).holding(g.second, whole(1)).placed(g.open()))
	}
	return out
}

func (g *ground) poor() []story {
	var out []story
	for _, p := range []number{g.price, g.fit(g.unit, whole(1))} {
		value := p.times(g.unit)
		a := g.beginAt(p)
		a.cash = larger(value.minus(parse("0.01")), zero()).String()
		order := g.ask(g.opening(), g.unit, p)
		// What is held elsewhere is equity, and buys nothing.
		rest := value
		for _, l := range g.shares() {
			rest = larger(rest, value.times(whole(100)).over(l))
		}
		out = append(out, a.placed(order).when("with cash "+a.cash), g.beside(a, rest.up(parse("0.01"))).holding(g.second, whole(1)).placed(order).when("with cash "+a.cash+" and one of another held"))
	}
	return out
}
