package scenario_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

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
	const want = `{"scenario":"a burst stops at the cap","step":0,"verdict":"allowed","rails":[],"faults":[],"outcome":"accepted","forwarded":1}
{"scenario":"a burst stops at the cap","step":1,"verdict":"denied","rails":["max_order_qty","max_order_notional","max_position_qty","max_gross_exposure","insufficient_buying_power","max_notional_per_minute"],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","step":2,"verdict":"denied","rails":["malformed_call"],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","step":3,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","step":4,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","step":5,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","step":6,"verdict":"","rails":[],"faults":[],"outcome":"","forwarded":0}
{"scenario":"a burst stops at the cap","passed":true,"failures":[],"rederived":6,"state":{"cash":"98000","denials":2,"equity_at_open":"102000","exit_orders_today":0,"forwarded":1,"in_doubt":0,"loss_latched":false,"mode":"active","notional_today":"2000","open_orders":1,"orders_today":4,"positions":{"AAPL":"20"},"reserved":"5"}}
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
