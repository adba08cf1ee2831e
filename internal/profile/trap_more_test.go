package profile

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTrap11ClassByTheSymbol(t *testing.T) {
	p := loaded(t, "alpaca-v2")
	stock := `{"side":"buy","qty":"10","symbol":`
	for _, s := range []string{`"AAPL250321C00150000"`, `"AAPL  250321C00150000"`, `"BTC/USD"`} {
		refuses(t, p, "place_stock_order", stock+s+`}`, AssetClassMismatch)
	}
	refuses(t, p, "place_crypto_order", stock+`"AAPL"}`, AssetClassMismatch)
	refuses(t, p, "place_option_order", stock+`"AAPL"}`, AssetClassMismatch)
	refuses(t, loaded(t, "public"), "place_order", `{"symbol":"AAPL","instrument_type":"CRYPTO","order_side":"BUY","order_type":"MARKET","quantity":"1"}`, Enum)
}

func TestTrap12OneInstrumentOneName(t *testing.T) {
	for _, c := range []struct{ spelling, text, want string }{
		{"us_equity", "AAPL", "AAPL"}, {"us_equity", "brk.b", "BRK.B"}, {"us_equity", "BRK/B", ""}, {"us_equity", "BRK B", ""}, {"us_equity", "AAPL ", ""},
		{"us_equity", " AAPL", ""}, {"us_equity", "ABCDEF", ""}, {"us_equity", "BRK.BB", ""}, {"us_equity", ".B", ""}, {"us_equity", "US0378331005", ""},
		{"us_equity", "037833100", ""}, {"us_equity", "AАPL", ""}, {"us_equity_space", "BRK B", "BRK.B"}, {"us_equity_slash", "BRK/B", "BRK.B"},
		{"us_suffix", "700.HK", "HK:700"}, {"us_suffix", "00700.HK", "HK:700"}, {"us_suffix", "0.HK", ""}, {"us_suffix", "AAPL.US", "AAPL"},
		{"us_suffix", "600519.SH", "SH:600519"}, {"us_suffix", "AAPL.XX", ""}, {"us_suffix", "D05.SG", ""}, {"us_prefix", "HK.00700", "HK:700"},
		{"us_prefix", "US.AAPL", "AAPL"}, {"us_underscore", "AAPL_US_EQ", "AAPL"}, {"us_underscore", "AAPL", ""},
		{"occ", "AAPL250321C00150000", "AAPL250321C00150000"}, {"occ", "AAPL250230C00150000", ""}, {"occ", "AAPL251321C00150000", ""},
		{"occ", "AAPL250321X00150000", ""}, {"occ", "AAPL250321C00000000", ""}, {"occ", "AAPL1250321C00150000", ""}, {"occ", "aapl250321C00150000", ""},
		{"occ_padded", "AAPL  250321C00150000", "AAPL250321C00150000"}, {"occ_padded", "AAPL250321C00150000", ""}, {"occ_padded", "A APL 250321C00150000", ""},
		{"pair_slash", "BTC/USD", "BTC/USD"}, {"pair_slash", "XBT/USD", "BTC/USD"}, {"pair_slash", "BTC/DOGE", ""}, {"pair_slash", "BTC/USD/X", ""},
		{"pair_dash", "BTC-USDT", "BTC/USDT"}, {"pair_joined", "BTCUSDT", "BTC/USDT"}, {"pair_joined", "XBTUSD", "BTC/USD"}, {"pair_joined", "USDTUSD", ""},
		{"pair_joined", "BTCFDUSD", ""}, {"pair_joined", "BTCTUSD", ""}, {"pair_joined", "DOTUSD", "DOT/USD"}, {"pair_joined", "XXBTZUSD", ""},
		{"pair_joined", "ETHBTC", "ETH/BTC"}, {"pair_joined", "USD", ""}, {"swap_dash", "BTC-USDT-SWAP", "BTC/USDT:SWAP"}, {"coin", "XDG", "DOGE"},
		{"venue", "INFY", "INFY"}, {"venue", "M&M", "M&M"}, {"venue", "INFY:X", ""}, {"venue", "-INFY", ""}, {"venue", "infy", ""},
	} {
		out, ok := spell(c.spelling, c.text)
		if ok != (c.want != "") || ok && out.symbol != c.want {
			t.Errorf("%s reads %q as %q (%v), want %q", c.spelling, c.text, out.symbol, ok, c.want)
		}
	}
	refuses(t, loaded(t, "alpaca-v2"), "close_position", `{"symbol_or_asset_id":"b0b6dd9d-8b9b-48a9-ba46-b9d54906e415"}`, OpaqueID)
	refuses(t, loaded(t, "ibkr-code-rabi"), "place_order", `{"accountId":"DU1","symbol":"AAPL","conid":1,"action":"BUY","orderType":"MKT","quantity":1}`, ForbiddenArgument)
}

