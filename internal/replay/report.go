package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Schema is the version of the report's form.
const Schema = "rails.replay/v1"

// Bounds of a report, whatever the journal's length.
const (
	ChangedMax = 1_000 // decisions that are listed; all are counted
	PointsMax  = 350   // of the curves, up to twice as many: each stands for a stretch and holds its largest exposures
	erasMax    = 64    // recorded limits that are listed
)

// Report is what a replay came to.
type Report struct {
	Schema  string     `json:"schema"`
	Account string     `json:"account"`
	Limits  string     `json:"limits"` // fingerprint of the other limits
	Assume  Assumption `json:"assume"`
	From    string     `json:"from"` // first trade date replayed; empty if none was
	Through string     `json:"through"`
	Eras    []Era      `json:"recorded_limits"`
	// Differ are the keys in which the other limits differ from the newest recorded ones.
	Differ     []limits.Change `json:"differ"`
	Entries    uint64          `json:"entries"`    // replayed, without those that only put limits in force
	Decisions  int             `json:"decisions"`  // judged
	NotJudged  int             `json:"not_judged"` // of another engine version or calendar
	Refusals   int             `json:"refusals"`   // calls that never became an intent, and are not judged
	Uncounted  int             `json:"spent"`      // of those, calls over the recorded limit on messages: their orders are not in the journal
	Recorded   Recorded        `json:"recorded"`
	AsRecorded AsRecorded      `json:"as_recorded"`
	Followed   Followed        `json:"followed"`
	Rails      []RailRow       `json:"rails"`
	Dates      []*DateRow      `json:"dates"`
	Changed    []Changed       `json:"changed"` // the first ones
	ChangedAll int             `json:"changed_total"`
	Points     []Point         `json:"points"`

	rails   map[string]*RailRow
	figures map[string]string // the other limits' figure, of rails with one key
	stride  int               // samples that a point stands for
	samples int
}

// Era is one recorded limits document.
type Era struct {
	Fingerprint string    `json:"fingerprint"`
	At          time.Time `json:"at"`
}

// Verdicts are counts of decisions.
type Verdicts struct {
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
	Errors  int `json:"errors"`
}

// Changes are counts of decisions by how their verdict differs from the recorded one.
type Changes struct {
	Same         int `json:"same"`
	NewlyDenied  int `json:"newly_denied"`
	NewlyAllowed int `json:"newly_allowed"`
	ToError      int `json:"to_error"`    // an input is missing that the other limits need
	OtherRails   int `json:"other_rails"` // refused as well, by other rails
	Gone         int `json:"gone"`        // moot, or told again
}

// Trade is what was executed of the account's own orders.
type Trade struct {
	Fills    int            `json:"fills"`
	Turnover money.Notional `json:"turnover"`
	// PeakGross is the largest gross exposure, open orders in, after any entry.
	PeakGross money.Notional `json:"peak_gross_exposure"`
	Equity    money.Notional `json:"equity_at_end"` // at the last prices of the journal
}

// Recorded is what the journal says.
type Recorded struct {
	Verdicts
	Trade
}

// AsRecorded is each decision under the other limits, on the state as it was.
type AsRecorded struct {
	Verdicts
	Changes
}

// Followed is the history under the other limits.
type Followed struct {
	Verdicts
	Changes
	Trade
	Moot         int    `json:"moot"`
	Replayed     int    `json:"replayed"`
	Depends      int    `json:"depends"` // changes that depend on an assumption
	FillsGone    int    `json:"fills_gone"`
	FillsAssumed int    `json:"fills_assumed"`
	Unfollowed   int    `json:"unfollowed"` // entries that the other history could not take
	Mode         string `json:"mode"`       // at its end
}

// RailRow is how many decisions a rail, or an integrity refusal, denied. One that several
// deny counts for each.
type RailRow struct {
	Rail       string `json:"rail"`
	Recorded   int    `json:"recorded"`
	AsRecorded int    `json:"as_recorded"`
	Followed   int    `json:"followed"`
}

// DateRow is one trade date.
type DateRow struct {
	Date         string         `json:"date"`
	Decisions    int            `json:"decisions"`
	Recorded     Verdicts       `json:"recorded"`
	AsRecorded   Changes        `json:"as_recorded"`
	Followed     Verdicts       `json:"followed"`
	Changed      int            `json:"changed"` // in the followed history
	PeakRecorded money.Notional `json:"peak_recorded"`
	PeakFollowed money.Notional `json:"peak_followed"`
}

