package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The ways in which a naive mapping of a broker's tools goes wrong, each with its test. Four
// of them are the gateway's to hold, since no profile sees what they turn on: an order
// without a price is sized by its own quote (7, in the rails), paper or live is asked of the
// server once a session (17, here only as far as a call says it), tools that change under
// their name are pinned by their bytes (23), and a client's time-out after an order was sent
// leaves it in doubt (26). The rest stand below, by their number.

const orderID = "61e69015-8549-4bfd-b9c3-01e75843f47d"

func at(t *testing.T, hour, minute, second int) time.Time {
	t.Helper()
	return time.Date(2026, 3, 18, hour, minute, second, 0, time.UTC)
}

func refuses(t *testing.T, p *Profile, tool, arguments string, want Reason) {
	t.Helper()
	r, refusal := p.Read(tool, []byte(arguments))
	switch {
	case refusal == nil:
		t.Errorf("%s %s is read as %v, want %s", tool, arguments, r.Facts(), want)
	case refusal.Reason != want:
		t.Errorf("%s %s is refused for %v, want %s", tool, arguments, refusal, want)
	}
}

func understood(t *testing.T, p *Profile, tool, arguments string) Reading {
	t.Helper()
	r, refusal := p.Read(tool, []byte(arguments))
	if refusal != nil {
		t.Fatalf("%s %s: %v", tool, arguments, refusal)
	}
	return r
}

func forwards(t *testing.T, p *Profile, tool, arguments, want string) Reading {
	t.Helper()
	r := understood(t, p, tool, arguments)
	if got := string(r.Forward("")); got != want {
		t.Errorf("%s goes on as\n%s, want\n%s", arguments, got, want)
	}
	return r
}

