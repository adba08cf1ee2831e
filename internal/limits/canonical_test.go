package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// One meaning has one fingerprint, however it is written.
func TestOneMeaningOneFingerprint(t *testing.T) {
	plain := load(t, text(map[string]string{
		"size.max_order_qty": "100", "instrument.symbols": "[AAPL, MSFT]", "instrument.sides": "[buy, sell]",
		"session.duplicate_window": "1m", "collar.price_step": "0.01", "session.trading_window": `{from: "09:30", to: "16:00"}`,
		"session.denial_storm": "{denials: 5, window: 1h}", "symbols": "{AAPL: {size: {max_order_qty: 5}}, MSFT: {collar: {max_spread: 5}}}",
	}))
	other := load(t, text(map[string]string{
		"size.max_order_qty": `"100.000"`, "instrument.symbols": "\n    - msft\n    - 'aapl'", "instrument.sides": "['sell', buy]",
		"session.duplicate_window": "'60s'", "collar.price_step": `"0.0100"`, "session.trading_window": `{to: '16:00', from: '09:30'}`,
		"session.denial_storm": "{window: 60m, denials: '5'}", "symbols": "{msft: {collar: {max_spread: 5.0}}, 'AAPL': {size: {max_order_qty: '5.0'}}}",
		"version": "'1'", "position.max_in_doubt": "'1'", "size.max_order_pct_of_equity": "'off'",
	}))
	if plain.Fingerprint != other.Fingerprint {
		t.Errorf("two fingerprints:\n%s\n%s", plain.Canonical, other.Canonical)
	}
	// Sections and keys in another order.
	lines := strings.SplitAfter(string(Template("paper")), "\n\n")
	turned := lines[0] + lines[3] + lines[1] + lines[5] + lines[2] + lines[4] + lines[6]
	if a, b := load(t, text(nil)), load(t, turned); a.Fingerprint != b.Fingerprint {
		t.Error("the order of sections changes the fingerprint")
	}
}

func TestCanonicalForm(t *testing.T) {
	d := load(t, text(map[string]string{"symbols": "{ZZ: {collar: {stop_price_side: on, max_spread: 5}}, A.B: {size: {max_order_qty: 5}}}"}))
	sum := sha256.Sum256(d.Canonical)
	if d.Fingerprint != hex.EncodeToString(sum[:]) {
		t.Error("the fingerprint is not of the canonical form")
	}
	// RFC 8785 orders and writes these texts alike, so another implementation
	// can be held to it.
	v := jsontext.Value(append([]byte(nil), d.Canonical...))
	if err := v.Canonicalize(); err != nil || string(v) != string(d.Canonical) {
		t.Errorf("not canonical: %v\n%s\n%s", err, v, d.Canonical)
	}
}

// The fingerprint of the shipped document is kept: it changes only when what the
// document says changes, and then every journal that names it is of another set.
func TestShippedFingerprint(t *testing.T) {
	const want = "e0cd81f07c13e9a5b56d10fc013d74a04ea87eb901adac7726a78f31c16fc18b"
	d := load(t, string(Template("paper")))
	if d.Fingerprint != want {
		t.Errorf("the shipped document's fingerprint is %s", d.Fingerprint)
	}
	if other := load(t, text(nil)); other.Fingerprint != want {
		t.Errorf("comments change the fingerprint")
	}
}

// anyDocument draws a value for every key.
func anyDocument(t *rapid.T) string {
	values := map[string]string{}
	for _, k := range Keys() {
		choices := []string{k.Shipped}
		if a, b := pair(k); a != "" {
			choices = append(choices, a, b)
		}
		if a, b := neither(k); a != "" {
			choices = append(choices, a, b)
		}
		if k.Off && k.Name() != "market_order_slippage" {
			choices = append(choices, "off")
		}
		switch k.Kind {
		case KindQuantity, KindNotional, KindPercent:
			choices = append(choices, rapid.StringMatching(`[1-9][0-9]{0,18}(\.[0-9]{1,9})?`).Draw(t, k.Path))
		case KindCount:
			choices = append(choices, rapid.StringMatching(`[1-9][0-9]{0,3}`).Draw(t, k.Path))
		}
		values[k.Path] = rapid.SampledFrom(choices).Draw(t, k.Path)
	}
	return text(values)
}

func TestAnyDocumentSurvivesItsCanonicalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := anyDocument(t)
		d, err := Load("limits.yaml", []byte(source))
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		for _, name := range []string{"a.json", "a.yaml", "a"} {
			again, err := Load(name, d.Canonical)
			if err != nil || again.Fingerprint != d.Fingerprint || string(again.Canonical) != string(d.Canonical) {
				t.Fatalf("%s: %v\n%s", name, err, d.Canonical)
			}
			if c := Diff(d, again); len(c) != 0 {
				t.Fatalf("differs: %v", c)
			}
		}
	})
}

// A change and its reverse have opposite effects, and chains of tightening tighten.
func TestDiffIsAnOrder(t *testing.T) {
	opposite := map[Effect]Effect{Tightens: Loosens, Loosens: Tightens, Changes: Changes}
	rapid.Check(t, func(t *rapid.T) {
		var docs [3]*Document
		for i := range docs {
			d, err := Load("limits.yaml", []byte(anyDocument(t)))
			if err != nil {
				t.Fatal(err)
			}
			docs[i] = d
		}
		there, back := Diff(docs[0], docs[1]), Diff(docs[1], docs[0])
		if len(there) != len(back) {
			t.Fatalf("%v but %v", there, back)
		}
		for i := range there {
			if there[i].Key != back[i].Key || there[i].Old != back[i].New || back[i].Effect != opposite[there[i].Effect] {
				t.Fatalf("%v but %v", there[i], back[i])
			}
		}
		for i := range table {
			r := &table[i]
			if r.Kind == KindOverrides {
				continue
			}
			a, b := r.effect(docs[0], docs[1]), r.effect(docs[1], docs[2])
			if a == Tightens && b == Tightens && r.effect(docs[0], docs[2]) != Tightens {
				t.Fatalf("%s: two steps tighten, both together do not", r.Path)
			}
		}
	})
}

func TestDiffAgainstNothing(t *testing.T) {
	d := load(t, override("size", "max_order_qty: 7"))
	changes := Diff(nil, d)
	if want := len(table) - 1 + 1; len(changes) != want {
		t.Fatalf("%d changes, want %d", len(changes), want)
	}
	for _, c := range changes {
		if c.Old != "" || c.New == "" || c.Effect != Changes {
			t.Errorf("%+v", c)
		}
	}
	if Diff(d, nil) != nil || Diff(d, d) != nil {
		t.Error("changes where there are none")
	}
}
