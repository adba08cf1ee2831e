package limits

import (
	"slices"
	"strings"
	"testing"
)

// The cases below are faults that happened to somebody; each is named by its id in
// the collection of cases. Those that concern reloading, signatures or the broker's
// own account are tested where that happens.

func TestCFG01MisspelledKey(t *testing.T) {
	good := text(nil)
	bad := strings.Replace(good, "max_order_notional:", "max_order_notinal:", 1)
	es := refused(t, "limits.yaml", bad)
	var found *Error
	for _, e := range es {
		if e.Key == "size.max_order_notinal" {
			found = e
		}
	}
	if found == nil {
		t.Fatalf("the key is not named: %v", es)
	}
	line := 1 + strings.Count(bad[:strings.Index(bad, "max_order_notinal")], "\n")
	if found.Line != line || found.Column != 3 {
		t.Errorf("at %d:%d, want %d:3", found.Line, found.Column, line)
	}
	if found.Hint != "did you mean max_order_notional?" {
		t.Errorf("hint is %q", found.Hint)
	}
	if !strings.Contains(es.Error(), "limits.yaml:") || !slices.ContainsFunc(es, func(e *Error) bool {
		return e.Key == "size.max_order_notional" && e.Problem == "is missing"
	}) {
		t.Errorf("the missing key is not named: %v", es)
	}
}

func TestCFG02RepeatedKey(t *testing.T) {
	yaml := strings.Replace(text(nil), "  max_order_qty: 100\n", "  max_order_qty: 10\n  max_order_qty: 5000\n", 1)
	if e := refusedAt(t, yaml, "size.max_order_qty"); e.Problem != "is written twice" {
		t.Error(e)
	}
	d := load(t, text(nil))
	canonical := string(d.Canonical)
	for _, name := range []string{"limits.json", "limits.yaml"} {
		json := strings.Replace(canonical, `"max_order_qty":"100"`, `"max_order_qty":10,"max_order_qty":5000`, 1)
		if e := refused(t, name, json)[0]; e.Problem != "is written twice" {
			t.Errorf("%s: %v", name, e)
		}
		nested := strings.Replace(canonical, `{"cycles":50,`, `{"cycles":50,"cycles":49,`, 1)
		if e := refused(t, name, nested)[0]; !strings.Contains(e.Problem, "twice") {
			t.Errorf("%s: %v", name, e)
		}
	}
	for _, section := range []string{"size", "instrument"} {
		refused(t, "limits.yaml", text(nil)+section+":\n  allow_short: true\n")
	}
}

func TestCFG03SymbolsThatYAMLReadsOtherwise(t *testing.T) {
	d := load(t, with("instrument.symbols", `[ON, NO, Y, 'TRUE', "null", '1E5', 'AAPL']`))
	want := []string{"1E5", "AAPL", "NO", "NULL", "ON", "TRUE", "Y"}
	if !slices.Equal(d.Instrument.Symbols, want) {
		t.Errorf("symbols are %v, want %v", d.Instrument.Symbols, want)
	}
	for _, symbol := range []string{"TRUE", "true", "null", "1E5", "0x10", "2026-01-01", "5", "0100"} {
		e := refusedAt(t, with("instrument.symbols", "[AAPL, "+symbol+"]"), "instrument.symbols")
		if symbol != "null" && e.Hint != "put it in quotes" {
			t.Errorf("%s: hint is %q", symbol, e.Hint)
		}
	}
	for _, symbol := range []string{"~", ".inf", "1e400", "''", "' '", "'A APL'", "'\u0391APL'", "'\uff21APL'", "[AAPL]", "{A: B}"} {
		refusedAt(t, with("instrument.symbols", "[MSFT, "+symbol+"]"), "instrument.symbols")
	}
	refusedAt(t, with("symbols", "{TRUE: {size: {max_order_qty: 1}}}"), "symbols")
}

func TestCFG04NumbersThatYAMLReadsOtherwise(t *testing.T) {
	for _, v := range []string{
		"010", "0755", "0x10", "1_000", "1e3", "+5", ".5", "1,000", "08", "0o17", "0b11", "5.", "1E3", ".inf", "-.inf", ".nan",
		"NaN", "0100", "1 000", "\uff11\uff10", "'1e3'", "'0100'", "' 5'", "'5 '", "'-0'", "-0", "1.0000000001", "123456789012345678901", "true",
	} {
		for _, key := range []string{"size.max_order_qty", "size.max_order_notional", "collar.max_spread", "position.max_open_orders", "size.max_order_pct_of_equity", "collar.price_step"} {
			refusedAt(t, with(key, v), key)
		}
	}
	for _, v := range []string{"500", "'500'", `"500"`, "500.0", "'500.000'"} {
		d := load(t, with("size.max_order_qty", v))
		if got := d.Size.MaxOrderQuantity.Value.String(); got != "500" {
			t.Errorf("%s is read as %s", v, got)
		}
	}
	// A figure that no float64 holds, in both dialects.
	const exact = "12345678901234567890.123456789"
	d := load(t, with("size.max_order_notional", exact))
	json := strings.Replace(string(d.Canonical), `"`+exact+`"`, exact, 1)
	e, err := Load("limits.json", []byte(json))
	if err != nil || e.Size.MaxOrderNotional.Value.String() != exact || e.Fingerprint != d.Fingerprint {
		t.Errorf("JSON number is not read from its text: %v", err)
	}
}

