package limits

import (
	"strings"
	"testing"
)

func TestWhatYAMLOffersBeyondData(t *testing.T) {
	for name, v := range map[string]string{
		"anchor":              with("size.max_order_qty", "&a 100"),
		"anchor on a list":    with("instrument.sides", "&a [buy]"),
		"alias":               with("size.max_order_qty", "&a 100\n  x: *a"),
		"tag":                 with("size.max_order_qty", "!!int 100"),
		"string tag":          with("account", "!!str paper"),
		"bare tag":            with("account", "! paper"),
		"own tag":             with("account", "!own paper"),
		"tag on a list":       with("instrument.sides", "!!seq [buy]"),
		"tag on a mapping":    with("session.denial_storm", "!!map {denials: 1, window: 1s}"),
		"verbatim tag":        with("account", "!<tag:yaml.org,2002:str> paper"),
		"tagged key":          with("account", "paper\n!!str mode: live"),
		"merge key":           text(nil) + "<<: {account: other}\n",
		"block text":          with("account", "|\n  paper"),
		"folded text":         with("account", ">-\n  paper"),
		"merge key in a list": with("instrument.symbols", "[AAPL, <<]"),
		"complex key":         text(nil) + "? [a]\n: b\n",
		"null key":            text(nil) + "~: b\n",
		"second document":     text(nil) + "---\nversion: 1\n",
		"empty second":        text(nil) + "---\n",
		"directive":           "%YAML 1.1\n---\n" + text(nil),
		"tag directive":       "%TAG ! tag:x,2000:\n---\n" + text(nil),
		"text on two lines":   with("account", "pa\n  per"),
		"quoted flag":         with("instrument.allow_short", "'false'"),
		"yes":                 with("instrument.allow_short", "yes"),
		"no":                  with("instrument.allow_short", "no"),
		"off as a flag":       with("instrument.allow_short", "off"),
		"off as require":      with("position.require_buying_power", "off"),
		"True":                with("instrument.allow_short", "True"),
		"null flag":           with("instrument.allow_short", "null"),
		"list for a limit":    with("size.max_order_qty", "[100]"),
		"mapping for limit":   with("size.max_order_qty", "{a: 100}"),
		"scalar for section":  text(map[string]string{"size": "-"}) + "size: off\n",
		"list for section":    text(map[string]string{"size": "-"}) + "size: []\n",
		"depth":               with("instrument.sides", strings.Repeat("[", 20)+strings.Repeat("]", 20)),
		"great depth":         with("instrument.sides", strings.Repeat("[", 20000)+strings.Repeat("]", 20000)),
		"not YAML":            with("instrument.sides", "[buy"),
		"tab":                 with("instrument.sides", "[buy]\n\tx: 1"),
		"soft not empty":      with("soft", "[max_order_qty]"),
		"version 2":           with("version", "2"),
		"version text":        with("version", "one"),
		"account of a path":   with("account", "a/b"),
		"account a number":    with("account", "0123"),
		"empty account":       with("account", `""`),
		"currency":            with("currency", "usd"),
		"calendar":            with("calendar", "XNAS"),
		"repeated word":       with("instrument.sides", "[buy, buy]"),
		"repeated symbol":     with("instrument.symbols", "[AAPL, aapl]"),
		"unknown word":        with("instrument.order_types", "[limit, trailing]"),
		"part of a count":     with("position.max_open_orders", "2.5"),
		"count too large":     with("session.max_orders_per_minute", "10001"),
		"spread too wide":     with("collar.max_spread", "20000"),
		"duration plain":      with("collar.max_quote_age", "5"),
		"duration sum":        with("collar.max_quote_age", "1m30s"),
		"duration part":       with("collar.max_quote_age", "0.5s"),
		"duration negative":   with("collar.max_quote_age", "-5s"),
		"duration zeros":      with("collar.max_quote_age", "05s"),
		"duration unit":       with("collar.max_quote_age", "5 s"),
		"duration days":       with("collar.max_quote_age", "1d"),
		"duration too long":   with("session.duplicate_window", "61m"),
		"duration overflow":   with("session.duplicate_window", "9223372036854775807h"),
		"duration longer":     with("session.duplicate_window", "99999999999999999999s"),
		"storm too long":      with("session.denial_storm", "{denials: 1, window: 25h}"),
		"storm without":       with("session.denial_storm", "{denials: 1}"),
		"storm unknown":       with("session.denial_storm", "{denials: 1, window: 1s, more: 1}"),
		"storm twice":         with("session.denial_storm", "{denials: 1, window: 1s, denials: 2}"),
		"storm off inside":    with("session.denial_storm", "{denials: off, window: 1s}"),
		"cycles too many":     with("session.repeated_execution", "{cycles: 10001, window: 1h}"),
		"window unquoted":     with("session.trading_window", "{from: 09:35, to: 15:55}"),
		"window backwards":    with("session.trading_window", `{from: "15:55", to: "09:35"}`),
		"window empty":        with("session.trading_window", `{from: "09:35", to: "09:35"}`),
		"window hour":         with("session.trading_window", `{from: "09:35", to: "24:00"}`),
		"window form":         with("session.trading_window", `{from: "9:35", to: "15:55"}`),
		"slippage off":        text(map[string]string{"instrument.order_types": "[limit, market]", "collar.market_order_slippage": "off"}),
		"slippage off stop":   text(map[string]string{"instrument.order_types": "[stop]", "collar.market_order_slippage": "off"}),
		"switch":              with("collar.stop_price_side", "true"),
	} {
		t.Run(name, func(t *testing.T) { refused(t, "limits.yaml", v) })
	}
}