// Point is one stretch of the curves.
type Point struct {
	At             time.Time      `json:"at"` // its end
	Date           string         `json:"date"`
	GrossRecorded  money.Notional `json:"gross_recorded"`
	GrossFollowed  money.Notional `json:"gross_followed"`
	EquityRecorded money.Notional `json:"equity_recorded"` // at its end
	EquityFollowed money.Notional `json:"equity_followed"`
}

// Answer is one verdict and what refuses.
type Answer struct {
	Verdict string   `json:"verdict"`
	Rails   []string `json:"rails"`
}

// Causes of a change.
const (
	ByLimits  = "limits"  // the verdict changes on the state as it was
	ByHistory = "history" // only what came before is different
)

// Changed is one decision whose verdict differs, in either way.
type Changed struct {
	Entry      string    `json:"entry"`
	At         time.Time `json:"at"`
	Action     string    `json:"action"`
	Symbol     string    `json:"symbol"`
	Side       string    `json:"side"`
	Quantity   string    `json:"quantity"`
	Price      string    `json:"price"` // limit, else stop; empty for neither
	Recorded   Answer    `json:"recorded"`
	AsRecorded Answer    `json:"as_recorded"`
	Followed   Answer    `json:"followed"`
	Why        string    `json:"why"`
	Turned     []Turned  `json:"turned"`
	Depends    bool      `json:"depends"`
}

// Turned is a rail that answers otherwise, and by how much.
type Turned struct {
	Rail     string `json:"rail"`
	Denies   bool   `json:"denies"` // now; else it did
	Observed string `json:"observed"`
	Limit    string `json:"limit"` // the other one
	By       string `json:"by"`    // from limit to observed; empty where it is no figure
}

func newReport(o *Options) *Report {
	r := &Report{
		Schema: Schema, Account: o.Account, Limits: o.Limits.Fingerprint, Assume: o.Assume,
		rails: map[string]*RailRow{}, figures: map[string]string{}, stride: 1,
		Eras: []Era{}, Differ: []limits.Change{}, Changed: []Changed{}, Points: []Point{}, Dates: []*DateRow{}, Rails: []RailRow{},
	}
	values := map[string]string{}
	for _, c := range limits.Diff(nil, o.Limits) {
		values[c.Key] = c.New
	}
	for _, one := range rail.All() {
		if len(one.Keys) == 1 {
			r.figures[string(one.ID)] = values[one.Keys[0]]
		}
	}
	return r
}

func (r *Report) era(body *journal.Limits, at time.Time) {
	if len(r.Eras) < erasMax {
		r.Eras = append(r.Eras, Era{Fingerprint: body.Fingerprint, At: at})
	}
}

// date begins the row of a trade date.
func (r *Report) date(date market.TradeDate) {
	text := date.String()
	if n := len(r.Dates); n > 0 && r.Dates[n-1].Date == text {
		return
	}
	r.Dates = append(r.Dates, &DateRow{Date: text})
	if r.From == "" {
		r.From = text
	}
	r.Through = text
}

func (r *Report) today() *DateRow { return r.Dates[len(r.Dates)-1] }

func (r *Report) refused(body *journal.Refusal) {
	r.Refusals += body.Count
	if body.Code == string(rail.MaxMessagesPerMinute) {
		r.Uncounted += body.Count
	}
}

func (r *Report) filled(t *Trade, worth money.Notional) {
	t.Fills++
	t.Turnover, _ = t.Turnover.Add(worth)
}

func (v *Verdicts) add(verdict string) {
	switch verdict {
	case journal.VerdictAllowed:
		v.Allowed++
	case journal.VerdictDenied:
		v.Denied++
	case journal.VerdictError:
		v.Errors++
	}
}

// add counts a verdict against the recorded one, and says whether it is another.
func (c *Changes) add(was, is Answer) (changed bool) {
	switch {
	case was.Verdict == is.Verdict && slices.Equal(was.Rails, is.Rails):
		c.Same++
		return false
	case was.Verdict == is.Verdict:
		c.OtherRails++
		return false
	case is.Verdict == journal.VerdictAllowed:
		c.NewlyAllowed++
	case is.Verdict == journal.VerdictDenied:
		c.NewlyDenied++
	case is.Verdict == journal.VerdictError:
		c.ToError++
	default:
		c.Gone++
	}
	return true
}

// judged is one decision in all three ways.
type judged struct {
	entry    *journal.Entry
	body     *journal.Decision
	date     market.TradeDate
	still    *risk.Decision
	followed string
	here     *risk.Decision // nil: moot, or told again
	depends  bool
	figures  map[string]string
}

func recordedAnswer(body *journal.Decision) Answer {
	a := Answer{Verdict: body.Verdict, Rails: []string{}}
	for _, status := range []string{"deny", "fault"} {
		for _, f := range body.Findings {
			if f.Status == status {
				a.Rails = append(a.Rails, f.Rail)
			}
		}
	}
	return a
}

