package adversary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

// everyOf picks one case in n, or all of them in a long run.
func everyOf(t *testing.T, n int) (out []Case) {
	t.Helper()
	if os.Getenv("RAILS_SOAK") != "" {
		return loaded(t)
	}
	for i, c := range loaded(t) {
		if i%n == 0 || strings.Contains(c.Name, "clips") || strings.Contains(c.Name, "burst of fifteen") {
			out = append(out, c)
		}
	}
	return out
}

// TestSixteenAttackersAtOnce: each has its own accounts in one journal, and what the others
// do changes nothing for it; then all fire at one account.
func TestSixteenAttackersAtOnce(t *testing.T) {
	for _, files := range []bool{false, true} {
		t.Run(fmt.Sprint("files ", files), func(t *testing.T) {
			o, n, every := options(), 0, 36
			o.Attackers, o.Files = AttackersMax, files
			if files {
				every, o.Attackers = 1000, 4
			}
			err := playAll(t.Context(), everyOf(t, every), o, func(r *Result) error {
				n++
				for _, p := range r.Problems {
					t.Errorf("%s: %s", r.Name, p)
				}
				return nil
			})
			if err != nil || n < 4 {
				t.Errorf("%d results, %v", n, err)
			}
		})
	}
}

// TestAttackersDoNotHideEachOther: a violation of one of them is reported, by its number.
func TestAttackersDoNotHideEachOther(t *testing.T) {
	o := options()
	o.Attackers = 3
	bad := one(t, "  attack:\n    - order: {}\n      expect: [max_order_qty]\n  twin:\n    - order: {}\n")
	var all []string
	if err := playAll(t.Context(), []Case{bad}, o, func(r *Result) error { all = append(all, r.Problems...); return nil }); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 3; k++ {
		if !strings.Contains(strings.Join(all, "\n"), fmt.Sprintf("attacker %d: ", k)) {
			t.Errorf("attacker %d is missing: %v", k, all)
		}
	}
}

// TestOnFiles plays cases with journal and ledger in files.
func TestOnFiles(t *testing.T) {
	o := options()
	o.Files = true
	cases := everyOf(t, 16)
	for i := range cases {
		if r := Play(t.Context(), &cases[i], o); !r.OK() {
			t.Errorf("%s: %v", r.Name, r.Problems)
		}
	}
}

// binary builds the product as a release does.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rails")
	c := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, "../../cmd/rails")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestServerOfItsOwnProcess plays cases on rails serve and on a server in a scripted
// market, each a process with its journal and ledger in files, over both transports; and
// what is wrong there is seen.
func TestServerOfItsOwnProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product")
	}
	path := binary(t)
	for _, http := range []bool{false, true} {
		o, served, cases := options(), 0, everyOf(t, 60)
		o.HTTP, o.Server = http, &Server{Path: path, Environ: os.Environ()}
		for i := range cases {
			r := Play(t.Context(), &cases[i], o)
			if !r.OK() {
				t.Errorf("http %t: %s: %v", http, r.Name, r.Problems)
			}
			if r.Served {
				served++
			}
		}
		if served == 0 || served == len(cases) {
			t.Errorf("http %t: %d of %d on rails serve", http, served, len(cases))
		}
		bad := one(t, "  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_notional]\n  twin:\n    - order: {}\n")
		if r := Play(t.Context(), &bad, o); r.OK() || !r.Served || !strings.Contains(r.Problems[0], "refused by max_order_qty") {
			t.Errorf("http %t: served %t, %v", http, r.Served, r.Problems)
		}
	}
}

// TestAServerThatDoesNotStart is a violation, and says what the process said.
func TestAServerThatDoesNotStart(t *testing.T) {
	o := options()
	o.Server = &Server{Path: filepath.Join(t.TempDir(), "no such program")}
	c := one(t, "  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_qty]\n  twin:\n    - order: {}\n")
	if r := Play(t.Context(), &c, o); r.OK() {
		t.Error("it is taken for a case that held")
	}
}

// TestRuns: what can be played on a market that runs.
func TestRuns(t *testing.T) {
	const attack = "  attack:\n    - order: {quantity: \"101\"}\n      expect: [max_order_qty]\n"
	for _, tt := range []struct {
		rest string
		want bool
	}{
		{attack + "  twin:\n    - order: {}\n", true},
		{attack + "  twin:\n    - order: {limit_price: \"200.30\"}\n", true},
		{attack + "  twin:\n    - order: {limit_price: \"203.02\"}\n", false},
		{attack + "  twin:\n    - advance: 61s\n    - order: {}\n", false},
		{attack + "  twin:\n    - quote: {symbol: AAPL, bid: \"1.00\", ask: \"1.01\"}\n    - order: {}\n", false},
		{"  limits: {position: {max_gross_exposure: \"5000\"}}\n" + attack + "  no_twin: none\n", false},
		{"  cash: \"5\"\n" + attack + "  no_twin: none\n", false},
		{"  at: 2026-01-14T20:58:00Z\n" + attack + "  no_twin: none\n", false},
		{"  before:\n    - mode: halted\n" + attack + "      repeat: 4\n      at_once: true\n  no_twin: none\n", false},
	} {
		if c := one(t, tt.rest); c.Runs() != tt.want {
			t.Errorf("runs: %t\n%s", c.Runs(), tt.rest)
		}
	}
	if money.MustPrice(plainPrice) != plainQuote("AAPL").ask {
		t.Error("the plain price is not the ask")
	}
}
