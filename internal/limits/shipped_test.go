package limits

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

func TestTemplateLoads(t *testing.T) {
	for account, want := range map[string]string{
		"paper": "paper", "true": "true", "123": "123", "1e5": "1e5", "PA3XYZ": "PA3XYZ", "NULL": "NULL",
		"0x1f": "0x1f", "2026-01-01": "2026-01-01", "off": "paper", "": "paper", "a b": "paper", "x\ny: 1": "paper", "é": "paper", "e5": "e5", "a:b": "a:b", "a:": "a:",
	} {
		d, err := Load("limits.yaml", Template(account))
		if err != nil {
			t.Errorf("%q: %v", account, err)
			continue
		}
		if d.Account != want {
			t.Errorf("%q is written as %q", account, d.Account)
		}
		if w := d.Warnings(); len(w) != 0 {
			t.Errorf("the shipped document warns: %v", w)
		}
	}
}

// Each key of the shipped document stands on a line of its own, with its comment.
func TestTemplateExplainsEachKey(t *testing.T) {
	lines := strings.Split(string(Template("paper")), "\n")
	for _, k := range Keys() {
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(strings.TrimSpace(l), k.Name()+": ") && strings.HasSuffix(l, "# "+k.About)
		}) {
			t.Errorf("%s is not explained", k.Path)
		}
	}
	for _, l := range lines {
		if len(l) > 120 {
			t.Errorf("a long line: %s", l)
		}
	}
}

// The schema accepts what loads and refuses the commonest faults.
func TestSchema(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	good := load(t, with("symbols", "{AAPL: {size: {max_order_qty: 5}, collar: {max_spread: 5}}}"))
	if err := check(good.Canonical); err != nil {
		t.Errorf("refuses what loads: %v", err)
	}
	for _, k := range Keys() {
		a, b := pair(k)
		c, e := neither(k)
		for _, v := range []string{a, b, c, e} {
			if v == "" {
				continue
			}
			if err := check(load(t, with(k.Path, v)).Canonical); err != nil {
				t.Errorf("%s: %s: %v", k.Path, v, err)
			}
		}
		canonical := string(good.Canonical)
		for _, bad := range []string{
			strings.Replace(canonical, `"`+k.Name()+`":`, `"`+k.Name()+`x":`, 1),
		} {
			if check([]byte(bad)) == nil {
				t.Errorf("%s may be missing", k.Path)
			}
		}
	}
	for _, swap := range [][2]string{
		{`"max_order_notional":"25000"`, `"max_order_notional":-1`},
		{`"max_order_notional":"25000"`, `"max_order_notional":"1e3"`},
		{`"max_order_notional":"25000"`, `"max_order_notional":null`},
		{`"max_order_notional":"25000"`, `"max_order_notional":"Off"`},
		{`"allow_short":false`, `"allow_short":"off"`},
		{`"max_quote_age":"5s"`, `"max_quote_age":"0s"`},
		{`"mode":"paper"`, `"mode":"papper"`},
		{`"soft":[]`, `"soft":["x"]`},
		{`"max_orders_per_minute":10`, `"max_orders_per_minute":10001`},
		{`"size":{"max_order_qty":"5"}`, `"size":{}`},
		{`"size":{"max_order_qty":"5"}`, `"session":{"max_orders_per_day":5}`},
	} {
		bad := strings.Replace(string(good.Canonical), swap[0], swap[1], 1)
		if bad == string(good.Canonical) || check([]byte(bad)) == nil {
			t.Errorf("accepts %s", swap[1])
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		key    string
		values map[string]string
	}{
		{"size.max_order_qty", map[string]string{"size.max_order_qty": "501"}},
		{"size.max_order_notional", map[string]string{"size.max_order_notional": "50000.01"}},
		{"size.max_order_pct_of_equity", map[string]string{"size.max_order_pct_of_equity": "11", "position.max_concentration": "10"}},
		{"position.max_position_notional", map[string]string{"position.max_position_notional": "250001"}},
		{"position.max_net_exposure", map[string]string{"position.max_net_exposure": "250001"}},
		{"session.max_notional_per_minute", map[string]string{"session.max_notional_per_day": "49999"}},
		{"session.max_orders_per_minute", map[string]string{"session.max_orders_per_day": "9", "position.max_open_orders": "9"}},
		{"session.max_orders_per_minute", map[string]string{"session.max_messages_per_minute": "9"}},
		{"position.max_open_orders", map[string]string{"position.max_open_orders": "201"}},
		{"session.max_daily_loss", map[string]string{"session.max_drawdown": "4999"}},
		{"size.min_order_notional", map[string]string{"size.min_order_notional": "25000.01"}},
		{"size.min_order_notional", map[string]string{"size.min_order_notional": "0"}},
		{"size.quantity_step", map[string]string{"size.quantity_step": "101"}},
		{"collar.exit_price_collar", map[string]string{"collar.exit_price_collar": "149"}},
		{"collar.market_order_spread", map[string]string{"collar.market_order_spread": "201"}},
		{"collar.limit_price_collar", map[string]string{"collar.limit_price_collar": "5000", "collar.exit_price_collar": "off"}},
		{"instrument.symbols", map[string]string{"instrument.symbols": "[]"}},
		{"instrument.sides", map[string]string{"instrument.sides": "[]"}},
		{"instrument.restricted_symbols", map[string]string{"instrument.restricted_symbols": "[SPY]"}},
		{"position.allow_flip", map[string]string{"position.allow_flip": "true"}},
		{"symbols.IBM", map[string]string{"symbols": "{IBM: {size: {max_order_qty: 1}}}"}},
		{"symbols.SPY.size.max_order_qty", map[string]string{"symbols": "{SPY: {position: {max_position_qty: 99}}}"}},
	} {
		t.Run(c.key, func(t *testing.T) {
			w := load(t, text(c.values)).Warnings()
			if len(w) != 1 || w[0].Key != c.key || w[0].Problem == "" {
				t.Errorf("warnings are %v", w)
			}
		})
	}
	// An override is not blamed for what the document does itself.
	d := load(t, text(map[string]string{"size.max_order_qty": "501", "symbols": "{SPY: {size: {max_order_notional: 1000}}}"}))
	if w := d.Warnings(); len(w) != 1 {
		t.Errorf("warnings are %v", w)
	}
}

func BenchmarkLoad(b *testing.B) {
	text := Template("paper")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load("limits.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFor(b *testing.B) {
	d, err := Load("limits.yaml", []byte(override("size", "max_order_qty: 7")))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if d.For("AAPL").Size == d.For("MSFT").Size {
			b.Fatal("one judges the other")
		}
	}
}
