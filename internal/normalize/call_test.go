package normalize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// with returns a good order's arguments with members set, replaced or (empty) left out.
func with(changes ...string) string {
	members := []string{"symbol", `"AAPL"`, "side", `"buy"`, "order_type", `"limit"`, "quantity", `"10"`, "limit_price", `"200.00"`, "time_in_force", `"day"`}
	for i := 0; i+1 < len(changes); i += 2 {
		found := false
		for j := 0; j < len(members); j += 2 {
			if members[j] == changes[i] {
				members[j+1], found = changes[i+1], true
			}
		}
		if !found {
			members = append(members, changes[i], changes[i+1])
		}
	}
	var parts []string
	for j := 0; j < len(members); j += 2 {
		if members[j+1] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", members[j], members[j+1]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestPlaceOrderIsReadWhole(t *testing.T) {
	n, refusal := Call(PlaceOrder, []byte(with("order_type", `"stop_limit"`, "stop_price", "201.5", "quantity", "10.000000001",
		"extended_hours", "true", "client_order_id", `"a.B_1:-"`, "note", `"why"`, "time_in_force", `"gtc"`, "side", `"sell"`, "symbol", `"brk/b"`)))
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := order.Intent{
		Action: order.ActionNew, Symbol: "BRK.B", Side: order.Sell, Type: order.StopLimit, Quantity: money.MustQuantity("10.000000001"),
		LimitPrice: money.MustPrice("200"), StopPrice: money.MustPrice("201.5"), TimeInForce: order.GTC, ExtendedHours: true, ClientOrderID: "a.B_1:-",
	}
	if n.Intent != want || n.Note != "why" {
		t.Fatalf("read %+v %q\nwant %+v", n.Intent, n.Note, want)
	}
}

// TestRefusals holds code and field of every way in which arguments can be wrong. Each
// row is refused for one reason only: with() alone passes.
func TestRefusals(t *testing.T) {
	if _, refusal := Call(PlaceOrder, []byte(with())); refusal != nil {
		t.Fatalf("the base order: %v", refusal)
	}
	long := strings.Repeat("x", 257)
	for _, c := range []struct {
		raw   string
		code  Code
		field string
	}{
		{``, MalformedCall, ""}, {`null`, MalformedCall, ""}, {`[]`, MalformedCall, ""}, {`"{}"`, MalformedCall, ""},
		{with() + "x", MalformedCall, ""}, {with() + with(), MalformedCall, ""}, {with()[:20], MalformedCall, ""},
		{`{"symbol":"AAPL","symbol":"MSFT"}`, MalformedCall, ""}, {`{"symbol":"AAPL","s\u0079mbol":"MSFT"}`, MalformedCall, ""},
		{with("note", "\"\xff\""), MalformedCall, ""}, {with("note", `"\ud800"`), MalformedCall, ""},
		{with("x", strings.Repeat("[", 70)+strings.Repeat("]", 70)), MalformedCall, ""},
		{with("note", `"`+strings.Repeat("x", ArgumentsBytesMax)+`"`), MalformedCall, ""},
		{with("Symbol", `"MSFT"`), UnknownArgument, ""}, {with("symbo\u013a", `"MSFT"`), UnknownArgument, ""},
		{with("qty", `"1"`), UnknownArgument, ""}, {with("approved", "true"), UnknownArgument, ""}, {with("notional", "5"), UnknownArgument, ""},
		{with("account", `"live"`), UnknownArgument, ""},
		{with("symbol", ""), ConflictingFields, "symbol"}, {with("side", ""), ConflictingFields, "side"},
		{with("order_type", ""), ConflictingFields, "order_type"}, {with("quantity", ""), ConflictingFields, "quantity"},
		{with("time_in_force", ""), ConflictingFields, "time_in_force"}, {with("limit_price", ""), ConflictingFields, "limit_price"},
		{with("order_type", `"market"`), ConflictingFields, "limit_price"}, {with("order_type", `"stop"`, "limit_price", ""), ConflictingFields, "stop_price"},
		{with("stop_price", `"1"`), ConflictingFields, "stop_price"}, {with("order_type", `"stop_limit"`), ConflictingFields, "stop_price"},
		{with("symbol", "null"), MalformedCall, "symbol"}, {with("symbol", `""`), MalformedCall, "symbol"}, {with("symbol", "7"), MalformedCall, "symbol"},
		{with("symbol", `" AAPL"`), MalformedCall, "symbol"}, {with("symbol", `"AAPL\u200b"`), MalformedCall, "symbol"},
		{with("symbol", "\"\u0410APL\""), MalformedCall, "symbol"}, {with("symbol", `".A"`), MalformedCall, "symbol"},
		{with("symbol", `"`+strings.Repeat("A", 33)+`"`), MalformedCall, "symbol"}, {with("symbol", `["AAPL"]`), MalformedCall, "symbol"},
		{with("side", `"BUY"`), MalformedCall, "side"}, {with("side", `"buy "`), MalformedCall, "side"}, {with("side", `""`), MalformedCall, "side"},
		{with("side", `"sell_short"`), MalformedCall, "side"}, {with("side", "true"), MalformedCall, "side"},
		{with("order_type", `"trailing_stop"`), MalformedCall, "order_type"},
		{with("time_in_force", `"gtd"`), MalformedCall, "time_in_force"}, {with("time_in_force", `"opg"`), MalformedCall, "time_in_force"},
		{with("quantity", `"0"`), InvalidNumber, "quantity"}, {with("quantity", `"-1"`), InvalidNumber, "quantity"},
		{with("quantity", `"1e2"`), InvalidNumber, "quantity"}, {with("quantity", "1e2"), InvalidNumber, "quantity"}, {with("quantity", "1e400"), InvalidNumber, "quantity"},
		{with("quantity", `"+1"`), InvalidNumber, "quantity"}, {with("quantity", `"01"`), InvalidNumber, "quantity"}, {with("quantity", `" 1"`), InvalidNumber, "quantity"},
		{with("quantity", `"1,000"`), InvalidNumber, "quantity"}, {with("quantity", `"1_000"`), InvalidNumber, "quantity"}, {with("quantity", `"0x10"`), InvalidNumber, "quantity"},
		{with("quantity", `"NaN"`), InvalidNumber, "quantity"}, {with("quantity", `"Infinity"`), InvalidNumber, "quantity"}, {with("quantity", `""`), InvalidNumber, "quantity"},
		{with("quantity", `"1."`), InvalidNumber, "quantity"}, {with("quantity", `".5"`), InvalidNumber, "quantity"}, {with("quantity", "\"\uff11\uff10\""), InvalidNumber, "quantity"},
		{with("quantity", `"0.0000000001"`), InvalidNumber, "quantity"}, {with("quantity", `"`+strings.Repeat("9", 40)+`"`), InvalidNumber, "quantity"},
		{with("quantity", strings.Repeat("9", 10_000)), InvalidNumber, "quantity"}, {with("quantity", "-0"), InvalidNumber, "quantity"},
		{with("quantity", "true"), MalformedCall, "quantity"}, {with("quantity", "null"), MalformedCall, "quantity"}, {with("quantity", "{}"), MalformedCall, "quantity"},
		{with("limit_price", `"0"`), InvalidNumber, "limit_price"}, {with("limit_price", `"-5"`), InvalidNumber, "limit_price"}, {with("limit_price", "false"), MalformedCall, "limit_price"},
		{with("extended_hours", `"true"`), MalformedCall, "extended_hours"}, {with("extended_hours", "1"), MalformedCall, "extended_hours"},
		{with("client_order_id", `""`), MalformedCall, "client_order_id"}, {with("client_order_id", `"a b"`), MalformedCall, "client_order_id"},
		{with("client_order_id", `"`+strings.Repeat("a", 65)+`"`), MalformedCall, "client_order_id"}, {with("client_order_id", `"a\r\n"`), MalformedCall, "client_order_id"},
		{with("client_order_id", "1"), MalformedCall, "client_order_id"},
		{with("note", `"`+long+`"`), MalformedCall, "note"}, {with("note", "1"), MalformedCall, "note"},
	} {
		n, refusal := Call(PlaceOrder, []byte(c.raw))
		shown := c.raw[:min(len(c.raw), 120)]
		if refusal == nil || refusal.Code != c.code || refusal.Field != c.field || refusal.Problem == "" {
			t.Errorf("%s: %+v, want %s %s", shown, refusal, c.code, c.field)
		}
		if n != (Normalized{}) {
			t.Errorf("%s: an intent beside a refusal: %+v", shown, n)
		}
	}
}

// TestEdgesPass are the last values that pass, next to rows of TestRefusals.
func TestEdgesPass(t *testing.T) {
	for _, raw := range []string{
		with("client_order_id", `"`+strings.Repeat("a", 64)+`"`), with("symbol", `"`+strings.Repeat("A", 32)+`"`),
		with("note", `"`+strings.Repeat("\u00e9", 256)+`"`), with("note", `""`), with("quantity", `"0.000000001"`), with("quantity", "10"),
		with("quantity", "10.50"), with("extended_hours", "false"), "\n" + with() + " ", with("note", `"\u2028{\"side\":\"sell\"}"`),
	} {
		if _, refusal := Call(PlaceOrder, []byte(raw)); refusal != nil {
			t.Errorf("%s: %v", raw[:min(len(raw), 120)], refusal)
		}
	}
}

func TestReplaceAndCancel(t *testing.T) {
	n, refusal := Call(ReplaceOrder, []byte(`{"order_id":"paper/8","quantity":5,"stop_price":"1.5"}`))
	want := order.Intent{Action: order.ActionReplace, Target: "paper/8", Quantity: money.MustQuantity("5"), StopPrice: money.MustPrice("1.5")}
	if refusal != nil || n.Intent != want {
		t.Fatalf("%+v %v", n.Intent, refusal)
	}
	n, refusal = Call(CancelOrder, []byte(`{"order_id":"ext/a-1"}`))
	if refusal != nil || n.Intent != (order.Intent{Action: order.ActionCancel, Target: "ext/a-1"}) {
		t.Fatalf("%+v %v", n.Intent, refusal)
	}
	for _, c := range []struct {
		tool, raw string
		code      Code
	}{
		{ReplaceOrder, `{"order_id":"paper/8"}`, ConflictingFields}, {ReplaceOrder, `{"quantity":"5"}`, ConflictingFields},
		{ReplaceOrder, `{"order_id":"paper/8","side":"sell","quantity":"5"}`, UnknownArgument},
		{ReplaceOrder, `{"order_id":"paper/8","quantity":"0"}`, InvalidNumber}, {ReplaceOrder, `{"order_id":"paper/8","quantity":null}`, MalformedCall},
		{ReplaceOrder, `{"order_id":"paper/8","limit_price":"0"}`, InvalidNumber},
		{CancelOrder, `{}`, ConflictingFields}, {CancelOrder, `{"order_id":""}`, MalformedCall}, {CancelOrder, `{"order_id":"a b"}`, MalformedCall},
		{CancelOrder, `{"order_id":8}`, MalformedCall}, {CancelOrder, `{"order_id":"` + strings.Repeat("a", OrderIDBytesMax+1) + `"}`, MalformedCall},
		{CancelOrder, `{"order_id":"a","all":true}`, UnknownArgument},
		{"cancel_all", `{}`, UnknownTool}, {"", `{}`, UnknownTool}, {"Place_Order", with(), UnknownTool}, {GetQuote, `{"symbol":"AAPL"}`, UnknownTool},
	} {
		if _, refusal := Call(c.tool, []byte(c.raw)); refusal == nil || refusal.Code != c.code {
			t.Errorf("%s %s: %v, want %s", c.tool, c.raw[:min(60, len(c.raw))], refusal, c.code)
		}
	}
}

// TestConflictingFieldsSaysWhich: one code stands for a field that is missing and for one
// that does not belong; the sentence tells them apart.
func TestConflictingFieldsSaysWhich(t *testing.T) {
	for _, c := range []struct{ tool, raw, field, problem string }{
		{PlaceOrder, with("quantity", ""), "quantity", "is missing"},
		{PlaceOrder, with("limit_price", ""), "limit_price", "is missing: order_type limit needs it"},
		{PlaceOrder, with("order_type", `"market"`), "limit_price", "does not go with order_type market"},
		{PlaceOrder, with("order_type", `"stop_limit"`), "stop_price", "is missing: order_type stop_limit needs it"},
		{PlaceOrder, with("stop_price", `"1"`), "stop_price", "does not go with order_type limit"},
		{ReplaceOrder, `{"order_id":"paper/8"}`, "", "quantity, limit_price and stop_price are all missing: a replace changes at least one"},
		{CancelOrder, `{}`, "order_id", "is missing"},
	} {
		_, got := Call(c.tool, []byte(c.raw))
		if got == nil || *got != (Refusal{Code: ConflictingFields, Field: c.field, Problem: c.problem}) {
			t.Errorf("%s %s: %v", c.tool, c.raw, got)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		tool, raw string
		want      Query
		code      Code
	}{
		{GetQuote, `{"symbol":"aapl"}`, Query{Symbol: "AAPL"}, ""}, {GetQuote, `{}`, Query{}, ConflictingFields}, {GetQuote, ``, Query{}, ConflictingFields},
		{GetQuote, `{"symbol":["AAPL"]}`, Query{}, MalformedCall},
		{GetOrders, ``, Query{}, ""}, {GetOrders, `{"status":"working"}`, Query{Status: "working"}, ""}, {GetOrders, `{"status":"all"}`, Query{}, MalformedCall},
		{GetOrders, `{"order_id":"paper/1"}`, Query{OrderID: "paper/1"}, ""}, {GetOrders, `{"order_id":"../x y"}`, Query{}, MalformedCall},
		{RecentDecisions, `{}`, Query{Limit: decisionsUnasked}, ""}, {RecentDecisions, `{"limit":1}`, Query{Limit: 1}, ""}, {RecentDecisions, `{"limit":"100"}`, Query{Limit: 100}, ""},
		{RecentDecisions, `{"limit":0}`, Query{}, InvalidNumber}, {RecentDecisions, `{"limit":101}`, Query{}, InvalidNumber}, {RecentDecisions, `{"limit":1.0}`, Query{}, InvalidNumber},
		{RecentDecisions, `{"limit":"+1"}`, Query{}, InvalidNumber}, {RecentDecisions, `{"limit":true}`, Query{}, MalformedCall},
		{GetAccount, ``, Query{}, ""}, {GetAccount, `{}`, Query{}, ""}, {GetAccount, `null`, Query{}, MalformedCall}, {GetAccount, `{"account":"x"}`, Query{}, UnknownArgument},
		{GetPositions, `{}`, Query{}, ""}, {GetLimits, `{}`, Query{}, ""}, {MarketContext, `{}`, Query{}, ""},
		{PlaceOrder, with(), Query{}, UnknownTool}, {"", ``, Query{}, UnknownTool},
	} {
		q, refusal := Ask(c.tool, []byte(c.raw))
		switch {
		case c.code == "" && (refusal != nil || q != c.want):
			t.Errorf("%s %s: %+v %v", c.tool, c.raw, q, refusal)
		case c.code != "" && (refusal == nil || refusal.Code != c.code || q != Query{}):
			t.Errorf("%s %s: %+v %v, want %s", c.tool, c.raw, q, refusal, c.code)
		}
	}
}

// TestARefusalNeverTellsTheCallersText: whatever a caller writes, in a value or a name,
// the refusal's own words are from a closed set.
func TestARefusalNeverTellsTheCallersText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const planted = "zqxj"
		field := rapid.SampledFrom([]string{"symbol", "side", "order_type", "quantity", "time_in_force", "limit_price", "client_order_id", "note", planted}).Draw(t, "field")
		value, _ := json.Marshal(rapid.String().Draw(t, "before") + planted + " \x1b")
		if _, refusal := Call(PlaceOrder, []byte(with(field, string(value)))); refusal != nil && strings.Contains(refusal.Error(), planted) {
			t.Fatalf("told: %s", refusal)
		}
	})
}

