package scenario_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/scenario"
)

// play runs texts as files of one folder, with their names, and returns what Main says.
func play(t *testing.T, asJSON bool, files map[string]string) (failed int, out string, err error) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	failed, err = scenario.Main(t.Context(), []string{folder}, &stdout, &stderr, asJSON)
	return failed, stdout.String(), err
}

const burst = `name: a burst stops at the cap
at: 2026-03-18T15:00:00Z
instruments: {TSTH: {class: us_equity, currency: USD}}
account:
  cash: "100000"
  positions: {AAPL: {quantity: "10", price: "190.00"}}
  open_orders: [{id: o1, symbol: AAPL, side: buy, quantity: "5", limit_price: "199.00"}]
  orders_today: 3
  equity_at_open: "102000"
quotes: {AAPL: {bid: "199.98", ask: "200.02", age: 1s}}
steps:
  - order: {symbol: AAPL, side: buy, quantity: "10", limit_price: "200.00", client_order_id: a1}
    expect: allowed
  - call: {tool: place_order, arguments: {symbol: AAPL, side: buy, order_type: limit, quantity: "5000", limit_price: "200.00", time_in_force: day}}
    expect: {verdict: denied, rails_include: [max_order_qty, max_order_notional]}
  - raw: '{"symbol":"AAPL","symbol":"MSFT"}'
    expect: {verdict: denied, rails: [malformed_call]}
  - advance: 61s
  - quote: {AAPL: {bid: "201.00", ask: "201.02"}}
  - broker: timeout
  - fill: {order: a1, quantity: "10", price: "200.00"}
state: {positions: {AAPL: "20"}, orders_today: 4}
`

