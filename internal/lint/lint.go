package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/scenario"
)

// Verdict is what was found of one rail. The zero value is not decided.
type Verdict string

// Verdicts.
const (
	Off        Verdict = "off"         // switched off by the document
	NeverAlone Verdict = "never_alone" // whatever it denies, another rail refuses too
	Reachable  Verdict = "reachable"   // the scenario shows it denying alone
	Undecided  Verdict = "not_decided"
)

// Rail is what was found of one rail.
type Rail struct {
	Rail    string  `json:"rail"`
	Family  string  `json:"family"`
	Verdict Verdict `json:"verdict"`
	// Because is the arithmetic of never_alone, why a scenario can have no fewer steps,
	// or why nothing was found.
	Because string   `json:"because"`
	By      []string `json:"by"` // never_alone: what refuses too
	// Scenario is the text of the file that proves it reachable; File its name.
	Scenario string `json:"scenario,omitempty"`
	File     string `json:"file,omitempty"`
	Steps    int    `json:"steps,omitempty"`
	Order    string `json:"order,omitempty"` // the one that it denies, in words
	// Floor is a lower bound on the steps of any scenario that shows it, by the argument
	// in Because. Steps equal to it are the fewest there are.
	Floor int `json:"floor,omitempty"`
	Tried int `json:"tried"` // scenarios played
}

// Options are what a run needs beside the document.
type Options struct {
	// Equity is what the account is worth, in the document's currency; zero: that of a new
	// paper account, 100,000.
	Equity money.Notional
	// Long plays stories of more than ShortMax steps as well, which can take minutes.
	Long bool
	// Page asks for the page with its maps, which take about as long as the rest.
	Page bool
	// Progress is told after each rail; nil: nobody is.
	Progress func(done, of int)
}

// Report is everything that was found. It is a function of the document and the equity.
type Report struct {
	Schema      string    `json:"schema"`
	Fingerprint string    `json:"fingerprint"`
	Equity      string    `json:"equity"`
	Symbol      string    `json:"symbol"` // that scenarios trade
	Rails       []Rail    `json:"rails"`
	Findings    []Finding `json:"findings"`
	Dangers     int       `json:"dangers"` // findings that --strict fails on
	Played      int       `json:"played"`  // scenarios

	// Page is the page for people, self-contained HTML; nil unless it was asked for.
	Page []byte `json:"-"`

	text []byte
}

// Schema is the version of the report's JSON form.
const Schema = "rails.limits-lint/v1"

// RailsMax is how many rails there are, and so how often progress is told.
const RailsMax = rail.Count

// LimitsFile is the name that generated scenarios know the document by.
const LimitsFile = "limits.yaml"

