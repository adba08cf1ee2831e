package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// expression finds what an expression can be turned into.
func (w *walk) expression(e ast.Expr) {
	tv, known := w.src.info.Types[e]
	if known && tv.Value != nil {
		w.constantOf(e, tv)
		return
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		w.binary(e)
	case *ast.UnaryExpr:
		w.unary(e)
	case *ast.CallExpr:
		w.call(e)
	case *ast.Ident, *ast.SelectorExpr:
		if known && isBool(tv.Type) && w.condition(e) {
			w.lazily(e, "bool", []alternative{{"negate", "!" + w.text(e)}})
		}
	}
}

func isBool(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// condition says whether a truth value stands where one is asked for, and not where one
// is handed on: there the place that asks has the mutant.
func (w *walk) condition(e ast.Expr) bool {
	switch p := w.parent().(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.ForStmt:
		return p.Cond == e
	case *ast.CaseClause, *ast.ReturnStmt:
		return true
	case *ast.BinaryExpr:
		return p.Op == token.LAND || p.Op == token.LOR
	}
	return false
}

type turn struct {
	to       token.Token
	operator string
}

func turns(op token.Token) []turn {
	switch op {
	case token.LSS:
		return []turn{{token.LEQ, "boundary"}, {token.GEQ, "compare"}}
	case token.LEQ:
		return []turn{{token.LSS, "boundary"}, {token.GTR, "compare"}}
	case token.GTR:
		return []turn{{token.GEQ, "boundary"}, {token.LEQ, "compare"}}
	case token.GEQ:
		return []turn{{token.GTR, "boundary"}, {token.LSS, "compare"}}
	case token.EQL:
		return []turn{{token.NEQ, "compare"}}
	case token.NEQ:
		return []turn{{token.EQL, "compare"}}
	case token.LAND:
		return []turn{{token.LOR, "logic"}}
	case token.LOR:
		return []turn{{token.LAND, "logic"}}
	case token.ADD:
		return []turn{{token.SUB, "arithmetic"}}
	case token.SUB:
		return []turn{{token.ADD, "arithmetic"}}
	case token.MUL:
		return []turn{{token.QUO, "arithmetic"}}
	case token.QUO, token.REM:
		return []turn{{token.MUL, "arithmetic"}}
	case token.AND:
		return []turn{{token.OR, "arithmetic"}}
	case token.OR, token.AND_NOT, token.XOR:
		return []turn{{token.AND, "arithmetic"}}
	case token.SHL:
		return []turn{{token.SHR, "arithmetic"}}
	case token.SHR:
		return []turn{{token.SHL, "arithmetic"}}
	}
	return nil
}

func (w *walk) binary(e *ast.BinaryExpr) {
	t := w.typeOf(e)
	name := "bool"
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return // texts are not verdicts
	} else if !ok || b.Info()&types.IsBoolean == 0 {
		if name, ok = w.typeName(t); !ok {
			w.plan.leftOut++
			return
		}
	}
	var list []alternative
	for _, to := range turns(e.Op) {
		text := w.text(e.X) + " " + to.to.String() + " " + w.text(e.Y)
		if to.operator == "logic" {
			text = w.operand(e.X, to.to) + " " + to.to.String() + " " + w.operand(e.Y, to.to)
		}
		list = append(list, alternative{to.operator, text})
	}
	w.lazily(e, name, list)
}

// operand is in brackets where the turned operator would bind its parts anew.
func (w *walk) operand(e ast.Expr, op token.Token) string {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op.Precedence() <= op.Precedence() {
		return "(" + w.text(e) + ")"
	}
	return w.text(e)
}

func (w *walk) unary(e *ast.UnaryExpr) {
	switch e.Op {
	case token.NOT:
		w.lazily(e, "bool", []alternative{{"negate", w.text(e.X)}})
	case token.SUB:
		if name, ok := w.typeName(w.typeOf(e)); ok {
			w.lazily(e, name, []alternative{{"arithmetic", w.text(e.X)}})
		}
	}
}

// swaps are methods and functions with a counterpart of the same shape.
func swap(name string) string {
	switch name {
	case "Add":
		return "Sub"
	case "Sub":
		return "Add"
	case "Up":
		return "Down"
	case "Down":
		return "Up"
	}
	if rest, ok := strings.CutPrefix(name, "Max"); ok {
		return "Min" + rest
	}
	if rest, ok := strings.CutPrefix(name, "Min"); ok {
		return "Max" + rest
	}
	return ""
}

func (w *walk) call(e *ast.CallExpr) {
	if id, ok := e.Fun.(*ast.Ident); ok {
		if _, builtin := w.src.info.Uses[id].(*types.Builtin); builtin {
			w.builtin(e, id.Name)
			return
		}
	}
	if sel, ok := e.Fun.(*ast.SelectorExpr); ok {
		w.method(e, sel)
	}
	if t := w.typeOf(e); t != nil && isBool(t) && w.condition(e) {
		list := []alternative{{"negate", "!" + w.text(e)}}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok {
			list = append(list, w.edge(e, sel)...)
		}
		w.lazily(e, "bool", list)
	}
}

func (w *walk) builtin(e *ast.CallExpr, name string) {
	other := map[string]string{"min": "max", "max": "min"}[name]
	typeName, ok := w.typeName(w.typeOf(e))
	if other == "" || !ok {
		return
	}
	text := w.text(e)
	w.lazily(e, typeName, []alternative{{"swap", other + strings.TrimPrefix(text, name)}})
}

