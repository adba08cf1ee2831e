package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkOneSubmitter refuses every use, a call or a method value, of Send on the gate's
// Broker or on anything that implements it, outside the gate. A type that wraps a broker
// may pass Send on inside its own Send, which only the gate can call.
func checkOneSubmitter(m *Module, report func(token.Pos, string)) {
	broker := brokerInterface(m)
	if broker == nil {
		return
	}
	for _, p := range m.Packages {
		if p.Dir == "internal/gate" {
			continue
		}
		for _, f := range p.Files {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Send" && fn.Recv != nil && sends(p, fn, broker) {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Send" && isBroker(p.Info.TypeOf(s.X), broker) {
						report(s.Pos(), p.Dir+" makes a broker send: only the gate may")
					}
					return true
				})
			}
		}
	}
}

// sends reports whether the method is a broker's own Send.
func sends(p *Package, fn *ast.FuncDecl, broker *types.Interface) bool {
	o, ok := p.Info.Defs[fn.Name].(*types.Func)
	if !ok {
		return false
	}
	recv := o.Signature().Recv()
	return recv != nil && isBroker(recv.Type(), broker)
}

func isBroker(t types.Type, broker *types.Interface) bool {
	if t == nil {
		return false
	}
	if types.Implements(t, broker) || types.Implements(types.NewPointer(t), broker) {
		return true
	}
	// The same interface may be known from export data and from source: compare by name.
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		if ptr, isPtr := t.(*types.Pointer); isPtr {
			return isBroker(ptr.Elem(), broker)
		}
		return false
	}
	if o := named.Obj(); o.Name() == "Broker" && o.Pkg() != nil && strings.HasSuffix(o.Pkg().Path(), "internal/gate") {
		return true
	}
	return byNames(t, broker)
}

// byNames reports whether a type has every method of the interface by name.
func byNames(t types.Type, broker *types.Interface) bool {
	set := types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		set = types.NewMethodSet(t)
	}
	for i := range broker.NumMethods() {
		if set.Lookup(nil, broker.Method(i).Name()) == nil {
			return false
		}
	}
	return broker.NumMethods() > 0
}

func brokerInterface(m *Module) *types.Interface {
	for _, p := range m.Packages {
		if p.Dir != "internal/gate" {
			continue
		}
		if o := p.Types.Scope().Lookup("Broker"); o != nil {
			if i, ok := o.Type().Underlying().(*types.Interface); ok {
				return i
			}
		}
	}
	return nil
}

// checkNoFixtures refuses the server's fixtures outside its package and the suite's
// binary.
func checkNoFixtures(m *Module, report func(token.Pos, string)) {
	const server, suite = "internal/door/mcpserver", "test/peers/conformance-server"
	for _, f := range m.Files {
		if f.Dir() == server || f.Dir() == suite || f.Test() || !f.importing(server) {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok && ident.Name == "Fixtures" {
				report(ident.Pos(), f.Dir()+" gives a server fixtures")
			}
			return true
		})
	}
}

// checkRailsApart refuses the use of one rail's function in another rail's file.
func checkRailsApart(m *Module, report func(token.Pos, string)) {
	for _, p := range m.Packages {
		if p.Dir != "internal/rail" {
			continue
		}
		home := map[types.Object]string{}
		for _, f := range p.Files {
			for _, d := range f.Syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Recv == nil && snake(fn.Name.Name) == fileID(f) {
					home[p.Info.Defs[fn.Name]] = f.Rel
				}
			}
		}
		for _, f := range p.Files {
			if f.Rel == "internal/rail/all.go" || f.Rel == "internal/rail/cancel.go" {
				continue
			}
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				ident, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				if where, is := home[p.Info.Uses[ident]]; is && where != f.Rel {
					report(ident.Pos(), "uses the rail "+ident.Name+" of "+where)
				}
				return true
			})
		}
	}
}

// fileID is the id of the rail that a file of package rail is named for.
func fileID(f *File) string {
	return strings.TrimSuffix(f.Rel[strings.LastIndexByte(f.Rel, '/')+1:], ".go")
}

// snake writes a Go name as an id: maxOrderQty as max_order_qty, duplicateClientOrderID
// as duplicate_client_order_id.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 && !(name[i-1] >= 'A' && name[i-1] <= 'Z') {
			b.WriteByte('_')
		}
		if upper {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
