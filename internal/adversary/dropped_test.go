package adversary

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/rail"
)

// dropped is the variable that names, in the build made here only, the rail whose answer
// is thrown away.
const dropped = "RAIL_DROPPED"

// withoutCase are the rails that no case names, each with the reason.
func withoutCase() map[rail.ID]string {
	return map[rail.ID]string{
		rail.AccountUnreconciled: "the paper broker's ledger and ours cannot differ by what an agent sends; the gate's own tests take them apart",
	}
}

// TestEveryRailHasACase holds the list of rails without a case against the cases.
func TestEveryRailHasACase(t *testing.T) {
	cases := loaded(t)
	for _, r := range rail.All() {
		named := slices.ContainsFunc(cases, func(c Case) bool { return slices.Contains(c.Expected(), string(r.ID)) })
		switch reason := withoutCase()[r.ID]; {
		case named && reason != "":
			t.Errorf("%s is said to have no case, and has one", r.ID)
		case !named && reason == "":
			t.Errorf("%s has no case", r.ID)
		}
	}
}

// TestDroppedRailIsAViolation builds the suite with a changed rail.Run that throws one
// rail's answer away, and takes each rail away in turn: every case that names the rail
// must report a violation, and no case when nothing is taken away.
func TestDroppedRailIsAViolation(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the suite again")
	}
	c := exec.CommandContext(t.Context(), builtToDrop(t), "-test.run", "^TestSuiteWithoutARail$", "-test.v")
	c.Env = append(os.Environ(), dropped+"=none")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestSuiteWithoutARail") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSuiteWithoutARail runs in the build of TestDroppedRailIsAViolation.
func TestSuiteWithoutARail(t *testing.T) {
	if os.Getenv(dropped) == "" {
		t.Skip("runs where a rail can be dropped")
	}
	cases := loaded(t)
	for i := range cases {
		c := &cases[i]
		t.Setenv(dropped, "none")
		if r := Play(t.Context(), c, options()); !r.OK() {
			t.Errorf("%s: with every rail in place: %v", c.Name, r.Problems)
		}
		for _, id := range c.Expected() {
			if !slices.ContainsFunc(railIDs(), func(known string) bool { return known == id }) {
				continue // an integrity refusal is no rail
			}
			t.Setenv(dropped, id)
			if r := Play(t.Context(), c, options()); r.OK() {
				t.Errorf("%s: without %s nothing is reported", c.Name, id)
			}
		}
	}
}

func railIDs() (out []string) {
	for _, r := range rail.All() {
		out = append(out, string(r.ID))
	}
	return out
}

// builtToDrop builds this package's tests with a rail.Run that heeds the variable.
func builtToDrop(t *testing.T) string {
	t.Helper()
	all, err := filepath.Abs(filepath.Join("..", "rail", "all.go"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	const last, imports = "\tif f.Reducing {\n\t\tendTexts(f, out)\n\t}\n", "import \"strings\"\n"
	if strings.Count(string(source), last) != 1 || strings.Count(string(source), imports) != 1 {
		t.Fatal("rail.Run no longer ends as this test expects")
	}
	changed := strings.Replace(string(source), imports, "import (\n\t\"os\"\n\t\"strings\"\n)\n", 1)
	changed = strings.Replace(changed, last, last+
		"\tfor i := range out {\n\t\tif string(out[i].Rail) == os.Getenv(\""+dropped+"\") {\n\t\t\tout[i] = pass(out[i].Rail)\n\t\t}\n\t}\n", 1)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {all: write("all.go", []byte(changed))}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "suite.test")
	c := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", write("overlay.json", overlay), "-o", binary, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build with a rail to drop: %v\n%s", err, out)
	}
	return binary
}

// TestRandomAttackerFindsADroppedRail runs in the build of TestDroppedRailIsAViolation as
// well: without one of these rails the attacker that makes attacks up gets something past
// the limits, and what it found is short and replays.
func TestRandomAttackerFindsADroppedRail(t *testing.T) {
	if os.Getenv(dropped) == "" {
		t.Skip("runs where a rail can be dropped")
	}
	for _, tt := range findable() {
		t.Run(string(tt.rail), func(t *testing.T) {
			t.Setenv(dropped, string(tt.rail))
			h := Hunt{Options: options(), Seed: 1, Attempts: 400}
			f, err := h.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Case == nil {
				t.Fatalf("nothing found in %d attempts", f.Attempts)
			}
			t.Logf("attempt %d, %s, %d steps of %d, %d replays", f.Attempt, f.Check, len(f.Case.attack), f.Before, f.Replays)
			if len(f.Case.attack) > tt.steps {
				t.Errorf("%d steps, and %d will do:\n%s", len(f.Case.attack), tt.steps, f.Case.Text())
			}
			replay, err := Load("found.yaml", f.Case.Text())
			if err != nil {
				t.Fatalf("%v\n%s", err, f.Case.Text())
			}
			if r := Play(t.Context(), &replay[0], options()); r.OK() {
				t.Errorf("the file that was written does not replay it:\n%s", f.Case.Text())
			}
			t.Setenv(dropped, "none")
			if r := Play(t.Context(), &replay[0], options()); !r.OK() {
				t.Errorf("with every rail in place: %v\n%s", r.Problems, f.Case.Text())
			}
		})
	}
}

// findable are rails whose loss can be seen at the broker, and how many steps show it.
func findable() []struct {
	rail  rail.ID
	steps int
} {
	return []struct {
		rail  rail.ID
		steps int
	}{
		{rail.SymbolNotAllowed, 2}, {rail.SymbolRestricted, 1}, {rail.InstrumentHalted, 2}, {rail.TimeInForceNotAllowed, 1},
		{rail.ShortNotAllowed, 1}, {rail.MaxOrderQty, 2}, {rail.MaxOrderNotional, 1}, {rail.MinOrderNotional, 1},
		{rail.MaxPositionQty, 3}, {rail.MaxPositionNotional, 3}, {rail.MaxGrossExposure, 3}, {rail.MaxOpenOrders, 3},
		{rail.SelfCross, 5}, {rail.OrderInDoubt, 3}, {rail.LimitPriceCollar, 1}, {rail.PassivePriceCollar, 1},
		{rail.QuoteInvalid, 2}, {rail.SpreadTooWide, 2}, {rail.PriceStep, 1}, {rail.MaxOrdersPerMinute, 2}, {rail.MaxNotionalPerMinute, 2},
		{rail.MaxOrdersPerDay, 3}, {rail.MaxNotionalPerDay, 3}, {rail.MaxDailyLoss, 4}, {rail.KillSwitch, 4},
		{rail.TradingWindow, 2}, {rail.DuplicateOrder, 2},
	}
}
