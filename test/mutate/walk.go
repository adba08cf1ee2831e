package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// plan is what one package becomes.
type plan struct {
	src     *source
	mutants []*mutant
	edits   map[*sourceFile][]edit
	leftOut int // changes that no schema can hold
}

// walk finds the mutants of one file.
type walk struct {
	root string
	src  *source
	file *sourceFile
	plan *plan
	next *int         // the newest id
	skip map[int]bool // ids whose schema did not compile

	fn  string // the function it is in
	sig *types.Signature
	// deadTo is where the newest replaced stretch ends: what stands in it is not built.
	deadTo int
	stack  []ast.Node
}

// planOf finds the mutants of a package. Ids go on from *next.
func planOf(root string, s *source, next *int, skip map[int]bool) *plan {
	p := &plan{src: s, edits: map[*sourceFile][]edit{}}
	for _, f := range s.files {
		w := &walk{root: root, src: s, file: f, plan: p, next: next, skip: skip}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				w.fn = funcName(fn)
				w.sig = s.info.Defs[fn.Name].Type().(*types.Signature)
				ast.PreorderStack(fn.Body, nil, w.visit)
			}
		}
	}
	return p
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

func (w *walk) visit(n ast.Node, stack []ast.Node) bool {
	w.stack = stack
	switch n := n.(type) {
	case *ast.ArrayType:
		return false // its length is a constant
	case *ast.KeyValueExpr:
		return true
	case *ast.SwitchStmt:
		w.switchStmt(n)
	case *ast.IfStmt:
		w.ifStmt(n)
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt:
		w.statement(n.(ast.Stmt))
	case *ast.ReturnStmt:
		w.returns(n)
	case *ast.DeclStmt:
		if g, ok := n.Decl.(*ast.GenDecl); ok && g.Tok == token.CONST {
			return false
		}
	}
	if e, ok := n.(ast.Expr); ok {
		w.expression(e)
	}
	return true
}

func (w *walk) offset(p token.Pos) int { return w.src.fset.Position(p).Offset }

// text is a node's source on one line.
func (w *walk) text(n ast.Node) string {
	return oneLine(string(w.file.text[w.offset(n.Pos()):w.offset(n.End())]))
}

func (w *walk) typeOf(e ast.Expr) types.Type { return w.src.info.Types[e].Type }

// new names a mutant at a node and returns its id; 0 when it is not to be built.
func (w *walk) new(n ast.Node, operator, old, mutated string) int {
	*w.next++
	id := *w.next
	at := w.src.fset.Position(n.Pos())
	file, err := filepath.Rel(w.root, at.Filename)
	if err != nil {
		file = at.Filename
	}
	lineFrom := strings.LastIndexByte(string(w.file.text[:at.Offset]), '\n') + 1
	line, _, _ := strings.Cut(string(w.file.text[lineFrom:]), "\n")
	if w.skip[id] || at.Offset < w.deadTo || strings.Contains(old+mutated, "//") {
		w.plan.leftOut++
		return 0
	}
	w.plan.mutants = append(w.plan.mutants, &mutant{
		ID: id, Package: w.src.name, File: filepath.ToSlash(file), Line: at.Line, Func: w.fn,
		Operator: operator, Source: oneLine(line), Change: old + " => " + mutated, own: w.src.path,
	})
	return id
}

func (w *walk) wrap(n ast.Node, before, after string) {
	pair := wrapping(w.offset(n.Pos()), w.offset(n.End()), before, after)
	w.plan.edits[w.file] = append(w.plan.edits[w.file], pair[0], pair[1])
}

// alternative is another expression in the place of one.
type alternative struct{ operator, text string }

// lazily puts alternatives in the place of an expression of the named type. Only the one
// that is chosen is evaluated.
func (w *walk) lazily(e ast.Expr, typeName string, alternatives []alternative) {
	var b strings.Builder
	old := w.text(e)
	for _, a := range alternatives {
		if id := w.new(e, a.operator, old, a.text); id != 0 {
			fmt.Fprintf(&b, "if mutOn(%d) { return %s }; ", id, a.text)
		}
	}
	if b.Len() > 0 {
		w.wrap(e, "func() "+typeName+" { "+b.String()+"return ", " }()")
	}
}

// picked puts a value beside one: both are evaluated, which is for what has no effect.
func (w *walk) picked(e ast.Expr, typeName string, a alternative) {
	if id := w.new(e, a.operator, w.text(e), a.text); id != 0 {
		call := "mutPick"
		if typeName != "" {
			call += "[" + typeName + "]"
		}
		w.wrap(e, fmt.Sprintf("%s(%d, ", call, id), ", "+a.text+")")
	}
}

func (w *walk) parent() ast.Node {
	if len(w.stack) == 0 {
		return nil
	}
	return w.stack[len(w.stack)-1]
}
