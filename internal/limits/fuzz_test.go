package limits

import (
	"errors"
	"testing"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Whatever the bytes, Load gives a whole document or a list of problems, and what
// loads means the same after its canonical form.
func FuzzLoad(f *testing.F) {
	f.Add("limits.yaml", Template("paper"))
	f.Add("limits.yaml", []byte(override("size", "max_order_qty: 7, quantity_step: '0.5'")))
	d, err := Load("limits.yaml", Template("paper"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("limits.json", d.Canonical)
	f.Add("limits", d.Canonical)
	for _, s := range []string{"", "a: &a [*a]", "---\n---\n", "? [a]\n: b", "{\"a\":1,\"a\":2}", "a: |\n x", "- - - -", "%YAML 1.2\n---\n", "a: !!set {b}", "\"\\ud800\": 1"} {
		f.Add("limits.yaml", []byte(s))
		f.Add("limits.json", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		d, err := Load(name, text)
		if err != nil {
			es, ok := errors.AsType[Errors](err)
			if d != nil || !ok || len(es) == 0 || len(es) > strict.ProblemsMax {
				t.Fatalf("%v %T", d, err)
			}
			for _, c := range es.Error() {
				if c != '\n' && (c < 0x20 || c > 0x7e) {
					t.Fatalf("a message holds %q", c)
				}
			}
			if d, err = Over(shipped(t), name, text); err != nil {
				return
			}
		}
		d.Warnings()
		for _, as := range []string{"c.json", "c.yaml"} {
			again, err := Load(as, d.Canonical)
			if err != nil || again.Fingerprint != d.Fingerprint || len(Diff(d, again)) != 0 {
				t.Fatalf("%v\n%s", err, d.Canonical)
			}
		}
	})
}

func shipped(t *testing.T) *Document {
	d, err := Load("limits.yaml", Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