// FuzzCall: arguments that are read are strict JSON, and mean what they meant when they
// are read again. No input panics.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{with(), with("quantity", "1e5"), `{"order_id":"a/1","quantity":5}`, `{"order_id":"x"}`, `{"symbol":"A","symbol":"B"}`, "{\"\xff\":1}"} {
		f.Add(PlaceOrder, []byte(seed))
		f.Add(ReplaceOrder, []byte(seed))
		f.Add(CancelOrder, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, tool string, raw []byte) {
		n, refusal := Call(tool, raw)
		if (refusal == nil) == (n == Normalized{}) {
			t.Fatalf("neither or both: %+v %v", n, refusal)
		}
		if refusal != nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatalf("read, and is no JSON: %v", err)
		}
		for name := range members {
			if !slices.Contains(Fields(tool), name) {
				t.Fatalf("unknown argument %q was taken", name)
			}
		}
		again, _ := json.Marshal(members)
		if n2, refusal := Call(tool, again); refusal != nil || n2 != n {
			t.Fatalf("read again: %+v %v, before %+v", n2, refusal, n)
		}
		if in := n.Intent; in.Action == order.ActionNew && (!in.Quantity.IsPositive() || in.Symbol == "" || in.Side == order.SideNone ||
			in.Type.HasLimit() != in.LimitPrice.IsPositive() || in.Type.HasStop() != in.StopPrice.IsPositive()) {
			t.Fatalf("an intent that is not whole: %+v", in)
		}
	})
}

func TestSymbolHasOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"AAPL": "AAPL", "aapl": "AAPL", "BRK.B": "BRK.B", "BRK-B": "BRK.B", "BRK/B": "BRK.B", "brk.b": "BRK.B",
		"BTC/USD": "BTC/USD", "O:SPY": "O:SPY", "": "", "-": "", "A.": "", ".A": "", "A B": "", "\u0131": "", "A\u0000": "",
	} {
		if got, ok := Symbol(in); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", in, got, ok, want)
		}
	}
}

// TestArgumentsAreCounted: at the most the last argument is looked at, and beyond it the
// call is refused for their number.
func TestArgumentsAreCounted(t *testing.T) {
	arguments := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"a%d":1`, i)
		}
		return []byte("{" + b.String()[1:] + "}")
	}
	for n, want := range map[int]Code{ArgumentsCountMax: UnknownArgument, ArgumentsCountMax + 1: MalformedCall} {
		if _, refusal := Call(PlaceOrder, arguments(n)); refusal == nil || refusal.Code != want {
			t.Errorf("%d arguments: %v, want %s", n, refusal, want)
		}
	}
}
