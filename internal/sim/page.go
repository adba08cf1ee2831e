package sim

import (
	"fmt"
	"math"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/report"
)

// Page is the report as a page for people.
func (r *Report) Page() ([]byte, error) {
	t := &r.Totals
	clock := "on a virtual clock"
	if r.RealTime {
		clock = "in real time, without the hours in which the exchange is closed"
	}
	p := report.Page{
		Title: "Unattended session: " + plural(r.Days, "trade date"),
		Lead: fmt.Sprintf("%s through %s %s, paper broker, seed %d. The agent is greedy on purpose: it trades at the cap on every "+
			"tick and asks for what it may not have. Limits are checked against what the broker recorded, not against what the gate believed.",
			r.From, r.Through, clock, r.Seed),
		Good:    r.Held,
		Verdict: "every limit held, and the journal verifies",
		Stats: []report.Stat{
			{Name: "calls of the agent", Value: number(t.Calls)},
			{Name: "orders sent", Value: number(t.Orders), Note: fmt.Sprintf("%s replaces, %s cancels", number(t.Replaces), number(t.Cancels))},
			{Name: "fills", Value: number(t.Fills)},
			{Name: "denied", Value: number(t.Denied), Note: "by the gate; never sent"},
			{Name: "errors", Value: number(t.Errors), Note: "could not be judged; never sent"},
			{Name: "broker's answers", Value: number(t.Rejected), Note: fmt.Sprintf("rejected; %s in doubt", number(t.InDoubt))},
			{Name: "checks at the broker", Value: number(r.made()), Note: number(r.Violated) + " failed"},
			{Name: "journal entries", Value: number(int(r.Audit.Entries)), Note: number(r.Audit.Rederived) + " verdicts derived again"},
		},
		Foot: fmt.Sprintf("%s · rails %s · limits %s · journal head %s · mode at the end: %s", r.Schema, r.Version, r.Limits, r.Audit.Head, r.Mode),
	}
	if !r.Held {
		p.Verdict = fmt.Sprintf("%s failed; journal verified: %v", plural(r.Violated, "check"), r.Audit.Verified)
	}
	if r.Stopped != "" {
		p.Lead += " It ended before its last trade date: " + r.Stopped + "."
	}
	if r.Faults {
		p.Lead += " The broker was told to reject, to lose replies, to fill in parts, late and twice."
		p.Stats = append(p.Stats, report.Stat{
			Name: "late fills beyond a limit", Value: number(r.LateOver), Note: "of orders that the broker had said were over; booked, and nothing opened on them",
		})
	}
	p.Parts = append(p.Parts, r.violationsPart()...)
	p.Parts = append(p.Parts,
		report.Part{
			Title: "Through the session", Curves: r.curves(),
			Note: "Where a trade date ends with nothing held, its cap on orders was reached, and the agent could only sell.",
		},
		report.Part{Title: "Each limit, at the broker", Note: r.ChecksNote(), Table: r.checksTable()},
		report.Part{Title: "By trade date", Note: "Orders, denials and errors are three things: no call counts as two of them. " + r.DatesNote(), Table: r.datesTable()},
		report.Part{
			Title: "Orders and denials, by hour in New York",
			Note:  "A call that several rails deny counts for each of them. After 16:00 nothing is sent.", Heat: r.heat(),
		},
	)
	return p.HTML()
}

func (r *Report) made() (n int) {
	for _, c := range r.Checks {
		n += c.Made
	}
	return n
}

func (r *Report) violationsPart() []report.Part {
	t := report.Table{Head: []string{"at (UTC)", "what"}}
	for _, v := range r.Violations {
		t.Rows = append(t.Rows, []string{v.At.Format("2006-01-02 15:04:05"), string(v.Check) + ": " + v.Text})
	}
	for _, d := range r.Audit.Differences {
		t.Rows = append(t.Rows, []string{"journal", d})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	for i := range t.Rows {
		t.Bad = append(t.Bad, i)
	}
	return []report.Part{{Title: "What did not hold", Table: &t}}
}

func (r *Report) curves() []report.Curve {
	var gross, position, equity, loss []float64
	for _, p := range r.Points {
		gross, position = append(gross, figure(p.Gross)), append(position, figure(p.Position))
		equity, loss = append(equity, figure(p.Equity)), append(loss, figure(p.Loss))
	}
	low, high := spread(equity)
	return []report.Curve{
		r.curve("Gross exposure held, USD", gross, figure(r.Caps.Gross), "peak "+grouped(top(gross))),
		r.curve("Largest position held, units", position, figure(r.Caps.Position), "peak "+grouped(top(position))),
		r.curve("Loss since the open of the trade date, USD", loss, figure(r.Caps.Loss), "largest "+grouped(top(loss))),
		{
			Name: "Equity, USD", Values: equity, Cap: math.NaN(), Low: low, High: high, Breaks: r.breaks(),
			Peak: fmt.Sprintf("from %s to %s", grouped(figure(r.Dates[0].Opening)), grouped(last(equity))),
			Tops: [3]string{grouped(high), grouped((low + high) / 2), grouped(low)},
		},
	}
}

func (r *Report) curve(name string, values []float64, most float64, peak string) report.Curve {
	high := math.Max(most, top(values)) * 1.06
	return report.Curve{
		Name: name, Values: values, Cap: most, CapAt: grouped(most), Peak: peak, High: high, Breaks: r.breaks(),
		Tops: [3]string{grouped(round(high)), grouped(round(high / 2)), "0"},
	}
}

func (r *Report) breaks() []report.Break {
	dates := make([]string, len(r.Points))
	for i, p := range r.Points {
		dates[i] = p.Date
	}
	return report.Breaks(dates)
}

func (r *Report) checksTable() *report.Table {
	t := &report.Table{Head: []string{"check", "limit", "peak", "checked", "failed"}}
	for i, c := range r.Checks {
		t.Rows = append(t.Rows, []string{words(string(c.Check)), spaced(c.Cap), spaced(c.Peak), number(c.Made), number(c.Failed)})
		if c.Failed > 0 {
			t.Bad = append(t.Bad, i)
		}
	}
	return t
}

func (r *Report) datesTable() *report.Table {
	t := &report.Table{Head: []string{
		"trade date", "orders", "fills", "denied", "errors", "replaces", "cancels", "rejected", "in doubt", "peak exposure", "largest loss", "equity at close",
	}}
	for _, d := range r.Dates {
		t.Rows = append(t.Rows, []string{
			d.Date, number(d.Orders), number(d.Fills), number(d.Denied), number(d.Errors), number(d.Replaces), number(d.Cancels),
			number(d.Rejected), number(d.InDoubt), toCents(d.Gross.String()), toCents(d.Loss.String()), toCents(d.Closing.String()),
		})
	}
	return t
}

func (r *Report) heat() *report.Heat {
	h := &report.Heat{Corner: "hour"}
	h.Cols = append(h.Cols, r.HourLabels...)
	orders := report.HeatRow{Name: "orders sent", Cells: r.Orders}
	for _, n := range r.Orders {
		orders.Sum += n
	}
	h.Rows = append(h.Rows, orders)
	for _, rail := range r.Rails {
		h.Rows = append(h.Rows, report.HeatRow{Name: rail.Rail, Sum: rail.Denials, Cells: rail.ByHour})
	}
	return h
}

// figure is a figure as a picture needs it: to the eye, not to the cent.
func figure(f fmt.Stringer) float64 {
	v, err := strconv.ParseFloat(f.String(), 64)
	if err != nil {
		return 0
	}
	return v
}
