package archtest

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// source is one file of a snippet.
type source struct{ rel, text string }

// snippet makes a module of a few sources. Libraries are typed from the compiler's own
// packages; an import that cannot be had is let pass, since rules about imports read
// them from the syntax.
func snippet(t *testing.T, sources ...source) *Module {
	t.Helper()
	m := &Module{Fset: snippetFset}
	known := &snippetImporter{ours: map[string]*types.Package{}, libraries: libraries()}
	for _, s := range sources {
		syntax, err := parser.ParseFile(m.Fset, s.rel, s.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("snippet %s: %v", s.rel, err)
		}
		f := &File{Rel: s.rel, Syntax: syntax, Lines: strings.Count(s.text, "\n")}
		m.Files = append(m.Files, f)
		if f.Test() {
			continue
		}
		info := &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		}
		dir := path.Dir(s.rel)
		cfg := types.Config{Importer: known, Error: func(error) {}}
		checked, _ := cfg.Check(ModulePath+"/"+dir, m.Fset, []*ast.File{syntax}, info)
		known.ours[ModulePath+"/"+dir] = checked
		m.Packages = append(m.Packages, &Package{Dir: dir, Files: []*File{f}, Types: checked, Info: info})
	}
	return m
}

type snippetImporter struct {
	ours      map[string]*types.Package
	libraries types.Importer
}

// libraries has what the compiler wrote of each library that a snippet imports: typing them
// from their sources takes ten times as long.
var (
	snippetFset = token.NewFileSet()
	libraries   = sync.OnceValue(func() types.Importer {
		files := exported()
		return importer.ForCompiler(snippetFset, "gc", func(path string) (io.ReadCloser, error) {
			if files[path] == "" {
				return nil, errors.New("no such library: " + path)
			}
			return os.Open(files[path])
		})
	})
)

