// Package model keeps the Promela model of the gate beside the code that it is a model of.
package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestStepsNameFunctionsThatAreThere: docs/model.md names a function of the gate for each
// step. One that was renamed or taken away leaves a step that stands for nothing.
func TestStepsNameFunctionsThatAreThere(t *testing.T) {
	files, err := filepath.Glob("../../internal/gate/*.go")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				have[fn.Name.Name] = true
			}
		}
	}
	text, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile("`([A-Za-z]+)\\(\\)`").FindAllStringSubmatch(string(text), -1)
	if len(steps) < 8 {
		t.Fatalf("docs/model.md names %d functions, want 8 at least", len(steps))
	}
	for _, s := range steps {
		if !have[s[1]] {
			t.Errorf("docs/model.md names %s, which internal/gate has not", s[1])
		}
	}
}
