package archtest

import (
	"go/token"
	"slices"
	"strings"
)

// arrows are what each package may import of this module. A package that is not here may
// not exist: where it stands is decided first. Tests may import what they compose.
//
// core: money < order, market < journal, limits < account < rail < risk; record turns a
// decision into its entry; gate is the shell round them. Edges know the gate's ports and
// the core's types, and not each other; cli and scenario are where things are composed.
func arrows() map[string][]string {
	const (
		account, audit, clock, gate      = "internal/account", "internal/audit", "internal/clock", "internal/gate"
		journal, limits, market, money   = "internal/journal", "internal/limits", "internal/market", "internal/money"
		normalize, order, quotes, rail   = "internal/normalize", "internal/order", "internal/quotes", "internal/rail"
		record, risk, scenario, wire     = "internal/record", "internal/risk", "internal/scenario", "internal/door/wire"
		memory, mcpserver, paper, sqlite = "internal/store/memory", "internal/door/mcpserver", "internal/broker/paper", "internal/store/sqlite"
		markfile, tree, verify           = "internal/markfile", "internal/tree", "verify"
		witness                          = "internal/witness"
	)
	const adversary, sim = "internal/adversary", "internal/sim"
	figures := []string{money, order, market, journal}
	verdicts := append(slices.Clone(figures), account, limits, rail, risk, record)
	return map[string][]string{
		money:  nil,
		order:  {money},
		market: {money},
		limits: {money, order, "internal/strict"},
		// The strict reader of YAML and JSON, for limits and profiles alike.
		"internal/strict": nil,
		// How brokers' tools are read: a mapping knows no limit.
		"internal/profile": {money, order, "internal/strict"},
		"profiles":         nil,
		journal:            {money, order},
		account:            figures,
		rail:               {money, order, market, limits, account},
		risk:               {money, order, market, limits, account, rail, journal},
		record:             {money, order, market, account, rail, risk, journal},
		gate:               verdicts,
		audit:              verdicts,

		normalize:                {money, order, journal},
		wire:                     nil,
		"internal/door/socket":   nil,
		mcpserver:                append(slices.Clone(verdicts), gate, normalize, wire),
		paper:                    append(slices.Clone(figures), gate),
		"internal/door/mcpproxy": append(slices.Clone(verdicts), gate, wire, "internal/profile"),
		"internal/broker/alpaca": append(slices.Clone(figures), gate),
		// A broker behind its own MCP server, read by a profile.
		"internal/broker/upstream": append(slices.Clone(figures), gate, "internal/profile"),
		quotes:                     {money, order, market},
		clock:                      {market, gate},
		memory:                     {journal, gate},
		sqlite:                     {journal, gate},
		markfile:                   nil,
		tree:                       {verify},
		// It cosigns checkpoints of any log, and knows no journal.
		witness: {verify},
		// It reads the journal and is on no path of an order: only the server starts it.
		"internal/attest": {gate, tree, verify, witness},

		// Recorded history under other limits.
		"internal/replay": append(slices.Clone(verdicts), audit, "internal/report"),

		// The auditor's package: it shares nothing with what writes the journal.
		verify:                    nil,
		"verify/cmd/rails-verify": {verify},

		"internal/store/storetest":   {journal, gate, money, order},
		"internal/limits/limitstest": {limits, money, order},

		scenario: append(slices.Clone(verdicts), "internal/strict", gate, audit, normalize, paper, quotes, clock, memory),
		// It judges a limits document by scenarios it makes up, so it stands above the runner.
		"internal/lint": {money, order, limits, rail, journal, scenario, "internal/report"},
		// It asks the engine what a hostile agent can do, and shows it at the paper broker.
		"internal/bound": append(slices.Clone(verdicts), gate, paper, quotes, clock, memory, "internal/report"),
		// It plays the whole product, and the command line starts it on request.
		adversary: append(slices.Clone(figures), "internal/strict", limits, rail, gate, normalize, paper, quotes, clock, memory, sqlite, mcpserver, sim),
		// An unattended run of the whole product, started by a command of its own.
		"internal/report": nil,
		sim:               append(slices.Clone(figures), account, limits, risk, gate, audit, paper, quotes, clock, memory, "internal/report"),
		// It forges copies of journals, when a command of its own asks for it.
		"internal/tamper": append(slices.Clone(verdicts), gate, audit, sqlite, tree, verify, witness),
		"internal/cli": append(slices.Clone(verdicts), gate, audit, "internal/replay", normalize, paper, quotes, clock,
			sqlite, mcpserver, scenario, markfile, adversary, sim, tree, verify, witness, "internal/attest", "internal/tamper", "internal/lint", "internal/bound", "internal/fakealpaca",
			"internal/door/socket", "internal/door/mcpproxy", "internal/broker/upstream", "internal/broker/alpaca", "internal/profile", "internal/strict", "profiles"),
		"cmd/rails": {"internal/cli"},

		// A stand-in for a broker's service, started by a command of its own and by tests.
		"internal/fakealpaca": {money, market},

		"internal/archtest":     {rail, limits},
		"internal/archtest/gen": {"internal/archtest", "internal/cli", limits, rail},
		"internal/faults":       nil,
		"internal/drill":        nil,

		"test/mutate":                   nil,
		"test/peers/conformance-server": append(slices.Clone(verdicts), gate, paper, quotes, clock, memory, mcpserver),
	}
}