func TestTrap13IdsAreNoPaths(t *testing.T) {
	p := loaded(t, "alpaca-v2")
	for _, id := range []string{"", ".", "..", "a/b", "?x=1", "%2e%2e", "a b", "#", "61e69015_8549_4bfd_b9c3_01e75843f47d", orderID + "/x"} {
		refuses(t, p, "cancel_order_by_id", `{"order_id":"`+id+`"}`, IdentifierFormat)
	}
	for _, form := range forms() {
		for _, id := range []string{"", ".", "..", "a/b", "?", "%", "a&b", "a.b", "-x", "--help", "é", "a\x00", strings.Repeat("1", 129)} {
			if wellFormed(form, id) {
				t.Errorf("%q passes as %s", id, form)
			}
		}
	}
}

func TestTrap14BasketsAndLegs(t *testing.T) {
	p := loaded(t, "okx")
	good := `{"instId":"BTC-USDT","side":"buy","ordType":"limit","sz":"1","px":"1"}`
	r := understood(t, p, "spot_batch_orders", `{"action":"place","orders":[`+good+`]}`)
	if _, refusal := r.Intent(); refusal == nil || refusal.Reason != NotJudged {
		t.Errorf("a basket of one: %v", refusal)
	}
	refuses(t, p, "spot_batch_orders", `{"action":"place","orders":[]}`, MissingArgument)
	refuses(t, p, "spot_batch_orders", `{"action":"place","orders":{}}`, MissingArgument)
	refuses(t, p, "spot_batch_orders", `{"action":"place","orders":["x"]}`, TypeMismatch)
	refuses(t, p, "spot_batch_orders", `{"action":"cancel","orders":[`+good+`]}`, Enum)
	// One that has no reading refuses all.
	refuses(t, p, "spot_batch_orders", `{"action":"place","orders":[`+good+`,{"instId":"BTC-USDT","side":"buy","ordType":"limit","px":"1"}]}`, MissingQuantity)
	refuses(t, p, "spot_batch_orders", `{"action":"place","orders":[`+strings.Repeat(good+",", BasketMax)+good+`]}`, MalformedCall)
	v2 := loaded(t, "alpaca-v2")
	for legs, want := range map[string]Reason{
		`[{"symbol":"AAPL250321C00150000","ratio_qty":"1.5","side":"buy"}]`:  NumberFormat,
		`[{"symbol":"AAPL250321C00150000","ratio_qty":"0","side":"buy"}]`:    ZeroQuantity,
		`[{"symbol":"AAPL250321C00150000","ratio_qty":"1001","side":"buy"}]`: NumberFormat,
		`[{"symbol":"AAPL","ratio_qty":"1","side":"buy"}]`:                   AssetClassMismatch,
		`[]`: MissingArgument,
	} {
		refuses(t, v2, "place_option_order", `{"qty":"1","legs":`+legs+`}`, want)
	}
	refuses(t, v2, "place_option_order", `{"qty":"1","symbol":"AAPL250321C00150000","side":"buy","legs":[]}`, VariantAmbiguous)
	refuses(t, v2, "place_option_order", `{"qty":"1"}`, VariantAmbiguous)
	refuses(t, loaded(t, "coinbase-visusnet"), "create_order",
		`{"clientOrderId":"c","productId":"BTC-USD","side":"BUY","orderConfiguration":{"marketMarketIoc":{},"limitLimitGtc":{"baseSize":1,"limitPrice":1}}}`, VariantAmbiguous)
}

