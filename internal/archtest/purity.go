package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// coreLibraries is all that the core imports from elsewhere: formats, hashes, text and
// numbers, none of which looks at the world. math is not among them, since most of it is
// floats.
var coreLibraries = [...]string{
	"bytes", "cmp", "crypto/sha256", "encoding/base32", "encoding/binary", "encoding/hex",
	"errors", "fmt", "io", "math/bits", "slices", "sort", "strconv", "strings", "time",
	"unicode", "unicode/utf8",
	"github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext",
	"go.yaml.in/yaml/v4",
}

func checkCoreImports(m *Module, report func(token.Pos, string)) {
	for _, f := range coreSources(m) {
		for _, s := range f.imports() {
			p := importPath(s)
			if _, ours := within(p); !ours && !slices.Contains(coreLibraries[:], p) {
				report(s.Pos(), "the core may not import "+p)
			}
		}
	}
}

// clockNames are what package time reads from the machine: its clock, its timers, its
// zone. Now and Local are refused as methods too.
var clockNames = [...]string{
	"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
	"Sleep", "LoadLocation", "Local", "ParseInLocation",
}

func checkCoreClock(m *Module, report func(token.Pos, string)) {
	for _, f := range coreSources(m) {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, plain := s.X.(*ast.Ident)
			switch {
			case plain && x.Name == "time" && slices.Contains(clockNames[:], s.Sel.Name):
				report(s.Pos(), "the core may not use time."+s.Sel.Name)
			case s.Sel.Name == "Local":
				report(s.Pos(), "the core may not use this machine's zone")
			}
			return true
		})
	}
}

func checkCoreConcurrency(m *Module, report func(token.Pos, string)) {
	for _, f := range coreSources(m) {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n.Pos(), "the core may not start a goroutine")
			case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
				report(n.Pos(), "the core may not use a channel")
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					report(n.Pos(), "the core may not use a channel")
				}
			}
			return true
		})
	}
}

// checkCoreFloats refuses every expression and declaration whose type is a float or a
// complex number, written or inferred.
func checkCoreFloats(m *Module, report func(token.Pos, string)) {
	for _, p := range corePackages(m) {
		for e, tv := range p.Info.Types {
			if tv.Type != nil && isFloat(tv.Type) {
				report(e.Pos(), "the core may not use "+tv.Type.String())
			}
		}
		for ident, o := range p.Info.Defs {
			if v, ok := o.(*types.Var); ok && isFloat(v.Type()) {
				report(ident.Pos(), "the core may not use "+v.Type().String())
			}
		}
	}
}

func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

const (
	mapOrderFree = "//archtest:map-order-free "
	immutable    = "//archtest:immutable "
)

func checkCoreMapOrder(m *Module, report func(token.Pos, string)) {
	for _, p := range corePackages(m) {
		for _, f := range p.Files {
			excused := directives(m, f, mapOrderFree)
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				r, ok := n.(*ast.RangeStmt)
				if !ok {
					return true
				}
				t := p.Info.TypeOf(r.X)
				if t == nil {
					return true
				}
				if _, isMap := t.Underlying().(*types.Map); isMap && !excused[m.Fset.Position(r.Pos()).Line] {
					report(r.Pos(), "the core may not range over a map: sort the keys, or say why their order reaches nothing")
				}
				return true
			})
		}
	}
}

// directives returns the lines that a directive with a reason excuses: its own and the
// one below.
func directives(m *Module, f *File, prefix string) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Syntax.Comments {
		for _, c := range group.List {
			if reason, ok := strings.CutPrefix(c.Text, prefix); ok && len(strings.Fields(reason)) >= 3 {
				line := m.Fset.Position(c.Pos()).Line
				lines[line], lines[line+1] = true, true
			}
		}
	}
	return lines
}