func answerOf(verdict string, d *risk.Decision) Answer {
	a := Answer{Verdict: verdict, Rails: []string{}}
	if d != nil {
		a.Rails = append(append(a.Rails, d.Refusing()...), d.Faults()...)
	}
	return a
}

func (r *Report) judged(j *judged) {
	was := recordedAnswer(j.body)
	still, here := answerOf(j.still.Verdict.String(), j.still), answerOf(j.followed, j.here)
	r.Decisions++
	day := r.today()
	day.Decisions++
	r.Recorded.Verdicts.add(was.Verdict)
	r.AsRecorded.Verdicts.add(still.Verdict)
	r.Followed.Verdicts.add(here.Verdict)
	day.Recorded.add(was.Verdict)
	day.Followed.add(here.Verdict)
	switch here.Verdict {
	case Moot:
		r.Followed.Moot++
	case Replayed:
		r.Followed.Replayed++
	}
	changedHere := r.Followed.Changes.add(was, here)
	changed := r.AsRecorded.Changes.add(was, still)
	day.AsRecorded.add(was, still)
	if changedHere {
		day.Changed++
		if j.depends {
			r.Followed.Depends++
		}
	}
	if was.Verdict == journal.VerdictDenied {
		r.deniedBy(was.Rails, func(row *RailRow) { row.Recorded++ })
	}
	if still.Verdict == journal.VerdictDenied {
		r.deniedBy(j.still.Refusing(), func(row *RailRow) { row.AsRecorded++ })
	}
	if here.Verdict == journal.VerdictDenied {
		r.deniedBy(j.here.Refusing(), func(row *RailRow) { row.Followed++ })
	}
	if changed || changedHere {
		r.list(j, was, still, here, changed)
	}
}

func (r *Report) deniedBy(ids []string, add func(*RailRow)) {
	for _, id := range ids {
		if r.rails[id] == nil {
			r.rails[id] = &RailRow{Rail: id}
		}
		add(r.rails[id])
	}
}

// list adds a decision to those that are shown.
func (r *Report) list(j *judged, was, still, here Answer, limited bool) {
	r.ChangedAll++
	if len(r.Changed) >= ChangedMax {
		return
	}
	in := &j.body.Intent
	c := Changed{
		Entry: entryID(j.entry), At: j.entry.At.Time, Action: in.Action.String(), Symbol: in.Symbol, Side: in.Side.String(),
		Quantity: in.Quantity.String(), Recorded: was, AsRecorded: still, Followed: here, Why: ByHistory, Depends: j.depends, Turned: []Turned{},
	}
	if in.Action == order.ActionCancel {
		c.Quantity, c.Side = "", ""
	}
	switch {
	case in.Type.HasLimit():
		c.Price = in.LimitPrice.String()
	case in.Type.HasStop():
		c.Price = in.StopPrice.String()
	}
	turning := j.here
	if limited {
		c.Why, turning = ByLimits, j.still
	}
	if turning != nil {
		c.Turned = turned(j, turning)
	}
	r.Changed = append(r.Changed, c)
}

// turned are the rails that answer otherwise than they did.
func turned(j *judged, d *risk.Decision) []Turned {
	out := []Turned{}
	denied := map[string]bool{}
	for i := range j.body.Findings {
		denied[j.body.Findings[i].Rail] = j.body.Findings[i].Status == "deny"
	}
	if d.Integrity != "" && !denied[d.Integrity] {
		out = append(out, Turned{Rail: d.Integrity, Denies: true})
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Status == rail.Deny && !denied[string(f.Rail)] {
			out = append(out, Turned{Rail: string(f.Rail), Denies: true, Observed: f.Observed, Limit: f.Limit, By: apart(f.Observed, f.Limit)})
		}
	}
	refuses := d.Refusing()
	for i := range j.body.Findings {
		f := &j.body.Findings[i]
		if f.Status != "deny" || slices.Contains(refuses, f.Rail) {
			continue
		}
		limit := j.figures[f.Rail]
		out = append(out, Turned{Rail: f.Rail, Observed: f.Observed, Limit: limit, By: apart(f.Observed, limit)})
	}
	return out
}

// apart is the distance of two figures; empty where one of them is none.
func apart(a, b string) string {
	first := func(text string) string { number, _, _ := strings.Cut(text, " "); return number }
	x, err1 := money.ParseNotional(first(a))
	y, err2 := money.ParseNotional(first(b))
	if err1 != nil || err2 != nil {
		return ""
	}
	d, ok := x.Sub(y)
	if !ok {
		return ""
	}
	return d.Abs().String()
}