func TestTrap15Tokens(t *testing.T) {
	p, ibkr := loaded(t, "schwab"), loaded(t, "ibkr-code-rabi")
	preview := understood(t, p, "preview_equity_order", `{"account_hash":"A","symbol":"AAPL","quantity":10,"instruction":"BUY","order_type":"LIMIT","price":150}`)
	confirm := func(account, id string) Reading {
		return understood(t, p, "place_previewed_order", `{"account_hash":"`+account+`","preview_id":"`+id+`"}`)
	}
	start := at(t, 15, 0, 0)
	for name, c := range map[string]struct {
		account, id string
		seconds     int
		twice       bool
	}{
		"unknown": {"A", "ff", 1, false}, "another account": {"B", "ab", 1, false}, "too late": {"A", "ab", 61, false},
		"before it was issued": {"A", "ab", -1, false}, "twice": {"A", "ab", 1, true},
	} {
		var tokens Tokens
		tokens.Issue("ab", preview, nil, start)
		now := start.Add(0)
		now = now.Add(secondsOf(c.seconds))
		if c.twice {
			if r, refusal := tokens.Take(confirm(c.account, c.id), now); refusal != nil || r.Tool != preview.Tool || r.Order.Quantity != preview.Order.Quantity {
				t.Fatalf("the first time: %v", refusal)
			}
		}
		if _, refusal := tokens.Take(confirm(c.account, c.id), now); refusal == nil || refusal.Reason != UnknownToken {
			t.Errorf("%s: %v", name, refusal)
		}
		// Whatever came of it, the token is spent.
		if _, refusal := tokens.Take(confirm("A", "ab"), start); c.id == "ab" && refusal == nil {
			t.Errorf("%s: the token can be used again", name)
		}
	}
	place := understood(t, ibkr, "place_order", `{"accountId":"DU1","symbol":"AAPL","action":"BUY","orderType":"MKT","quantity":1}`)
	question := ibkrQuestion(t, &place)
	answer := func(ids string) Reading {
		return understood(t, ibkr, "confirm_order", `{"replyId":"`+orderID+`","messageIds":`+ids+`}`)
	}
	for ids, ok := range map[string]bool{`["o10151"]`: true, `["o10151","o1"]`: false, `[]`: false, `null`: false, `"o10151"`: false} {
		var tokens Tokens
		tokens.Issue(question.Token, place, question.Bound, start)
		if _, refusal := tokens.Take(answer(ids), start); (refusal == nil) != ok {
			t.Errorf("confirmed with %s: %v", ids, refusal)
		}
	}
	var tokens Tokens
	tokens.Issue(question.Token, place, nil, start) // the terms were lost on the way
	if _, refusal := tokens.Take(answer(`["o10151"]`), start); refusal == nil {
		t.Error("a question without its terms is confirmed")
	}
	tokens.Issue(question.Token, answer(`["o10151"]`), question.Bound, start)
	if _, refusal := tokens.Take(answer(`["o10151"]`), start); refusal == nil {
		t.Error("a confirmation confirms itself")
	}
	tokens.Issue("cd", preview, nil, start)
	tokens.Issue("cd", place, nil, start)
	if _, refusal := tokens.Take(confirm("A", "cd"), start); refusal == nil {
		t.Error("a token for two orders is taken for one of them")
	}
	for range TokensMax + 5 {
		tokens.Issue("t"+string(rune('a'+len(tokens.list)%26))+strings.Repeat("x", len(tokens.list)), preview, nil, start)
	}
	if len(tokens.list) > TokensMax {
		t.Errorf("%d tokens are kept", len(tokens.list))
	}
	if tokens.Issue("ee", preview, nil, start.Add(2*TokenAge)); len(tokens.list) != 1 {
		t.Errorf("%d tokens are kept after all others ended", len(tokens.list))
	}
}

func ibkrQuestion(t *testing.T, place *Reading) Proof {
	t.Helper()
	p := place.Outcome(Reply{Texts: []string{`[{"id":"` + orderID + `","message":["Price"],"messageIds":["o10151"]}]`}})
	if p.Outcome != PendingConfirmation || len(p.Bound) != 1 || p.Bound[0] != (Word{"messageIds", `["o10151"]`}) {
		t.Fatalf("the question is %+v", p)
	}
	return p
}

func TestTrap16BypassesAreForced(t *testing.T) {
	place := `{"accountId":"DU1","symbol":"AAPL","action":"BUY","orderType":"MKT","quantity":1`
	p := loaded(t, "ibkr-code-rabi")
	refuses(t, p, "place_order", place+`,"suppressConfirmations":true}`, ForbiddenArgument)
	refuses(t, p, "place_order", place+`,"suppressConfirmations":"false"}`, ForbiddenArgument)
	refuses(t, p, "place_order", place+`,"suppressConfirmations":null}`, ForbiddenArgument)
	forwards(t, p, "place_order", place+`}`, place+`,"suppressConfirmations":false}`)
	// An amount of money that the server would not check.
	refuses(t, loaded(t, "webull"), "place_stock_order",
		`{"symbol":"AAPL","side":"BUY","order_type":"MARKET","time_in_force":"DAY","quantity":1,"entrust_type":"AMOUNT"}`, MissingNotional)
}

