package limits

import (
	"errors"
	"reflect"
	"testing"

	"github.com/broker-rails/broker-rails/internal/strict"
)

func TestTreeKeepsSourceTextAndPlaces(t *testing.T) {
	t.Parallel()
	tree, err := strict.Read("x.yaml", []byte("a: 010\nb: ['010', yes, ~, 2026-03-18]\nc: {d: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := tree.Values[0], tree.Values[1], tree.Values[2]
	switch {
	case tree.Shape != strict.Mapping || len(tree.Keys) != 3:
		t.Errorf("root is %+v", tree)
	case a.Text != "010" || a.Quoted || a.Line != 1 || a.Column != 4:
		t.Errorf("a is %+v", a)
	case b.Shape != strict.List || b.Values[0].Text != "010" || !b.Values[0].Quoted || b.Values[0].Number:
		t.Errorf("b is %+v", b.Values[0])
	case !b.Values[2].Null || !b.Values[3].Other:
		t.Errorf("null is %+v, date is %+v", b.Values[2], b.Values[3])
	case !c.Values[0].Bool || c.Line != 3:
		t.Errorf("c is %+v", c)
	}
}

func TestReadRefusesWhatLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"anchor": "a: &x 1\nb: *x\n", "tag": "a: !!str 1\n", "block": "a: |\n  x\n", "empty": "",
		"second": "a: 1\n---\nb: 2\n", "hidden": "a: \"\u202e\"\n", "json": `{"a":1}{"b":2}`, "encoding": "a: \xff\n",
	} {
		if _, err := strict.Read("x", []byte(text)); !errors.As(err, new(Errors)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOverTreeIsOver(t *testing.T) {
	t.Parallel()
	base, err := Load("base", Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	part := []byte("size: {max_order_qty: 7, quantity_step: off}\ninstrument: {symbols: [AAPL, 'ON']}\n")
	tree, err := strict.Read("part", part)
	if err != nil {
		t.Fatal(err)
	}
	got, err := OverTree(base, "part", tree)
	want, err2 := Over(base, "part", part)
	if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v: fingerprints %s and %s", err, err2, got.Fingerprint, want.Fingerprint)
	}
	tree, err = strict.Read("part", []byte("x: 1\nsize: {max_order_qy: 7}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = OverTree(base, "part", tree)
	if err == nil || err.Error() != "part:1:1: x: is not a known key\npart:2:8: size.max_order_qy: is not a known key; did you mean max_order_qty?" {
		t.Errorf("got %v", err)
	}
}

func TestCanonicalFormLoadsAsTheSameDocument(t *testing.T) {
	t.Parallel()
	doc, err := Over(mustLoad(t), "part", []byte("symbols: {AAPL: {size: {max_order_qty: 3}}}\ncollar: {price_step: '0.05'}\nsession: {trading_window: {from: '09:35', to: '15:55'}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load("canonical", doc.Canonical)
	if err != nil || again.Fingerprint != doc.Fingerprint {
		t.Errorf("%v: %s", err, doc.Canonical)
	}
}

func mustLoad(t *testing.T) *Document {
	t.Helper()
	doc, err := Load("base", Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
