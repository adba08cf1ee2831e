package bound

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
)

// What an attacker can choose for one symbol and one direction, long or short. Early is
// before the account's last opening order, late is after it: the rails that let reducing
// orders pass still count the early ones against the openings that follow.
const (
	opens        = iota // opening orders
	opened              // units in them
	openPremium         // currency paid beyond the quote for them
	earlyExits          // reducing orders before the last opening
	earlyClosed         // units in them
	earlyPremium        // currency given away beyond the quote for them
	lateExits           // reducing orders after the last opening
	lateClosed
	latePremium
	cycles  // openings that were followed by a closing, before the last opening
	flipped // units closed by an opening order of the other direction
	choicesEach
)

// leg is one symbol in one direction.
type leg struct {
	at     int // its first choice
	symbol string
	short  bool
	bid    *big.Rat
	ask    *big.Rat
	f      limits.Effective
}

// in is what a unit opens at: the least notional that the rails count it by.
func (l *leg) in() *big.Rat {
	if l.short {
		return l.bid
	}
	return l.ask
}

// out is what a unit closes at without a premium.
func (l *leg) out() *big.Rat {
	if l.short {
		return l.ask
	}
	return l.bid
}

func (l *leg) spread() *big.Rat { return minus(l.ask, l.bid) }

func (l *leg) name() string {
	if l.short {
		return l.symbol + " short"
	}
	return l.symbol
}

// horizon is a length of time, in what the rails count.
type horizon struct {
	minutes int           // windows of 60 s, half-open, that cover it
	session time.Duration // for windows of other lengths
}

// system is every inequality that a document comes to, over a scene and a horizon.
type system struct {
	doc     *limits.Document
	cash    *big.Rat
	horizon horizon
	legs    []leg
	rows    []row
}

func newSystem(doc *limits.Document, scene *Scene, h horizon) *system {
	s := &system{doc: doc, cash: rat(scene.Cash), horizon: h}
	in := &doc.Instrument
	buys, sells := slices.Contains(in.Sides, order.Buy), slices.Contains(in.Sides, order.Sell)
	for _, q := range scene.Quotes {
		if !s.tradable(&q) {
			continue
		}
		for _, short := range []bool{false, true} {
			if !short && buys || short && sells && in.AllowShort {
				s.legs = append(s.legs, leg{
					at: len(s.legs) * choicesEach, symbol: q.Symbol, short: short, bid: rat(q.Bid), ask: rat(q.Ask), f: doc.For(q.Symbol),
				})
			}
		}
	}
	for i := range s.legs {
		s.each(&s.legs[i])
	}
	s.rates()
	s.notional()
	s.exposure()
	s.buyingPower()
	s.loss()
	s.cycles()
	return s
}

// tradable reports whether anything can be opened in a symbol.
func (s *system) tradable(q *Quote) bool {
	in, f := &s.doc.Instrument, s.doc.For(q.Symbol)
	bid, ask := rat(q.Bid), rat(q.Ask)
	if m := f.Collar.MaxSpread; m.On {
		// spread / mid x 10,000 > bps, cross-multiplied.
		if times(minus(ask, bid), whole(20_000)).Cmp(times(rat(m.Value), plus(bid, ask))) > 0 {
			return false
		}
	}
	return slices.Contains(in.Symbols, q.Symbol) && !slices.Contains(in.RestrictedSymbols, q.Symbol) &&
		slices.Contains(in.AssetClasses, order.USEquity) && len(in.OrderTypes) > 0 && len(in.TimesInForce) > 0
}

// flips reports whether one order may close one direction and open the other.
func (s *system) flips() bool { return s.doc.Position.AllowFlip && s.doc.Instrument.AllowShort }

func (s *system) choices() int { return len(s.legs) * choicesEach }

// add takes an inequality in. most below 0 cannot come from a document.
func (s *system) add(most *big.Rat, text string, keys []string, coef map[int]*big.Rat) {
	s.rows = append(s.rows, row{text: text, keys: keys, coef: coef, most: most})
}

// unit is what quantities of opening orders are multiples of; 0: of nothing.
func (s *system) unit(l *leg) *big.Rat {
	step := new(big.Rat)
	if f := l.f.Size.QuantityStep; f.On {
		step = rat(f.Value)
	}
	if one := whole(1); !s.doc.Instrument.AllowFractional && (step.Cmp(one) < 0 || !step.IsInt()) {
		step = one
	}
	return step
}

// cap is a figure with the keys that it comes from and how it is reached.
type capped struct {
	most *big.Rat
	key  string
	how  string
}

