package money

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The oracle of these tests is math/big over coefficients: slow, unbounded, and
// written from the doc comments, not from the code.

var (
	bigOne   = big.NewInt(one)
	bigLimit = new(big.Int).Exp(big.NewInt(10), big.NewInt(29), nil)
)

func bigOf(f fixed) *big.Int {
	z := new(big.Int).Lsh(big.NewInt(f.hi), 64)
	return z.Add(z, new(big.Int).SetUint64(f.lo))
}

func bigOf256(x u256) *big.Int {
	z := new(big.Int)
	for _, w := range []uint64{x.w3, x.w2, x.w1, x.w0} {
		z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(w))
	}
	return z
}

// fixedOf cuts n into words without join, which it helps to test.
func fixedOf(n *big.Int) fixed {
	hi := new(big.Int).Rsh(n, 64)
	lo := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1))
	return fixed{hi.Int64(), lo.Uint64()}
}

func within(n *big.Int) bool { return n.CmpAbs(bigLimit) < 0 }

func mul(factors ...*big.Int) *big.Int {
	z := big.NewInt(1)
	for _, f := range factors {
		z.Mul(z, f)
	}
	return z
}

func plus(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }
func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

func bigInt(n int64) *big.Int { return big.NewInt(n) }

// quotient rounds num/den to a whole number; den is not 0.
func quotient(num, den *big.Int, r Rounding) *big.Int {
	if den.Sign() < 0 {
		num, den = new(big.Int).Neg(num), new(big.Int).Neg(den)
	}
	quo, rem := new(big.Int).DivMod(num, den, new(big.Int))
	if r == Up && rem.Sign() != 0 {
		quo.Add(quo, bigInt(1))
	}
	return quo
}

// sameFigure holds got to the exact result want, which may be out of range.
func sameFigure(t *rapid.T, what string, got fixed, ok bool, want *big.Int) {
	t.Helper()
	if within(want) != ok {
		t.Fatalf("%s: ok = %v, exact coefficient %v", what, ok, want)
	}
	if !ok {
		want = new(big.Int)
	}
	if bigOf(got).Cmp(want) != 0 {
		t.Fatalf("%s = %v, want coefficient %v", what, got, want)
	}
}

func refused(t *rapid.T, what string, got fixed, ok bool) {
	t.Helper()
	if ok || got != (fixed{}) {
		t.Fatalf("%s = %v, %v; want a refusal", what, got, ok)
	}
}

// figures draws every length of coefficient alike, and often a neighbour of a
// bound at which the code takes another path.
func figures() *rapid.Generator[fixed] {
	edges := []*big.Int{new(big.Int), minus(bigLimit, bigInt(1))}
	for _, shift := range []uint{32, 63, 64, 65, 96} {
		edges = append(edges, new(big.Int).Lsh(bigInt(1), shift))
	}
	for power, n := 0, bigInt(1); power < 29; power++ {
		edges = append(edges, n)
		n = mul(n, bigInt(10))
	}
	return rapid.Custom(func(t *rapid.T) fixed {
		var n *big.Int
		switch rapid.IntRange(0, 3).Draw(t, "shape") {
		case 0:
			n = plus(rapid.SampledFrom(edges).Draw(t, "edge"), bigInt(rapid.Int64Range(-2, 2).Draw(t, "off")))
		case 1: // a round figure, as people write them
			n = mul(bigInt(rapid.Int64Range(0, 1_000_000).Draw(t, "cents")), bigInt(one/100))
		default:
			bits := rapid.UintRange(0, 97).Draw(t, "bits")
			n = new(big.Int).SetUint64(rapid.Uint64().Draw(t, "hi") | 1<<63)
			n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(rapid.Uint64().Draw(t, "lo")))
			n.Rsh(n, 128-bits)
		}
		for !within(n) {
			n.Rsh(n, 1)
		}
		if rapid.Bool().Draw(t, "negative") {
			n = new(big.Int).Neg(n)
		}
		return fixedOf(n)
	})
}

func draw(t *rapid.T, name string) fixed { return figures().Draw(t, name) }

// drawPositive leans on abs, which TestSignsAndSums holds to the oracle.
func drawPositive(t *rapid.T, name string) fixed {
	return figures().Filter(func(f fixed) bool { return !f.IsZero() }).Draw(t, name).abs()
}

// drawBand mixes bands as operators set them with any others.
func drawBand(t *rapid.T) BasisPoints {
	if rapid.Bool().Draw(t, "usual band") {
		return BasisPointsFromInt(rapid.Int64Range(0, 12_000).Draw(t, "bps"))
	}
	return BasisPoints{draw(t, "band").abs()}
}

func drawRounding(t *rapid.T) Rounding {
	return rapid.SampledFrom([]Rounding{Up, Down}).Draw(t, "rounding")
}

// manyChecks repeats a property beyond rapid's default count: the cases are
// cheap and the space of lengths and bounds is wide.
func manyChecks(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rounds := 40
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		rapid.Check(t, property)
	}
}
