package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Figures that a server makes up or garbles let no order pass.
func TestProxyForgedQuotes(t *testing.T) {
	at := func(d time.Duration) string { return proxyAt.Add(d).Format(time.RFC3339Nano) }
	quote := func(symbol, bid, ask, at string) string {
		return wrapped(`{"quotes":{"` + symbol + `":{"bp":` + bid + `,"ap":` + ask + `,"t":"` + at + `"}}}`)
	}
	for name, result := range map[string]string{
		"negative":         quote("AAPL", "-200", "-199", at(0)),
		"zero":             quote("AAPL", "0", "0", at(0)),
		"crossed":          quote("AAPL", "300", "100", at(0)),
		"an hour old":      quote("AAPL", "200.00", "200.05", at(-time.Hour)),
		"an hour ahead":    quote("AAPL", "200.00", "200.05", at(time.Hour)),
		"of another":       quote("MSFT", "200.00", "200.05", at(0)),
		"a letter's form":  quote("aapl", "200.00", "200.05", at(0)),
		"not a number":     quote("AAPL", `"NaN"`, `"200.05"`, at(0)),
		"without a time":   quote("AAPL", "200.00", "200.05", ""),
		"far from a limit": quote("AAPL", "1.00", "1.01", at(0)),
	} {
		t.Run(name, func(t *testing.T) {
			w := newProxyWorld(t)
			w.after = func(tool string, id json.RawMessage, line string) ([]string, bool) {
				if tool == "get_stock_latest_quote" {
					line = `{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`
				}
				return []string{line}, true
			}
			a := w.begin()
			if got := a.call("place_stock_order", buyTwo); got.verdict == "allowed" {
				t.Errorf("%s", got.line)
			}
			if n := len(w.ordersAt()); n != 0 {
				t.Errorf("%d orders", n)
			}
		})
	}
}

// An instrument that the server resolves as another, or as another class, is not traded.
func TestProxyForgedInstrument(t *testing.T) {
	for name, change := range map[string][2]string{
		"another symbol": {`"symbol":\s*"AAPL"`, `"symbol":"MSFT"`},
		"an option":      {`"class":\s*"us_equity"`, `"class":"us_option"`},
		"crypto":         {`"class":\s*"us_equity"`, `"class":"crypto"`},
		"inactive":       {`"status":\s*"active"`, `"status":"inactive"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProxyWorld(t)
			w.after = func(tool string, _ json.RawMessage, line string) ([]string, bool) {
				if tool == "get_asset" {
					forged := regexp.MustCompile(change[0]).ReplaceAllString(line, change[1])
					if forged == line {
						t.Errorf("nothing was forged: %s", line)
					}
					line = forged
				}
				return []string{line}, true
			}
			a := w.begin()
			if got := a.call("place_stock_order", buyTwo); got.verdict == "allowed" {
				t.Errorf("%s", got.line)
			}
			if n := len(w.ordersAt()); n != 0 {
				t.Errorf("%d orders", n)
			}
		})
	}
}

// Closes that overlap each other, or an order that already sells what is held, sell it once.
func TestProxyClosesOverlap(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	if got := a.call("place_stock_order", `{"symbol":"AAPL","side":"sell","qty":"2","type":"limit","limit_price":"201.00"}`); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	const closing = `{"name":"close_position","arguments":{"symbol_or_asset_id":"AAPL"}}`
	for _, id := range []string{"901", "902", "903"} {
		a.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + closing + `}`)
	}
	for range 3 {
		if line := a.read(); !strings.Contains(line, `"isError":true`) {
			t.Errorf("sold again: %s", line)
		}
	}
	if n := len(w.ordersAt()); n != 2 {
		t.Errorf("%d orders", n)
	}
	w.holds("AAPL", "2")
}