// least returns the smallest, rounded down to the unit.
func least(unit *big.Rat, caps []capped) (capped, bool) {
	if len(caps) == 0 {
		return capped{}, false
	}
	out := slices.MinFunc(caps, func(a, b capped) int { return a.most.Cmp(b.most) })
	out.most = down(out.most, unit)
	return out, true
}

func dec(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	return trimmed(x.FloatString(6))
}

func money2(x *big.Rat) string { return x.FloatString(2) }

func by(l *leg, key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}

// each adds the inequalities of one leg alone.
func (s *system) each(l *leg) {
	unit := s.unit(l)
	if c, ok := least(unit, s.orderCaps(l)); ok {
		coef := map[int]*big.Rat{l.at + opened: whole(1), l.at + opens: neg(c.most)}
		if other := s.other(l); other != nil {
			coef[other.at+flipped] = whole(1)
		}
		s.add(new(big.Rat), fmt.Sprintf("%s: units opened ≤ %s × opening orders (%s)", l.name(), dec(c.most), c.how), by(l, c.key), coef)
	}
	if f := l.f.Size.MaxOrderNotional; f.On {
		s.add(new(big.Rat), fmt.Sprintf("%s: worth of openings ≤ %s × opening orders", l.name(), f.Value), []string{"size.max_order_notional"},
			map[int]*big.Rat{l.at + opened: l.in(), l.at + openPremium: whole(1), l.at + opens: neg(rat(f.Value))})
	}
	if c, ok := least(new(big.Rat), s.exitCaps(l)); ok {
		for _, part := range [][2]int{{earlyClosed, earlyExits}, {lateClosed, lateExits}} {
			s.add(new(big.Rat), fmt.Sprintf("%s: units closed ≤ %s × reducing orders (%s)", l.name(), dec(c.most), c.how), by(l, c.key),
				map[int]*big.Rat{l.at + part[0]: whole(1), l.at + part[1]: neg(c.most)})
		}
	}
	s.add(new(big.Rat), l.name()+": units closed ≤ units opened", nil, map[int]*big.Rat{
		l.at + earlyClosed: whole(1), l.at + lateClosed: whole(1), l.at + flipped: whole(1), l.at + opened: whole(-1),
	})
	if s.other(l) == nil {
		s.add(new(big.Rat), l.name()+": no order crosses zero", []string{"position.allow_flip"}, map[int]*big.Rat{l.at + flipped: whole(1)})
	}
	if c, ok := least(unit, s.holdCaps(l)); ok {
		s.add(c.most, fmt.Sprintf("%s: units opened − closed ≤ %s (%s)", l.name(), dec(c.most), c.how), by(l, c.key),
			map[int]*big.Rat{l.at + opened: whole(1), l.at + earlyClosed: whole(-1), l.at + flipped: whole(-1)})
	}
	if !slices.Contains(s.doc.Instrument.Sides, l.exitSide()) {
		s.add(new(big.Rat), l.name()+": the side that closes is not listed", []string{"instrument.sides"},
			map[int]*big.Rat{l.at + earlyClosed: whole(1), l.at + lateClosed: whole(1)})
	}
	s.premiums(l)
}

func (l *leg) exitSide() order.Side {
	if l.short {
		return order.Buy
	}
	return order.Sell
}

// other is the leg of the same symbol in the other direction, if orders may cross zero.
func (s *system) other(l *leg) *leg {
	if !s.flips() {
		return nil
	}
	for i := range s.legs {
		if o := &s.legs[i]; o.symbol == l.symbol && o.short != l.short {
			return o
		}
	}
	return nil
}

// orderCaps are what one opening order may be, in units.
func (s *system) orderCaps(l *leg) []capped {
	size, pos, day := l.f.Size, l.f.Position, &s.doc.Session
	var out []capped
	if f := size.MaxOrderQuantity; f.On {
		out = append(out, capped{rat(f.Value), "size.max_order_qty", "the limit"})
	}
	worth := func(most *big.Rat, price *big.Rat, key string) {
		out = append(out, capped{over(most, price), key, money2(most) + " ÷ " + dec(price)})
	}
	if f := size.MaxOrderNotional; f.On {
		worth(rat(f.Value), l.in(), "size.max_order_notional")
	}
	if f := size.MaxOrderPctOfEquity; f.On {
		worth(s.share(rat(f.Value)), l.in(), "size.max_order_pct_of_equity")
	}
	if f := day.MaxNotionalPerMinute; f.On {
		worth(rat(f.Value), l.in(), "session.max_notional_per_minute")
	}
	if f := day.MaxNotionalPerDay; f.On {
		worth(rat(f.Value), l.in(), "session.max_notional_per_day")
	}
	if s.other(l) == nil { // an order that crosses zero is larger than what it leaves
		out = append(out, s.holdCaps(l)...)
		if f := pos.MaxGrossExposure; f.On {
			worth(rat(f.Value), l.ask, "position.max_gross_exposure")
		}
		if pos.RequireBuyingPower {
			worth(s.cash, l.in(), "position.require_buying_power")
		}
	}
	return out
}

