package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sampleRun mutates the sample package, whose test forgets one boundary.
func sampleRun(t *testing.T) *options {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "test/mutate/testdata/sample"
	return &options{
		root: root, notesDir: t.TempDir(), parallel: 2, targets: []string{"./" + dir},
		suites: []*suite{{name: "sample", path: module + dir, dir: dir, slowest: time.Minute}},
	}
}

// TestThePlantedSurvivorIsFound: of the sample's mutants exactly the one that its test
// cannot see survives.
func TestThePlantedSurvivorIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package")
	}
	o := sampleRun(t)
	var out bytes.Buffer
	if err := o.run(&out, io.Discard); !errors.Is(err, errSurvived) {
		t.Fatalf("run: %v\n%s", err, out.String())
	}
	operators := map[string]bool{}
	for _, m := range o.mutants {
		operators[m.Operator] = true
		planted := m.Func == "Over" && m.Operator == "boundary"
		equivalent := m.Func == "Sum" && (m.Operator == "boundary" || m.Operator == "constant" || m.Operator == "early return") && strings.HasPrefix(m.Source, "if n")
		if alive := m.Outcome == "survived" || m.Outcome == "unreached"; alive != planted && !equivalent {
			t.Errorf("%s:%d %s %q: %s", m.File, m.Line, m.Operator, m.Change, m.Outcome)
		}
	}
	for _, want := range strings.Split("boundary,compare,logic,negate,constant,case,drop,zero,arithmetic,early return", ",") {
		if !operators[want] {
			t.Errorf("no mutant of operator %q", want)
		}
	}
}
