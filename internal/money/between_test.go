package money

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTimesBetweenIsBothRoundings compares the pair with the two products that it
// stands for, over magnitudes on both sides of its fast path.
func TestTimesBetweenIsBothRoundings(t *testing.T) {
	figure := rapid.Custom(func(t *rapid.T) fixed {
		f := fixed{hi: rapid.Int64Range(0, 1<<rapid.IntRange(0, 30).Draw(t, "wide")-1).Draw(t, "hi"), lo: rapid.Uint64().Draw(t, "lo")}
		if rapid.Bool().Draw(t, "small") {
			f.hi, f.lo = 0, f.lo>>rapid.IntRange(0, 60).Draw(t, "shift")
		}
		if rapid.Bool().Draw(t, "negative") {
			f = f.neg()
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		p, q, m := Price{figure.Draw(t, "p")}, Quantity{figure.Draw(t, "q")}, Quantity{fixed{lo: one}}
		if rapid.Bool().Draw(t, "multiplied") {
			m = Quantity{figure.Draw(t, "m")}
		}
		down, up, ok := p.TimesBetween(q, m)
		wantDown, ok1 := p.TimesMultiplied(q, m, Down)
		wantUp, ok2 := p.TimesMultiplied(q, m, Up)
		if ok != (ok1 && ok2) {
			t.Fatalf("ok is %v, want %v and %v", ok, ok1, ok2)
		}
		if ok && (down != wantDown || up != wantUp) {
			t.Fatalf("%s to %s, want %s to %s", down, up, wantDown, wantUp)
		}
	})
}

func BenchmarkTimesBetween(b *testing.B) {
	p, q, m := MustPrice("50.02"), MustQuantity("100"), QuantityFromInt(1)
	for b.Loop() {
		if _, _, ok := p.TimesBetween(q, m); !ok {
			b.Fatal("out of range")
		}
	}
}