// share is a percentage of the equity that the account begins with. Equity only falls: a
// quote that stands still gives nothing back.
func (s *system) share(percent *big.Rat) *big.Rat { return over(times(s.cash, percent), whole(100)) }

// exitCaps are what one reducing order may be, in units.
func (s *system) exitCaps(l *leg) []capped {
	var out []capped
	if f := l.f.Size.MaxOrderQuantity; f.On {
		out = append(out, capped{rat(f.Value), "size.max_order_qty", "the limit"})
	}
	if f := l.f.Size.MaxOrderNotional; f.On {
		c := capped{over(rat(f.Value), l.out()), "size.max_order_notional", f.Value.String() + " ÷ " + dec(l.out())}
		one := whole(1) // so much always passes, so that nothing is too dear to close
		if step := l.f.Size.QuantityStep; step.On {
			one = rat(step.Value)
		}
		if c.most.Cmp(one) < 0 {
			c.most, c.how = one, "one step always passes"
		}
		out = append(out, c)
	}
	return out
}

// holdCaps are what may be held of one symbol, in units.
func (s *system) holdCaps(l *leg) []capped {
	var out []capped
	if f := l.f.Position.MaxPositionQuantity; f.On {
		out = append(out, capped{rat(f.Value), "position.max_position_qty", "the limit"})
	}
	if f := l.f.Position.MaxPositionNotional; f.On {
		out = append(out, capped{over(rat(f.Value), l.in()), "position.max_position_notional", f.Value.String() + " ÷ " + dec(l.in())})
	}
	if f := l.f.Position.MaxConcentration; f.On {
		most := s.share(rat(f.Value))
		out = append(out, capped{over(most, l.ask), "position.max_concentration", money2(most) + " ÷ " + dec(l.ask)})
	}
	return out
}

// band is how far beyond the quote an order may trade, per unit; false: without end.
func (s *system) band(l *leg, exit bool) (*big.Rat, string, bool) {
	types, c := s.doc.Instrument.OrderTypes, l.f.Collar
	widest, key := new(big.Rat), ""
	limit, name := c.LimitPriceCollar, "collar.limit_price_collar"
	if exit {
		limit, name = c.ExitPriceCollar, "collar.exit_price_collar"
	}
	if slices.Contains(types, order.Limit) || slices.Contains(types, order.StopLimit) {
		if !limit.On {
			return nil, name, false
		}
		widest, key = rat(limit.Value), name
	}
	if slices.Contains(types, order.Market) || slices.Contains(types, order.Stop) {
		if !c.MarketOrderSlippage.On {
			return nil, "collar.market_order_slippage", false
		}
		if x := rat(c.MarketOrderSlippage.Value); x.Cmp(widest) > 0 || key == "" {
			widest, key = x, "collar.market_order_slippage"
		}
	}
	price := l.in()
	if exit {
		price = l.out()
	}
	return over(times(price, widest), whole(10_000)), key, true
}

// premiums bounds what is paid beyond the quote. Nothing sells below zero.
func (s *system) premiums(l *leg) {
	for _, part := range []struct {
		units, premium int
		exit           bool
		words          string
	}{
		{opened, openPremium, false, "overpaid on openings"},
		{earlyClosed, earlyPremium, true, "given away on early exits"},
		{lateClosed, latePremium, true, "given away on late exits"},
	} {
		most, key, ok := s.band(l, part.exit)
		sells := l.short != part.exit
		if sells && (!ok || most.Cmp(l.bid) > 0) {
			most, key, ok = l.bid, "", true
		}
		if !ok {
			continue
		}
		coef := map[int]*big.Rat{l.at + part.premium: whole(1), l.at + part.units: neg(most)}
		if !part.exit {
			if other := s.other(l); other != nil {
				coef[other.at+flipped] = neg(most)
			}
		}
		s.add(new(big.Rat), fmt.Sprintf("%s: %s ≤ %s × units", l.name(), part.words, dec(most)), by(l, key), coef)
	}
}

// sum is one coefficient for the same choice of every leg.
func (s *system) sum(parts map[int]*big.Rat) map[int]*big.Rat {
	out := map[int]*big.Rat{}
	for i := range s.legs {
		for part, c := range parts {
			out[s.legs[i].at+part] = c
		}
	}
	return out
}
