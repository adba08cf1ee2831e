package profile

import (
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Answer to an argument: what a profile does with it.
const (
	Mapped    = "mapped"
	Ignored   = "ignored"
	Forbidden = "forbidden"
	Forced    = "forced"
	Secret    = "secret"
	Parts     = "parts" // a list of legs, or of orders
)

// Described is a tool as a profile has it, for people.
type Described struct {
	Tool       string   `json:"tool"`
	Class      Class    `json:"class"`
	Denied     bool     `json:"denied,omitzero"`
	Standing   bool     `json:"standing,omitzero"`
	Asks       string   `json:"asks,omitzero"`   // the read tool that meets what a call lacks
	OurID      string   `json:"our_id,omitzero"` // the argument that our client order id stands in
	Idempotent bool     `json:"idempotent,omitzero"`
	Lookup     string   `json:"lookup,omitzero"` // the read tool by which an order in doubt is found
	Forms      []Form   `json:"forms,omitzero"`
	Replies    []string `json:"replies,omitzero"`
}

// Form is one way to call a tool. When is empty for a tool with one form.
type Form struct {
	When      string              `json:"when,omitzero"`
	Fixed     string              `json:"fixed,omitzero"` // what the tool itself says
	Arguments []DescribedArgument `json:"arguments"`
	Refuses   []string            `json:"refuses,omitzero"`
}

// DescribedArgument is what a profile does with one argument.
type DescribedArgument struct {
	Name   string `json:"name"`
	Answer string `json:"answer"`          // mapped, ignored, forbidden, forced, secret, parts
	Means  string `json:"means,omitzero"`  // what it decides, with its unit; or the reason
	Type   string `json:"type,omitzero"`   // the JSON that is taken
	Takes  string `json:"takes,omitzero"`  // words or spellings
	Absent string `json:"absent,omitzero"` // what happens without it
}

// Describe returns how a tool is read; not ok when the profile does not name it.
func (p *Profile) Describe(tool string) (d Described, known bool) {
	class, known := p.Class(tool)
	d = Described{Tool: tool, Class: class, Denied: p.Denied(tool)}
	rs := p.ruleset(tool)
	if rs == nil {
		return d, known
	}
	d.Standing, d.Asks, d.OurID, d.Idempotent = rs.standing || rs.class == Conditional, rs.via, rs.inject.name, rs.inject.idempotent
	if rs.lookup != nil {
		d.Lookup = rs.lookup.tool
	}
	if len(rs.variants) == 0 {
		d.Forms = []Form{rs.form("")}
	}
	for i := range rs.variants {
		v := &rs.variants[i]
		d.Forms = append(d.Forms, v.rules.form(v.when.String()))
	}
	d.Replies = rs.result.sentences()
	return d, true
}

func (rs *ruleset) form(when string) Form {
	f := Form{When: when}
	var fixed []string
	for _, w := range rs.set {
		fixed = append(fixed, w.From+" "+w.To)
	}
	f.Fixed = strings.Join(fixed, ", ")
	f.Arguments = rs.describeAll("")
	for _, r := range rs.refuse {
		f.Refuses = append(f.Refuses, string(r.reason)+" when "+r.when.String())
	}
	return f
}

func (rs *ruleset) describeAll(within string) (out []DescribedArgument) {
	for i := range rs.args {
		a := rs.args[i].describe()
		a.Name = within + a.Name
		out = append(out, a)
	}
	for _, f := range rs.force {
		out = append(out, DescribedArgument{Name: within + f.name, Answer: Forced, Takes: string(f.to.appendTo(nil))})
	}
	for _, n := range rs.ignore {
		out = append(out, DescribedArgument{Name: within + n.name, Answer: Ignored, Means: n.reason})
	}
	for _, n := range rs.forbid {
		out = append(out, DescribedArgument{Name: within + n.name, Answer: Forbidden, Means: strings.TrimPrefix(n.reason, "unmapped: ")})
	}
	for _, n := range rs.secret {
		out = append(out, DescribedArgument{Name: within + n, Answer: Secret, Means: "a credential, which no call may carry"})
	}
	for _, l := range []*list{rs.legs, rs.basket} {
		if l == nil {
			continue
		}
		means := "legs of one order"
		if l == rs.basket {
			means = "orders, all or none"
		}
		out = append(out, DescribedArgument{Name: within + l.in, Answer: Parts, Means: means, Absent: "refuse"})
		out = append(out, l.rules.describeAll(within+l.in+".")...)
	}
	return out
}

func (a *argument) describe() DescribedArgument {
	d := DescribedArgument{Name: a.name, Answer: Mapped, Means: a.to, Type: a.kind, Absent: a.absent}
	switch {
	case a.to == "none":
		d.Means = "chosen from the words, and read by conditions"
	case a.unit != "":
		d.Means += " in " + a.unit
	}
	for i := range a.units {
		d.Means += "; in " + a.units[i].unit + " when " + a.units[i].when.String()
	}
	if a.sign {
		d.Means += "; its sign is the side"
	}
	if a.fallback != "" {
		d.Absent = "default " + a.fallback
	}
	if a.nullable {
		d.Type += " or null"
	}
	var takes []string
	for _, w := range a.words {
		if w.From == w.To || a.to == "none" {
			takes = append(takes, w.From)
		} else {
			takes = append(takes, w.From+" = "+w.To)
		}
	}
	takes = append(takes, a.spelling...)
	if a.id != "" {
		takes = append(takes, "id: "+a.id)
	}
	d.Takes = strings.Join(takes, ", ")
	return d
}

// String writes a condition as words.
func (c *condition) String() string {
	var parts []string
	for _, w := range c.is {
		parts = append(parts, w.name+" is "+strings.Join(w.words, " or "))
	}
	for _, n := range c.present {
		parts = append(parts, n+" is given")
	}
	if len(c.presentAny) > 0 {
		parts = append(parts, strings.Join(c.presentAny, " or ")+" is given")
	}
	for _, n := range c.absent {
		parts = append(parts, n+" is not given")
	}
	return strings.Join(parts, " and ")
}

// sentences are the rules of a reply in their order.
func (rs *result) sentences() (out []string) {
	if rs == nil {
		return nil
	}
	for i := range rs.rules {
		r := &rs.rules[i]
		c := condition{is: r.is, present: r.has, absent: r.lacks}
		when := []string{}
		if r.isError {
			when = append(when, "it is an error")
		}
		if s := c.String(); s != "" {
			when = append(when, s)
		}
		if r.textIs != "" {
			when = append(when, "the text is "+r.textIs)
		}
		if r.prefix != "" {
			when = append(when, "the text begins with "+r.prefix)
		}
		out = append(out, string(r.outcome)+" when "+strings.Join(when, " and "))
	}
	return append(out, "in_doubt else")
}

// Nearest returns the known name that was probably meant; empty when none is near.
func Nearest(text string, known []string) string { return strict.Nearest(text, known) }

// Mapped returns the tools that are read by rules, sorted.
func (p *Profile) Mapped() []string {
	out := make([]string, 0, len(p.tools))
	for _, rs := range p.tools {
		out = append(out, rs.tool)
	}
	return out
}

// Counts returns how many tools the profile reads, maps and denies.
func (p *Profile) Counts() (reads, mapped, denied int) {
	return len(p.read), len(p.tools), len(p.denied)
}

// ByClass returns the tools of each class, classes and names sorted; reads stand first and
// denied classes last.
func (p *Profile) ByClass() (out []ClassTools) {
	add := func(c Class, denied bool, tool string) {
		i := slices.IndexFunc(out, func(t ClassTools) bool { return t.Class == c && t.Denied == denied })
		if i < 0 {
			i, out = len(out), append(out, ClassTools{Class: c, Denied: denied})
		}
		out[i].Tools = append(out[i].Tools, tool)
	}
	for _, t := range p.read {
		add(Read, false, t)
	}
	for _, rs := range p.tools {
		add(rs.class, false, rs.tool)
	}
	for _, d := range p.denied {
		add(d.class, true, d.tool)
	}
	for i := range out {
		slices.Sort(out[i].Tools)
	}
	return out
}

// ClassTools are the tools of one class.
type ClassTools struct {
	Class  Class    `json:"class"`
	Denied bool     `json:"denied,omitzero"`
	Tools  []string `json:"tools"`
}
