package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// ground is what every story about one document stands on: a symbol, an order that should
// pass, and the caps on it.
type ground struct {
	doc       *limits.Document
	figures   limits.Effective
	symbol    string // of the orders
	second    string // of holdings beside it; in no list, so that no list matters
	class     string
	cash      number
	unit      number // the least quantity that the steps allow
	price     number // of the quote, both sides
	at        string
	extended  bool
	kind, tif string
	sides     []string
	shorts    bool
	// closing: the plain order closes part of a position, for documents under which nothing
	// opens.
	closing bool
}

const (
	secondSymbol = "ZZB"
	foreignName  = "ZZC"
	startCash    = 100_000
)

// newGrounds are the grounds of a document: of a symbol without figures of its own, if
// there is one, and of each symbol that has some.
func newGrounds(doc *limits.Document, equity number) []*ground {
	first := placeholder
	var more []string
	restricted := func(s string) bool { return slices.Contains(doc.Instrument.RestrictedSymbols, s) }
	for _, s := range doc.Instrument.Symbols {
		_, own := doc.Symbols[s]
		switch {
		case own && !restricted(s):
			more = append(more, s)
		case !own && (first == placeholder || restricted(first) && !restricted(s)):
			first = s
		}
	}
	if (first == placeholder || restricted(first)) && len(more) > 0 {
		first, more = more[0], more[1:]
	}
	out := []*ground{newGround(doc, equity, first)}
	for _, s := range more {
		out = append(out, newGround(doc, equity, s))
	}
	return out
}

// placeholder is the symbol of stories about a document that lists none.
const placeholder = "ZZA"

func newGround(doc *limits.Document, equity number, symbol string) *ground {
	g := &ground{doc: doc, symbol: symbol, second: secondSymbol, class: "us_equity", cash: equity, shorts: doc.Instrument.AllowShort}
	in := &doc.Instrument
	if len(in.AssetClasses) > 0 && !slices.Contains(in.AssetClasses, order.USEquity) {
		g.class = in.AssetClasses[0].String()
	}
	g.figures = doc.For(g.symbol)
	for _, s := range in.Sides {
		g.sides = append(g.sides, s.String())
	}
	g.kind = preferred(in.OrderTypes, order.Limit, order.StopLimit, order.Market, order.Stop)
	g.tif = preferred(in.TimesInForce, order.Day, order.GTC, order.IOC)
	g.unit = least()
	if !in.AllowFractional {
		g.unit = whole(1)
	}
	if step := g.figures.Size.QuantityStep; step.On {
		g.unit = common(g.unit, of(step.Value))
	}
	if in.AllowFractional && !g.figures.Size.QuantityStep.On {
		g.unit = whole(1)
	}
	g.hours()
	g.level()
	return g
}

// preferred is the first of wanted that is listed, else the first of wanted.
func preferred[T interface {
	comparable
	String() string
}](listed []T, wanted ...T) string {
	for _, w := range wanted {
		if slices.Contains(listed, w) {
			return w.String()
		}
	}
	return wanted[0].String()
}

// day is the date of every story; clock is a time of that day in New York, which is four
// hours behind UTC on it.
func clock(sinceMidnight time.Duration) string {
	return time.Date(2026, time.March, 18, 4, 0, 0, 0, time.UTC).Add(sinceMidnight).Format(time.RFC3339)
}

const (
	preOpens, opens, closes, postCloses = 4 * time.Hour, 9*time.Hour + 30*time.Minute, 16 * time.Hour, 20 * time.Hour
	usual                               = 11 * time.Hour
)

// hours picks a time at which orders pass: 11:00, or the beginning of the operator's own
// hours.
func (g *ground) hours() {
	w := g.doc.Session.TradingWindow
	at := usual
	if w.On && (usual < w.Value.From || usual >= w.Value.To) {
		at = max(w.Value.From, opens)
		if at >= min(w.Value.To, closes) && g.doc.Instrument.AllowExtendedHours {
			at = max(w.Value.From, preOpens)
		}
	}
	g.at = clock(at)
	g.extended = at < opens || at >= closes
}

// tick is the step of prices near p.
func (g *ground) tick(p number) number {
	step := g.figures.Collar.PriceStep
	switch {
	case step.On && !step.Value.USEquity:
		return of(step.Value.Step)
	case p.cmp(whole(1)) < 0:
		return parse("0.0001")
	}
	return parse("0.01")
}

// lowest is the least price that an order can have.
func (g *ground) lowest() number {
	step := g.figures.Collar.PriceStep
	switch {
	case !step.On:
		return least()
	case step.Value.USEquity:
		return parse("0.0001")
	}
	return of(step.Value.Step)
}

// below is p put down on its step.
func (g *ground) below(p number) number { return p.down(g.tick(p)) }

// above is the first price on its step that is more than p.
func (g *ground) above(p number) number {
	t := g.tick(p)
	return p.down(t).plus(t)
}

