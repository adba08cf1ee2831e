package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/profile"
)

type profileTestView struct {
	Schema   string           `json:"schema"`
	Profiles []profileTestRow `json:"profiles"`
	Failed   int              `json:"failed"`
}

type profileTestRow struct {
	ID         string             `json:"id"`
	Calls      int                `json:"calls"`
	Replies    int                `json:"replies"`
	Mismatches []profile.Mismatch `json:"mismatches"`
}

func (a *app) profileTest(f *profileFlags, args []string) error {
	ids := args
	if len(ids) == 0 {
		all, err := f.ids()
		if err != nil {
			return err
		}
		ids = all
	}
	view := profileTestView{Schema: "rails.profile_test/v1", Profiles: []profileTestRow{}}
	for _, id := range ids {
		p, err := f.load(id)
		if err != nil {
			return err
		}
		v, err := f.vectors(id)
		switch {
		case err != nil:
			return err
		case v == nil && len(args) == 1:
			return failed("they go to "+filepath.Join(f.dir, "vectors", id+".json")+"; docs/profiles.md has their form", "%s has no vectors", id)
		case v == nil:
			continue
		}
		row := profileTestRow{ID: id, Calls: len(v.Calls), Replies: len(v.Replies), Mismatches: v.Run(p)}
		view.Failed += len(row.Mismatches)
		view.Profiles = append(view.Profiles, row)
	}
	if a.flags.json {
		if err := a.out.json(view); err != nil {
			return err
		}
	} else {
		a.printProfileTest(&view)
	}
	switch {
	case len(view.Profiles) == 0:
		return failed("they go to vectors/ID.json beside the profiles; docs/profiles.md has their form", "no profile of %s has vectors", f.dir)
	case view.Failed > 0:
		return silently(exitDenied)
	}
	return a.out.failed
}

func (a *app) printProfileTest(v *profileTestView) {
	t := columns("PROFILE", ">CALLS", ">REPLIES", "RESULT")
	for i := range v.Profiles {
		row := &v.Profiles[i]
		result := "as expected"
		if n := len(row.Mismatches); n > 0 {
			result = plural(n, "answer is another", "answers are others")
		}
		t.add(row.ID, strconv.Itoa(row.Calls), strconv.Itoa(row.Replies), result)
	}
	a.out.table(t, "")
	for i := range v.Profiles {
		row := &v.Profiles[i]
		for _, m := range row.Mismatches {
			a.out.line("")
			a.out.line(a.out.bad(row.ID + ": " + m.Vector + ": " + m.What))
			a.out.line("  expected  ", orNothing(m.Want))
			a.out.line("  got       ", orNothing(m.Got))
		}
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

type profileCheckView struct {
	Schema      string               `json:"schema"`
	Profile     string               `json:"profile"`
	Differences []profile.Difference `json:"differences"`
}

func (a *app) profileCheck(f *profileFlags, id string) error {
	p, err := f.load(id)
	if err != nil {
		return err
	}
	if f.tools == "" {
		return usage("rails profile check "+id+" --tools FILE, where the file is the result of tools/list", "the server's list of tools is missing")
	}
	list, err := a.toolList(f.tools)
	if err != nil {
		return err
	}
	found, err := p.Compare(list)
	if err != nil {
		return &failure{code: exitFailed, what: f.tools, err: err}
	}
	if a.flags.json {
		err = a.out.json(profileCheckView{Schema: "rails.profile_check/v1", Profile: p.ID, Differences: slices.Concat([]profile.Difference{}, found)})
	} else {
		err = a.printProfileCheck(p, found)
	}
	if err == nil && len(found) > 0 {
		return silently(exitFailed)
	}
	return err
}

func (a *app) printProfileCheck(p *profile.Profile, found []profile.Difference) error {
	if len(found) == 0 {
		a.out.line(a.out.good("The server's tools are those that " + p.ID + " was written for."))
		return a.out.failed
	}
	t := columns("WHAT", "TOOL", "CLASS", "ARGUMENT", "NOTE")
	for _, d := range found {
		note := d.Note
		switch d.Kind {
		case profile.Added:
			note = "refused: the profile does not name it"
		case profile.Removed:
			note = "the server no longer lists it"
		case profile.Twice:
			note = "two tools of one name"
		}
		t.add(d.Kind, d.Tool, string(d.Class), d.Argument, note)
	}
	a.out.table(t, "")
	a.out.line("")
	a.out.text(plural(len(found), "difference", "differences") + ". What " + p.ID + " does not know stays refused; a changed default or type needs a look before orders go on.")
	return a.out.failed
}

// toolList reads a server's list of tools, from a file or standard input.
func (a *app) toolList(name string) ([]byte, error) {
	in := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, failed("the file is the result of tools/list, as JSON", "%s cannot be read", name)
		}
		defer func() { _ = file.Close() }() // read only: nothing can be lost
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, profile.ListBytesMax+1))
	if err != nil {
		return nil, &failure{code: exitFailed, what: name, err: err}
	}
	return text, nil
}
