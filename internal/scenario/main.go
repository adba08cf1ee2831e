package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// ErrNothing says that the arguments name no scenario.
var ErrNothing = errors.New("no scenario there: name files of scenarios, or folders that hold some")

// Main runs the files that args name, and the files of folders among them, and reports:
// for people, or with asJSON one line a step and one for each scenario's end. It returns
// how many scenarios failed. The error says that a file could not be read, is not a
// scenario, or could not be begun; the rest has run all the same.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, asJSON bool) (failed int, err error) {
	files, err := find(args)
	if err != nil {
		return 0, err
	}
	p := &printer{out: stdout, asJSON: asJSON}
	var problems []error
	for _, file := range files {
		text, err := read(file)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		scenarios, err := Load(file, text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for i := range scenarios {
			r, err := Run(ctx, scenarios[i], Options{})
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if !r.Passed() {
				failed++
			}
			p.result(&r)
		}
		if err := ctx.Err(); err != nil {
			return failed, err
		}
	}
	p.total(failed, len(problems))
	return failed, errors.Join(append(problems, p.err)...)
}

// read reads a file of bounded size.
func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, FileBytesMax+1))
	if err == nil && len(text) > FileBytesMax {
		err = fmt.Errorf("%s: larger than %d bytes", file, FileBytesMax)
	}
	return text, err
}

// find lists the files to run, sorted within each folder. Of a folder, files that are
// no scenarios are passed over: limits documents, and what is neither YAML nor JSON.
func find(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, arg)
			continue
		}
		var in []string
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && isScenario(path) {
				in = append(in, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		slices.Sort(in)
		out = append(out, in...)
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}

// isScenario reports whether a file of a folder is to be run. One that cannot be read
// is: its problem must be seen.
func isScenario(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
	default:
		return false
	}
	text, err := read(path)
	if err != nil {
		return true
	}
	t, err := strict.Read(path, text)
	if err != nil || t.Shape != strict.Mapping {
		return true
	}
	return !slices.ContainsFunc(t.Keys, func(k *strict.Tree) bool { return k.Text == "version" })
}

// printer writes what scenarios came to. After a write that failed it writes no more.
type printer struct {
	out     io.Writer
	asJSON  bool
	passed  int
	decided int
	err     error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *printer) json(v any) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	p.line("%s", text)
}

// stepLine is one step of a scenario.
type stepLine struct {
	Schema string `json:"schema"`
	*StepResult
}

// end is a scenario's last line.
type end struct {
	Schema    string    `json:"schema"`
	Scenario  string    `json:"scenario"`
	Passed    bool      `json:"passed"`
	Failures  []Failure `json:"failures"`
	Rederived int       `json:"rederived"` // decisions whose verdict was given again
	State     State     `json:"state"`
}

func (p *printer) result(r *Result) {
	if r.Passed() {
		p.passed++
	}
	p.decided += r.Decided
	if p.asJSON {
		for i := range r.Steps {
			p.json(stepLine{"rails.test-step/v1", &r.Steps[i]})
		}
		failures := r.Failures
		if failures == nil {
			failures = []Failure{}
		}
		p.json(end{"rails.test/v1", r.Scenario, r.Passed(), failures, r.Decided, r.State})
		return
	}
	mark := "✓ pass"
	if !r.Passed() {
		mark = "✗ FAIL"
	}
	p.line("%s  %s", mark, strict.Printable(r.Scenario))
	for i := range r.Steps {
		if s := &r.Steps[i]; !r.Asked[i] && s.Verdict != "" {
			p.line("          step %d: %s%s", s.Step, said(s), outcome(s))
		}
	}
	for _, f := range r.Failures {
		switch {
		case f.Step < 0:
			p.line("        %s", f.Text)
		default:
			p.line("        %s:%d: step %d: %s", r.File, f.Line, f.Step, f.Text)
		}
	}
}

func outcome(s *StepResult) string {
	if s.Outcome == "" {
		return ""
	}
	return ", " + s.Outcome
}

func (p *printer) total(failed, unread int) {
	if p.asJSON {
		return
	}
	p.line("")
	p.line("%d passed, %d failed; %d decisions derived again from their journals", p.passed, failed, p.decided)
	if unread > 0 {
		p.line("not run: %d; the reasons are below", unread)
	}
}