// cap is the most that an opening order may be worth, from flat, by every limit on
// value; false if there is none.
func (g *ground) cap() (number, bool) {
	s, p, t := g.figures.Size, g.figures.Position, &g.doc.Session
	return leastOf(s.MaxOrderNotional, p.MaxPositionNotional, p.MaxGrossExposure, p.MaxNetExposure, t.MaxNotionalPerMinute, t.MaxNotionalPerDay)
}

func leastOf(all ...limits.Limit[money.Notional]) (most number, some bool) {
	for _, l := range all {
		if l.On && (!some || of(l.Value).cmp(most) < 0) {
			most, some = of(l.Value), true
		}
	}
	return most, some
}

// level picks the price of the quote: 100, or what the limits on value leave of it.
func (g *ground) level() {
	g.price = g.fit(g.unit, whole(100))
	need := g.price.times(g.unit).times(whole(4))
	for _, l := range []limits.Limit[money.Percent]{g.figures.Size.MaxOrderPctOfEquity, g.figures.Position.MaxConcentration} {
		if l.On && of(l.Value).positive() {
			g.cash = larger(g.cash, need.times(whole(100)).over(of(l.Value)).up(whole(1)))
		}
	}
	g.cash = larger(g.cash, need.up(whole(1)))
}

// fit is a price near wish at which an opening order of q is within all limits on value.
func (g *ground) fit(q, wish number) number {
	p := wish
	if most, some := g.cap(); some && q.positive() {
		p = smaller(p, most.over(q))
	}
	if floor := g.figures.Size.MinOrderNotional; floor.On && q.positive() {
		p = larger(p, of(floor.Value).over(q))
	}
	p = p.up(g.tick(p))
	if most, some := g.cap(); some && p.times(q).cmp(most) > 0 {
		p = g.below(p.minus(g.tick(p)))
	}
	return larger(p, g.lowest())
}

// begin is a story that has only its quote.
func (g *ground) begin() story { return g.beginAt(g.price) }

func (g *ground) beginAt(p number) story {
	s := story{at: g.at, cash: g.cash.String(), units: zero()}
	s.listed = g.list(g.symbol, "")
	if g.closing {
		held := g.unit.times(whole(closingUnits))
		if g.opening() == "buy" {
			held = zero().minus(held)
		}
		s.cash = larger(g.cash, held.times(p).times(whole(4)).up(whole(1))).String()
		s = s.holding(g.symbol, held)
	}
	return s.quoted(g.symbol, locked(p))
}

// closingUnits is how many steps of quantity are held where the plain order closes one.
const closingUnits = 20

// exits is the same ground for orders that close.
func (g *ground) exits() *ground {
	h := *g
	h.closing = true
	h.price = whole(100)
	if most := g.figures.Size.MaxOrderNotional; most.On && most.Value.IsPositive() {
		h.price = smaller(h.price, of(most.Value).over(g.unit))
	}
	if floor := g.figures.Size.MinOrderNotional; floor.On {
		h.price = larger(h.price, of(floor.Value).over(g.unit))
	}
	h.price = larger(h.price.up(g.tick(h.price)), g.lowest())
	return &h
}

// beside adds the second instrument.
func (g *ground) beside(s story, p number) story {
	s.listed = append(slices.Clone(s.listed), fmt.Sprintf("%s: {class: us_equity, currency: %s}", g.second, g.doc.Currency))
	return s.quoted(g.second, locked(p))
}

// list names an instrument where the practice market does not have it as it must be.
func (g *ground) list(symbol, more string) []string {
	if more == "" && g.class == "us_equity" && g.doc.Currency == "USD" && slices.Contains(shipped(), symbol) {
		return nil
	}
	if more != "" {
		more = ", " + more
	}
	return []string{fmt.Sprintf("%s: {class: %s, currency: %s, multiplier: 1%s}", symbol, g.class, g.doc.Currency, more)}
}

// shipped are the instruments of the practice market.
func shipped() []string { return []string{"AAPL", "MSFT", "NVDA", "GOOGL", "AMZN", "SPY", "QQQ"} }

// ask is an order at a price of the quote; a stop stands one step beyond it.
func (g *ground) ask(side string, q, p number) ask {
	o := ask{symbol: g.symbol, side: side, kind: g.kind, tif: g.tif, quantity: q, limit: p, extended: g.extended}
	return o.as(g, g.kind)
}

// as gives the order another type.
func (o ask) as(g *ground, kind string) ask {
	o.kind = kind
	if kind == "stop" || kind == "stop_limit" {
		o.stop = g.above(o.limit)
		if o.side == "sell" {
			o.stop = larger(o.limit.minus(g.tick(o.limit)), g.lowest())
		}
	}
	if kind == "stop_limit" {
		o.limit = o.stop
	}
	return o
}

func (g *ground) may(side string) bool { return slices.Contains(g.sides, side) }

// opening is the side that opens a position from flat: buy, if it is listed.
func (g *ground) opening() string {
	if g.closing {
		if g.may("sell") {
			return "sell"
		}
		return "buy"
	}
	if !g.may("buy") && g.may("sell") && g.shorts {
		return "sell"
	}
	return "buy"
}

// open is the plain order that should pass.
func (g *ground) open() ask { return g.ask(g.opening(), g.unit, g.price) }
