package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Each fault of the broker's service at an order, before and after it took effect: nothing
// is sent twice, what is not proved is in doubt, and the next look at the broker finds out.
func TestProxyFaultsOfTheService(t *testing.T) {
	for _, c := range []struct {
		kind   string
		took   bool   // the order exists at the broker
		result string // of the call
	}{
		{"drop_before", false, "in_doubt"},
		{"drop_after", true, "in_doubt"},
		{"error_before", false, "in_doubt"},
		{"error_after", true, "in_doubt"},
		{"delay_before", false, "in_doubt"},
		{"delay_after", true, "in_doubt"},
		{"html_before", false, "in_doubt"},
		{"html_after", true, "in_doubt"},
		{"empty_after", true, "in_doubt"},
		{"rate_limit", false, "rejected"},
		{"foreign_after", true, "in_doubt"},
		{"huge_after", true, "in_doubt"},
		{"status_after", true, "accepted"},
		{"number_after", true, "accepted"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			w := newProxyWorld(t)
			a := w.begin()
			if got := a.call("get_account_info", `{}`); got.isError {
				t.Fatalf("%s", got.line)
			}
			if err := w.fake.Inject(fakealpaca.Fault{Kind: c.kind, On: "POST /v2/orders", For: 3 * time.Second}); err != nil {
				t.Fatal(err)
			}
			got := a.call("place_stock_order", buyTwo)
			if got.outcome != c.result {
				t.Errorf("%s: %s", got.outcome, got.line)
			}
			if c.result == "in_doubt" && strings.Contains(got.line, "structuredContent") {
				t.Error("a reply that proves nothing was shown to the agent")
			}
			want := 0
			if c.took {
				want = 1
			}
			if orders := w.ordersAt(); len(orders) != want {
				t.Fatalf("%+v", orders)
			}
			if n := a.standin.calls["place_stock_order"]; n != 1 {
				t.Errorf("sent %d times", n)
			}
			if len(w.fake.Pending()) != 0 {
				t.Errorf("did not fire: %v", w.fake.Pending())
			}
			if _, err := w.d.opened().Reconcile(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if c.took {
				w.holds("AAPL", "2")
			} else {
				w.holds("AAPL", "0")
			}
			if open := w.openOrders(); !c.took && c.result == "in_doubt" && open != 1 {
				t.Errorf("an order that may still arrive is no longer counted: %d open", open)
			}
			// While one is in doubt, new risk in the instrument waits; when it is not, it passes.
			again := a.call("place_stock_order", strings.Replace(buyTwo, "200.10", "200.05", 1))
			if stopped := again.verdict != "allowed"; stopped != (!c.took && c.result == "in_doubt") {
				t.Errorf("afterwards: %s", again.line)
			}
		})
	}
}

// What a server can do to one call and its session. Nothing of it is a success, and the
// order that went out is in doubt, found again by its id, and sent once.
func TestProxyFaultsOfTheServer(t *testing.T) {
	foreign := `{"jsonrpc":"2.0","id":%s,"result":` + wrapped(`{"id":"61e69015-8549-4bfd-b9c3-01e75843f47d","client_order_id":"x","status":"new","symbol":"AAPL","side":"buy","qty":"2","filled_qty":"0"}`) + `}`
	at := func(lines ...string) func(string, json.RawMessage, string) ([]string, bool) {
		return func(tool string, id json.RawMessage, line string) ([]string, bool) {
			if tool != "place_stock_order" {
				return []string{line}, true
			}
			var out []string
			for _, l := range lines {
				if strings.Contains(l, "%s") {
					l = fmt.Sprintf(l, id)
				}
				out = append(out, l)
			}
			return out, true
		}
	}
	dies := func(tool string, _ json.RawMessage, line string) ([]string, bool) {
		return []string{line}[:map[bool]int{true: 0, false: 1}[tool == "place_stock_order"]], tool != "place_stock_order"
	}
	for _, c := range []struct {
		name   string
		before func(string) bool
		after  func(string, json.RawMessage, string) ([]string, bool)
		took   bool
		ends   bool
	}{
		{name: "dies before the call", before: func(tool string) bool { return tool != "place_stock_order" }, ends: true},
		{name: "dies after the call", after: dies, took: true, ends: true},
		{name: "another order's answer", after: at(foreign), took: true},
		{name: "success without an order", after: at(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"Order placed successfully! id 123"}],"isError":false}}`), took: true},
		{name: "prose round the JSON", after: at(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"Sure! {\"data\":{\"id\":\"1\"}} Done."}]}}`), took: true},
		{name: "a protocol error", after: at(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"internal"}}`), took: true},
		{name: "result and error at once", after: at(`{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"x"}}`), took: true},
		{name: "a name twice in the answer", after: at(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"data":{"id":"1","id":"2"}}}}`), took: true},
		{name: "a result that is no object", after: at(`{"jsonrpc":"2.0","id":%s,"result":[1]}`), took: true},
		{name: "an endless answer", after: at(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("a", mcpMessageMax) + `"}]}}`), took: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newProxyWorld(t)
			w.before, w.after = c.before, c.after
			a := w.begin()
			got := a.call("place_stock_order", buyTwo)
			if !c.ends && (!got.isError || got.outcome != "in_doubt") {
				t.Errorf("%.600s", got.line)
			}
			if c.ends {
				if err := <-a.ended; err == nil {
					t.Error("the session ended as if the agent had left")
				}
			}
			outcomes := entries[journal.Outcome](w, journal.KindOutcome)
			if len(outcomes) != 1 || outcomes[0].Result != journal.ResultInDoubt {
				t.Fatalf("%+v", outcomes)
			}
			if orders := w.ordersAt(); len(orders) != map[bool]int{true: 1}[c.took] {
				t.Fatalf("%+v", orders)
			}
			w.before, w.after = nil, nil
			b := w.begin()
			if got := b.call("get_account_info", `{}`); got.isError {
				t.Fatalf("%s", got.line)
			}
			if _, err := w.d.opened().Reconcile(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			w.holds("AAPL", map[bool]string{true: "2", false: "0"}[c.took])
			if n := len(w.ordersAt()); n > 1 {
				t.Errorf("%d orders", n)
			}
		})
	}
}

