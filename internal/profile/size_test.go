package profile

import "testing"

const sizes = `
    class: order.place
    set: {order_type: market, time_in_force: day}
    args:
      pair: {to: symbol, type: text, symbol: [pair_dash], absent: refuse}
      money: {to: currency, type: text, absent: none}
      side: {to: side, type: text, map: {buy: buy, sell: sell}, absent: refuse}
      size: {to: quantity, type: decimal_text, absent: none, unit_when: [{if: {is: {by: quote}}, unit: quote}, {if: {is: {by: base}}, unit: base}]}
      amount: {to: quantity, type: decimal_text, unit: base, absent: none}
      by: {to: none, type: text, map: {quote: quote, base: base}, absent: none}
      cash: {to: notional, type: decimal_text, unit: quote, absent: none}
      until: {to: expire_at, type: text, absent: none}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`

// A call has one size, in a unit that it says.
func TestOneSize(t *testing.T) {
	p := document(t, sizes)
	call := func(rest string) string { return `{"pair":"BTC-USD","side":"buy",` + rest + `}` }
	r := understood(t, p, "deal", call(`"size":"5","by":"quote"`))
	if r.Order.Notional.String() != "5" || r.Order.NotionalCurrency != "USD" || !r.Order.Quantity.IsZero() {
		t.Errorf("an amount of money: %v", r.Facts())
	}
	if _, refusal := r.Intent(); refusal == nil {
		t.Error("an amount of money is judged in units")
	}
	if r := understood(t, p, "deal", call(`"size":"5","by":"base"`)); r.Order.Quantity.String() != "5" {
		t.Errorf("units: %v", r.Facts())
	}
	refuses(t, p, "deal", call(`"size":"5"`), LeverageSize)
	refuses(t, p, "deal", call(`"size":"5","by":"quote","cash":"7"`), ExclusiveArgs)
	refuses(t, p, "deal", call(`"size":"5","by":"base","amount":"6"`), ExclusiveArgs)
	refuses(t, p, "deal", call(`"amount":"5","cash":"7"`), ExclusiveArgs)
	refuses(t, p, "deal", call(`"by":"base"`), MissingSize)
	refuses(t, p, "deal", call(`"amount":"5","money":"EUR"`), AssetClassMismatch)
	refuses(t, p, "deal", call(`"amount":"5","money":"dollars"`), Enum)
	refuses(t, p, "deal", call(`"amount":"5","until":"the end of the world"`), Enum)
	understood(t, p, "deal", call(`"amount":"5","money":"USD","until":"2026-12-31"`))
}

// What the gate cannot say in its own words is not judged.
func TestNotJudged(t *testing.T) {
	long := document(t, `
    class: order.place
    set: {order_type: market, time_in_force: day}
    args:
      market: {to: venue, type: text, map: {LONGNAMEDEXCHANGE: XLON}, absent: refuse}
      name: {to: symbol, type: text, symbol: [venue], absent: refuse}
      side: {to: side, type: text, map: {buy: buy}, absent: refuse}
      units: {to: quantity, type: integer, unit: shares, absent: refuse}
      tag: {to: client_order_id, type: text, absent: none}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`)
	r := understood(t, long, "deal", `{"market":"LONGNAMEDEXCHANGE","name":"AVERYLONGNAMEOFANINSTRUMENT","side":"buy","units":1}`)
	if _, refusal := r.Intent(); refusal == nil || refusal.Reason != NotJudged {
		t.Errorf("a symbol of %d bytes: %v", len(r.Order.Symbol), refusal)
	}
	refuses(t, long, "deal", `{"market":"LONGNAMEDEXCHANGE","name":"A","side":"buy","units":1,"tag":"`+orderID+orderID+`"}`, IdentifierFormat)
	v2 := loaded(t, "alpaca-v2")
	for name, arguments := range map[string]string{
		"money":     `"notional":"5"`,
		"a bracket": `"qty":"1","take_profit_limit_price":"5","stop_loss_stop_price":"4"`,
		"trailing":  `"qty":"1","type":"trailing_stop","trail_price":"5"`,
		"the close": `"qty":"1","time_in_force":"cls"`,
	} {
		r := understood(t, v2, "place_stock_order", `{"symbol":"AAPL","side":"buy",`+arguments+`}`)
		if in, refusal := r.Intent(); refusal == nil || refusal.Reason != NotJudged {
			t.Errorf("%s: %v %+v", name, refusal, in)
		}
	}
	// Every kind of call that is no order of its own.
	for _, c := range [][2]string{{"cancel_all_orders", `{}`}, {"get_clock", `{}`}} {
		r := understood(t, v2, c[0], c[1])
		if in, refusal := r.Intent(); refusal == nil {
			t.Errorf("%s: %+v", c[0], in)
		}
	}
}
