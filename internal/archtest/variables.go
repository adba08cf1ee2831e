package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
)

func checkNoInit(m *Module, report func(token.Pos, string)) {
	for _, f := range m.Files {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				report(fn.Pos(), "no package may have an init function")
			}
		}
	}
}

// checkPackageVariables refuses a package variable that is written after its
// initialization, or could be: exported and not an error, or of a kind that others can
// change through a copy. Values that only look changeable are excused by a directive.
func checkPackageVariables(m *Module, report func(token.Pos, string)) {
	for _, p := range m.Packages {
		written := writes(p)
		for _, f := range p.Files {
			excused := directives(m, f, immutable)
			for _, d := range f.Syntax.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						line := m.Fset.Position(name.Pos()).Line
						if why := changeable(p, name, written); why != "" && !excused[line] && !excused[m.Fset.Position(g.Pos()).Line] {
							report(name.Pos(), "package variable "+name.Name+" "+why)
						}
					}
				}
			}
		}
	}
}

// changeable says why a package variable could change; empty if it cannot.
func changeable(p *Package, name *ast.Ident, written map[types.Object]string) string {
	o := p.Info.Defs[name]
	if o == nil || name.Name == "_" {
		return ""
	}
	if how, ok := written[o]; ok {
		return how
	}
	if isError(o.Type()) {
		return ""
	}
	if o.Exported() {
		return "is exported, so that anyone can set it"
	}
	switch o.Type().Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer, *types.Chan:
		return "is of a type that can be changed through a copy"
	}
	return ""
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// writes finds assignments to package variables, to parts of them, and places that take
// the address of a whole one.
func writes(p *Package) map[types.Object]string {
	found := map[types.Object]string{}
	note := func(e ast.Expr, how string) {
		if o := rootOf(p, e); o != nil && o.Parent() == p.Types.Scope() {
			found[o] = how
		}
	}
	for _, f := range p.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						note(e, "is assigned")
					}
				}
			case *ast.IncDecStmt:
				note(n.X, "is assigned")
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					note(n.Key, "is assigned")
					if n.Value != nil {
						note(n.Value, "is assigned")
					}
				}
			case *ast.UnaryExpr:
				if _, whole := n.X.(*ast.Ident); whole && n.Op == token.AND {
					note(n.X, "has its address taken")
				}
			}
			return true
		})
	}
	return found
}

// rootOf returns the variable that an expression is or is a part of.
func rootOf(p *Package, e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if v, ok := p.Info.Uses[x].(*types.Var); ok {
				return v
			}
			return nil
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
