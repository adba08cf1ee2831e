package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
)

// Sizes, from what a reviewer holds in mind: tests are tables and may be longer.
const (
	FileLinesMax     = 600
	TestFileLinesMax = 900
	FuncLinesMax     = 70
)

func checkSizes(m *Module, report func(token.Pos, string)) {
	for _, f := range m.Files {
		most := FileLinesMax
		if f.Test() {
			most = TestFileLinesMax
		}
		if f.Lines > most {
			report(f.Syntax.Package, fmt.Sprintf("has %d lines, over %d", f.Lines, most))
		}
		if f.Test() {
			continue
		}
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || list(fn) {
				continue
			}
			lines := m.Fset.Position(fn.End()).Line - m.Fset.Position(fn.Pos()).Line + 1
			if lines > FuncLinesMax {
				report(fn.Pos(), fmt.Sprintf("%s has %d lines, over %d", fn.Name.Name, lines, FuncLinesMax))
			}
		}
	}
}

// list reports whether a function is a table: no statement of it branches or repeats, so
// that its length is that of a list.
func list(fn *ast.FuncDecl) bool {
	straight := true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			straight = false
		case *ast.IfStmt:
			// One condition at the end of a list, such as rail.Run's, does not make it code.
			if len(fn.Body.List) == 0 || fn.Body.List[len(fn.Body.List)-1] != n {
				straight = false
			}
		}
		return straight
	})
	return straight
}

//archtest:immutable an expression has no setters that are used
var notes = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

func checkNotes(m *Module, report func(token.Pos, string)) {
	for _, f := range m.Files {
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				if word := notes.FindString(c.Text); word != "" {
					report(c.Pos(), "a comment says "+word)
				}
			}
		}
	}
}

var vagueNames = [...]string{"util", "utils", "common", "helper", "helpers", "manager", "base", "data", "misc", "shared", "lib"}

func checkNames(m *Module, report func(token.Pos, string)) {
	for _, f := range m.Files {
		if slices.Contains(vagueNames[:], path.Base(f.Dir())) || slices.Contains(vagueNames[:], f.Syntax.Name.Name) {
			report(f.Syntax.Package, "package "+f.Syntax.Name.Name+" says nothing")
		}
	}
}
