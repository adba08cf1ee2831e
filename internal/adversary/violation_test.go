package adversary

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// one loads a single case whose text has a channel, a name and a why already.
func one(t *testing.T, rest string) Case {
	t.Helper()
	cases, err := Load("test.yaml", []byte("- channel: direct\n  name: tried\n  why: to see\n"+rest))
	if err != nil {
		t.Fatal(err)
	}
	return cases[0]
}

// TestViolations gives the suite cases that are not so, and looks for what it says.
func TestViolations(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"refused by nobody", `  attack:
    - order: {}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "refused by nobody, and it must be max_order_qty"},
		{"refused by another", `  attack:
    - order: {quantity: "101"}
      expect: [max_order_notional]
  twin:
    - order: {}
`, "refused by max_order_qty, and it must be max_order_notional"},
		{"refused by one more", `  attack:
    - order: {quantity: "200"}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "refused by max_order_notional + max_order_qty, and it must be max_order_qty"},
		{"a refused twin", `  attack:
    - order: {quantity: "101"}
      expect: [max_order_qty]
  twin:
    - order: {quantity: "102"}
`, "twin: line 8: refused by max_order_qty, and it must be nobody"},
		{"a fault in the place of a refusal", `  attack:
    - silence: AAPL
    - order: {}
      expect: [quote_invalid]
  twin:
    - order: {}
`, "could not decide, which is no refusal"},
		{"a fault that is said to stand beside a denial", `  attack:
    - silence: AAPL
    - order: {}
      expect: [quote_invalid]
      faults: true
  twin:
    - order: {}
`, "refused by nobody, and it must be quote_invalid"},
		{"a beginning that is refused", `  before:
    - order: {quantity: "101"}
  attack:
    - order: {quantity: "101"}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "before: line 5: refused by max_order_qty"},
		{"one fill more than is said", `  attack:
    - order: {limit_price: "200.20"}
      repeat: 3
      price_by: "0.01"
    - order: {quantity: "101"}
      expect: [max_order_qty]
  world: {fills: 2}
  twin:
    - order: {}
`, "3 fills at the broker, and it must be 2"},
		{"other shares than is said", `  attack:
    - order: {quantity: "7"}
    - order: {quantity: "101"}
      expect: [max_order_qty]
  world: {shares: {AAPL: "8", MSFT: "1"}}
  twin:
    - order: {}
`, "7 shares of AAPL bought, and it must be 8"},
		{"a text that the agent does not read", `  attack:
    - read: {tool: market_context, holds: nothing of the kind}
    - order: {quantity: "101"}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "did not show what the agent was to read"},
		{"limits that cannot be", `  limits: {size: {max_order_qty: -1}}
  attack:
    - order: {quantity: "101"}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "could not be played"},
		{"a quiet call that is judged", `  attack:
    - order: {}
      quiet: true
    - order: {quantity: "101"}
      expect: [max_order_qty]
  twin:
    - order: {}
`, "1 entries in the journal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := one(t, tt.text)
			r := Play(t.Context(), &c, options())
			if got := strings.Join(r.Problems, "\n"); r.OK() || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestOwnOrdersOnly: a fill of an order from before the attack is not the attack's.
func TestOwnOrdersOnly(t *testing.T) {
	c := one(t, `  before:
    - order: {quantity: "5"}
    - external: {symbol: AAPL, side: buy, quantity: "3", price: "200.00"}
  attack:
    - order: {quantity: "2", limit_price: "200.03"}
    - external: {symbol: AAPL, side: buy, quantity: "4", price: "200.00"}
    - order: {quantity: "101"}
      expect: [max_order_qty]
  world: {fills: 1, shares: {AAPL: "2"}}
  twin:
    - order: {quantity: "2", limit_price: "200.03"}
`)
	if r := Play(t.Context(), &c, options()); !r.OK() {
		t.Error(r.Problems)
	}
}

func TestLoadRefuses(t *testing.T) {
	const attack, twin = "  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_qty]\n", "  twin:\n    - order: {}\n"
	for _, tt := range []struct{ name, rest, want string }{
		{"no attack", twin, "holds no call that must be refused"},
		{"no twin", attack, "is missing: a benign call"},
		{"a twin and none", attack + twin + "  no_twin: because\n", "stands beside a twin"},
		{"an unknown rail", "  attack:\n    - order: {}\n      expect: [max_order_quantity]\n" + twin, "names no rail"},
		{"a fault as a refusal", "  attack:\n    - order: {}\n      expect: [journal_unavailable]\n" + twin, "names no rail"},
		{"an unknown key", attack + twin + "  worlds: {fills: 1}\n", "is not a known key; did you mean world?"},
		{"a key twice", attack + twin + "  twin:\n    - order: {}\n", "twice"},
		{"a step that does two things", "  attack:\n    - order: {}\n      mode: halted\n      expect: [kill_switch]\n" + twin, "does one thing"},
		{"time that goes back", "  attack:\n    - advance: -1s\n    - order: {}\n      expect: [kill_switch]\n" + twin, "goes back"},
		{"a twin that expects a refusal", attack + "  twin:\n    - order: {}\n      expect: [kill_switch]\n", "where every call must pass"},
		{"all of a burst allowed", "  attack:\n    - order: {}\n      repeat: 3\n      allowed: 3\n      expect: [kill_switch]\n" + twin, "whole number from 0 to 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("test.yaml", []byte("- channel: direct\n  name: tried\n  why: to see\n"+tt.rest))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := FromFolder(dir); err == nil || !strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := FromFolder(filepath.Join(dir, "not there")); err == nil {
		t.Error("a folder that is not there holds cases")
	}
	text := "- channel: direct\n  name: mine\n  why: to see\n  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_qty]\n  twin:\n    - order: {}\n"
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml")
	if cases, err := FromFolder(dir); err != nil || len(cases) != 1 || cases[0].Name != "mine" {
		t.Errorf("%v %v", cases, err)
	}
	write("b.yaml")
	if _, err := FromFolder(dir); err == nil || !strings.Contains(err.Error(), "stands in") {
		t.Errorf("one name twice: %v", err)
	}
}

// TestSeedCases: the seed's 21 cases are there, by channel, and the others are more.
func TestSeedCases(t *testing.T) {
	seed, all := map[string]int{}, 0
	for _, c := range loaded(t) {
		all++
		if strings.HasPrefix(filepath.Base(c.File), "00_seed_") {
			seed[c.Channel]++
		}
	}
	if seed[Direct] != 9 || seed[Protocol] != 10 || seed[Injection] != 2 {
		t.Errorf("the seed's cases: %v", seed)
	}
	if all < 21+60 {
		t.Errorf("%d cases in all", all)
	}
}

// TestMainReports: one object a case, and the count of those that were violated.
func TestMainReports(t *testing.T) {
	good := one(t, "  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_qty]\n  twin:\n    - order: {}\n")
	bad := one(t, "  attack:\n    - order: {}\n      expect: [max_order_qty]\n  twin:\n    - order: {}\n")
	bad.Name = "wrong"
	var out bytes.Buffer
	violated, err := Main(t.Context(), []Case{good, bad}, options(), &out, true)
	if err != nil || violated != 1 {
		t.Fatalf("%d violated, %v", violated, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	var v struct {
		Channel, Name string
		Expected, Got []string
		OK            bool
	}
	if err := json.Unmarshal([]byte(lines[1]), &v); err != nil {
		t.Fatal(err)
	}
	if v.OK || v.Name != "wrong" || len(v.Expected) != 1 || len(v.Got) != 0 {
		t.Errorf("%+v", v)
	}
	out.Reset()
	if _, err := Main(t.Context(), []Case{good, bad}, options(), &out, false); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "✗ VIOLATED") || !strings.Contains(text, "violations: 1") {
		t.Errorf("%s", text)
	}
}
