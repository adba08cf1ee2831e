package archtest

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Rule is one thing that must hold, with its reason.
type Rule struct {
	Name   string
	Reason string
	Check  func(m *Module, report func(at token.Pos, text string))
}

// Rules returns every rule about sources.
func Rules() []Rule {
	return []Rule{
		{
			"arrows", "Packages know only what stands in the table, so that a new arrow is a decision and not an accident.",
			checkArrows,
		},
		{
			"never", "Some arrows may not exist at all, not even through another package.",
			checkNever,
		},
		{
			"core imports", "The core is a function of its arguments: a library that reads a clock, a file, the network or chance would make replay a guess.",
			checkCoreImports,
		},
		{
			"core clock", "A decision must come out the same when the journal is verified years later: now is an argument.",
			checkCoreClock,
		},
		{
			"core concurrency", "Order of execution must not reach a decision; the core's callers serialize.",
			checkCoreConcurrency,
		},
		{
			"core floats", "A float rounds silently, and differs between machines: every figure is exact.",
			checkCoreFloats,
		},
		{
			"core map order", "The order of a map is random: what it reaches differs from run to run.",
			checkCoreMapOrder,
		},
		{
			"no init", "Nothing registers itself: what is wired stands where it is wired.",
			checkNoInit,
		},
		{
			"package variables", "A variable of a package is shared by every account and test: only errors and tables that nothing changes may be one.",
			checkPackageVariables,
		},
		{
			"one submitter", "Every order passes the five steps because only the gate can make a broker send.",
			checkOneSubmitter,
		},
		{
			"rails apart", "A rail that asks another one hides a finding: each answers for itself, and all run.",
			checkRailsApart,
		},
		{
			"testing", "Code for tests must not be in what serves orders.",
			checkTesting,
		},
		{
			"no fixtures", "A protocol suite's fixtures pass the middleware unread: no server that serves orders may have any.",
			checkNoFixtures,
		},
		{
			"sizes", "A file or function that does not fit into a reader's head is not reviewed.",
			checkSizes,
		},
		{
			"no notes to self", "What is not done is an entry of the known limitations, not a mark in a comment.",
			checkNotes,
		},
		{
			"names", "A package is named for what it does; a name that fits anything collects anything.",
			checkNames,
		},
	}
}

// Run holds the module to one rule.
func (r Rule) Run(m *Module) []Finding {
	var found []Finding
	r.Check(m, func(at token.Pos, text string) {
		p := m.Fset.Position(at)
		if filepath.IsAbs(p.Filename) {
			if root, err := Root(); err == nil {
				p.Filename = strings.TrimPrefix(p.Filename, root+string(filepath.Separator))
			}
		}
		found = append(found, Finding{Rule: r.Name, At: p, Text: text})
	})
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found)
}

// core are the packages that are pure.
var core = [...]string{
	"internal/account", "internal/journal", "internal/limits", "internal/market",
	"internal/money", "internal/order", "internal/profile", "internal/rail", "internal/risk", "internal/strict",
}

func inCore(dir string) bool { return slices.Contains(core[:], dir) }

// coreSources are the core's sources without tests.
func coreSources(m *Module) []*File {
	var files []*File
	for _, f := range m.Files {
		if inCore(f.Dir()) && !f.Test() {
			files = append(files, f)
		}
	}
	return files
}

func corePackages(m *Module) []*Package {
	var list []*Package
	for _, p := range m.Packages {
		if inCore(p.Dir) {
			list = append(list, p)
		}
	}
	return list
}