// exported returns the files of all libraries that snippets import, by their path.
func exported() map[string]string {
	var names []string
	for _, tt := range selfTests {
		for _, s := range slices.Concat(tt.bad, tt.good) {
			if f, err := parser.ParseFile(token.NewFileSet(), s.rel, s.text, parser.ImportsOnly); err == nil {
				for _, spec := range f.Imports {
					if name := importPath(spec); !strings.HasPrefix(name, ModulePath) {
						names = append(names, name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedExportFile | packages.NeedImports | packages.NeedDeps}, slices.Compact(names)...)
	out := map[string]string{}
	if err == nil {
		packages.Visit(loaded, nil, func(p *packages.Package) { out[p.PkgPath] = p.ExportFile })
	}
	return out
}

func (i *snippetImporter) Import(p string) (*types.Package, error) {
	if strings.HasPrefix(p, ModulePath) {
		if known, ok := i.ours[p]; ok {
			return known, nil
		}
		return types.NewPackage(p, path.Base(p)), nil
	}
	return i.libraries.Import(p)
}

// gateStub is what the rule about sending needs of the gate.
var gateStub = source{"internal/gate/ports.go", `package gate
type Sealed struct{}
type Reply struct{}
type Broker interface { Send(s Sealed) Reply; Events() []int }
func forward(b Broker) { b.Send(Sealed{}) }
`}

func of(rel, text string) []source { return []source{{rel, text}} }

func imports(dir, name string) []source {
	if !strings.Contains(strings.Split(name, "/")[0], ".") && strings.HasPrefix(name, "internal/") {
		name = ModulePath + "/" + name
	}
	return of(dir+"/x.go", "package x\nimport _ \""+name+"\"\n")
}

// selfTests are sources that a rule must find something in, and sources like them that
// it must let pass.
var selfTests = []struct {
	rule, name string
	bad        []source
	good       []source
}{
	{"arrows", "an arrow that is not drawn", imports("internal/rail", "internal/gate"), imports("internal/gate", "internal/rail")},
	{"arrows", "a package without a row", of("internal/nowhere/x.go", "package nowhere\n"), of("internal/money/x.go", "package money\n")},
	{"arrows", "tests may compose", imports("internal/gate", "internal/broker/paper"), of("internal/gate/x_test.go", "package gate\nimport _ \""+ModulePath+"/internal/broker/paper\"\n")},

	{"never", "core reaches the gate", imports("internal/risk", "internal/gate"), imports("internal/gate", "internal/risk")},
	{"never", "a mapping knows the limits", imports("internal/normalize", "internal/limits"), imports("internal/normalize", "internal/order")},
	{"never", "a door knows a broker", imports("internal/door/mcpserver", "internal/broker/paper"), imports("internal/door/mcpserver", "internal/gate")},
	{"never", "a door knows a store", imports("internal/door/mcpserver", "internal/store/sqlite"), imports("internal/cli", "internal/store/sqlite")},
	{"never", "a broker knows quotes", imports("internal/broker/paper", "internal/quotes"), imports("internal/broker/paper", "internal/gate")},
	{"never", "a store knows the clock", imports("internal/store/sqlite", "internal/clock"), imports("internal/store/sqlite", "internal/journal")},
	{"never", "quotes know a broker", imports("internal/quotes", "internal/broker/paper"), imports("internal/quotes", "internal/market")},
	{"never", "the gate knows an edge", imports("internal/gate", "internal/store/sqlite"), imports("internal/gate", "internal/risk")},
	{"never", "what serves reaches proof", imports("internal/cli", "internal/faults"), imports("internal/cli", "internal/gate")},
	{"never", "the gate knows its attackers", imports("internal/gate", "internal/adversary"), imports("internal/cli", "internal/adversary")},
	{"never", "the gate knows what tries it out", imports("internal/gate", "internal/sim"), imports("internal/cli", "internal/sim")},
	{"never", "a rail names the journal", imports("internal/rail", "internal/journal"), imports("internal/rail", "internal/account")},
	{
		"never", "a door reaches a broker through another package",
		append(imports("internal/door/mcpserver", "internal/letters"), imports("internal/letters", "internal/broker/paper")...),
		append(imports("internal/door/mcpserver", "internal/letters"), imports("internal/letters", "internal/order")...),
	},

	{"core imports", "a file", imports("internal/money", "os"), imports("internal/cli", "os")},
	{"core imports", "the network", imports("internal/risk", "net/http"), imports("internal/risk", "slices")},
	{"core imports", "chance", imports("internal/rail", "math/rand/v2"), imports("internal/rail", "math/bits")},
	{"core imports", "a context", imports("internal/account", "context"), imports("internal/gate", "context")},
	{"core imports", "a lock", imports("internal/limits", "sync"), imports("internal/limits", "strings")},
	{"core imports", "a logger", imports("internal/journal", "log/slog"), imports("internal/journal", "errors")},
	{"core imports", "unsafe", imports("internal/order", "unsafe"), imports("internal/order", "fmt")},

	{"core clock", "now", of("internal/market/x.go", "package market\nimport \"time\"\nfunc f() time.Time { return time.Now() }\n"), of("internal/clock/x.go", "package clock\nimport \"time\"\nfunc f() time.Time { return time.Now() }\n")},
	{"core clock", "since", of("internal/rail/x.go", "package rail\nimport \"time\"\nvar f = time.Since\n"), of("internal/rail/x.go", "package rail\nimport \"time\"\nfunc f(a, b time.Time) time.Duration { return a.Sub(b) }\n")},
	{"core clock", "the machine's zone", of("internal/rail/x.go", "package rail\nimport \"time\"\nfunc f(a time.Time) int { return a.Local().Hour() }\n"), of("internal/rail/x.go", "package rail\nimport \"time\"\nfunc f(a time.Time) int { return a.UTC().Hour() }\n")},

	{"core concurrency", "a goroutine", of("internal/risk/x.go", "package risk\nfunc f() { go f() }\n"), of("internal/risk/x.go", "package risk\nfunc f() { defer f() }\n")},
	{"core concurrency", "a channel", of("internal/risk/x.go", "package risk\ntype q chan int\n"), of("internal/gate/x.go", "package gate\ntype q chan int\n")},
	{"core concurrency", "a receive", of("internal/risk/x.go", "package risk\nimport \"time\"\nfunc f(t *time.Timer) { <-t.C }\n"), of("internal/risk/x.go", "package risk\nfunc f(t *int) int { return -*t }\n")},
	{"core concurrency", "a select", of("internal/risk/x.go", "package risk\nfunc f() { select {} }\n"), of("internal/risk/x.go", "package risk\nfunc f() { for {} }\n")},

	{"core floats", "a declared float", of("internal/money/x.go", "package money\ntype t struct { x float32 }\n"), of("internal/money/x.go", "package money\ntype t struct { x int64 }\n")},
	{"core floats", "an inferred float", of("internal/money/x.go", "package money\nvar x = 1.5\n"), of("internal/cli/x.go", "package cli\nvar x = 1.5\n")},
	{"core floats", "a float from a library", of("internal/market/x.go", "package market\nimport \"time\"\nfunc f(d time.Duration) bool { return d.Seconds() > 1 }\n"), of("internal/market/x.go", "package market\nimport \"time\"\nfunc f(d time.Duration) bool { return d > time.Second }\n")},

	{"core map order", "a range over a map", of("internal/limits/x.go", "package limits\nfunc f(m map[string]int) (n int) { for _, v := range m { n = v }; return n }\n"), of("internal/limits/x.go", "package limits\nfunc f(m []int) (n int) { for _, v := range m { n = v }; return n }\n")},
	{"core map order", "a named map", of("internal/limits/x.go", "package limits\ntype set map[string]int\nfunc f(m set) (n int) { for _, v := range m { n = v }; return n }\n"), of("internal/limits/x.go", "package limits\nfunc f(m map[string]int) (n int) {\n\t//archtest:map-order-free a sum has no order\n\tfor _, v := range m { n += v }\n\treturn n }\n")},
	{"core map order", "a directive without a reason", of("internal/limits/x.go", "package limits\nfunc f(m map[string]int) (n int) {\n\t//archtest:map-order-free\n\tfor _, v := range m { n = v }\n\treturn n }\n"), nil},

	{"no init", "an init function", of("internal/cli/x.go", "package cli\nfunc init() {}\n"), of("internal/cli/x.go", "package cli\ntype t int\nfunc (t) init() {}\n")},

	{"package variables", "an assigned one", of("internal/gate/x.go", "package gate\nvar n int\nfunc f() { n++ }\n"), of("internal/gate/x.go", "package gate\nvar n = 3\nfunc f() int { return n }\n")},
	{"package variables", "a part assigned", of("internal/gate/x.go", "package gate\nvar n [3]int\nfunc f() { n[1] = 2 }\n"), of("internal/gate/x.go", "package gate\nvar n = [...]int{1, 2}\nfunc f() int { return n[0] }\n")},
	{"package variables", "an address", of("internal/gate/x.go", "package gate\nvar n struct{}\nfunc f() any { return &n }\n"), of("internal/gate/x.go", "package gate\nvar n struct{}\nfunc f() any { return n }\n")},
	{"package variables", "a map", of("internal/cli/x.go", "package cli\nvar m = map[string]int{}\n"), of("internal/cli/x.go", "package cli\nvar m = [...]string{\"a\"}\n")},
	{"package variables", "an exported table", of("internal/cli/x.go", "package cli\nvar M = [...]string{\"a\"}\n"), of("internal/cli/x.go", "package cli\nimport \"errors\"\nvar ErrX = errors.New(\"x\")\n")},
	{"package variables", "a list", of("internal/cli/x.go", "package cli\nvar m = []string{}\n"), of("internal/cli/x.go", "package cli\n//archtest:immutable only read, by one function\nvar m = []string{}\n")},

	{"one submitter", "a call", []source{gateStub, {"internal/cli/x.go", "package cli\nimport \"" + ModulePath + "/internal/gate\"\nfunc f(b gate.Broker) { b.Send(gate.Sealed{}) }\n"}}, []source{gateStub, {"internal/cli/x.go", "package cli\nimport \"" + ModulePath + "/internal/gate\"\nfunc f(b gate.Broker) { b.Events() }\n"}}},
	{"one submitter", "a method value of an implementation", []source{gateStub, {"internal/broker/x/x.go", "package x\nimport \"" + ModulePath + "/internal/gate\"\ntype B struct{}\nfunc (*B) Send(gate.Sealed) (r gate.Reply) { return r }\nfunc (*B) Events() []int { return nil }\nfunc f(b *B) any { return b.Send }\n"}}, []source{gateStub, {"internal/broker/x/x.go", "package x\nimport \"" + ModulePath + "/internal/gate\"\ntype B struct{ gate.Broker }\nfunc (b *B) Send(s gate.Sealed) gate.Reply { return b.Broker.Send(s) }\n"}}},
	{"one submitter", "Send of something else", []source{gateStub, {"internal/cli/x.go", "package cli\nimport \"" + ModulePath + "/internal/gate\"\ntype w struct{ gate.Broker }\nfunc f(b w) { b.Send(gate.Sealed{}) }\n"}}, []source{gateStub, {"internal/cli/x.go", "package cli\ntype w struct{}\nfunc (w) Send() {}\nfunc f(b w) { b.Send() }\n"}}},

	{"no fixtures", "a server with fixtures", of("internal/cli/x.go", "package cli\nimport \""+ModulePath+"/internal/door/mcpserver\"\nvar c = mcpserver.Config{Fixtures: nil}\n"), of("test/peers/conformance-server/x.go", "package main\nimport \""+ModulePath+"/internal/door/mcpserver\"\nvar c = mcpserver.Config{Fixtures: nil}\n")},

	{"testing", "what serves imports testing", imports("internal/cli", "testing"), imports("internal/store/storetest", "testing")},
	{"testing", "a library for tests", imports("internal/gate", "pgregory.net/rapid"), of("internal/gate/x_test.go", "package gate\nimport _ \"pgregory.net/rapid\"\n")},

	{"sizes", "a long file", of("internal/cli/x.go", "package cli\n"+strings.Repeat("\n", FileLinesMax)), of("internal/cli/x.go", "package cli\n"+strings.Repeat("\n", FileLinesMax-1))},
	{"sizes", "a long test", of("internal/cli/x_test.go", "package cli\n"+strings.Repeat("\n", TestFileLinesMax)), of("internal/cli/x_test.go", "package cli\n"+strings.Repeat("\n", FileLinesMax))},
	{"sizes", "a long function", of("internal/cli/x.go", "package cli\nfunc f() {\n for {}\n"+strings.Repeat("\n", FuncLinesMax)+"}\n"), of("internal/cli/x.go", "package cli\nfunc f() {\n"+strings.Repeat("f()\n", FuncLinesMax)+"}\n")},

	{"no notes to self", "a mark", of("internal/cli/x.go", "package cli\n// TO"+"DO: later\n"), of("internal/cli/x.go", "package cli\n// todos are a list\n")},
	{"names", "a package that says nothing", of("internal/cli/util/x.go", "package util\n"), of("internal/cli/x.go", "package cli\n")},
}

// TestRulesCanFail feeds each rule what it must find, and what it must not.
func TestRulesCanFail(t *testing.T) {
	rules := map[string]Rule{}
	tested := map[string]bool{"rails apart": true} // TestRailsApartCanFail
	for _, r := range Rules() {
		rules[r.Name] = r
	}
	for _, s := range selfTests {
		tested[s.rule] = true
		t.Run(s.rule+"/"+s.name, func(t *testing.T) {
			r, ok := rules[s.rule]
			if !ok {
				t.Fatalf("no rule %q", s.rule)
			}
			if found := r.Run(snippet(t, s.bad...)); len(found) == 0 {
				t.Error("the bad source passes")
			}
			if s.good == nil {
				return
			}
			for _, f := range r.Run(snippet(t, s.good...)) {
				t.Errorf("the good source is refused: %s", f)
			}
		})
	}
	for name := range rules {
		if !tested[name] {
			t.Errorf("rule %q has no source that it can fail on", name)
		}
	}
}

func TestRailsApartCanFail(t *testing.T) {
	m := snippet(t, source{"internal/rail/max_order_qty.go", "package rail\nfunc maxOrderQty() bool { return true }\nfunc minOther() bool { return maxOrderQty() }\n"})
	f := m.Files[0]
	other := &File{Rel: "internal/rail/other.go", Syntax: f.Syntax}
	home := m.Packages[0]
	// The second file is the same syntax under another name: its call is a foreign one.
	home.Files = []*File{f, other}
	var rule Rule
	for _, r := range Rules() {
		if r.Name == "rails apart" {
			rule = r
		}
	}
	if len(rule.Run(m)) == 0 {
		t.Error("a rail that uses another one passes")
	}
	home.Files = []*File{f}
	if found := rule.Run(m); len(found) != 0 {
		t.Errorf("a rail that uses itself is refused: %v", found)
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"maxOrderQty": "max_order_qty", "duplicateClientOrderID": "duplicate_client_order_id", "selfCross": "self_cross",
	} {
		if got := snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