func TestTrap17EnvironmentIsSaid(t *testing.T) {
	refuses(t, loaded(t, "moomoo"), "place_order", `{"code":"US.AAPL","price":150,"qty":10,"trd_side":"BUY"}`, EnvNotPinned)
	refuses(t, loaded(t, "openalgo"), "analyzer_toggle", `{"mode":false}`, ClassDenied)
	refuses(t, loaded(t, "ibkr-seanjmartin"), "switch_account", `{"account_id":"U1"}`, ClassDenied)
}

func TestTrap18StandingOrders(t *testing.T) {
	r := understood(t, loaded(t, "kite"), "place_gtt_order",
		`{"exchange":"NSE","tradingsymbol":"INFY","last_price":1,"transaction_type":"SELL","product":"CNC","trigger_type":"single","trigger_value":1400,"quantity":5,"limit_price":1395}`)
	if _, refusal := r.Intent(); refusal == nil || refusal.Reason != StandingOrder {
		t.Errorf("a standing order: %v", refusal)
	}
	for _, c := range [][2]string{{"longbridge", "dca_create"}, {"longbridge", "grid_submit"}, {"quantconnect", "create_live_command"}, {"robinhood-official", "place_advanced_order"}} {
		refuses(t, loaded(t, c[0]), c[1], `{}`, ClassDenied)
	}
}

func TestTrap19MoneyWithoutOrders(t *testing.T) {
	for _, c := range [][2]string{{"kraken", "kraken_withdraw"}, {"alpaca-v2", "create_locate"}, {"alpaca-v2", "update_account_config"}, {"hyperliquid", "update_leverage"}} {
		refuses(t, loaded(t, c[0]), c[1], `{}`, ClassDenied)
	}
}

func TestTrap20Credentials(t *testing.T) {
	call := `{"exchange":"binance","symbol":"BTC/USDT","side":"buy","amount":1,"apiKey":"hunter2"}`
	_, refusal := loaded(t, "ccxt").Read("place-market-order", []byte(call))
	if refusal == nil || refusal.Reason != SecretArgument || strings.Contains(refusal.Error(), "hunter2") {
		t.Errorf("a credential: %v", refusal)
	}
	// No refusal repeats what the agent wrote.
	for _, arguments := range []string{`{"hunter2":1}`, `{"side":"hunter2"}`, `{"symbol":"hunter2!"}`, `{"qty":"hunter2"}`} {
		_, refusal := loaded(t, "alpaca-v2").Read("place_stock_order", []byte(arguments))
		if refusal == nil || strings.Contains(refusal.Error(), "hunter2") {
			t.Errorf("%s: %v", arguments, refusal)
		}
	}
}

func TestTrap21Results(t *testing.T) {
	v2 := loaded(t, "alpaca-v2")
	r := understood(t, v2, "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"10"}`)
	own := r.Injected("ours")
	order := func(change map[string]any) Reply {
		o := map[string]any{"id": "o-1", "client_order_id": own, "status": "accepted", "symbol": "AAPL", "side": "buy", "qty": "10", "filled_qty": "0"}
		for k, v := range change {
			o[k] = v
		}
		b, err := json.Marshal(map[string]any{"data": o})
		if err != nil {
			t.Fatal(err)
		}
		return Reply{Structured: b}
	}
	for name, c := range map[string]struct {
		change map[string]any
		want   Outcome
	}{
		"as sent": {nil, Accepted}, "no id": {map[string]any{"id": nil}, InDoubt}, "an empty id": {map[string]any{"id": ""}, InDoubt},
		"an id that is an object": {map[string]any{"id": map[string]any{"x": 1}}, InDoubt}, "another client id": {map[string]any{"client_order_id": "x"}, InDoubt},
		"another symbol": {map[string]any{"symbol": "MSFT"}, InDoubt}, "another side": {map[string]any{"side": "sell"}, InDoubt}, "no side known": {map[string]any{"side": "hold"}, InDoubt},
		"another quantity": {map[string]any{"qty": "11"}, InDoubt}, "the same quantity, longer": {map[string]any{"qty": "10.000"}, Accepted},
		"rejected": {map[string]any{"status": "rejected"}, Rejected}, "an id with a control character": {map[string]any{"id": "o\n1"}, InDoubt},
	} {
		if p := r.Answer("ours", order(c.change)); p.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", name, p, c.want)
		}
	}
	if p := r.Answer("ours", order(map[string]any{"filled_qty": "1e9", "filled_avg_price": "ten"})); p.Filled != "" || p.Average != "" {
		t.Errorf("figures that are none are told: %+v", p)
	}
	if p := r.Answer("ours", Reply{}); p.Outcome != InDoubt {
		t.Errorf("an empty reply: %+v", p)
	}
	if p := (&Reading{}).Answer("ours", order(nil)); p.Outcome != InDoubt {
		t.Errorf("a reply to nothing: %+v", p)
	}
}