func TestCFG05ZeroIsNotUnlimited(t *testing.T) {
	const key = "size.max_order_notional"
	d := load(t, with(key, "0"))
	if l := d.Size.MaxOrderNotional; !l.Set || !l.On || !l.Value.IsZero() {
		t.Errorf("0 is read as %+v", l)
	}
	for _, v := range []string{"-5", "'-5'", "null", "~", "", "-", "''", "unlimited", "none", "Off", "OFF", "false"} {
		refusedAt(t, with(key, v), key)
	}
	for _, k := range Keys() {
		zero := load0(k)
		if zero == "" {
			continue
		}
		e := refused(t, "limits.yaml", with(k.Path, zero))[0]
		if !strings.HasPrefix(e.Key, k.Path) || !strings.Contains(e.Hint, "off") {
			t.Error(e)
		}
	}
}

// load0 is the zero that a key must refuse: durations, bands, windows and steps.
func load0(k Key) string {
	switch {
	case k.Kind == KindDuration:
		return "0s"
	case k.Direction == CoarserTightens, k.Kind == KindBasisPoints && k.Name() != "max_spread":
		return "0"
	case k.Kind == KindDenialStorm:
		return "{denials: 1, window: 0s}"
	case k.Kind == KindRepeatedExecution:
		return "{cycles: 0, window: 1s}"
	}
	return ""
}

func TestCFG06NullCollar(t *testing.T) {
	refusedAt(t, with("collar.limit_price_collar", "null"), "collar.limit_price_collar")
	refused(t, "limits.yaml", text(map[string]string{"collar": "-"})+"collar: null\n")
	refused(t, "limits.yaml", text(map[string]string{"collar": "-"})+"collar:\n")
}

func TestCFG08BlankEntries(t *testing.T) {
	for _, v := range []string{`["", "   "]`, "[AAPL, null]", `[AAPL, ""]`, "[null]", "[AAPL, ~]", "[AAPL, ,MSFT]", "\n  - AAPL\n  -\n"} {
		refused(t, "limits.yaml", with("instrument.symbols", v))
	}
	refusedAt(t, with("instrument.sides", "[buy, null]"), "instrument.sides")
}

func TestCFG09FileEmptiedOrHalfWritten(t *testing.T) {
	whole := text(nil)
	for _, v := range []string{"", "\n", "# nothing\n", "---\n", "{}", "[]", "null", "limits"} {
		refused(t, "limits.yaml", v)
		refused(t, "limits.json", v)
	}
	for cut := range len(whole) - 2 {
		if _, err := Load("limits.yaml", []byte(whole[:cut])); err == nil && !strings.HasPrefix(whole[cut:], "\n") {
			t.Fatalf("the first %d of %d bytes load", cut, len(whole))
		}
	}
}

func TestCFG11TwoTextsTwoFingerprints(t *testing.T) {
	a, b := load(t, text(nil)), load(t, with("size.max_order_qty", "5"))
	if a.Fingerprint == b.Fingerprint || len(a.Fingerprint) != 64 {
		t.Error("a changed figure keeps the fingerprint")
	}
}

func TestCFG17BandOfTheWholePrice(t *testing.T) {
	for _, name := range []string{"limit_price_collar", "exit_price_collar", "passive_price_collar", "market_order_slippage"} {
		key := "collar." + name
		for _, v := range []string{"10000", "25000", "-1", "10000.000000000"} {
			refusedAt(t, with(key, v), key)
		}
		d := load(t, with(key, "9999"))
		if !slices.ContainsFunc(d.Warnings(), func(w Warning) bool { return w.Key == key }) {
			t.Errorf("%s of 99.99%% loads without a warning", name)
		}
	}
}

func TestCFG18LimitsOutOfOrder(t *testing.T) {
	d := load(t, text(map[string]string{"size.max_order_notional": "'60000'", "position.max_position_notional": "'50000'", "session.max_notional_per_minute": "off"}))
	if w := d.Warnings(); len(w) != 1 || w[0].Key != "size.max_order_notional" {
		t.Errorf("warnings are %v", w)
	}
}

func TestCFG20ModeHasNoDefault(t *testing.T) {
	for _, v := range []string{"-", "", "null", "false", "true", "PAPER", "Live", "papper", "'0'"} {
		refusedAt(t, with("mode", v), "mode")
	}
	if load(t, with("mode", "live")).Mode != Live || load(t, text(nil)).Mode != Paper {
		t.Error("the mode is not what was written")
	}
}
