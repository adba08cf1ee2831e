package lint

import (
	"fmt"

	"github.com/broker-rails/broker-rails/internal/report"
)

// Words is the verdict for people.
func (v Verdict) Words() string {
	switch v {
	case Off:
		return "off"
	case NeverAlone:
		return "never alone"
	case Reachable:
		return "reachable"
	}
	return "not decided"
}

// page makes the page for people; maps are asked for by Options.
func (r *Report) page(maps []report.Regions) *report.Page {
	p := &report.Page{
		Title: "What these limits allow",
		Lead:  "Limits " + r.Fingerprint[:min(12, len(r.Fingerprint))] + "…, judged by scenarios through the real gate, in " + r.Symbol + ", for an account worth " + r.Equity + ".",
		Good:  r.Dangers == 0 && r.Count(Undecided) == 0,
		Stats: []report.Stat{
			{Name: "rails that can deny alone", Value: fmt.Sprint(r.Count(Reachable)), Note: "each shown by a scenario"},
			{Name: "never alone", Value: fmt.Sprint(r.Count(NeverAlone)), Note: "proved by arithmetic"},
			{Name: "off", Value: fmt.Sprint(r.Count(Off))},
			{Name: "not decided", Value: fmt.Sprint(r.Count(Undecided))},
		},
		Foot: "Limits " + r.Fingerprint + fmt.Sprintf(". %d scenarios were played. rails limits lint --out DIR writes those that show a rail, and rails test DIR plays them again.", r.Played),
	}
	switch {
	case r.Dangers > 0:
		p.Verdict = fmt.Sprintf("%d dangerous", r.Dangers)
	case !p.Good:
		p.Verdict = "not all decided"
	default:
		p.Verdict = "no danger"
	}
	p.Parts = append(p.Parts, report.Part{
		Title: "Where each limit binds", Regions: maps,
		Note: "Each point is one order, asked about and not placed. Where two names stand, both deny; a limit that never stands alone adds nothing there.",
	})
	findings := &report.Table{Head: []string{"finding", "what", "arithmetic", "hint", "scenario"}}
	for i, f := range r.Findings {
		if f.Danger {
			findings.Bad = append(findings.Bad, i)
		}
		findings.Rows = append(findings.Rows, []string{f.Label(), f.What, f.Arithmetic, f.Hint, f.File})
	}
	if len(findings.Rows) > 0 {
		p.Parts = append(p.Parts, report.Part{Title: "Positions that do not close, and figures at odds", Table: findings, Wrap: true})
	}
	rails := &report.Table{Head: []string{"rail", "verdict", "why", "steps", "scenario"}}
	for i := range r.Rails {
		x := &r.Rails[i]
		steps := ""
		if x.Steps > 0 {
			steps = fmt.Sprint(x.Steps)
		}
		if x.Verdict == Undecided {
			rails.Bad = append(rails.Bad, i)
		}
		rails.Rows = append(rails.Rows, []string{x.Rail, x.Verdict.Words(), x.Why(), steps, x.File})
	}
	p.Parts = append(p.Parts, report.Part{
		Title: "Every rail", Table: rails, Wrap: true,
		Note: "Reachable: a scenario exists in which this rail denies and no other does. Never alone: whatever it denies, another refuses too. The argument beside the steps says why no scenario has fewer.",
	})
	return p
}

// Label is the kind of a finding, with a word where it is dangerous.
func (f *Finding) Label() string {
	if f.Danger {
		return "danger: " + string(f.Kind)
	}
	return string(f.Kind)
}

// Why is the argument of a verdict: the order denied, why it takes so many steps, what
// refuses too.
func (r *Rail) Why() string {
	text := r.Because
	switch {
	case r.Verdict == Reachable && r.Steps == 1:
		return r.Order
	case r.Verdict == Reachable && r.Order != "":
		text = r.Order + "; " + text
	}
	for i, by := range r.By {
		sep := ", "
		if i == 0 {
			sep = "; refused by "
		}
		text += sep + by
	}
	return text
}