func checkArrows(m *Module, report func(token.Pos, string)) {
	table := arrows()
	for _, f := range m.Files {
		if f.Test() {
			continue
		}
		may, known := table[f.Dir()]
		if !known {
			report(f.Syntax.Package, "package "+f.Dir()+" has no row in the table of arrows")
			continue
		}
		for _, s := range f.imports() {
			if to, ours := within(importPath(s)); ours && !slices.Contains(may, to) {
				report(s.Pos(), f.Dir()+" may not import "+to)
			}
		}
	}
}

// never is an arrow that may not exist, also through other packages.
type never struct {
	who, what []string // folders; one that ends in / covers what is below
	why       string
}

func nevers() []never {
	edges := []string{"internal/broker/", "internal/door/", "internal/store/", "internal/quotes", "internal/clock"}
	return []never{
		{
			core[:], append([]string{"internal/gate", "internal/record", "internal/cli", "internal/normalize"}, edges...),
			"the core has no way out",
		},
		{
			[]string{"internal/normalize", "internal/profile", "internal/door/wire"},
			[]string{"internal/limits", "internal/rail", "internal/risk", "internal/account", "internal/gate"},
			"a mapping must not know what would be allowed",
		},
		{
			[]string{"internal/door/"},
			[]string{"internal/broker/", "internal/store/"},
			"no path from a tool call to a broker or the journal but through the gate",
		},
		{
			[]string{"internal/broker/"},
			[]string{"internal/door/", "internal/store/", "internal/quotes", "internal/clock", "internal/normalize", "internal/risk/"},
			"edges do not know each other",
		},
		{
			[]string{"internal/store/"},
			[]string{"internal/door/", "internal/broker/", "internal/quotes", "internal/clock", "internal/normalize"},
			"edges do not know each other",
		},
		{
			[]string{"internal/quotes", "internal/clock"},
			[]string{"internal/door/", "internal/broker/", "internal/store/", "internal/normalize"},
			"edges do not know each other",
		},
		{
			[]string{"internal/gate"},
			append([]string{"internal/normalize", "internal/cli", "internal/scenario"}, edges...),
			"the gate knows its ports and nobody behind them",
		},
		{
			[]string{"cmd/", "internal/cli"},
			[]string{"internal/archtest", "internal/faults", "internal/drill", "internal/store/storetest", "internal/limits/limitstest"},
			"what proves the product does not serve orders",
		},
		{
			append([]string{
				"internal/gate", "internal/record", "internal/normalize", "internal/markfile", "internal/scenario", "internal/audit",
			}, append(edges, core[:]...)...),
			[]string{"internal/adversary", "internal/sim", "internal/report", "internal/tamper"},
			"what attacks or tries out the product is on no path of an order: only the command that starts it knows it",
		},
	}
}

func covers(list []string, dir string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		return dir == pattern || strings.HasSuffix(pattern, "/") && strings.HasPrefix(dir, pattern)
	})
}

// checkNever follows imports all the way. internal/rail is the one exception to the
// core's own order: it reaches journal through account, and may not name it.
func checkNever(m *Module, report func(token.Pos, string)) {
	direct := map[string]map[string]token.Pos{}
	for _, f := range m.Files {
		if f.Test() {
			continue
		}
		from := f.Dir()
		if direct[from] == nil {
			direct[from] = map[string]token.Pos{}
		}
		for _, s := range f.imports() {
			if to, ours := within(importPath(s)); ours {
				direct[from][to] = s.Pos()
			}
		}
	}
	for _, n := range nevers() {
		for from, imports := range direct {
			if !covers(n.who, from) {
				continue
			}
			for to, at := range imports {
				if end := reaches(direct, to, n.what, map[string]bool{}); end != "" {
					report(at, from+" reaches "+end+": "+n.why)
				}
			}
		}
	}
	if at, does := direct["internal/rail"]["internal/journal"]; does {
		report(at, "internal/rail names internal/journal: a rail judges facts, and does not know how they are kept")
	}
}

// reaches returns the first forbidden package that dir is or leads to.
func reaches(direct map[string]map[string]token.Pos, dir string, forbidden []string, seen map[string]bool) string {
	if covers(forbidden, dir) {
		return dir
	}
	if seen[dir] {
		return ""
	}
	seen[dir] = true
	for to := range direct[dir] {
		if end := reaches(direct, to, forbidden, seen); end != "" {
			return end
		}
	}
	return ""
}

// checkTesting keeps package testing, and what stands on it, out of what is built for
// use. storetest is a suite for others' tests and is imported by tests only.
func checkTesting(m *Module, report func(token.Pos, string)) {
	for _, f := range m.Files {
		if f.Test() || strings.HasPrefix(f.Rel, "internal/store/storetest/") {
			continue
		}
		for _, s := range f.imports() {
			switch p := importPath(s); {
			case p == "testing", strings.HasPrefix(p, "testing/"), p == "pgregory.net/rapid",
				p == "go.uber.org/goleak", strings.HasSuffix(p, "/store/storetest"):
				report(s.Pos(), f.Dir()+" imports "+p)
			}
		}
	}
}