func document(t *testing.T, tool string) *Profile {
	t.Helper()
	p, err := Load("inline.yaml", []byte("profile: 1\nid: inline\nbroker: Inline\nread: [get_order, get_asset]\ntools:\n  deal:\n"+tool))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const nested = `
    class: order.place
    asset: equity
    open: [terms]
    json: [order]
    args:
      order.symbol: {to: symbol, type: text, symbol: [us_equity], absent: refuse}
      order.side: {to: side, type: text, map: {buy: buy, sell: sell}, absent: refuse}
      order.size.units: {to: quantity, type: decimal_text, unit: shares, absent: refuse}
      order.limit: {to: limit_price, type: decimal_text, nullable: true, absent: none}
      terms.kind: {to: order_type, type: text, map: {market: market, limit: limit}, default: market, absent: default}
      terms.until: {to: time_in_force, type: text, map: {day: day, gtc: gtc}, default: day, absent: default}
      order.tag: {to: client_order_id, type: text, id: plain, absent: none}
    ignore: {note: "a label"}
    inject: {argument: order.tag, form: alnum20}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`

func TestTrap01JudgeOneSendAnother(t *testing.T) {
	p := document(t, nested)
	r := forwards(t, p, "deal", `{ "order" : "{ \"symbol\":\"aapl\", \"side\":\"buy\",\"size\":{\"units\":\"5\"},\"limit\":null}", "note":"x" }`,
		`{"order":"{\"symbol\":\"AAPL\",\"side\":\"buy\",\"size\":{\"units\":\"5\"}}","note":"x","terms":{"kind":"market","until":"day"}}`)
	if got := string(r.Forward("ours")); !strings.Contains(got, `\"tag\":\"`+r.Injected("ours")+`\"`) {
		t.Errorf("our id does not stand within the text: %s", got)
	}
	// A name that only looks like the member of an object is not one to the server.
	refuses(t, p, "deal", `{"order":"{\"symbol\":\"AAPL\",\"side\":\"buy\"}","order.size.units":"5"}`, UnmappedArgument)
	refuses(t, p, "deal", `{"order":"{\"symbol\":\"AAPL\",\"side\":\"buy\",\"size.units\":\"5\"}"}`, UnmappedArgument)
	for _, arguments := range []string{
		`{"order":"{\"symbol\":\"AAPL\",\"symbol\":\"MSFT\"}"}`, `{"note":"x","note":"y"}`, `{"note":"x","\u006eote":"y"}`,
	} {
		refuses(t, p, "deal", arguments, DuplicateKey)
	}
	for _, arguments := range []string{`{"Note":"x"}`, `{"NOTE":"x"}`, `{"order":"{\"Symbol\":\"AAPL\"}"}`, `{"terms":{}}`, `{"order":"{}"}`} {
		refuses(t, p, "deal", arguments, UnmappedArgument)
	}
	for _, arguments := range []string{`[]`, `"x"`, `null`, `{"note":"x"} {}`, "{\"note\":\"\xff\"}", `{"note":"\ud800"}`, `{"order":"{\"a\":1} x"}`} {
		refuses(t, p, "deal", arguments, MalformedCall)
	}
}

func TestTrap02Numbers(t *testing.T) {
	p := loaded(t, "alpaca-v1")
	for _, n := range []string{"1e3", "1E400", "-1", "0.30000000000000004", "9007199254740993", strings.Repeat("9", 30), "-0"} {
		refuses(t, p, "place_stock_order", `{"symbol":"AAPL","side":"buy","quantity":`+n+`}`, NumberFormat)
	}
	for _, n := range []string{`"１０"`, `"10 "`, `"+10"`, `"1,000"`, `"0x10"`, `"1e3"`, `"NaN"`, `"Infinity"`, `"-5"`, `""`, `"010"`, `".5"`, `"5."`, `"` + strings.Repeat("9", 30) + `"`} {
		refuses(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":`+n+`}`, NumberFormat)
	}
	for _, n := range []string{"true", "[10]", `{"a":1}`, "10"} {
		refuses(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":`+n+`}`, TypeMismatch)
	}
	refuses(t, loaded(t, "kite"), "place_order", `{"variety":"regular","exchange":"NSE","tradingsymbol":"INFY","transaction_type":"BUY","quantity":null,"product":"CNC","order_type":"MARKET"}`, TypeMismatch)
}

func TestTrap03Coercion(t *testing.T) {
	k := `{"variety":"regular","exchange":"NSE","tradingsymbol":"INFY","transaction_type":"BUY","product":"CNC","order_type":"MARKET","quantity":`
	refuses(t, loaded(t, "kite"), "place_order", k+`"100"}`, TypeMismatch)
	refuses(t, loaded(t, "kite"), "place_order", k+`10.0}`, NotInteger)
	refuses(t, loaded(t, "schwab"), "preview_equity_order", `{"account_hash":"A","symbol":"AAPL","quantity":10.5,"instruction":"BUY","order_type":"MARKET"}`, NotInteger)
}

func TestTrap04AbsentByClass(t *testing.T) {
	// The server's default is written out; a patch keeps; a full change must say all; a
	// default of one or zero is never taken for an order's size.
	forwards(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"1"}`,
		`{"symbol":"AAPL","side":"buy","qty":"1","type":"market","time_in_force":"day","extended_hours":false}`)
	if r := understood(t, loaded(t, "alpaca-v2"), "replace_order_by_id", `{"order_id":"`+orderID+`","qty":"5"}`); !r.Keeps || r.Need != NeedOrder {
		t.Errorf("keeps %v, needs %q", r.Keeps, r.Need)
	}
	refuses(t, loaded(t, "kite"), "modify_order", `{"variety":"regular","order_id":"1","order_type":"LIMIT","price":1,"validity":"DAY"}`, MissingQuantity)
	// A default that is null in the call is refused where null is not the same as absent.
	refuses(t, loaded(t, "alpaca-v2"), "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"1","type":null}`, TypeMismatch)
}

func TestTrap05ExtraArguments(t *testing.T) {
	refuses(t, loaded(t, "ibkr-fiorelorenzo"), "place_order", `{"contract":{"symbol":"AAPL"},"order":{"cashQty":1}}`, UnmappedArgument)
	refuses(t, loaded(t, "alpaca-v2"), "place_option_order", `{"qty":"1","legs":[{"symbol":"AAPL250321C00150000","ratio_qty":"1","side":"buy","x":1}]}`, UnmappedArgument)
	refuses(t, loaded(t, "okx"), "spot_batch_orders", `{"action":"place","orders":[{"instId":"BTC-USDT","side":"buy","ordType":"limit","sz":"1","px":"1","x":1}]}`, UnmappedArgument)
	// What nothing depends on may be a label; an object could hold an order.
	p := document(t, nested)
	for _, note := range []string{`{"qty":5}`, `["buy"]`} {
		refuses(t, p, "deal", `{"note":`+note+`}`, TypeMismatch)
	}
	refuses(t, p, "deal", `{"note":"`+strings.Repeat("x", LabelBytesMax+1)+`"}`, MalformedCall)
}

func TestTrap06PricesOfAnotherType(t *testing.T) {
	v2 := loaded(t, "alpaca-v2")
	for arguments, want := range map[string]Reason{
		`"qty":"1","type":"limit"`:                                               MissingPrice,
		`"qty":"1","type":"stop"`:                                                MissingPrice,
		`"qty":"1","type":"stop_limit","stop_price":"1"`:                         MissingPrice,
		`"qty":"1","type":"trailing_stop"`:                                       MissingPrice,
		`"qty":"1","type":"trailing_stop","trail_price":"1","trail_percent":"1"`: MissingPrice,
		`"qty":"1","type":"limit","limit_price":"1","stop_price":"1"`:            InconsistentPrice,
		`"qty":"1","type":"market","stop_price":"1"`:                             InconsistentPrice,
		`"qty":"1","type":"limit","limit_price":"1","trail_price":"1"`:           InconsistentPrice,
		`"qty":"1","type":"limit","limit_price":"0"`:                             NumberFormat,
		`"qty":"1","order_class":"simple","take_profit_limit_price":"1"`:         InconsistentPrice,
		`"qty":"1","order_class":"bracket"`:                                      MissingPrice,
		`"qty":"1","order_class":"bracket","stop_loss_limit_price":"1"`:          MissingPrice,
		`"notional":"5","type":"limit","limit_price":"1"`:                        NotionalWithLimit,
	} {
		refuses(t, v2, "place_stock_order", `{"symbol":"AAPL","side":"buy",`+arguments+`}`, want)
	}
}

func TestTrap08Replace(t *testing.T) {
	p := loaded(t, "alpaca-v2")
	base := order.Intent{
		Symbol: "AAPL", Side: order.Sell, Type: order.StopLimit, TimeInForce: order.Day, Quantity: money.MustQuantity("10"),
		LimitPrice: money.MustPrice("140"), StopPrice: money.MustPrice("141"),
	}
	r := understood(t, p, "replace_order_by_id", `{"order_id":"`+orderID+`","stop_price":"90"}`)
	if _, refusal := r.Intent(); refusal == nil {
		t.Error("a change is judged without the order that it changes")
	}
	whole, refusal := r.Kept(&base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	in, refusal := whole.Intent()
	if refusal != nil || in.Action != order.ActionReplace || in.Target != orderID || in.Quantity != base.Quantity || in.Side != order.Sell ||
		in.StopPrice != money.MustPrice("90") || in.LimitPrice != base.LimitPrice || in.TimeInForce != order.Day {
		t.Errorf("%v: %+v", refusal, in)
	}
	if got := string(whole.Forward("")); got != `{"order_id":"`+orderID+`","stop_price":"90","qty":"10","limit_price":"140","time_in_force":"day"}` {
		t.Errorf("goes on as %s", got)
	}
	if got := string(r.Forward("")); got != `{"order_id":"`+orderID+`","stop_price":"90"}` {
		t.Errorf("the first reading changed: %s", got)
	}
	for _, arguments := range []string{`"notional":"5"`, `"trail":"1"`, `"client_order_id":"x"`} {
		refuses(t, p, "replace_order_by_id", `{"order_id":"`+orderID+`",`+arguments+`}`, ForbiddenArgument)
	}
	base.Type, base.StopPrice = order.Limit, money.Price{}
	if _, refusal := r.Kept(&base); refusal == nil || refusal.Reason != InconsistentPrice {
		t.Errorf("a stop price for a limit order: %v", refusal)
	}
	// A whole change does not name the instrument: it is not judged without its order.
	k := understood(t, loaded(t, "kite"), "modify_order", `{"variety":"regular","order_id":"1","order_type":"LIMIT","price":1490,"quantity":5,"validity":"DAY"}`)
	if k.Need != NeedOrder {
		t.Errorf("needs %q", k.Need)
	}
	if whole, refusal := k.Kept(&base); refusal != nil || whole.Order.Symbol != "AAPL" || whole.Order.Side != "sell" {
		t.Errorf("%v %v", refusal, whole.Facts())
	}
}

func TestTrap09Close(t *testing.T) {
	p := loaded(t, "alpaca-v2")
	whole := understood(t, p, "close_position", `{"symbol_or_asset_id":"AAPL"}`)
	if _, refusal := whole.Intent(); refusal == nil {
		t.Error("a close is judged without the position")
	}
	for _, c := range []struct{ arguments, held, side, quantity, sent string }{
		{`{"symbol_or_asset_id":"AAPL"}`, "12.5", "sell", "12.5", `{"symbol_or_asset_id":"AAPL","qty":12.5}`},
		{`{"symbol_or_asset_id":"AAPL"}`, "-3", "buy", "3", `{"symbol_or_asset_id":"AAPL","qty":3}`},
		{`{"symbol_or_asset_id":"AAPL","percentage":33.4}`, "10", "sell", "3", `{"symbol_or_asset_id":"AAPL","qty":3}`},
		{`{"symbol_or_asset_id":"AAPL","qty":3}`, "3", "sell", "3", `{"symbol_or_asset_id":"AAPL","qty":3}`},
	} {
		r := understood(t, p, "close_position", c.arguments)
		closing, refusal := r.Closing(money.MustQuantity(c.held))
		if refusal != nil {
			t.Errorf("%s of %s: %v", c.arguments, c.held, refusal)
			continue
		}
		in, refusal := closing.Intent()
		if refusal != nil || closing.Order.Side != c.side || in.Quantity.String() != c.quantity || string(closing.Forward("")) != c.sent {
			t.Errorf("%s of %s: %v %v %s", c.arguments, c.held, refusal, closing.Facts(), closing.Forward(""))
		}
	}
	for arguments, held := range map[string]string{
		`{"symbol_or_asset_id":"AAPL","qty":4}`: "3", `{"symbol_or_asset_id":"AAPL"}`: "0", `{"symbol_or_asset_id":"AAPL","percentage":1}`: "10",
	} {
		r := understood(t, p, "close_position", arguments)
		if closing, refusal := r.Closing(money.MustQuantity(held)); refusal == nil {
			t.Errorf("%s of %s: %v", arguments, held, closing.Facts())
		}
	}
	refuses(t, p, "close_position", `{"symbol_or_asset_id":"AAPL","qty":1,"percentage":50}`, ExclusiveArgs)
	refuses(t, p, "close_position", `{"symbol_or_asset_id":"AAPL","percentage":100.01}`, NumberFormat)
	refuses(t, p, "close_position", `{"symbol_or_asset_id":"AAPL","qty":0}`, ZeroQuantity)
	refuses(t, p, "close_position", `{"symbol_or_asset_id":"AAPL","percentage":0}`, ZeroQuantity)
	// A tool that takes a percentage only cannot be told what was judged.
	h := understood(t, loaded(t, "hyperliquid"), "close_position", `{"coin":"BTC"}`)
	if _, refusal := h.Closing(money.MustQuantity("1")); refusal == nil {
		t.Error("a close by percentage alone passes")
	}
	refuses(t, loaded(t, "public"), "flatten_and_go_short", `{}`, ClassDenied)
}

func TestTrap10AllAtOnce(t *testing.T) {
	refuses(t, loaded(t, "alpaca-v2"), "close_all_positions", `{}`, ClassDenied)
	refuses(t, loaded(t, "alpaca-v2"), "exercise_options_position", `{}`, ClassDenied)
	all := understood(t, loaded(t, "alpaca-v2"), "cancel_all_orders", `{}`)
	if _, refusal := all.Intent(); refusal == nil {
		t.Error("cancelling everything is taken for one cancel")
	}
}

func secondsOf(n int) time.Duration { return time.Duration(n) * time.Second }
