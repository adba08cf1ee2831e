package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// statement drops one, and turns its operator round.
func (w *walk) statement(s ast.Stmt) {
	switch p := w.parent().(type) {
	case *ast.BlockStmt:
	case *ast.CaseClause:
		if slices.Index(p.Body, s) < 0 {
			return
		}
	default:
		return // the head of an if, for or switch
	}
	old, other, operator := w.text(s), "", ""
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); !ok || isPanic(call) {
			return
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || allBlank(s.Lhs) {
			return
		}
		swap := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+="}[s.Tok]
		if basic, ok := w.typeOf(s.Lhs[0]).(*types.Basic); swap != "" && !(ok && basic.Info()&types.IsString != 0) {
			other, operator = w.text(s.Lhs[0])+" "+swap+" "+w.text(s.Rhs[0]), "arithmetic"
		}
	case *ast.IncDecStmt:
		swap := map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok]
		other, operator = w.text(s.X)+swap, "arithmetic"
	}
	before, after := "", ""
	if other != "" {
		if id := w.new(s, operator, old, other); id != 0 {
			before, after = fmt.Sprintf("if mutOn(%d) { %s } else { ", id, other), " }"
		}
	}
	if id := w.new(s, "drop", old, "nothing"); id != 0 {
		before, after = fmt.Sprintf("if !mutOn(%d) { ", id)+before, after+" }"
	}
	if before != "" {
		w.wrap(s, before, after)
	}
}

func isPanic(call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && (id.Name == "panic" || id.Name == "clear")
}

func allBlank(list []ast.Expr) bool {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// ifStmt removes an early return: the condition is never true.
func (w *walk) ifStmt(s *ast.IfStmt) {
	body := s.Body.List
	if len(body) == 0 || s.Else != nil {
		return
	}
	switch body[len(body)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		if id := w.new(s.Cond, "early return", "if "+w.text(s.Cond), "if false"); id != 0 {
			w.wrapOutside(s.Cond, fmt.Sprintf("!mutOn(%d) && (", id), ")")
		}
	}
}

// wrapOutside goes round what another mutant puts round the same node.
func (w *walk) wrapOutside(n ast.Node, before, after string) {
	pair := wrapping(w.offset(n.Pos()), w.offset(n.End()), before, after)
	pair[0].rank--
	pair[1].rank++
	w.plan.edits[w.file] = append(w.plan.edits[w.file], pair[0], pair[1])
}

// switchStmt removes each case in turn. One with a tag becomes one without, so that a
// case can be any condition.
func (w *walk) switchStmt(s *ast.SwitchStmt) {
	if _, labelled := w.parent().(*ast.LabeledStmt); labelled {
		w.plan.leftOut += len(s.Body.List)
		return
	}
	tag := ""
	if s.Tag != nil {
		tag = fmt.Sprintf("mutTag%d", w.offset(s.Pos()))
		head := "{ "
		if s.Init != nil {
			head += w.text(s.Init) + "; "
		}
		at := w.offset(s.Pos())
		w.deadTo = w.offset(s.Tag.Pos())
		w.plan.edits[w.file] = append(w.plan.edits[w.file], edit{at, w.offset(s.Tag.Pos()), head + tag + " := ", 0})
		w.plan.edits[w.file] = append(w.plan.edits[w.file], edit{w.offset(s.Tag.End()), w.offset(s.Tag.End()), "; switch ", 0})
		end := w.offset(s.End())
		w.plan.edits[w.file] = append(w.plan.edits[w.file], edit{end, end, " }", -rankOf(at, end)})
	}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			before, after := "(", ")"
			if tag != "" {
				before = "(" + tag + " == "
			}
			if id := w.new(e, "case", "case "+w.text(e), "no such case"); id != 0 {
				before = fmt.Sprintf("!mutOn(%d) && ", id) + before
			}
			w.wrapOutside(e, before, after)
		}
	}
}

// returns gives the zero value for each result that is not one, and another verdict.
func (w *walk) returns(s *ast.ReturnStmt) {
	results := w.results()
	for i, e := range s.Results {
		t := w.typeOf(e)
		if _, tuple := t.(*types.Tuple); tuple || t == nil || w.zero(e) {
			continue
		}
		if i < results.Len() && len(s.Results) == results.Len() {
			t = results.At(i).Type()
		}
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			continue // the expression's own mutants turn it round
		}
		name, ok := w.typeName(t)
		if !ok {
			name = ""
		}
		w.verdict(e)
		if id := w.new(e, "zero", "return "+w.text(e), "zero value"); id != 0 {
			call := "mutZero"
			if name != "" {
				call += "[" + name + "]"
			}
			w.wrapOutside(e, fmt.Sprintf("%s(%d, ", call, id), ")")
		}
	}
}

// verdict returns another finding of the same rail.
func (w *walk) verdict(e ast.Expr) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return
	}
	other := map[string]string{"deny": "pass", "fault": "pass", "off": "pass", "unset": "pass", "pass": "off"}[id.Name]
	named, isNamed := w.typeOf(e).(*types.Named)
	if other == "" || !isNamed || named.Obj().Name() != "Finding" {
		return
	}
	w.lazily(e, "Finding", []alternative{{"verdict", other + "(" + w.text(call.Args[0]) + ")"}})
}

func (w *walk) results() *types.Tuple {
	for i := len(w.stack) - 1; i >= 0; i-- {
		if f, ok := w.stack[i].(*ast.FuncLit); ok {
			return w.typeOf(f).(*types.Signature).Results()
		}
	}
	return w.sig.Results()
}

// zero says whether the expression is a zero value as it stands.
func (w *walk) zero(e ast.Expr) bool {
	tv := w.src.info.Types[e]
	if tv.IsNil() {
		return true
	}
	if c, ok := e.(*ast.CompositeLit); ok && len(c.Elts) == 0 {
		_, isStruct := tv.Type.Underlying().(*types.Struct)
		return isStruct
	}
	if tv.Value != nil {
		switch tv.Value.ExactString() {
		case "0", `""`, "false":
			return true
		}
	}
	return false
}
