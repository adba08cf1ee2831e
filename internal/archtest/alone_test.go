package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatRunsAloneStartsNothing: the packages that the Makefile keeps from the race
// detector hold nothing for it to find.
func TestWhatRunsAloneStartsNothing(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ALONE := (.+)$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("the Makefile no longer lists them as ALONE")
	}
	m := &Module{Fset: snippetFset}
	for name := range strings.FieldsSeq(string(line[1])) {
		files, err := filepath.Glob(filepath.Join(root, "internal", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("internal/%s: no such package: %v", name, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.add("internal/"+name+"/"+filepath.Base(file), string(source)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range m.Files {
		if !f.Test() && starts(f.Syntax) {
			t.Errorf("%s starts a goroutine: take its package out of ALONE", f.Rel)
		}
	}
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
