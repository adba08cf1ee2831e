package money

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestTotalIsTheExactSum compares a sum of products and amounts with math/big: the
// rounding happens once, at the end.
func TestTotalIsTheExactSum(t *testing.T) {
	figure := rapid.Custom(func(t *rapid.T) fixed {
		f := fixed{lo: rapid.Uint64().Draw(t, "lo") >> rapid.IntRange(0, 63).Draw(t, "shift")}
		if rapid.IntRange(0, 9).Draw(t, "wide") == 0 {
			f.hi = rapid.Int64Range(0, 1<<30).Draw(t, "hi")
		}
		if rapid.Bool().Draw(t, "negative") {
			f = f.neg()
		}
		return f
	})
	multiplier := rapid.OneOf(rapid.Just(fixed{lo: one}), rapid.Just(fixed{lo: 100 * one}), figure)
	rapid.Check(t, func(t *rapid.T) {
		var total Total
		exact := new(big.Int) // in units of 1e-27
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			if rapid.Bool().Draw(t, "amount") {
				n := Notional{figure.Draw(t, "amount")}
				total.AddNotional(n)
				exact.Add(exact, new(big.Int).Mul(bigOf(n.fixed), big.NewInt(one*one)))
				continue
			}
			p, q, m := figure.Draw(t, "p"), figure.Draw(t, "q"), multiplier.Draw(t, "m")
			want := new(big.Int).Mul(new(big.Int).Mul(bigOf(p), bigOf(q)), bigOf(m))
			x, ok := Price{p}.Exactly(Quantity{q}, Quantity{m})
			if !ok {
				continue
			}
			var part Total
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				total.Add(x)
			case 1:
				total.Sub(x)
				want.Neg(want)
			case 2:
				part.Sub(x)
				total.AddTotal(part)
				want.Neg(want)
			default:
				part.Sub(x)
				total.SubTotal(part)
			}
			exact.Add(exact, want)
		}
		for _, r := range []Rounding{Up, Down} {
			want, rem := new(big.Int).DivMod(exact, big.NewInt(one*one), new(big.Int)) // floor
			if r == Up && rem.Sign() != 0 {
				want.Add(want, big.NewInt(1))
			}
			got, ok := total.Round(r)
			if fits := within(want); ok != fits {
				t.Fatalf("ok is %v, want %v of %s", ok, fits, want)
			}
			if ok && bigOf(got.fixed).Cmp(want) != 0 {
				t.Fatalf("%s, want %s billionths", got, want)
			}
		}
	})
}

// TestExactlyTakesTheUsualFigures keeps the quick way from quietly refusing everything.
func TestExactlyTakesTheUsualFigures(t *testing.T) {
	for _, c := range []struct{ p, q, m, want string }{
		{"200.02", "100", "1", "20002"},
		{"200.02", "-100", "1", "-20002"},
		{"1.25", "3", "100", "375"},
		{"0.0001", "0.5", "1", "0.00005"},
		{"9999.99", "1000000", "1", "9999990000"},
	} {
		x, ok := MustPrice(c.p).Exactly(MustQuantity(c.q), MustQuantity(c.m))
		if !ok {
			t.Errorf("%s x %s x %s is refused", c.p, c.q, c.m)
		}
		var total Total
		total.Add(x)
		if got, ok := total.Round(Up); !ok || got != MustNotional(c.want) {
			t.Errorf("%s x %s x %s = %s, want %s", c.p, c.q, c.m, got, c.want)
		}
	}
	if _, ok := MustPrice("1").Exactly(MustQuantity("1"), MustQuantity("0.5")); ok {
		t.Error("a multiplier that is not whole is refused")
	}
}

func BenchmarkTotalAdd(b *testing.B) {
	p, q, m := MustPrice("50.02"), MustQuantity("100"), QuantityFromInt(1)
	var total Total
	for b.Loop() {
		x, _ := p.Exactly(q, m)
		total.Add(x)
	}
}
