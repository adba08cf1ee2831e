package sim

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Schema is the version of the report's form.
const Schema = "rails.session/v1"

// PointsMax bounds the points of a report's curves: a point stands for a stretch of time
// and holds the largest exposure, position and loss in it.
const PointsMax = 700

// Report is what a session came to. Its fields hold no time of this machine: the same
// seed gives the same bytes.
type Report struct {
	Schema     string      `json:"schema"`
	Version    string      `json:"version"`
	Seed       uint64      `json:"seed"`
	Faults     bool        `json:"faults"`
	Days       int         `json:"days"`
	RealTime   bool        `json:"realtime,omitzero"`
	Stopped    string      `json:"stopped,omitzero"` // why a run in real time ended before its last trade date
	From       string      `json:"from"`
	Through    string      `json:"through"`
	Limits     string      `json:"limits"` // fingerprint
	Held       bool        `json:"held"`   // every check, and the journal verified
	Mode       string      `json:"mode"`   // at the end
	Totals     Figures     `json:"totals"`
	Checks     []Checked   `json:"checks"`
	Violated   int         `json:"violations_total"`
	Violations []Violation `json:"violations"` // the first ones
	LateOver   int         `json:"late_fills_beyond_limits"`
	Audit      Audit       `json:"audit"`
	Dates      []*Date     `json:"dates"`
	HourLabels []string    `json:"hours"` // New York
	Orders     []int       `json:"orders_by_hour"`
	Rails      []Rail      `json:"denials"`
	Caps       CurveCaps   `json:"caps"`
	Points     []Point     `json:"points"`

	samples []sample
}

// Checked is one check of the broker's record.
type Checked struct {
	Check  Check  `json:"check"`
	Cap    string `json:"cap"`
	Peak   string `json:"peak"`
	Made   int    `json:"made"`
	Failed int    `json:"failed"`
}

// Audit is what the journal says.
type Audit struct {
	Verified     bool     `json:"verified"`
	Entries      uint64   `json:"entries"`
	Decisions    int      `json:"decisions"`
	Rederived    int      `json:"rederived"`
	NotRederived int      `json:"not_rederived"`
	Head         string   `json:"head"`
	Differences  []string `json:"differences"` // with the broker's ledger, and what does not verify
}

// Date is one trade date.
type Date struct {
	Date string `json:"date"`
	Figures
	Gross    money.Notional `json:"peak_gross_exposure"`
	Position money.Quantity `json:"peak_position"`
	Opening  money.Notional `json:"equity_at_open"`
	Closing  money.Notional `json:"equity_at_close"`
	Loss     money.Notional `json:"largest_loss"`
}

// Rail is one rail's denials. A call that several rails deny counts for each.
type Rail struct {
	Rail    string `json:"rail"`
	Denials int    `json:"denials"`
	ByHour  []int  `json:"by_hour"`
}

// CurveCaps are what the curves are drawn against.
type CurveCaps struct {
	Gross    money.Notional `json:"gross_exposure"`
	Position money.Quantity `json:"position"`
	Loss     money.Notional `json:"daily_loss"`
}

// Point is one stretch of the curves.
type Point struct {
	Date     string         `json:"date"`
	At       time.Time      `json:"at"` // its end
	Gross    money.Notional `json:"gross_exposure"`
	Position money.Quantity `json:"position"`
	Equity   money.Notional `json:"equity"` // at its end
	Loss     money.Notional `json:"loss"`
}

type sample = Point

func newReport(o Options, dates []market.TradeDate, fingerprint string) *Report {
	r := &Report{
		Schema: Schema, Version: o.Version, Seed: o.Seed, Faults: o.Faults, RealTime: o.Real, Days: len(dates),
		From: dates[0].String(), Through: dates[len(dates)-1].String(), Limits: fingerprint,
	}
	for h := range hours {
		r.HourLabels = append(r.HourLabels, strconv.Itoa(firstHour+h))
	}
	return r
}

