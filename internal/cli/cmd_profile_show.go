package cli

import (
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/internal/profile"
)

type profileShowView struct {
	Schema string `json:"schema"`
	profileRowView
	Servers     []string             `json:"servers,omitzero"`
	Prefixes    []string             `json:"prefixes,omitzero"`
	Environment string               `json:"environment,omitzero"`
	Classes     []profile.ClassTools `json:"classes"`
}

type profileToolView struct {
	Schema  string `json:"schema"`
	Profile string `json:"profile"`
	profile.Described
}

func (a *app) profileShow(f *profileFlags, args []string) error {
	row, p, err := f.row(args[0])
	if err != nil {
		return err
	}
	if len(args) == 2 {
		return a.profileTool(p, args[1])
	}
	v := profileShowView{
		Schema: "rails.profile/v1", profileRowView: *row, Servers: p.Servers, Prefixes: p.Prefixes, Environment: p.Environment.Value, Classes: p.ByClass(),
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.out.field("profile", a.out.strong(v.ID))
	a.out.field("broker", v.Broker)
	a.out.field("environment", environmentWords(&p.Environment))
	if len(v.Servers) > 0 {
		a.out.field("server", strings.Join(v.Servers, ", "))
	}
	a.out.field("tools", strconv.Itoa(v.Reads), " read, ", strconv.Itoa(v.Mapped), " mapped, ", strconv.Itoa(v.Denied), " denied; every other is refused")
	a.out.field("vectors", strconv.Itoa(v.Vectors))
	a.out.field("fingerprint", v.Fingerprint)
	a.out.line("")
	t := columns("CLASS", "ANSWER", "TOOLS")
	for _, c := range v.Classes {
		answer := "mapped"
		switch {
		case c.Denied:
			answer = "denied"
		case c.Class == profile.Read:
			answer = "passes"
		}
		t.add(string(c.Class), answer, strings.Join(c.Tools, ", "))
	}
	a.out.table(t, "")
	return a.out.failed
}

func environmentWords(e *profile.Environment) string {
	switch {
	case e.Argument != "":
		return "said by each order's " + e.Argument
	case e.Tool != "":
		return "asked of " + e.Tool + " once a session"
	case e.Value != "":
		return e.Value + ", by the server's set-up"
	}
	return "not known"
}

func (a *app) profileTool(p *profile.Profile, tool string) error {
	d, known := p.Describe(tool)
	if !known {
		hint := "rails profile show " + p.ID + " lists its tools; any other is refused"
		if near := profile.Nearest(tool, p.Tools()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return failed(hint, "%s does not name the tool %q: calls of it are refused", p.ID, tool)
	}
	if a.flags.json {
		return a.out.json(profileToolView{Schema: "rails.profile_tool/v1", Profile: p.ID, Described: d})
	}
	a.out.field("tool", a.out.strong(d.Tool), ", of ", p.ID)
	a.out.field("class", string(d.Class))
	switch {
	case d.Denied:
		a.out.field("answer", "denied, whatever its arguments")
	case d.Class == profile.Read:
		a.out.field("answer", "passes, with any arguments")
	case d.Standing:
		a.out.field("answer", "read and denied: it would place orders later, unseen")
	}
	if d.Asks != "" {
		a.out.field("asks first", d.Asks)
	}
	if d.OurID != "" {
		again := "a label: the server takes one for many orders"
		if d.Idempotent {
			again = "the server takes one for one order only"
		}
		a.out.field("our id", d.OurID, " (", again, ")")
	}
	if d.Lookup != "" {
		a.out.field("in doubt", "found by ", d.Lookup)
	}
	for i := range d.Forms {
		a.profileForm(&d.Forms[i], len(d.Forms) > 1)
	}
	if len(d.Replies) > 0 {
		a.out.line("")
		a.out.line(a.out.strong("A reply is"))
		for _, s := range d.Replies {
			a.out.hanging("  ", s)
		}
	}
	return a.out.failed
}

func (a *app) profileForm(f *profile.Form, several bool) {
	a.out.line("")
	if several {
		a.out.line(a.out.strong("When " + f.When))
	}
	if f.Fixed != "" {
		a.out.hanging("", "The tool itself says: "+f.Fixed)
	}
	t := columns("ARGUMENT", "ANSWER", "IF ABSENT", "TYPE", "MEANS")
	for _, d := range f.Arguments {
		means := d.Means
		if d.Takes != "" {
			means = strings.TrimPrefix(means+": "+d.Takes, ": ")
		}
		t.add(d.Name, d.Answer, d.Absent, d.Type, means)
	}
	a.out.table(t, "")
	for _, r := range f.Refuses {
		a.out.hanging("  ", "refused as "+r)
	}
}
