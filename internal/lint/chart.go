package lint

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/broker-rails/broker-rails/internal/report"
)

// The size of a map, in cells. Each is one dry run of an order through the real gate.
const (
	mapColumns = 36
	mapRows    = 24
)

// charts are the maps of a symbol: what a single order meets by its price and quantity.
func (l *linter) charts() ([]report.Regions, error) {
	prices, err := l.priceMap()
	if err != nil {
		return nil, err
	}
	bands, err := l.bandMap()
	if err != nil {
		return nil, err
	}
	return []report.Regions{prices, bands}, nil
}

// axis is n numbers from low to high, each the same factor above the one before.
func axis(low, high number, n int) []number {
	out := make([]number, n)
	ratio, _ := new(big.Rat).SetFrac(high.n, low.n).Float64()
	for i := range out {
		out[i] = low.times(root(ratio, i, n-1))
	}
	out[n-1] = high
	return out
}

// row is one height of a map: the market's price, and the order's.
type row struct{ market, limit number }

// priceMap moves the market: the order is at its price.
func (l *linter) priceMap() (report.Regions, error) {
	g := l.g
	high := whole(100_000)
	if most, some := g.cap(); some && most.positive() {
		high = smaller(larger(most.times(whole(4)), whole(1_000)), whole(1_000_000))
	}
	var rows []row
	for _, p := range axis(parse("0.1"), high, mapRows) {
		p = larger(g.below(p), g.lowest())
		rows = append(rows, row{p, p})
	}
	r, err := l.chart(rows, g.quantities())
	r.Name = "A " + g.opening() + " of " + g.symbol + " from flat, by price and quantity"
	r.Note = "at the market's price, account worth " + g.cash.String() + ", both axes logarithmic"
	r.Y = "price"
	for i := 0; i < mapRows; i += 4 {
		r.YTick = append(r.YTick, report.Tick{At: i, Label: compact(rows[i].limit)})
	}
	return r, err
}

// bandMap keeps the market at one price and moves the order's limit round it.
func (l *linter) bandMap() (report.Regions, error) {
	g := l.g
	reach := whole(300)
	for _, b := range []struct {
		on   bool
		band number
	}{
		{g.figures.Collar.LimitPriceCollar.On, of(g.figures.Collar.LimitPriceCollar.Value)},
		{g.figures.Collar.PassivePriceCollar.On, of(g.figures.Collar.PassivePriceCollar.Value)},
	} {
		if b.on {
			reach = larger(reach, b.band.times(whole(2)))
		}
	}
	reach = smaller(reach, whole(9_000))
	var rows []row
	var ticks []report.Tick
	for i := range mapRows {
		bps := zero().minus(reach).plus(reach.times(whole(int64(2 * i))).over(whole(mapRows - 1)))
		p := g.price.plus(g.price.times(bps).over(whole(10_000)))
		rows = append(rows, row{g.price, larger(g.below(p), g.lowest())})
		if i%4 == 0 {
			ticks = append(ticks, report.Tick{At: i, Label: bps.down(whole(1)).String()})
		}
	}
	r, err := l.chart(rows, g.quantities())
	r.Name = "The same with the market at " + g.price.money() + ", by limit price and quantity"
	r.Note = "limit price in bps from the market, quantity logarithmic"
	r.Y, r.YTick = "bps from the market", ticks
	return r, err
}

// quantities are those of a map's columns, each on its step.
func (g *ground) quantities() []number {
	high := whole(1_000)
	if l := g.figures.Size.MaxOrderQuantity; l.On {
		high = larger(g.unit.times(whole(20)), of(l.Value).times(whole(8)))
	}
	if l := g.figures.Position.MaxPositionQuantity; l.On {
		high = larger(high, of(l.Value).times(whole(2)))
	}
	var out []number
	for _, q := range axis(g.unit, high, mapColumns) {
		out = append(out, larger(q.down(g.unit), g.unit))
	}
	return out
}

// chart asks the gate about each cell, without placing anything.
func (l *linter) chart(rows []row, columns []number) (report.Regions, error) {
	g := l.g
	s := g.begin()
	market := zero()
	for _, r := range rows {
		if r.market.cmp(market) != 0 {
			market = r.market
			s.steps = append(s.steps, fmt.Sprintf("quote: {%s: {%s}}", g.symbol, locked(market)))
		}
		for _, q := range columns {
			s.steps = append(s.steps, "call: {tool: check_order, arguments: {"+g.ask(g.opening(), q, r.limit).text()+"}}")
		}
	}
	out := report.Regions{X: "quantity"}
	result, err := l.play(s.text("map", "", ""))
	if err != nil {
		return out, err
	}
	kinds := map[string]int{}
	keys := func(text, mark string) int {
		if _, known := kinds[text]; !known {
			kinds[text] = len(out.Keys)
			out.Keys = append(out.Keys, report.Region{Mark: mark, Text: text})
		}
		return kinds[text]
	}
	keys("allowed", "")
	var line []int
	for i := range result.Steps {
		step := &result.Steps[i]
		if step.Verdict == "" {
			continue
		}
		refusing := strings.Join(append(step.Rails, step.Faults...), " and ")
		if refusing == "" {
			refusing = step.Verdict
		}
		line = append(line, keys(refusing, mark(len(out.Keys))))
		if len(line) == len(columns) {
			out.Cells, line = append(out.Cells, line), nil
		}
	}
	for i := 0; i < len(columns); i += 5 {
		out.XTick = append(out.XTick, report.Tick{At: i, Label: compact(columns[i])})
	}
	return out, nil
}

// mark is the letter of a region: A, B, and after Z a number.
func mark(n int) string {
	if n <= 26 {
		return string(rune('A' + n - 1))
	}
	return fmt.Sprint(n)
}

// compact writes a number for an axis.
func compact(n number) string {
	switch {
	case n.cmp(whole(1_000_000)) >= 0:
		return n.over(whole(1_000_000)).down(parse("0.1")).String() + "M"
	case n.cmp(whole(10_000)) >= 0:
		return n.over(whole(1_000)).down(whole(1)).String() + "k"
	case n.cmp(whole(10)) >= 0:
		return n.down(whole(1)).String()
	}
	return n.down(parse("0.01")).String()
}
