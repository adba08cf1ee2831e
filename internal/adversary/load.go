package adversary

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

//go:embed cases/*.yaml
var shipped embed.FS

// Shipped returns the cases that come with the product, in the order of their files.
func Shipped() ([]Case, error) { return fromFolder(shipped, "cases", "") }

// FromFolder returns the cases of the YAML files of a folder, not of folders in it; of a
// file, its own.
func FromFolder(dir string) ([]Case, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		cases, err := readCases(os.DirFS(filepath.Dir(dir)), filepath.Base(dir), dir)
		if err != nil {
			return nil, err
		}
		return cases, Distinct(cases)
	}
	cases, err := fromFolder(os.DirFS(dir), ".", dir)
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%s: no file of cases there (*.yaml): %w", dir, fs.ErrNotExist)
	}
	return cases, err
}

func fromFolder(in fs.FS, dir, shown string) ([]Case, error) {
	names, err := fs.Glob(in, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(in, dir); err != nil {
		return nil, err
	}
	if len(names) > FilesMax {
		return nil, fmt.Errorf("%s: more than %d files of cases", shown, FilesMax)
	}
	slices.Sort(names)
	var out []Case
	for _, name := range names {
		cases, err := readCases(in, name, filepath.Join(shown, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		out = append(out, cases...)
	}
	return out, Distinct(out)
}

// readCases reads one file; shown is its name for people.
func readCases(in fs.FS, name, shown string) ([]Case, error) {
	info, err := fs.Stat(in, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limits.DocumentBytesMax {
		return nil, fmt.Errorf("%s: larger than %d bytes", shown, limits.DocumentBytesMax)
	}
	text, err := fs.ReadFile(in, name)
	if err != nil {
		return nil, err
	}
	return Load(shown, text)
}

// Distinct refuses two cases of one name: a report names a case by it.
func Distinct(cases []Case) error {
	seen := map[string]string{}
	for i := range cases {
		c := &cases[i]
		if first, twice := seen[c.Name]; twice {
			return fmt.Errorf("%s: the case %q stands in %s already", c.File, c.Name, first)
		}
		seen[c.Name] = c.File
	}
	return nil
}

// Load reads a file: a list of cases, strictly. Errors are limits.Errors.
func Load(name string, text []byte) ([]Case, error) {
	t, err := strict.Read(name, text)
	if err != nil {
		return nil, err
	}
	r := &reader{strict.Reader{Problems: strict.Problems{Name: name}}}
	items := r.items(t, "", CasesMax)
	out := make([]Case, 0, len(items))
	for i, item := range items {
		out = append(out, r.caseOf(item, fmt.Sprintf("[%d]", i)))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// beginsAt is a Wednesday, 11:00 in New York.
func beginsAt() time.Time { return time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC) }

// plainBegin is the account of a case that says nothing of it.
func plainBegin() begin { return begin{at: beginsAt(), cash: money.NotionalFromInt(100_000)} }

func (r *reader) caseOf(t *strict.Tree, path string) Case {
	f := r.Fields(t, path, "channel", "name", "why", "limits", "at", "cash", "instruments", "before", "attack", "world", "twin", "no_twin")
	c := Case{
		Channel: f.NeedPlain("channel"), Name: f.NeedPlain("name"), Why: f.NeedPlain("why"), File: r.Name,
		limits: f.At("limits"), noTwin: f.Plain("no_twin"), world: r.world(f.At("world"), f.Path("world")),
		begin: plainBegin(),
	}
	if c.Channel != Direct && c.Channel != Protocol && c.Channel != Injection {
		f.Refuse("channel", "is none of direct, protocol, injection", "")
	}
	if at := f.At("at"); at != nil {
		instant, err := time.Parse(time.RFC3339, at.Text)
		if err != nil {
			f.Refuse("at", "is not an instant such as 2026-03-18T15:00:00Z", "")
		}
		c.begin.at = instant.UTC()
	}
	if cash := f.At("cash"); cash != nil {
		c.begin.cash = figure(r, cash, f.Path("cash"), money.ParseNotional)
	}
	c.begin.instruments = r.instruments(f.At("instruments"), f.Path("instruments"))
	c.before, c.attack, c.twin = r.steps(f, "before"), r.steps(f, "attack"), r.steps(f, "twin")
	if c.Name == "" || c.Why == "" {
		f.Refuse("name", "or why is empty: a report shows both", "")
	}
	refused := slices.ContainsFunc(c.attack, func(s step) bool { return len(s.expect) > 0 })
	switch {
	case !refused && !c.world.held:
		f.Refuse("attack", "holds no call that must be refused", "")
	case len(c.attack) == 0:
		f.Refuse("attack", "is missing", "")
	case len(c.twin) == 0 && c.noTwin == "":
		f.Refuse("twin", "is missing: a benign call that must pass, or say why there is none with no_twin", "")
	case len(c.twin) > 0 && c.noTwin != "":
		f.Refuse("no_twin", "stands beside a twin", "")
	case len(c.twin) > 0 && !slices.ContainsFunc(c.twin, func(s step) bool { return s.calls() || s.kind == kindRead }):
		f.Refuse("twin", "holds no call", "")
	}
	for _, s := range append(slices.Clone(c.before), c.twin...) {
		if len(s.expect) > 0 || s.free {
			f.Refuse("expect", "stands in before or twin, where every call must pass; free as well", "")
		}
	}
	if !c.world.held && slices.ContainsFunc(c.attack, func(s step) bool { return s.free }) {
		f.Refuse("free", "stands in a case whose world is not held", "")
	}
	return c
}

func (r *reader) world(t *strict.Tree, path string) (w world) {
	if t == nil {
		return w
	}
	f := r.Fields(t, path, "fills", "shares", "held")
	w.held = f.Flag("held")
	if f.At("fills") != nil {
		n := f.Count("fills", 0, RepeatMax)
		w.fills = &n
	}
	if f.At("shares") != nil {
		w.shares = map[string]money.Quantity{}
		for _, pair := range f.Pairs("shares", entriesMax) {
			w.shares[pair.Key] = figure(r, pair.Value, f.Path("shares"), money.ParseQuantity)
		}
	}
	return w
}

// title is a name for a place in a report, on one line.
func title(text string) string { return strings.Join(strings.Fields(text), " ") }