func TestWhatAnEditorDoesNotShow(t *testing.T) {
	whole := text(nil)
	for name, v := range map[string]string{
		"byte order mark": "\xef\xbb\xbf" + whole,
		"UTF-16":          "\xff\xfev\x00e\x00",
		"not UTF-8":       whole + "# \xff\n",
		"bidi override":   whole + "# \u202e\n",
		"bidi isolate":    whole + "# \u2066\n",
		"zero width":      whole + "# \u200b\n",
		"line separator":  whole + "# \u2028size:\n",
		"next line":       whole + "# \u0085size:\n",
		"NUL":             whole + "# \x00\n",
		"escape":          whole + "# \x1b[2J\n",
		"bare return":     whole + "# a\rsize:\n",
		"too large":       whole + strings.Repeat("#", DocumentBytesMax),
	} {
		t.Run(name, func(t *testing.T) { refused(t, "limits.yaml", v) })
	}
	a := load(t, whole)
	if b := load(t, strings.ReplaceAll(whole, "\n", "\r\n")); a.Fingerprint != b.Fingerprint {
		t.Error("line ends change the meaning")
	}
	load(t, whole+"# a comment may hold \u00fc and \u20ac\n")
}

func TestStrictJSON(t *testing.T) {
	canonical := string(load(t, text(nil)).Canonical)
	for name, v := range map[string]string{
		"comment":        canonical + "// x",
		"trailing comma": strings.Replace(canonical, `"buy","sell"]`, `"buy","sell",]`, 1),
		"single quotes":  strings.Replace(canonical, `"paper"`, `'paper'`, 1),
		"exponent":       strings.Replace(canonical, `"max_order_qty":"100"`, `"max_order_qty":1e2`, 1),
		"negative zero":  strings.Replace(canonical, `"max_order_qty":"100"`, `"max_order_qty":-0`, 1),
		"null":           strings.Replace(canonical, `"max_order_qty":"100"`, `"max_order_qty":null`, 1),
		"boolean text":   strings.Replace(canonical, `"allow_short":false`, `"allow_short":"false"`, 1),
		"number account": strings.Replace(canonical, `"account":"paper"`, `"account":17`, 1),
		"second value":   canonical + canonical,
		"more after it":  canonical + " x",
		"YAML":           text(nil),
		"deep":           strings.Replace(canonical, `"soft":[]`, `"soft":`+strings.Repeat("[", 20)+strings.Repeat("]", 20), 1),
		"cut":            canonical[:len(canonical)-1],
	} {
		t.Run(name, func(t *testing.T) { refused(t, "limits.json", v) })
	}
	indented := strings.NewReplacer(`,"`, ",\n  \"", `{"`, "{\n  \"").Replace(canonical)
	bad := strings.Replace(indented, `"max_order_qty": "100"`, `"max_order_qty": "1e2"`, 1)
	bad = strings.Replace(bad, `"max_order_qty":"100"`, `"max_order_qty":"1e2"`, 1)
	e := refused(t, "limits.json", bad)[0]
	line := 1 + strings.Count(bad[:strings.Index(bad, "1e2")], "\n")
	if e.Key != "size.max_order_qty" || e.Line != line {
		t.Errorf("at line %d: %v", line, e)
	}
}

// A hostile text costs bounded time and a bounded list.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	for b.Len() < DocumentBytesMax-16 {
		b.WriteString("k: 1\n")
	}
	refused(t, "limits.yaml", b.String())
	b.Reset()
	b.WriteString("symbols: {")
	for i := 0; b.Len() < DocumentBytesMax-64; i++ {
		b.WriteString("A" + strings.Repeat("B", i%9) + ": {size: {max_order_qty: 1}}, ")
	}
	refused(t, "limits.yaml", b.String()+"}\n")
}

func TestErrorsNameTheirPlace(t *testing.T) {
	e := &Error{Name: "l.yaml", Line: 3, Column: 7, Key: "size.max_order_qty", Problem: "is negative", Hint: "write off"}
	if got, want := e.Error(), "l.yaml:3:7: size.max_order_qty: is negative; write off"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	es := refused(t, "limits.yaml", with("mode", "livr"))
	if es[0].Hint != "did you mean live?" || es[0].Error() != "limits.yaml:3:7: mode: \"livr\" is not known; did you mean live?" {
		t.Error(es)
	}
	// What stands in a foreign text cannot steer a terminal or fill a screen.
	es = refused(t, "limits.yaml", with("account", `"\e[2J\u202e"`)+`"\u202e`+strings.Repeat("x", 500)+"\": 1\n")
	for _, c := range es.Error() {
		if c != '\n' && (c < 0x20 || c > 0x7e) {
			t.Fatalf("the message holds %q", c)
		}
	}
	if len(es.Error()) > 1000 {
		t.Error("the message is as long as the text makes it")
	}
}