func TestTrap22ReachableText(t *testing.T) {
	v2, v1 := loaded(t, "alpaca-v2"), loaded(t, "alpaca-v1")
	r2 := understood(t, v2, "place_stock_order", `{"symbol":"AAPL","side":"buy","qty":"10"}`)
	for name, reply := range map[string]Reply{
		"only prose":         {Texts: []string{`{"data":{"id":"o-1"}}`}},
		"within the guide":   {Structured: []byte(`{"guide":"{\"data\":{\"id\":\"o-1\"}}"}`)},
		"two that disagree":  {Structured: []byte(`{"data":{"id":"o-1"}}`), Texts: []string{`{"data":{"id":"o-2"}}`}},
		"duplicate names":    {Structured: []byte(`{"data":{"id":"o-1","id":"o-2"}}`)},
		"more than one JSON": {Structured: []byte(`{"data":{"id":"o-1"}} {}`)},
	} {
		if p := r2.Outcome(reply); p.Outcome != InDoubt {
			t.Errorf("%s: %+v", name, p)
		}
	}
	r1 := understood(t, v1, "place_stock_order", `{"symbol":"AAPL","side":"buy","quantity":10}`)
	for name, reply := range map[string]Reply{
		"JSON in prose":       {Texts: []string{`Placed. {"id":"o-1"}`}},
		"two texts":           {Texts: []string{`{"id":"o-1"}`, `x`}},
		"beside a picture":    {Texts: []string{`{"id":"o-1"}`}, Other: true},
		"structured says no":  {Texts: []string{`{"id":"o-1"}`}, Structured: []byte(`{"id":"o-1","status":"rejected"}`)},
		"too long":            {Texts: []string{`{"id":"o-1","x":"` + strings.Repeat("x", ReplyBytesMax) + `"}`}},
		"lines with two ids":  {Texts: []string{"id: 1\nid: 2"}},
		"an error with an id": {Texts: []string{`{"id":"o-1"}`}, IsError: true},
	} {
		if p := r1.Outcome(reply); p.Outcome != InDoubt {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if lines("order_id: 1\norder_id: 2") != nil {
		t.Error("a key with two values is read")
	}
	// The text rules are of the whole text, or of its beginning.
	l := understood(t, loaded(t, "longbridge"), "replace_order", `{"order_id":"1","quantity":"2"}`)
	if p := l.Outcome(Reply{Texts: []string{"news: order replaced"}}); p.Outcome != InDoubt {
		t.Errorf("a text that ends so: %+v", p)
	}
}

func TestTrap24AnnotationsDecideNothing(t *testing.T) {
	// A profile has no place for a server's own hints: what is not named is refused.
	if _, err := Load("hints.yaml", []byte("profile: 1\nid: x\nbroker: x\nread: [a]\nread_only_hint: true\n")); err == nil {
		t.Error("a profile can trust a hint")
	}
	refuses(t, loaded(t, "public"), "get_anything", `{}`, UnknownTool)
}

func TestTrap25ForeignFailures(t *testing.T) {
	// An answer that breaks the server's own schema is an answer that proves nothing.
	r := understood(t, loaded(t, "robinhood-official"), "place_equity_order",
		`{"account_number":"R1","symbol":"AAPL","side":"buy","type":"market","quantity":"1"}`)
	for _, reply := range []Reply{{IsError: true, Texts: []string{"Output validation error"}}, {Structured: []byte(`{"data":{"order":{"id":["x"]}}}`)}, {Other: true}} {
		if p := r.Answer("ours", reply); p.Outcome != InDoubt {
			t.Errorf("%+v: %+v", reply, p)
		}
	}
}