func (r *Report) begin(date market.TradeDate) *Date {
	d := &Date{Date: date.String()}
	r.Dates = append(r.Dates, d)
	return d
}

// sample reads the checker's own figures, once a tick.
func (r *Report) sample(w *world, d *Date) {
	at := w.now()
	s := sample{
		Date: d.Date, At: at, Gross: w.checker.Gross(at), Position: w.checker.Largest(),
		Equity: w.checker.Equity(at), Loss: money.MaxNotional(w.checker.Loss(at), money.Notional{}),
	}
	d.Opening, d.Closing = w.checker.day.opening, s.Equity
	d.Gross, d.Position = money.MaxNotional(d.Gross, s.Gross), money.MaxQuantity(d.Position, s.Position)
	d.Loss = money.MaxNotional(d.Loss, s.Loss)
	r.samples = append(r.samples, s)
}

// thin folds runs of samples into points.
func (r *Report) thin() {
	every := (len(r.samples) + PointsMax - 1) / PointsMax
	for i, s := range r.samples {
		if i%every == 0 {
			r.Points = append(r.Points, s)
			continue
		}
		p := &r.Points[len(r.Points)-1]
		p.Date, p.At, p.Equity = s.Date, s.At, s.Equity
		p.Gross, p.Position = money.MaxNotional(p.Gross, s.Gross), money.MaxQuantity(p.Position, s.Position)
		p.Loss = money.MaxNotional(p.Loss, s.Loss)
	}
}

// close fills in what is known at the end.
func (r *Report) close(ctx context.Context, w *world) {
	c := w.checker
	r.Totals, r.LateOver, r.Violated = w.count.Figures, c.LateOver, c.Failed()
	r.Violations = append([]Violation{}, c.Violations...)
	r.Caps = CurveCaps{Gross: c.caps.GrossExposure, Position: c.caps.PositionQuantity, Loss: c.caps.DailyLoss}
	for _, check := range Checks() {
		t := c.Tallies[check]
		r.Checks = append(r.Checks, Checked{Check: check, Cap: c.caps.text(check), Peak: t.Peak.String(), Made: t.Made, Failed: t.Failed})
	}
	r.Orders = w.count.orders[:]
	for id, by := range w.count.rails {
		one := Rail{Rail: id, ByHour: by[:]}
		for _, n := range by {
			one.Denials += n
		}
		r.Rails = append(r.Rails, one)
	}
	slices.SortFunc(r.Rails, func(a, b Rail) int {
		return cmp.Or(cmp.Compare(b.Denials, a.Denials), cmp.Compare(a.Rail, b.Rail))
	})
	r.thin()
	r.Mode = account.Halted.String()
	_ = w.gate.View(ctx, func(v gate.View) { r.Mode = v.Mode.String() }) // unread is halted
	r.Held = r.Violated == 0 && r.Audit.Verified
}

// String is the figure, empty if nothing was measured.
func (p Peak) String() string {
	switch p.unit {
	case 'n':
		return strconv.Itoa(p.n)
	case '$':
		return p.worth.String()
	case 'q':
		return p.amount.String()
	}
	return ""
}

// text is the cap that a check is held against; empty where there is no figure.
func (c *Caps) text(check Check) string {
	switch check {
	case CheckQuantity:
		return c.OrderQuantity.String()
	case CheckNotional:
		return c.OrderNotional.String()
	case CheckPosition:
		return c.PositionQuantity.String()
	case CheckGross:
		return c.GrossExposure.String()
	case CheckMinute, CheckExits:
		return strconv.Itoa(c.OrdersPerMinute)
	case CheckMinuteValue:
		return c.NotionalPerMinute.String()
	case CheckDay:
		return strconv.Itoa(c.OrdersPerDay)
	case CheckOpen:
		return strconv.Itoa(c.OpenOrders + ExitSlots)
	case CheckLoss:
		return c.DailyLoss.String()
	}
	return ""
}
