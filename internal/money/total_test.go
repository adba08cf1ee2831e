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

// TestMarkedIsTheSumByExactly holds the quick way to the general one, and to adding
// nothing where it refuses.
func TestMarkedIsTheSumByExactly(t *testing.T) {
	word := rapid.Custom(func(t *rapid.T) fixed {
		f := fixed{lo: rapid.Uint64().Draw(t, "lo") >> rapid.IntRange(0, 63).Draw(t, "shift")}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return fixed{}
		case 1:
			f.hi = rapid.Int64Range(0, 1<<30).Draw(t, "hi")
		case 2, 3, 4:
			return f.neg()
		}
		return f
	})
	multiplier := rapid.SampledFrom([]fixed{{lo: one}, {lo: one}, {lo: one}, {lo: 100 * one}, {lo: one / 2}, {}, {hi: -1, lo: one}, {hi: 1, lo: one}})
	rapid.Check(t, func(t *rapid.T) {
		var got, want Marked
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			bid, ask := Price{word.Draw(t, "bid")}, Price{word.Draw(t, "ask")}
			q, m := Quantity{word.Draw(t, "q")}, Quantity{multiplier.Draw(t, "m")}
			if rapid.Bool().Draw(t, "ordered") {
				bid, ask = MinPrice(bid, ask), MaxPrice(bid, ask)
			}
			before := got
			if !got.Add(q, m, bid, ask) {
				if got != before {
					t.Fatal("refused and added all the same")
				}
				continue
			}
			atAsk, ok1 := ask.Exactly(q, m)
			atBid, ok2 := bid.Exactly(q, m)
			if !ok1 || !ok2 || q.IsZero() || !bid.IsPositive() || ask.Cmp(bid) < 0 || !m.IsPositive() {
				t.Fatalf("took %s x %s at bid %s, ask %s", q, m, bid, ask)
			}
			if q.IsNegative() {
				want.ShortAtAsk.Sub(atAsk)
			} else {
				want.LongAtAsk.Add(atAsk)
				want.LongAtBid.Add(atBid)
			}
		}
		if got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// TestMarkedTakesTheUsualFigures keeps the quick way from quietly refusing everything,
// and names what it must leave to others.
func TestMarkedTakesTheUsualFigures(t *testing.T) {
	for _, c := range []struct {
		q, m, bid, ask string
		taken          bool
	}{
		{"100", "1", "49.98", "50.02", true},
		{"-100", "1", "49.98", "50.02", true},
		{"0.5", "1", "50", "50", true},
		{"1000000", "1", "9999.98", "9999.99", true},
		{"0", "1", "49.98", "50.02", false},
		{"100", "1", "0", "50.02", false},
		{"100", "1", "-1", "50.02", false},
		{"100", "1", "50.02", "49.98", false},
		{"100", "0", "49.98", "50.02", false},
		{"100", "-1", "49.98", "50.02", false},
		{"100", "100", "49.98", "50.02", false},
		{"18446744073.709551616", "1", "49.98", "50.02", false},
		{"-18446744073.709551616", "1", "49.98", "50.02", false},
		{"100", "1", "49.98", "18446744073.709551616", false},
		{"18446744073.709551615", "1", "1", "18446744073.709551615", false},
		{"-18446744073.709551615", "1", "1", "18446744073.709551615", false},
	} {
		var m Marked
		if got := m.Add(MustQuantity(c.q), MustQuantity(c.m), MustPrice(c.bid), MustPrice(c.ask)); got != c.taken {
			t.Errorf("%s x %s at bid %s, ask %s: taken is %v", c.q, c.m, c.bid, c.ask, got)
		}
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
