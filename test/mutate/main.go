// Command mutate breaks the packages that judge orders, one small change at a time, and
// says which changes no test sees.
//
// Every mutant of a package stands in one instrumented build, which only the compiler
// sees, and a variable of the environment says which one is alive. So there is one
// compilation a package, not one a mutant.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// survived is the exit code for a survivor that no file names, or a stale name.
const survived = 4

func main() {
	o := options{parallel: 2}
	flag.BoolVar(&o.json, "json", false, "print every mutant as JSON")
	flag.BoolVar(&o.own, "own", false, "run only the tests of the mutant's own package")
	flag.BoolVar(&o.each, "v", false, "tell each mutant's outcome as it is known")
	flag.BoolVar(&o.onlyOpen, "open", false, "only the mutants that open.txt names")
	flag.StringVar(&o.only, "func", "", "only mutants of the functions with this in their name")
	flag.StringVar(&o.keep, "keep", "", "write the instrumented build into this folder and leave it there")
	flag.IntVar(&o.parallel, "parallel", 2, "test processes at a time")
	flag.Parse()
	o.packages = flag.Args()
	if len(o.packages) == 0 {
		o.packages = []string{"rail", "risk", "account"}
	}
	root, err := os.Getwd()
	if err == nil {
		o.root = root
		o.notesDir = filepath.Join(root, "test", "mutate")
		o.targets, o.suites = shipped(o.packages, o.own)
		err = o.run(os.Stdout, os.Stderr)
	}
	switch {
	case err == nil:
	case errors.Is(err, errSurvived):
		os.Exit(survived)
	default:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

const module = "github.com/broker-rails/broker-rails/"

// shipped are the packages that are mutated, and the suites that may kill. Later suites
// see only what the earlier ones let live.
func shipped(names []string, own bool) (targets []string, suites []*suite) {
	for _, n := range names {
		targets = append(targets, "./internal/"+n)
	}
	rapid := []string{"-rapid.seed=1", "-rapid.checks=60", "-rapid.nofailfile"}
	all := []*suite{
		{name: "rail", path: module + "internal/rail", dir: "internal/rail", flags: rapid, slowest: 5 * time.Second},
		{name: "risk", path: module + "internal/risk", dir: "internal/risk", flags: rapid, slowest: 5 * time.Second},
		{name: "account", path: module + "internal/account", dir: "internal/account", flags: rapid, slowest: 2 * time.Second},
		{name: "gate", path: module + "internal/gate", dir: "internal/gate", flags: rapid, slowest: 400 * time.Millisecond},
		{name: "cases", path: "./cmd/rails", dir: ".", command: []string{"test", "testdata/cases"}, slowest: 20 * time.Second},
	}
	if !own {
		return targets, all
	}
	for _, s := range all {
		for _, n := range names {
			if s.name == n {
				suites = append(suites, s)
			}
		}
	}
	return targets, suites
}

type options struct {
	root, notesDir  string
	packages        []string
	targets         []string
	suites          []*suite
	json, own       bool
	onlyOpen, each  bool
	only, keep      string
	parallel        int
	mutants         []*mutant
	leftOut         map[string]int
	notCompiled     map[string]int
	unusable        []string
	explained, open *notes
}

var errSurvived = errors.New("survivors that no file names")

func (o *options) run(out, progress io.Writer) (err error) {
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "mutate"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if o.explained, err = readNotes(filepath.Join(o.notesDir, "explained.txt")); err != nil {
		return err
	}
	if o.open, err = readNotes(filepath.Join(o.notesDir, "open.txt")); err != nil {
		return err
	}
	start := time.Now()
	if err := o.build(dir); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(progress, "built %d mutants into %d suites in %s\n", len(o.mutants), len(o.suites), time.Since(start).Round(time.Second))
	ids := 0
	for _, m := range o.mutants {
		ids = max(ids, m.ID)
	}
	trials, unusable, err := measure(dir, o.suites, ids, o.parallel)
	if err != nil {
		return err
	}
	o.unusable = unusable
	_, _ = fmt.Fprintf(progress, "%d tests measured, %d left out, %s\n", len(trials), len(unusable), time.Since(start).Round(time.Second))
	wanted := o.mutants[:0:0]
	for _, m := range o.mutants {
		if _, named := o.open.reasons[m.key()]; strings.Contains(m.Func, o.only) && (named || !o.onlyOpen) {
			wanted = append(wanted, m)
		}
	}
	o.mutants = wanted
	const every = 200
	done := make(chan struct{}, len(wanted))
	each(len(wanted), o.parallel, func(i int) {
		judge(wanted[i], o.suites, trials)
		if m := wanted[i]; o.each {
			_, _ = fmt.Fprintf(progress, "%s %d %s %s:%d %s %s\n", m.Outcome, m.ID, m.Package, m.File, m.Line, m.Operator, m.KilledBy)
		}
		done <- struct{}{}
		if n := len(done); n%every == 0 {
			_, _ = fmt.Fprintf(progress, "%d of %d, %s\n", n, len(wanted), time.Since(start).Round(time.Second))
		}
	})
	return o.report(out)
}

// build instruments the packages and compiles the suites. What the compiler refuses is
// taken out, and it is asked again.
func (o *options) build(dir string) error {
	skip := map[int]bool{}
	o.leftOut, o.notCompiled = map[string]int{}, map[string]int{}
	sources, err := load(context.Background(), o.root, o.targets)
	if err != nil {
		return err
	}
	for _, s := range o.suites {
		s.bin = filepath.Join(dir, s.name+".bin")
		s.dir = filepath.Join(o.root, s.dir)
	}
	const rounds = 8
	for range rounds {
		next := 0
		o.mutants = nil
		var plans []*plan
		for _, s := range sources {
			p := planOf(o.root, s, &next, skip)
			o.leftOut[s.name] = p.leftOut
			o.mutants = append(o.mutants, p.mutants...)
			plans = append(plans, p)
		}
		overlay, err := writeOverlay(dir, plans)
		if err != nil {
			return err
		}
		refused, err := o.compile(overlay, skip)
		if err != nil {
			return err
		}
		if !refused {
			return nil
		}
	}
	return errors.New("the instrumented build still does not compile")
}

func (o *options) compile(overlay string, skip map[int]bool) (refused bool, err error) {
	for _, s := range o.suites {
		text, err := s.build(context.Background(), o.root, overlay)
		if err == nil {
			continue
		}
		for _, m := range compileError().FindAllStringSubmatch(text, -1) {
			for _, x := range o.mutants {
				if x.Package == m[1] && filepath.Base(x.File) == m[2] && fmt.Sprint(x.Line) == m[3] && !skip[x.ID] {
					skip[x.ID], refused = true, true
					o.notCompiled[x.Package]++
				}
			}
		}
		if !refused {
			return false, fmt.Errorf("build %s: %w\n%s", s.name, err, text)
		}
		return true, nil
	}
	return false, nil
}