func TestTheLinesOfAScenario(t *testing.T) {
	t.Parallel()
	failed, out, err := play(t, true, map[string]string{"burst.yaml": burst})
	if failed != 0 || err != nil {
		t.Fatalf("%d failed, %v\n%s", failed, err, out)
	}
	const want = `{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":0,"verdict":"allowed","rails":[],"faults":[],"outcome":"accepted","forwarded":1}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":1,"verdict":"denied","rails":["max_order_qty","max_order_notional","max_position_qty","max_gross_exposure","insufficient_buying_power","max_notional_per_minute"],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":2,"verdict":"denied","rails":["malformed_call"],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":3,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":4,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":5,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test-step/v1","scenario":"a burst stops at the cap","step":6,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"schema":"rails.test/v1","scenario":"a burst stops at the cap","passed":true,"failures":[],"rederived":6,"state":{"cash":"98000","denials":2,"equity_at_open":"102000","exit_orders_today":0,"forwarded":1,"in_doubt":0,"loss_latched":false,"mode":"active","notional_today":"2000","open_orders":1,"orders_today":4,"positions":{"AAPL":"20"},"reserved":"5"}}
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestWhatIsWrongWithAFileIsSaidWithItsPlace holds each problem against line, column and
// the nearest name.
func TestWhatIsWrongWithAFileIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"nam: x\n", "s.yaml:1:1: nam: is not a known key; did you mean name?"},
		{"name: x\nname: y\n", "s.yaml:2:1: name: is written twice"},
		{"steps:\n  - ordr: {symbol: AAPL}\n", "s.yaml:2:5: steps[0].ordr: is not a known key; did you mean order?"},
		{"steps:\n  - order: {symbol: AAPL, limt_price: 1}\n", "s.yaml:2:27: steps[0].order.limt_price: is not a known key; did you mean limit_price?"},
		{"steps:\n  - expect: allowed\n", "s.yaml:2:5: steps[0]: does nothing"},
		{"steps:\n  - {advance: 1s, restart: true}\n", "does two things, advance and restart"},
		{"steps:\n  - advance: -1s\n", "s.yaml:2:14: steps[0].advance: goes back"},
		{"steps:\n  - advance: soon\n", "s.yaml:2:14: steps[0].advance: is not a duration"},
		{"steps:\n  - broker: timout\n", "did you mean timeout?"},
		{"steps:\n  - cancel: a\n    expect: alowed\n", "s.yaml:3:13: steps[0].expect: \"alowed\" is not known; did you mean allowed?"},
		{"steps:\n  - cancel: a\n    expect: {rails: [max_order_qy]}\n", "did you mean max_order_qty?"},
		{"steps:\n  - mode: paused\n", "steps[0].mode: \"paused\" is not known"},
		{"steps:\n  - fill: {order: a, quantity: 1e3, price: 1}\n", "s.yaml:2:32: steps[0].fill.quantity: is not a plain decimal"},
		{"steps:\n  - reconcile: false\n", "is neither true nor a finding"},
		{"steps:\n  - reconcile: {order: a, placed: true, not_placed: true}\n", "finds two things"},
		{"steps:\n  - external: {cash: 1, position: {symbol: A, quantity: 1}}\n", "is not one thing"},
		{"at: yesterday\n", "s.yaml:1:5: at: is not an instant"},
		{"account: {positions: {AAPL: ten}}\n", "s.yaml:1:29: account.positions.AAPL: is not a plain decimal"},
		{"account: {open_orders: [{id: a, symbol: A, side: buy, quantity: 1}]}\n", "account.open_orders[0].limit_price: is missing"},
		{"quotes: {AAPL: {bit: 1}}\n", "did you mean bid?"},
		{"state: {orders_todya: 1}\n", "did you mean orders_today?"},
		{"- name: a\n- nam: b\n", "s.yaml:2:3: [1].nam: is not a known key"},
		{"a: &x 1\n", "an anchor is not accepted"},
		{"", "is empty"},
		{"[]", "holds 0 scenarios"},
		{"just text\n", "is not a mapping"},
	} {
		_, err := scenario.Load("s.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestJSONAndYAMLAreOneFormat(t *testing.T) {
	t.Parallel()
	const text = `[{"name":"j","quotes":{"AAPL":{"bid":"199.98","ask":"200.02"}},"steps":[{"order":{"symbol":"AAPL","side":"buy","quantity":1,"limit_price":"200.00"},"expect":"allowed"}],"state":{"orders_today":1}}]`
	if failed, out, err := play(t, false, map[string]string{"j.json": text}); failed != 0 || err != nil || !strings.Contains(out, "✓ pass  j") {
		t.Errorf("%d %v\n%s", failed, err, out)
	}
}

// story is one step under the shipped limits.
func story(steps string) string {
	return "name: s\nquotes: {AAPL: {bid: \"199.98\", ask: \"200.02\"}}\nsteps:\n" + steps
}

// TestAnExpectationThatIsNotMetFails tries each kind of expectation: one that is met must
// pass, and its opposite must fail.
func TestAnExpectationThatIsNotMetFails(t *testing.T) {
	t.Parallel()
	const buy, much, none = "  - order: {symbol: AAPL, side: buy, quantity: 1, limit_price: 200.00}\n",
		"  - order: {symbol: AAPL, side: buy, quantity: 101, limit_price: 200.00}\n",
		"  - quote: {AAPL: null}\n  - order: {symbol: AAPL, side: buy, quantity: 1, limit_price: 200.00}\n"
	for _, c := range []struct{ step, met, unmet, says string }{
		{buy, "expect: allowed", "expect: denied", "expected denied, got allowed"},
		{much, "expect: {rails: [max_order_qty]}", "expect: {rails: []}", "expected exactly the rails none, got max_order_qty"},
		{much, "expect: {rails_include: [max_order_qty]}", "expect: {rails: [max_order_qty, kill_switch]}", "kill_switch"},
		{much, "expect: {rails_include: []}", "expect: {rails_include: [kill_switch]}", "expected the rails kill_switch too"},
		{none, "expect: {verdict: error, rails: [], faults_include: [quote_invalid]}", "expect: {rails_include: [quote_invalid]}", "expected the rails quote_invalid too"},
		{none, "expect: error", "expect: {faults: []}", "expected exactly the faults none"},
		{none, "expect: error", "expect: {faults_include: [kill_switch]}", "expected the faults kill_switch too"},
		{buy, "expect: {outcome: accepted}", "expect: {outcome: rejected}", `expected the outcome "rejected", got "accepted"`},
		{buy, "expect: {forwarded: 1}", "expect: {forwarded: 0}", "expected 0 messages forwarded, got 1"},
		{buy, "expect: allowed\nstate: {orders_today: 1}", "expect: allowed\nstate: {orders_today: 2}", "expected orders_today 2, got 1"},
		{buy, "expect: allowed\nstate: {positions: {AAPL: 0}}", "expect: allowed\nstate: {positions: {AAPL: 1}}", "expected a position of 1 in AAPL, got 0"},
		{buy, "expect: allowed\nstate: {cash: \"100000.00\", mode: active}", "expect: allowed\nstate: {mode: halted}", "expected mode halted, got active"},
		{"  - fill: {order: nobody, quantity: 1, price: 1}\n  - restart: true\n", "", "", ""},
	} {
		if c.met != "" {
			if failed, out, err := play(t, false, map[string]string{"s.yaml": story(c.step + "    " + c.met + "\n")}); failed != 0 || err != nil {
				t.Errorf("%s: %v\n%s", c.met, err, out)
			}
		}
		unmet := c.step
		if c.unmet != "" {
			unmet += "    " + c.unmet + "\n"
		}
		failed, out, err := play(t, false, map[string]string{"s.yaml": story(unmet)})
		if failed != 1 || err != nil || !strings.Contains(out, "✗ FAIL") || !strings.Contains(out, c.says) {
			t.Errorf("%q passes: %v\n%s", c.unmet, err, out)
		}
	}
}

func TestAStepWithoutExpectationIsReported(t *testing.T) {
	t.Parallel()
	_, out, err := play(t, false, map[string]string{"s.yaml": story("  - order: {symbol: AAPL, side: buy, quantity: 101, limit_price: 200.00}\n")})
	if err != nil || !strings.Contains(out, "step 0: denied by max_order_qty") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFailClosedWhatCannotBeBegunIsAnError: such a scenario neither passes nor fails.
func TestFailClosedWhatCannotBeBegunIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		limits bool
	}{
		"limits that are not there":  {"limits: nothing.yaml\n", true},
		"limits that are not valid":  {"limits: {size: {max_order_qty: -1}}\n", true},
		"a symbol that nobody knows": {"account: {positions: {NOSUCH: {quantity: 1, price: 1}}}\n", false},
		"a position without a price": {"account: {positions: {AAPL: 1}}\n", false},
		"an order without the cash":  {"account: {cash: 10, open_orders: [{id: a, symbol: AAPL, side: buy, quantity: 1, limit_price: 200}]}\n", false},
	} {
		_, out, err := play(t, false, map[string]string{"s.yaml": c.text})
		var bad *scenario.LimitsError
		if err == nil || strings.Contains(out, "✓") || errors.As(err, &bad) != c.limits {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAFolderHoldsOtherFilesToo(t *testing.T) {
	t.Parallel()
	files := map[string]string{"limits.yaml": string(limits.Template("paper")), "README.md": "# x\n", "s.yaml": story("  - restart: true\n")}
	if failed, out, err := play(t, false, files); failed != 0 || err != nil || !strings.Contains(out, "1 passed, 0 failed") {
		t.Errorf("%d %v\n%s", failed, err, out)
	}
	if _, _, err := play(t, false, map[string]string{"README.md": "# x\n"}); !errors.Is(err, scenario.ErrNothing) {
		t.Errorf("an empty folder: %v", err)
	}
	// One file that cannot be read does not hide the others.
	if failed, out, err := play(t, false, map[string]string{"a.yaml": "nam: x\n", "b.yaml": story("  - restart: true\n")}); failed != 0 || err == nil || !strings.Contains(out, "1 passed") {
		t.Errorf("%d %v\n%s", failed, err, out)
	}
}

// TestTheBeginningIsAsTheFileSays looks at the state before any step.
func TestTheBeginningIsAsTheFileSays(t *testing.T) {
	t.Parallel()
	const text = `name: beginning
limits: {instrument: {allow_short: true}}
account:
  cash: "5000.25"
  positions: {AAPL: {quantity: "10", price: "190.00"}, MSFT: {quantity: "-3", price: "400"}}
  open_orders:
    - {id: a, symbol: AAPL, side: buy, quantity: 2, limit_price: 199}
    - {id: b, symbol: AAPL, side: sell, quantity: 3, order_type: stop, stop_price: 150}
    - {id: c, symbol: AAPL, side: buy, quantity: 1, limit_price: 198, time_in_force: day}
  orders_today: 4
  notional_today: "1234.56"
quotes:
  AAPL: {bid: "200.00", ask: "200.02"}
  MSFT: {bid: "419", ask: "420"}
state:
  cash: "5000.25"
  positions: {AAPL: 10, MSFT: -3}
  open_orders: 3
  reserved: 6
  orders_today: 4
  exit_orders_today: 0
  notional_today: "1432.56"      # and the day order that is open
  equity_at_open: "5740.25"      # longs at bid, shorts at ask
  in_doubt: 0
  denials: 0
  forwarded: 0
  mode: active
  loss_latched: false
`
	if failed, out, err := play(t, false, map[string]string{"s.yaml": text}); failed != 0 || err != nil {
		t.Errorf("%d %v\n%s", failed, err, out)
	}
}