// method swaps Add and Sub, Min and Max where both have the same type.
func (w *walk) method(e *ast.CallExpr, sel *ast.SelectorExpr) {
	other := swap(sel.Sel.Name)
	if other == "" {
		return
	}
	var counterpart types.Object
	if s := w.src.info.Selections[sel]; s != nil {
		counterpart, _, _ = types.LookupFieldOrMethod(s.Recv(), true, w.src.types, other)
	} else if o := w.src.info.Uses[sel.Sel]; o != nil && o.Pkg() != nil {
		counterpart = o.Pkg().Scope().Lookup(other)
	}
	if _, ok := counterpart.(*types.Func); !ok || !types.Identical(counterpart.Type(), w.src.info.Uses[sel.Sel].Type()) {
		return
	}
	w.picked(e.Fun, "", alternative{"swap", w.text(sel.X) + "." + other})
}

// edge moves the boundary of a comparison that is spelled as a method.
func (w *walk) edge(e *ast.CallExpr, sel *ast.SelectorExpr) []alternative {
	other := map[string]string{"IsPositive": "IsNegative", "IsNegative": "IsPositive", "Before": "After", "After": "Before"}[sel.Sel.Name]
	if other == "" {
		return nil
	}
	args := strings.TrimPrefix(w.text(e), w.text(e.Fun))
	return []alternative{{"boundary", "!" + w.text(sel.X) + "." + other + args}}
}

// constantOf moves a number by one, turns a truth value and takes the next of a set of
// names. A constant inside a larger constant is left to that.
func (w *walk) constantOf(e ast.Expr, tv types.TypeAndValue) {
	if p, ok := w.parent().(ast.Expr); ok {
		if up := w.src.info.Types[p]; up.Value != nil {
			return
		}
		if sel, ok := p.(*ast.SelectorExpr); ok && sel.Sel == e {
			return
		}
		if kv, ok := p.(*ast.KeyValueExpr); ok && kv.Key == e {
			return
		}
	}
	name, ok := w.typeName(tv.Type)
	basic, isBasic := tv.Type.Underlying().(*types.Basic)
	if !isBasic {
		return
	}
	switch {
	case basic.Info()&types.IsBoolean != 0:
		w.picked(e, "bool", alternative{"constant", "!" + w.text(e)})
	case basic.Info()&types.IsString != 0:
		w.word(e)
	case basic.Info()&types.IsInteger == 0:
	case !ok:
		w.plan.leftOut++
	case w.enumerator(e, tv, name):
	default:
		w.number(e, tv.Value, basic, name)
	}
}

func (w *walk) number(e ast.Expr, v constant.Value, basic *types.Basic, name string) {
	text := w.text(e)
	if _, ok := e.(*ast.BinaryExpr); ok {
		text = "(" + text + ")"
	}
	list := []alternative{{"constant", text + " + 1"}}
	if basic.Info()&types.IsUnsigned == 0 || constant.Sign(v) > 0 {
		list = append(list, alternative{"constant", text + " - 1"})
	}
	w.lazily(e, name, list)
}

// enumerator takes the next constant of the same named type.
func (w *walk) enumerator(e ast.Expr, tv types.TypeAndValue, name string) bool {
	named, ok := tv.Type.(*types.Named)
	if _, literal := e.(*ast.BasicLit); literal || !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() == "time" {
		return false
	}
	scope := named.Obj().Pkg().Scope()
	next, first := "", ""
	var nextAt, firstAt int64
	have, _ := constant.Int64Val(tv.Value)
	for _, n := range scope.Names() {
		c, ok := scope.Lookup(n).(*types.Const)
		if !ok || !types.Identical(c.Type(), tv.Type) || named.Obj().Pkg() != w.src.types && !c.Exported() {
			continue
		}
		v, _ := constant.Int64Val(c.Val())
		if first == "" || v < firstAt {
			first, firstAt = n, v
		}
		if v > have && (next == "" || v < nextAt) {
			next, nextAt = n, v
		}
	}
	if next == "" {
		next, nextAt = first, firstAt
	}
	if next == "" || nextAt == have {
		return false
	}
	if p := named.Obj().Pkg(); p != w.src.types {
		next = w.file.names[p.Path()] + "." + next
	}
	w.picked(e, name, alternative{"constant", next})
	return true
}

// word takes another of the named texts that begin with the same word: BucketExit for
// BucketOpen. Other texts are for people, and not verdicts.
func (w *walk) word(e ast.Expr) {
	var id *ast.Ident
	prefix := ""
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id, prefix = e.Sel, w.text(e.X)+"."
	default:
		return
	}
	c, ok := w.src.info.Uses[id].(*types.Const)
	if !ok || c.Parent() != c.Pkg().Scope() {
		return
	}
	first := firstWord(id.Name)
	next, least := "", ""
	for _, n := range c.Pkg().Scope().Names() { // sorted
		o, ok := c.Pkg().Scope().Lookup(n).(*types.Const)
		if !ok || n == id.Name || firstWord(n) != first || n == first || !types.Identical(o.Type(), c.Type()) || o.Exported() != c.Exported() {
			continue
		}
		if least == "" {
			least = n
		}
		if next == "" && n > id.Name {
			next = n
		}
	}
	if next == "" {
		next = least
	}
	if next != "" {
		w.picked(e, "", alternative{"constant", prefix + next})
	}
}

func firstWord(name string) string {
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			return name[:i]
		}
	}
	return name
}