const mcpMessageMax = 4 << 20

// An answer under an id of the wrong type, or to nothing, is none: the call waits on.
func TestProxyStrangeIDs(t *testing.T) {
	w := newProxyWorld(t)
	w.after = func(tool string, id json.RawMessage, line string) ([]string, bool) {
		if tool != "place_stock_order" {
			return []string{line}, true
		}
		strange := strings.Replace(line, `"id":`+string(id), `"id":"`+string(id)+`"`, 1)
		none := strings.Replace(line, `"id":`+string(id), `"id":99999`, 1)
		float := strings.Replace(line, `"id":`+string(id), `"id":`+string(id)+`.0`, 1)
		return []string{"Starting up…", "{not json", strange, none, float, line}, true
	}
	a := w.begin()
	if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" {
		t.Errorf("%s", got.line)
	}
}

// A server that floods ends its session, and nobody else's.
func TestProxyFlood(t *testing.T) {
	w := newProxyWorld(t)
	quiet := w.begin()
	if got := quiet.call("get_account_info", `{}`); got.isError {
		t.Fatalf("%s", got.line)
	}
	w.after = func(tool string, _ json.RawMessage, line string) ([]string, bool) {
		if tool != "get_news" {
			return []string{line}, true
		}
		return slices.Repeat([]string{"nonsense"}, 2000), true
	}
	loud := w.begin()
	loud.call("get_news", `{}`)
	if err := <-loud.ended; err == nil {
		t.Error("the session went on")
	}
	if got := quiet.call("place_stock_order", buyTwo); got.outcome != "accepted" {
		t.Errorf("%s", got.line)
	}
}

// Fills that come late, and orders of someone else, are booked.
func TestProxyLateAndForeign(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	if got := a.call("place_stock_order", resting("AAPL", "198.00")); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	w.fake.SetQuote("AAPL", fakealpaca.Quote{Bid: money.MustPrice("197.00"), Ask: money.MustPrice("197.05"), Last: money.MustPrice("197.00")})
	w.fake.PlaceByHand("MSFT", "buy", money.MustQuantity("3"), money.Price{})
	w.fake.PlaceByHand("SPY", "buy", money.MustQuantity("1"), money.MustPrice("500"))
	found, err := w.d.opened().Reconcile(t.Context(), nil)
	if err != nil || len(found.Differences) != 0 || found.External != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	w.holds("AAPL", "1")
	w.holds("MSFT", "3")
	if n := w.openOrders(); n != 1 {
		t.Errorf("%d open", n)
	}
	w.fake.Drift("MSFT", money.MustQuantity("6"))
	if found, err = w.d.opened().Reconcile(t.Context(), nil); err != nil || len(found.Differences) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := a.call("place_stock_order", strings.Replace(resting("MSFT", "419.00"), `"1"`, `"2"`, 1)); got.verdict == "allowed" {
		t.Errorf("%s", got.line)
	}
}

// Another process goes on where one ended: nothing is booked twice.
func TestProxyRestart(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	for _, args := range []string{buyTwo, resting("AAPL", "198.00")} {
		if got := a.call("place_stock_order", args); got.outcome != "accepted" {
			t.Fatalf("%s", got.line)
		}
	}
	a.leave()
	if err := <-a.ended; err != nil {
		t.Fatal(err)
	}
	w.stop()
	b := w.begin()
	if got := b.call("get_account_info", `{}`); got.isError {
		t.Fatalf("%s", got.line)
	}
	if _, err := w.d.opened().Reconcile(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.holds("AAPL", "2")
	if fills := entries[journal.Fill](w, journal.KindFill); len(fills) != 1 {
		t.Errorf("%+v", fills)
	}
	if ext := entries[journal.External](w, journal.KindExternal); len(ext) != 0 {
		t.Errorf("%+v", ext)
	}
	if n := w.openOrders(); n != 1 {
		t.Errorf("%d open", n)
	}
	var mode string
	if err := w.d.opened().View(t.Context(), func(v gate.View) { mode = v.Mode.String() }); err != nil || mode != journal.ModeActive {
		t.Errorf("%s, %v", mode, err)
	}
}
