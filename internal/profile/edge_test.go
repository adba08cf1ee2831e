package profile

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestCurrencyBeforeTheSymbol(t *testing.T) {
	p := document(t, `
    class: order.place
    set: {order_type: market, time_in_force: day, side: buy}
    args:
      money: {to: currency, type: text, absent: none}
      kind: {to: asset_class, type: text, map: {C: crypto, S: equity}, absent: none}
      pair: {to: symbol, type: text, symbol: [pair_dash], absent: refuse}
      amount: {to: quantity, type: decimal_text, unit: base, absent: refuse}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`)
	refuses(t, p, "deal", `{"money":"EUR","pair":"BTC-USD","amount":"1"}`, AssetClassMismatch)
	refuses(t, p, "deal", `{"kind":"S","pair":"BTC-USD","amount":"1"}`, AssetClassMismatch)
	understood(t, p, "deal", `{"money":"USD","kind":"C","pair":"BTC-USD","amount":"1"}`)
}

func TestChangesOfAnotherOrder(t *testing.T) {
	p := document(t, `
    class: order.replace
    semantics: patch
    via: get_order
    args:
      id: {to: order_id, type: text, id: uuid, absent: refuse}
      name: {to: symbol, type: text, symbol: [us_equity], absent: none}
      way: {to: side, type: text, map: {b: buy, s: sell}, absent: refuse}
      units: {to: quantity, type: integer, unit: shares, absent: keep}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`)
	base := order.Intent{Symbol: "AAPL", Side: order.Buy, Type: order.Market, TimeInForce: order.Day, Quantity: money.MustQuantity("10")}
	for arguments, want := range map[string]Reason{
		`"name":"AAPL","way":"b"`: "", `"way":"b","units":5`: "", `"name":"MSFT","way":"b"`: AssetClassMismatch, `"way":"s"`: Enum,
	} {
		r := understood(t, p, "deal", `{"id":"`+orderID+`",`+arguments+`}`)
		whole, refusal := r.Kept(&base)
		if (refusal == nil) != (want == "") || refusal != nil && refusal.Reason != want {
			t.Errorf("%s: %v", arguments, refusal)
		}
		if refusal == nil && (whole.Order.Symbol != "AAPL" || whole.Order.Quantity.IsZero()) {
			t.Errorf("%s: %v", arguments, whole.Facts())
		}
	}
	placed := understood(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"1"}`)
	if _, refusal := placed.Kept(&base); refusal == nil {
		t.Error("a new order is taken for a change")
	}
	if _, refusal := placed.Closing(money.MustQuantity("5")); refusal == nil {
		t.Error("a new order is taken for a close")
	}
}

// A cancel names its order, and a question its terms.
func TestNothingIsLeftToGuess(t *testing.T) {
	p := document(t, `
    class: order.cancel
    args: {which: {to: none, type: text, map: {last: last}, absent: refuse}}
    result: {from: json, rules: [{has: [ok], outcome: cancel_requested}]}
`)
	r := understood(t, p, "deal", `{"which":"last"}`)
	if in, refusal := r.Intent(); refusal == nil {
		t.Errorf("a cancel of no order: %+v", in)
	}
	rule := resultRule{outcome: PendingConfirmation, token: "id", has: []string{"id"}, bind: []Word{{"terms", "terms"}}}
	rs := &result{from: "json", rules: []resultRule{rule}}
	if p := rs.read(Reply{Texts: []string{`{"id":"t"}`}}); p.Outcome != InDoubt {
		t.Errorf("a question without its terms: %+v", p)
	}
	if p := rs.read(Reply{Texts: []string{`{"id":"t","terms":[1]}`}}); p.Outcome != PendingConfirmation || p.Bound[0].To != "[1]" {
		t.Errorf("a question: %+v", p)
	}
	var tokens Tokens
	confirm := understood(t, loaded(t, "schwab"), "place_previewed_order", `{"account_hash":"A","preview_id":"ab"}`)
	if tokens.Issue("ab", confirm, nil, at(t, 15, 0, 0)); len(tokens.list) != 0 {
		t.Error("a token is kept for a confirmation")
	}
}
