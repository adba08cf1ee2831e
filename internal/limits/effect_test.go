package limits

import (
	"errors"
	"testing"
)

// Values with more than two ways to differ.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		path, before, after string
		want                Effect
	}{
		{"collar.price_step", "us_equity", "0.01", Tightens},
		{"collar.price_step", "us_equity", "0.05", Tightens},
		{"collar.price_step", "us_equity", "0.0001", Loosens},
		{"collar.price_step", "us_equity", "0.00005", Loosens},
		{"collar.price_step", "us_equity", "0.001", Changes},
		{"collar.price_step", "0.01", "us_equity", Loosens},
		{"collar.price_step", "0.0001", "us_equity", Tightens},
		{"collar.price_step", "0.02", "0.03", Changes},
		{"size.quantity_step", "2", "3", Changes},
		{"size.quantity_step", "0.5", "1", Tightens},
		{"session.trading_window", `{from: "09:30", to: "15:00"}`, `{from: "10:00", to: "16:00"}`, Changes},
		{"session.trading_window", `{from: "10:00", to: "15:00"}`, `{from: "09:00", to: "16:00"}`, Loosens},
		{"session.denial_storm", "{denials: 5, window: 1m}", "{denials: 6, window: 2m}", Changes},
		{"session.denial_storm", "{denials: 5, window: 1m}", "{denials: 6, window: 30s}", Loosens},
		{"session.repeated_execution", "{cycles: 5, window: 1m}", "{cycles: 4, window: 1m}", Tightens},
		{"instrument.symbols", "[A, B]", "[B, C]", Changes},
		{"instrument.restricted_symbols", "[A, B]", "[B, C]", Changes},
		{"instrument.order_types", "[]", "[limit]", Loosens},
		{"session.duplicate_window", "60s", "1m", Same},
		{"size.max_order_qty", "off", "'off'", Same},
	} {
		changes := Diff(load(t, with(c.path, c.before)), load(t, with(c.path, c.after)))
		switch {
		case c.want == Same && len(changes) != 0, c.want != Same && (len(changes) != 1 || changes[0].Effect != c.want):
			t.Errorf("%s from %s to %s: %v, want %v", c.path, c.before, c.after, changes, c.want)
		}
	}
}

// The document's own figure can change under an override.
func TestEffectsUnderOverrides(t *testing.T) {
	doc := func(own, apple string) *Document {
		values := map[string]string{"size.max_order_qty": own}
		if apple != "" {
			values["symbols"] = "{AAPL: {size: {max_order_qty: " + apple + "}}}"
		}
		return load(t, text(values))
	}
	const key = "symbols.AAPL.size.max_order_qty"
	for _, c := range []struct {
		before, after *Document
		want          []Change
	}{
		{doc("100", "50"), doc("100", "40"), []Change{{key, "50", "40", Tightens}}},
		{doc("100", "50"), doc("60", "50"), []Change{{"size.max_order_qty", "100", "60", Tightens}}},
		{doc("100", "50"), doc("30", ""), []Change{{"size.max_order_qty", "100", "30", Tightens}, {key, "50", "", Tightens}}},
		{doc("100", "50"), doc("50", ""), []Change{{"size.max_order_qty", "100", "50", Tightens}, {key, "50", "", Changes}}},
		{doc("off", ""), doc("off", "1"), []Change{{key, "", "1", Tightens}}},
	} {
		got := Diff(c.before, c.after)
		if len(got) != len(c.want) {
			t.Errorf("%v, want %v", got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v, want %v", got[i], c.want[i])
			}
		}
	}
}

func TestWordsOfTheTable(t *testing.T) {
	for e := Same; e <= Changes; e++ {
		if b, err := e.MarshalText(); err != nil || string(b) == "" || string(b) != e.String() {
			t.Errorf("effect %d is %q", e, b)
		}
	}
	for _, k := range Keys() {
		if k.Direction.String() == "" {
			t.Errorf("%s: direction %d has no word", k.Path, k.Direction)
		}
	}
	if Effect(99).String()+Kind(99).String()+Direction(99).String()+TradingMode(99).String() != "" {
		t.Error("a value without a meaning has a word")
	}
	_, err := Load("limits.yaml", []byte("version: 1\n"))
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != "limits.yaml" {
		t.Errorf("no *Error in %v", err)
	}
}
