package archtest

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shortened finds a test, not a benchmark, that asks for -short.
var shortened = regexp.MustCompile(`func Test\w+\(t \*testing\.T\) \{[^}]*testing\.Short\(\)`)

// TestWhatIsShortenedRunsInFull: the Makefile shortens the tests that run under the race
// detector, so each package whose tests heed that must also run elsewhere.
func TestWhatIsShortenedRunsInFull(t *testing.T) {
	inFull := slices.Concat(listed(t, "ALONE"), listed(t, "LONG"), []string{"archtest", "drill", "faults"})
	found := 0
	for _, pattern := range []string{"*", "*/*"} {
		for rel, source := range sources(t, pattern) {
			if !shortened.Match(source) {
				continue
			}
			found++
			if dir := path.Dir(rel); !slices.Contains(inFull, dir) {
				t.Errorf("internal/%s is shortened and never runs in full: add it to LONG", dir)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d files are shortened: they are no longer found", found)
	}
}

// TestWhatRunsAloneStartsNothing: the packages that the Makefile keeps from the race
// detector hold nothing for it to find.
func TestWhatRunsAloneStartsNothing(t *testing.T) {
	for _, name := range listed(t, "ALONE") {
		m, all := &Module{Fset: snippetFset}, sources(t, name)
		if len(all) == 0 {
			t.Errorf("internal/%s holds no source", name)
		}
		for rel, source := range all {
			if err := m.add(rel, string(source)); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range m.Files {
			if !f.Test() && starts(f.Syntax) {
				t.Errorf("%s starts a goroutine: take its package out of ALONE", f.Rel)
			}
		}
	}
}

// listed returns a list of the Makefile.
func listed(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + name + ` := (.+)$`).FindSubmatch(text)
	if line == nil {
		t.Fatalf("the Makefile no longer has the list %s", name)
	}
	return strings.Fields(string(line[1]))
}

// sources returns the Go files of folders in internal, by their path there.
func sources(t *testing.T, folders string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folders, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimPrefix(filepath.ToSlash(file), "../")] = text
	}
	return out
}

func TestStartingCanBeSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"package x\nfunc f() { go f() }\n": true, "package x\nfunc f(w group) { w.Go(nil) }\n": true, "package x\nfunc f() { f() }\n": false,
	} {
		m := &Module{Fset: snippetFset}
		if err := m.add("x.go", text); err != nil {
			t.Fatal(err)
		}
		if got := starts(m.Files[0].Syntax); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// starts reports whether a file starts a goroutine, itself or by a group.
func starts(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Go"
		}
		return !found
	})
	return found
}