// Run judges a document, which text is the whole of. The error says that the search
// could not be done, which no valid document brings about.
func Run(ctx context.Context, doc *limits.Document, text []byte, o Options) (*Report, error) {
	equity := of(o.Equity)
	if !equity.positive() {
		equity = whole(startCash)
	}
	l := &linter{ctx: ctx, all: newGrounds(doc, equity), text: text, long: o.Long}
	l.g = l.all[0]
	r := &Report{Schema: Schema, Fingerprint: doc.Fingerprint, Equity: equity.String(), Symbol: l.g.symbol, Rails: []Rail{}, text: text}
	proofs := prove(doc)
	all := rail.All()
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := l.rail(&all[i], proofs)
		if err != nil {
			return nil, err
		}
		r.Rails = append(r.Rails, found)
		if o.Progress != nil {
			o.Progress(i+1, len(all))
		}
	}
	var err error
	if r.Findings, err = l.findings(equity); err != nil {
		return nil, err
	}
	for i := range r.Findings {
		if r.Findings[i].Danger {
			r.Dangers++
		}
	}
	r.Played = l.played
	if o.Page {
		maps, err := l.charts()
		if err != nil {
			return nil, err
		}
		if r.Page, err = r.page(maps).HTML(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// linter plays stories about one document.
type linter struct {
	ctx    context.Context
	all    []*ground // the first is the one of all stories that can be told there
	g      *ground   // all[0]
	text   []byte
	long   bool
	played int
}

// ShortMax is the most orders, fills and other steps that a story is played with unless
// long ones are asked for: a second's work or two.
const ShortMax = 1_500

func (l *linter) rail(r *rail.Rail, proofs map[rail.ID]proof) (Rail, error) {
	out := Rail{Rail: string(r.ID), Family: r.Family, By: []string{}}
	grounds := l.grounds(r.ID)
	if len(grounds) == 0 {
		out.Verdict, out.Because = Off, switchedOff(l.g.doc, l.g.doc.For(""), r.ID)
		return out, nil
	}
	if p, ok := proofs[r.ID]; ok {
		out.Verdict, out.Because = NeverAlone, p.because
		for _, id := range p.by {
			out.By = append(out.By, string(id))
		}
		return out, nil
	}
	nearest := "no story could be made from these limits"
	for _, g := range grounds {
		found, err := l.search(g, r, &out, &nearest)
		if err != nil || found {
			return out, err
		}
	}
	out.Verdict = Undecided
	out.Because = fmt.Sprintf("%d stories were played and no proof holds; the last: %s", out.Tried, nearest)
	return out, nil
}

// grounds are those on which the rail is not off: the symbol of all stories, then each
// symbol with figures of its own.
func (l *linter) grounds(id rail.ID) []*ground {
	var out []*ground
	for _, g := range l.all {
		if switchedOff(g.doc, g.figures, id) == "" {
			out = append(out, g)
		}
	}
	return out
}

// search plays the stories of a rail, the shortest first, until one shows it alone.
func (l *linter) search(g *ground, r *rail.Rail, out *Rail, nearest *string) (found bool, err error) {
	for _, s := range g.stories(r.ID) {
		if len(s.steps) > scenario.StepsMax || s.today > scenario.OrdersTodayMax {
			*nearest = "the shortest story would be longer than a scenario file may be"
			continue
		}
		if n := len(s.steps) + s.today + len(s.open); n > ShortMax && !l.long {
			*nearest = fmt.Sprintf("the shortest story has %d orders and steps; more than %d are played on request (--long)", n, ShortMax)
			continue
		}
		result, err := l.play(s.text(string(r.ID)+" alone", "", alone(r.ID)))
		out.Tried++
		switch {
		case l.ctx.Err() != nil:
			return false, l.ctx.Err()
		case err != nil:
			*nearest = "a story could not be begun: " + err.Error()
			continue
		case !result.Passed():
			*nearest = told(&result)
			continue
		}
		floor := floorOf(g, r.ID)
		out.Verdict, out.Steps, out.Floor, out.Because = Reachable, len(s.steps), floor.steps, floor.because
		out.File, out.Order = string(r.ID)+".yaml", s.words()
		out.Scenario = s.text(string(r.ID)+" alone", aboutOf(r, out), alone(r.ID))
		return true, nil
	}
	return false, nil
}

// alone is what the last step of a story must come to.
func alone(id rail.ID) string {
	return "{verdict: denied, rails: [" + string(id) + "], faults: [], forwarded: 0}"
}

func aboutOf(r *rail.Rail, out *Rail) string {
	what := "In which " + string(r.ID) + " denies, and no other rail does."
	if len(r.Keys) > 0 {
		what += " It reads " + strings.Join(r.Keys, " and ") + "."
	}
	if out.Steps == out.Floor {
		return what + "\nNo scenario has fewer steps: " + out.Because + "."
	}
	return what + "\n" + out.Because + fmt.Sprintf("; so %d steps at the least.", out.Floor)
}

// play runs one story through the real gate.
func (l *linter) play(text string) (scenario.Result, error) {
	l.played++
	list, err := scenario.Load("lint", []byte(text))
	if err != nil {
		return scenario.Result{}, err
	}
	return scenario.Run(l.ctx, list[0], scenario.Options{Document: l.text})
}

// told is what a story came to that did not do what it should.
func told(r *scenario.Result) string {
	for i := range r.Steps {
		s := &r.Steps[i]
		last := i == len(r.Steps)-1
		if s.Verdict != "" && (last || s.Verdict != journal.VerdictAllowed) {
			return fmt.Sprintf("step %d of %d was %s by %s", i+1, len(r.Steps), s.Verdict, strings.Join(slices.Concat(s.Rails, s.Faults), ", "))
		}
	}
	if len(r.Failures) > 0 {
		return r.Failures[0].Text
	}
	return "it ended otherwise"
}

// Files are the scenarios of the reachable rails and of the findings, with the document
// beside them, so that rails test passes in their folder.
func (r *Report) Files() map[string][]byte {
	out := map[string][]byte{LimitsFile: r.text}
	for i := range r.Rails {
		if f := &r.Rails[i]; f.File != "" {
			out[f.File] = []byte(f.Scenario)
		}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.File != "" {
			out[f.File] = []byte(f.Scenario)
		}
	}
	return out
}

// Count says how many rails have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for i := range r.Rails {
		if r.Rails[i].Verdict == v {
			n++
		}
	}
	return n
}
