package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/report"
)

// shownMax is how many changed decisions the page shows.
const shownMax = 60

// Page is the report as a page for people.
func (r *Report) Page() ([]byte, error) {
	p := report.Page{
		Title: "Replay of " + r.Account + " under other limits",
		Lead: fmt.Sprintf("Recorded history, %s through %s, judged again under limits %s. As recorded: each decision on the account as it was; nothing is assumed. "+
			"Followed: the history folded a second time under the other limits, so that what is denied is not held later. It is a model: the agent makes the same calls, and %s.",
			word(r.From), word(r.Through), r.Limits[:min(12, len(r.Limits))], r.Assume.words()),
		Neutral: true, Verdict: r.verdict(),
		Stats: []report.Stat{
			{Name: "decisions judged again", Value: number(r.Decisions), Note: number(r.NotJudged) + " of another engine or calendar"},
			{Name: "as recorded, newly denied", Value: number(r.AsRecorded.NewlyDenied), Note: number(r.AsRecorded.OtherRails) + " denied by other rails"},
			{Name: "as recorded, newly allowed", Value: number(r.AsRecorded.NewlyAllowed), Note: number(r.AsRecorded.ToError) + " could not be judged"},
			{Name: "followed, another verdict", Value: number(r.Followed.changed()), Note: number(r.Followed.Depends) + " depend on an assumption"},
			{Name: "fills", Value: number(r.Recorded.Fills) + " → " + number(r.Followed.Fills), Note: number(r.Followed.FillsGone) + " gone, " + number(r.Followed.FillsAssumed) + " assumed"},
			{Name: "turnover, USD", Value: whole(r.Recorded.Turnover), Note: "→ " + whole(r.Followed.Turnover)},
			{Name: "peak gross exposure, USD", Value: whole(r.Recorded.PeakGross), Note: "→ " + whole(r.Followed.PeakGross)},
			{Name: "equity at the end, USD", Value: whole(r.Recorded.Equity), Note: "→ " + whole(r.Followed.Equity) + ", at the journal's last prices"},
		},
		Foot: fmt.Sprintf("%s · limits %s · mode at the end of the followed history: %s", r.Schema, r.Limits, word(r.Followed.Mode)),
	}
	p.Parts = append(p.Parts,
		report.Part{Title: "What differs between the limits", Note: r.differNote(), Table: r.differTable()},
		report.Part{
			Title: "Denials by rail, as recorded and under the other limits", Bars: r.bars(),
			Note: "On the account as it was. A decision that several rails deny counts for each.", Table: r.railsTable(),
		},
	)
	if curves := r.curves(); curves != nil {
		p.Parts = append(p.Parts, report.Part{Title: "Through time", Curves: curves, Note: "After every decision and fill: the recorded history, and dashed the followed one."})
	}
	p.Parts = append(p.Parts,
		report.Part{Title: "By trade date", Table: r.datesTable()},
		report.Part{Title: "Decisions that change", Note: r.changedNote(), Table: r.changedTable(), Wrap: true},
	)
	return p.HTML()
}

func (a Assumption) words() string {
	if a == AssumeNone {
		return "what was refused and would pass works and never fills"
	}
	return "what was refused and would pass fills whole at the first recorded quote that reaches its price"
}

func (c *Changes) changed() int { return c.NewlyDenied + c.NewlyAllowed + c.ToError + c.Gone }

func (r *Report) verdict() string {
	switch n := r.AsRecorded.changed(); {
	case r.Decisions == 0:
		return "no decision to judge"
	case r.ChangedAll == 0:
		return "no verdict changes"
	case n == 1:
		return "1 verdict changes on the account as it was"
	default:
		return number(n) + " verdicts change on the account as it was"
	}
}

func (r *Report) differNote() string {
	if len(r.Differ) == 0 {
		return "Nothing: they are the newest recorded ones."
	}
	return "Against the newest recorded limits."
}

func (r *Report) differTable() *report.Table {
	if len(r.Differ) == 0 {
		return nil
	}
	t := &report.Table{Head: []string{"key", "recorded", "here", "effect"}}
	for _, c := range r.Differ {
		t.Rows = append(t.Rows, []string{c.Key, word(c.Old), word(c.New), c.Effect.String()})
	}
	return t
}

func (r *Report) bars() *report.Bars {
	b := &report.Bars{First: "recorded", Second: "under the other limits"}
	for _, row := range r.Rails {
		if row.Recorded+row.AsRecorded == 0 {
			continue // of the followed history alone; the table has it
		}
		b.Rows = append(b.Rows, report.BarRow{Name: row.Rail, First: row.Recorded, Second: row.AsRecorded})
	}
	if len(b.Rows) == 0 {
		return nil
	}
	return b
}

func (r *Report) railsTable() *report.Table {
	t := &report.Table{Head: []string{"rail", "recorded", "as recorded", "followed"}}
	for i, row := range r.Rails {
		t.Rows = append(t.Rows, []string{row.Rail, number(row.Recorded), number(row.AsRecorded), number(row.Followed)})
		if row.Recorded != row.AsRecorded {
			t.Bad = append(t.Bad, i)
		}
	}
	return t
}

