package cli

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/profiles"
)

// profilesMax is how many profiles one folder may hold.
const profilesMax = 256

type profileFlags struct{ dir, tools string }

func (a *app) profileCommand() *cobra.Command {
	var f profileFlags
	list := &cobra.Command{
		Use: "list", Short: "List the profiles, and how much of its broker each reads", Args: none,
		Long: "Every profile with its broker and how many tools it reads, maps and denies. full: orders are\n" +
			"mapped, and vectors beside the profile are tested; part: some tools are mapped; reads only:\n" +
			"known reads pass, everything else is denied.",
		RunE: func(*cobra.Command, []string) error { return a.profileList(&f) },
	}
	show := &cobra.Command{
		Use: "show ID [TOOL]", Short: "Show a profile, or how it reads one tool", Args: between(1, 2, "a profile's id, and at most one tool"),
		Example: "rails profile show alpaca-v2\nrails profile show alpaca-v2 place_stock_order",
		RunE:    func(_ *cobra.Command, args []string) error { return a.profileShow(&f, args) },
	}
	test := &cobra.Command{
		Use: "test [ID]", Short: "Run the vectors beside the profiles", Args: atMost(1, "at most one profile's id"),
		Long: "Gives each call of a profile's vectors to the profile and compares what it is read as and what\n" +
			"would be forwarded, and each reply with what it must prove. Nothing is sent anywhere. Another\n" +
			"answer than expected is exit code 4.",
		RunE: func(_ *cobra.Command, args []string) error { return a.profileTest(&f, args) },
	}
	check := &cobra.Command{
		Use: "check ID", Short: "Compare a server's list of tools with a profile", Args: exactly(1, "a profile's id"),
		Long: "Reads the result of tools/list from a file and says what a profile does not know of it: tools\n" +
			"added or removed, arguments without an answer or gone, defaults and types that changed. What is\n" +
			"not known is refused in any case. A difference is exit code 1.",
		Example: "rails profile check alpaca-v2 --tools tools.json",
		RunE:    func(_ *cobra.Command, args []string) error { return a.profileCheck(&f, args[0]) },
	}
	check.Flags().StringVar(&f.tools, "tools", "", "file with the result of tools/list; - is standard input")
	g := group("profile", "Look at how brokers' tools are read, and test it", list, show, test, check, a.profileApproveCommand())
	g.PersistentFlags().StringVar(&f.dir, "dir", "", "folder with profiles of your own, and vectors/ID.json in it (default: the shipped ones)")
	return g
}

// between is cobra's, with our exit code.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return usage("see "+c.CommandPath()+" --help", "%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

// folder is where profiles are taken from.
func (f *profileFlags) folder() fs.FS {
	if f.dir == "" {
		return profiles.Files()
	}
	return os.DirFS(f.dir)
}

func (f *profileFlags) ids() ([]string, error) {
	names, err := fs.Glob(f.folder(), "*.yaml")
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, failed("a profile is a file that ends in .yaml; docs/profiles.md says how to write one", "%s holds no profile", f.dir)
	case len(names) > profilesMax:
		return nil, failed("", "%s holds more than %d profiles", f.dir, profilesMax)
	}
	for i, n := range names {
		names[i] = strings.TrimSuffix(n, ".yaml")
	}
	slices.Sort(names)
	return names, nil
}

// read reads one file of the folder, up to the limit of a document.
func (f *profileFlags) read(name string) ([]byte, error) {
	info, err := fs.Stat(f.folder(), name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > profile.DocumentBytesMax {
		return nil, failed("", "%s is no file of at most %d bytes", filepath.Join(f.dir, name), profile.DocumentBytesMax)
	}
	return fs.ReadFile(f.folder(), name)
}

func (f *profileFlags) load(id string) (*profile.Profile, error) {
	text, err := []byte(nil), fs.ErrNotExist
	if fs.ValidPath(id) && !strings.Contains(id, "/") {
		text, err = f.read(id + ".yaml")
	}
	if errors.Is(err, fs.ErrNotExist) {
		hint := "rails profile list shows them; --dir FOLDER takes your own"
		if ids, err := f.ids(); err == nil {
			if near := profile.Nearest(id, ids); near != "" {
				hint = "did you mean " + near + "?"
			}
		}
		return nil, usage(hint, "no profile is called %q", id)
	}
	if err != nil {
		return nil, err
	}
	p, err := profile.Load(filepath.Join(f.dir, id+".yaml"), text)
	if err != nil {
		return nil, &failure{code: exitFailed, err: err, hint: "docs/profiles.md has every word of the language"}
	}
	return p, nil
}

// vectors returns the vectors beside a profile; nil when there are none.
func (f *profileFlags) vectors(id string) (*profile.Vectors, error) {
	name := path.Join("vectors", id+".json")
	text, err := f.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	v, err := profile.LoadVectors(text)
	if err != nil {
		return nil, &failure{code: exitFailed, what: filepath.Join(f.dir, name), err: err}
	}
	return v, nil
}

type profileListView struct {
	Schema   string           `json:"schema"`
	Profiles []profileRowView `json:"profiles"`
}

type profileRowView struct {
	ID          string `json:"id"`
	Broker      string `json:"broker"`
	Coverage    string `json:"coverage"` // full, part or reads
	Reads       int    `json:"reads"`
	Mapped      int    `json:"mapped"`
	Denied      int    `json:"denied"`
	Vectors     int    `json:"vectors"`
	Fingerprint string `json:"fingerprint"`
}

func (f *profileFlags) row(id string) (*profileRowView, *profile.Profile, error) {
	p, err := f.load(id)
	if err != nil {
		return nil, nil, err
	}
	v, err := f.vectors(id)
	if err != nil {
		return nil, nil, err
	}
	row := &profileRowView{ID: p.ID, Broker: p.Broker, Fingerprint: p.Fingerprint, Coverage: "full"}
	row.Reads, row.Mapped, row.Denied = p.Counts()
	if v != nil {
		row.Vectors = len(v.Calls) + len(v.Replies)
	}
	switch {
	case row.Mapped == 0:
		row.Coverage = "reads"
	case row.Vectors == 0:
		row.Coverage = "part"
	}
	return row, p, nil
}

func (a *app) profileList(f *profileFlags) error {
	ids, err := f.ids()
	if err != nil {
		return err
	}
	view := profileListView{Schema: "rails.profile_list/v1"}
	t := columns("PROFILE", "COVERAGE", ">READ", ">MAPPED", ">DENIED", "BROKER")
	for _, id := range ids {
		row, _, err := f.row(id)
		if err != nil {
			return err
		}
		view.Profiles = append(view.Profiles, *row)
		coverage := map[string]string{"full": "full", "part": "part", "reads": "reads only"}[row.Coverage]
		t.add(row.ID, coverage, strconv.Itoa(row.Reads), strconv.Itoa(row.Mapped), strconv.Itoa(row.Denied), row.Broker)
	}
	if a.flags.json {
		return a.out.json(view)
	}
	a.out.table(t, "")
	a.out.line("")
	a.out.text("A tool that a profile does not name is refused. How one tool is read: rails profile show ID TOOL")
	return a.out.failed
}
