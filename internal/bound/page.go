package bound

import (
	"fmt"
	"math"
	"strings"

	"github.com/broker-rails/broker-rails/internal/report"
)

// Words is what a measure is, for people.
func (m Measure) Words() string {
	switch m {
	case Shares:
		return "shares bought and sold"
	case Exposure:
		return "greatest gross exposure"
	case Turnover:
		return "turnover"
	case Orders:
		return "new orders sent"
	case Overpaid:
		return "overpaid against the middle"
	}
	return "loss on the day"
}

// Headline is the whole report in a sentence or two.
func (r *Report) Headline() string {
	say := func(m Measure, before, after string) string {
		h := r.harmOf("day", m)
		if h.Unbounded {
			return before + "without bound" + after
		}
		return before + grouped(h.Bound) + after
	}
	return "Under these limits the worst a hostile agent can do in one day is: " +
		say(Shares, "trade ", " shares") + say(Turnover, " for ", " "+r.Currency) +
		say(Exposure, ", hold ", " at once") + say(Loss, ", and lose ", "") + ", if prices stand still."
}

// grouped sets commas between thousands.
func grouped(s string) string {
	head, tail, _ := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range head {
		if i > 0 && (len(head)-i)%3 == 0 && head[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if tail != "" {
		return b.String() + "." + tail
	}
	return b.String()
}

// BoundWords is the bound of a harm, for people.
func (h *Harm) BoundWords() string {
	if h.Unbounded {
		return "unbounded"
	}
	return grouped(h.Bound)
}

// AttainedWords is what the attacker reached, for people.
func (h *Harm) AttainedWords() string { return grouped(h.Attained) }

// AttainedWords is what the attacker's best plans held of the symbol, for people. They hunt
// for the worst of an account and not for each position: one that none of them went for is
// no failed attempt.
func (p *Position) AttainedWords() string {
	if p.Attained == "0" {
		return "-"
	}
	return grouped(p.Attained)
}

// GapWords is the gap, for people.
func (h *Harm) GapWords() string {
	if h.Gap == "" {
		return ""
	}
	return h.Gap + " %"
}

// Says is the derivation of a harm as lines of text; lines of symbols that the best plan
// leaves alone are counted and left out.
func (h *Harm) Says() []string {
	if h.Unbounded {
		if len(h.WouldBound) == 0 {
			return []string{"no single key would bound it"}
		}
		return []string{"any of these, which are off, would bound it: " + strings.Join(h.WouldBound, ", ")}
	}
	var out []string
	left := 0
	for _, l := range h.Derivation {
		if !l.Used {
			left++
			continue
		}
		text := l.Factor + " × [" + l.Inequality + "]"
		if l.Most != "0" {
			text += " = " + grouped(l.Adds)
		}
		if len(l.Keys) > 0 {
			text += "  (" + strings.Join(l.Keys, ", ") + ")"
		}
		out = append(out, text)
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("and %d like these of symbols that gain less", left))
	}
	return out
}

// page is the report for a browser.
func (r *Report) page() *report.Page {
	p := &report.Page{
		Title: "The most that a hostile agent can do", Lead: r.Headline(), Good: true, Verdict: "no plan of the attacker exceeds a bound",
		Foot: "Limits " + r.Fingerprint + ". The bound comes from the document's numbers alone; the attacker asks the engine, and its best plans were run through the gate and counted on the paper broker's ledger.",
	}
	for _, m := range []Measure{Shares, Exposure, Turnover, Loss} {
		h := r.harmOf("day", m)
		p.Stats = append(p.Stats, report.Stat{Name: m.Words() + ", a day", Value: h.BoundWords(), Note: "attained " + grouped(h.Attained)})
	}
	if r.Exceeded() {
		p.Good, p.Verdict = false, "a bound was exceeded: the arithmetic is wrong"
	} else if r.Unbounded() {
		p.Good, p.Verdict = false, "something is unbounded"
	}
	model := &report.Table{Head: []string{"symbol", "bid", "ask"}}
	for _, q := range r.Quotes {
		model.Rows = append(model.Rows, []string{q.Symbol, q.Bid, q.Ask})
	}
	for i := range r.Horizons {
		p.Parts = append(p.Parts, r.Horizons[i].parts()...)
	}
	if len(r.Notes) > 0 {
		t := &report.Table{Head: []string{"these limits allow more than their names say"}}
		for _, n := range r.Notes {
			t.Rows = append(t.Rows, []string{n})
		}
		p.Parts = append(p.Parts, report.Part{Title: "Worth knowing", Table: t, Wrap: true})
	}
	p.Parts = append(p.Parts, report.Part{Title: "The price model", Note: strings.Join(r.Model, " "), Table: model})
	return p
}

// parts are the pictures and tables of a horizon.
func (h *Horizon) parts() []report.Part {
	pictures := report.Part{Title: "What can be done " + h.Words, Note: "What the arithmetic allows, beside what the attacker reached: counts here, money below."}
	counts := &report.Bars{First: "bound", Second: "attained"}
	worth := &report.Bars{First: "bound", Second: "attained, in currency"}
	table := &report.Table{Head: []string{"harm", "bound", "attained", "at broker", "gap"}}
	proof := &report.Table{Head: []string{"harm", "why it cannot be more"}}
	for i := range h.Harms {
		x := &h.Harms[i]
		if x.bound != nil {
			bars := worth
			if x.Unit != "currency" {
				bars = counts
			}
			b, _ := x.bound.Float64()
			a, _ := x.attained.Float64()
			bars.Rows = append(bars.Rows, report.BarRow{Name: x.Measure.Words(), First: int(math.Ceil(b)), Second: int(a)})
		} else {
			table.Bad = append(table.Bad, i)
		}
		table.Rows = append(table.Rows, []string{
			x.Measure.Words(), x.BoundWords(), x.AttainedWords(), grouped(x.AtBroker), x.GapWords(),
		})
		proof.Rows = append(proof.Rows, []string{x.Measure.Words(), strings.Join(x.Says(), "; ")})
	}
	if len(counts.Rows) > 0 {
		pictures.Bars = counts
	}
	if c, ok := h.picture(); ok {
		pictures.Curves = append(pictures.Curves, c)
	}
	held := &report.Table{Head: []string{"symbol", "side", "most held", "attained", "what bounds it"}}
	for i := range h.Positions {
		x := &h.Positions[i]
		most := x.Bound
		if x.Unbounded {
			most = "unbounded"
		}
		held.Rows = append(held.Rows, []string{x.Symbol, x.Side, most, x.AttainedWords(), x.Tight})
	}
	out := []report.Part{pictures}
	if len(worth.Rows) > 0 {
		out = append(out, report.Part{Title: "The same in money", Bars: worth})
	}
	return append(out,
		report.Part{Title: "Bound and attacker", Table: table},
		report.Part{Title: "Derivations", Note: "The inequalities, each times its factor, add up to the bound.", Table: proof, Wrap: true},
		report.Part{Title: "Greatest position of each symbol", Note: "Where nothing is attained, none of the attacker's best plans went for that symbol.", Table: held})
}

// picturePoints is how many points a curve has.
const picturePoints = 241

// picture is the exposure of the attacker's best run against the bound.
func (h *Horizon) picture() (report.Curve, bool) {
	var x *Harm
	for i := range h.Harms {
		if h.Harms[i].Measure == Exposure {
			x = &h.Harms[i]
		}
	}
	if len(h.curve) == 0 {
		return report.Curve{}, false
	}
	c := report.Curve{Name: "gross exposure in the run that reached most", Cap: math.NaN(), Peak: "greatest " + grouped(x.Attained)}
	top, _ := x.attained.Float64()
	if x.bound != nil {
		c.Cap, _ = x.bound.Float64()
		c.CapAt = grouped(x.Bound)
		top = c.Cap
	}
	c.High = top * 1.05
	byOrder := h.Name != "day"
	last := 0.0
	next := 0
	points := picturePoints
	if byOrder {
		points = len(h.curve) + 1
	}
	for i := range points {
		for next < len(h.curve) && (byOrder && next < i || !byOrder && float64(h.curve[next].After) <= float64(h.spans)*float64(i)/float64(points-1)) {
			last, _ = h.curve[next].Gross.Float64()
			next++
		}
		c.Values = append(c.Values, last)
	}
	c.Tops = [3]string{short(c.High), short(c.High / 2), "0"}
	c.Breaks = []report.Break{{At: 0, Label: "first order"}}
	if !byOrder {
		c.Breaks = []report.Break{{At: 0, Label: "open"}, {At: points / 2, Label: "half"}}
	}
	return c, true
}

func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.1fM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

// Exceeded reports whether the attacker got beyond a bound, which would be an error in
// the arithmetic.
func (r *Report) Exceeded() bool {
	for i := range r.Horizons {
		for j := range r.Horizons[i].Harms {
			h := &r.Horizons[i].Harms[j]
			if h.bound != nil && (h.attained.Cmp(h.bound) > 0 || h.atBroker.Cmp(h.bound) > 0) {
				return true
			}
		}
	}
	return false
}

// Unbounded reports whether any measure is.
func (r *Report) Unbounded() bool {
	for i := range r.Horizons {
		for j := range r.Horizons[i].Harms {
			if r.Horizons[i].Harms[j].Unbounded {
				return true
			}
		}
	}
	return false
}