func (r *Report) datesTable() *report.Table {
	t := &report.Table{Head: []string{
		"trade date", "decisions", "allowed", "denied", "newly denied", "newly allowed", "followed: allowed", "denied", "peak exposure", "followed",
	}}
	for _, d := range r.Dates {
		t.Rows = append(t.Rows, []string{
			d.Date, number(d.Decisions), number(d.Recorded.Allowed), number(d.Recorded.Denied), number(d.AsRecorded.NewlyDenied), number(d.AsRecorded.NewlyAllowed),
			number(d.Followed.Allowed), number(d.Followed.Denied), whole(d.PeakRecorded), whole(d.PeakFollowed),
		})
	}
	return t
}

func (r *Report) changedNote() string {
	if len(r.Changed) == 0 {
		return "None."
	}
	return fmt.Sprintf("The first %s of %s; rails replay --json lists up to %s. Why: limits, the verdict changes on the account as it was; history, only what came before is different.",
		number(min(shownMax, len(r.Changed))), number(r.ChangedAll), number(ChangedMax))
}

func (r *Report) changedTable() *report.Table {
	if len(r.Changed) == 0 {
		return nil
	}
	t := &report.Table{Head: []string{"decision", "New York", "order", "recorded", "would be", "followed", "why", "rails"}}
	for i := range r.Changed[:min(shownMax, len(r.Changed))] {
		c := &r.Changed[i]
		t.Rows = append(t.Rows, []string{
			c.Entry, inNewYork(c.At), c.Order(), c.Recorded.Verdict, c.AsRecorded.Verdict, c.Followed.Verdict, c.because(), c.Rails(),
		})
	}
	return t
}

// inNewYork writes an instant as New York's clock shows it, without the year.
func inNewYork(t time.Time) string {
	local := market.NewYork(t)
	clock := local.SinceMidnight.Truncate(time.Second)
	return fmt.Sprintf("%02d-%02d %02d:%02d:%02d", int(local.Date.Month()), local.Date.Day(), int(clock.Hours()), int(clock.Minutes())%60, int(clock.Seconds())%60)
}

func (c *Changed) because() string {
	if c.Depends {
		return c.Why + ", assumed"
	}
	return c.Why
}

// Order is the order in a few words.
func (c *Changed) Order() string {
	parts := []string{c.Side, c.Quantity, c.Symbol}
	if c.Action != "new" {
		parts = slices.Insert(parts, 0, c.Action)
	}
	if c.Price != "" {
		parts = append(parts, "at", c.Price)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// Rails are the rails that answer otherwise, in a few words each.
func (c *Changed) Rails() string {
	if c.Followed.Verdict == Moot && c.Why == ByHistory {
		return "its order never came to be"
	}
	var texts []string
	for _, t := range c.Turned {
		text := "no longer " + t.Rail
		if t.Denies {
			text = t.Rail
		}
		switch {
		case t.By == "" || t.Limit == "":
		case t.Denies:
			text += ": " + t.Observed + " against " + t.Limit + ", by " + t.By
		default:
			text += ": " + t.Observed + " against " + t.Limit + ", " + t.By + " to spare"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 && c.AsRecorded.Verdict == journal.VerdictError {
		return "an input is missing: " + strings.Join(c.AsRecorded.Rails, ", ")
	}
	return strings.Join(texts, "; ")
}

func (r *Report) curves() []report.Curve {
	if len(r.Points) == 0 {
		return nil
	}
	var gross, followed, equity, equityFollowed []float64
	for _, p := range r.Points {
		gross, followed = append(gross, figure(p.GrossRecorded)), append(followed, figure(p.GrossFollowed))
		equity, equityFollowed = append(equity, figure(p.EquityRecorded)), append(equityFollowed, figure(p.EquityFollowed))
	}
	high := math.Max(slices.Max(gross), slices.Max(followed))*1.06 + 1
	low := math.Min(slices.Min(equity), slices.Min(equityFollowed))
	top := math.Max(slices.Max(equity), slices.Max(equityFollowed))
	room := math.Max(1, (top-low)*0.08)
	low, top = math.Floor(low-room), math.Ceil(top+room)
	return []report.Curve{
		r.curve("Gross exposure, open orders in, USD", gross, followed, 0, high, "peak "+whole(r.Recorded.PeakGross)+" → "+whole(r.Followed.PeakGross)),
		r.curve("Equity, USD", equity, equityFollowed, low, top, "at the end "+whole(r.Recorded.Equity)+" → "+whole(r.Followed.Equity)),
	}
}

func (r *Report) curve(name string, values, second []float64, low, high float64, peak string) report.Curve {
	return report.Curve{
		Name: name, Values: values, Second: second, SecondName: "followed", Cap: math.NaN(), Low: low, High: high, Peak: peak, Breaks: r.breaks(),
		Tops: [3]string{grouped(high), grouped((low + high) / 2), grouped(low)},
	}
}

func (r *Report) breaks() []report.Break {
	dates := make([]string, len(r.Points))
	for i, p := range r.Points {
		dates[i] = p.Date
	}
	return report.Breaks(dates)
}

// figure is a figure as a picture needs it: to the eye, not to the cent.
func figure(f fmt.Stringer) float64 {
	v, err := strconv.ParseFloat(f.String(), 64)
	if err != nil {
		return 0
	}
	return v
}

func whole(f fmt.Stringer) string { return grouped(figure(f)) }

func grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64)
	var b strings.Builder
	if v <= -0.5 {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func number(n int) string { return grouped(float64(n)) }

func word(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
