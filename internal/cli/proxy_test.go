package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// An order that is allowed reaches the broker once, under our id, and is booked; the agent
// gets the server's own answer.
func TestProxyOrderPasses(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	got := a.call("place_stock_order", buyTwo)
	if got.isError || got.verdict != "allowed" || got.outcome != "accepted" {
		t.Fatalf("%+v", got)
	}
	orders := w.ordersAt()
	if len(orders) != 1 || orders[0].ClientOrderID != got.clientID || orders[0].Filled.String() != "2" || !journal.HasOrderIDForm(got.clientID) {
		t.Fatalf("%+v", orders)
	}
	fills := entries[journal.Fill](w, journal.KindFill)
	if len(fills) != 1 || fills[0].Quantity.String() != "2" || fills[0].Price.String() != "200.02" {
		t.Errorf("%+v", fills)
	}
	w.holds("AAPL", "2")
}

// holds compares the journal's position with one, and with the fake's.
func (w *proxyWorld) holds(symbol, quantity string) {
	w.t.Helper()
	got := "0"
	if err := w.d.opened().View(w.t.Context(), func(v gate.View) {
		if h := v.State.Holding(symbol); h != nil {
			got = h.Position.String()
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	at := "0"
	for _, p := range w.fake.Ledger().Positions {
		if p.Symbol == symbol {
			at = p.Quantity.String()
		}
	}
	if got != quantity || at != quantity {
		w.t.Errorf("%s: the journal holds %s, the broker %s, want %s", symbol, got, at, quantity)
	}
}

// What is not an order inside the limits does not reach the broker, and stands in the
// journal.
func TestProxyStops(t *testing.T) {
	for _, c := range []struct{ name, tool, arguments, code string }{
		{"too large", "place_stock_order", strings.Replace(buyTwo, `"2"`, `"5000"`, 1), "max_order_qty"},
		{"too dear", "place_stock_order", strings.Replace(buyTwo, "200.10", "290.00", 1), "limit_price_collar"},
		{"another type than is allowed", "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"2"}`, "order_type_not_allowed"},
		{"sized in money", "place_stock_order", `{"symbol":"AAPL","side":"buy","notional":"100"}`, "not_judged"},
		{"an argument twice", "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"2","qty":"3","type":"limit","limit_price":"200"}`, ""},
		{"an argument that is not mapped", "place_stock_order", strings.Replace(buyTwo, `"symbol"`, `"leverage":"5","symbol"`, 1), "unmapped_argument"},
		{"a number where the server reads text", "place_stock_order", strings.Replace(buyTwo, `"2"`, `2`, 1), "type_mismatch"},
		{"a bracket", "place_stock_order", strings.Replace(buyTwo, `}`, `,"take_profit_limit_price":"300"}`, 1), ""},
		{"everything closed at once", "close_all_positions", `{}`, "class_denied"},
		{"the account's settings", "update_account_config", `{"no_shorting":false}`, "class_denied"},
		{"a tool that the profile does not name", "something_else", `{}`, "unknown_tool"},
		{"a tool that nobody has", "drop_limits", `{}`, "unknown_tool"},
		{"a close of what is not held", "close_position", `{"symbol_or_asset_id":"AAPL"}`, "not_judged"},
		{"a change of no order", "replace_order_by_id", `{"order_id":"61e69015-8549-4bfd-b9c3-01e75843f47d","qty":"5"}`, "not_judged"},
		{"a cancel of no order", "cancel_order_by_id", `{"order_id":"61e69015-8549-4bfd-b9c3-01e75843f47d"}`, "conflicting_fields"},
		{"an id that is a path", "cancel_order_by_id", `{"order_id":"../positions"}`, "identifier_format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newProxyWorld(t)
			a := w.begin()
			got := a.call(c.tool, c.arguments)
			if got.verdict == "allowed" || c.code != "" && got.rail != c.code {
				t.Errorf("%s", got.line)
			}
			if orders := w.ordersAt(); len(orders) != 0 {
				t.Errorf("reached the broker: %+v", orders)
			}
			if n := a.standin.calls[c.tool]; n != 0 {
				t.Errorf("the server was called %d times", n)
			}
			if len(refusalCodes(w))+len(entries[journal.Decision](w, journal.KindDecision)) == 0 {
				t.Error("the journal does not tell of it")
			}
		})
	}
}

func TestProxyChangesClosesAndCancels(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	first := a.call("place_stock_order", resting("AAPL", "198.00"))
	changed := a.call("replace_order_by_id", `{"order_id":"`+first.brokerID+`","limit_price":"198.50"}`)
	if changed.outcome != "accepted" || changed.brokerID == first.brokerID {
		t.Fatalf("%s", changed.line)
	}
	if got := a.call("cancel_order_by_id", `{"order_id":"`+changed.brokerID+`"}`); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	orders := w.ordersAt()
	if len(orders) != 2 || orders[1].Limit.String() != "198.5" && orders[1].Limit.String() != "198.50" || orders[1].Status != "canceled" {
		t.Errorf("%+v", orders)
	}
	for _, args := range []string{resting("AAPL", "197.50"), resting("SPY", "565.00")} {
		if got := a.call("place_stock_order", args); got.outcome != "accepted" {
			t.Fatalf("%s", got.line)
		}
	}
	a.call("cancel_all_orders", `{}`)
	for _, o := range w.ordersAt() {
		if o.Status != "canceled" && o.Status != "replaced" {
			t.Errorf("%+v is open", o)
		}
	}
	if n := a.standin.calls["cancel_all_orders"]; n != 0 {
		t.Errorf("the server's own tool was called %d times", n)
	}
	if g := w.openOrders(); g != 0 {
		t.Errorf("%d orders are open in the journal", g)
	}
}

func (w *proxyWorld) openOrders() (n int) {
	w.t.Helper()
	if err := w.d.opened().View(w.t.Context(), func(v gate.View) { n = v.State.OpenOrders() }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// The same order under the same id is sent once, whichever tool or session it comes by.
func TestProxySameOrderTwice(t *testing.T) {
	w := newProxyWorld(t)
	a, b := w.begin(), w.begin()
	args := strings.Replace(buyTwo, "}", `,"client_order_id":"mine-1"}`, 1)
	if got := a.call("place_stock_order", args); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	if got := a.call("place_stock_order", args); got.outcome == "accepted" || !strings.HasPrefix(got.text, "REPLAYED") {
		t.Errorf("%s", got.line)
	}
	if got := b.call("place_stock_order", args); !strings.HasPrefix(got.text, "REPLAYED") {
		t.Errorf("%s", got.line)
	}
	if orders := w.ordersAt(); len(orders) != 1 {
		t.Errorf("%+v", orders)
	}
}

// What is passed on is passed by its own bytes.
func TestProxyIsLossless(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	params := `{"uri":"x://y","n":1.50,"big":123456789012345678901234567890,"e":1e400,"_meta":{"progressToken":"p-1","k":[1.0,2.50]},"é":"\u00e9\/"}`
	got := a.ask("resources/read", params)
	if !strings.Contains(got, `"params":`+params) {
		t.Errorf("sent on as %s", got)
	}
	list := a.ask("tools/list", `{}`)
	if !strings.Contains(list, `"_meta":{"pi":3.140}`) {
		t.Errorf("the result's other members changed: %s", list)
	}
	for _, d := range w.tools {
		var name struct{ Name string }
		if err := json.Unmarshal([]byte(d), &name); err != nil {
			t.Fatal(err)
		}
		closed := slices.Contains([]string{"close_all_positions", "update_account_config", "something_else"}, name.Name)
		if strings.Contains(list, d) == closed {
			t.Errorf("%s: shown %v", name.Name, !closed)
		}
	}
	a.standin.after = func(_ string, id json.RawMessage, _ string) ([]string, bool) {
		return []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p-1","progress":0.10}}`,
			`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[],"n":1.00,"x":{"y":1e2}}}`,
		}, true
	}
	if got := a.ask("tools/call", `{"name":"get_news","arguments":{"limit":1.0}}`); !strings.HasSuffix(got, `"result":{"content":[],"n":1.00,"x":{"y":1e2}}}`) {
		t.Errorf("%s", got)
	}
	if !slices.Contains(a.heard, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p-1","progress":0.10}}`) {
		t.Errorf("no progress: %q", a.heard)
	}
}
