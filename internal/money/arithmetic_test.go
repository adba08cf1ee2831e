package money

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSignsAndSums(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		a, b := Notional{draw(t, "a")}, Notional{draw(t, "b")}
		x, y := bigOf(a.fixed), bigOf(b.fixed)

		sum, ok := a.Add(b)
		sameFigure(t, "a+b", sum.fixed, ok, plus(x, y))
		difference, ok := a.Sub(b)
		sameFigure(t, "a-b", difference.fixed, ok, minus(x, y))
		sameFigure(t, "-a", a.Neg().fixed, true, new(big.Int).Neg(x))
		sameFigure(t, "|a|", a.Abs().fixed, true, new(big.Int).Abs(x))

		if got, want := a.Cmp(b), x.Cmp(y); got != want {
			t.Fatalf("Cmp = %d, want %d", got, want)
		}
		if got, want := a.Sign(), x.Sign(); got != want {
			t.Fatalf("Sign = %d, want %d", got, want)
		}
		if a.IsZero() != (x.Sign() == 0) || a.IsNegative() != (x.Sign() < 0) || a.IsPositive() != (x.Sign() > 0) {
			t.Fatalf("predicates of %v contradict its sign %d", a, x.Sign())
		}
		if a.Equal(b) != (x.Cmp(y) == 0) || !a.Equal(a) {
			t.Fatalf("Equal(%v, %v) contradicts Cmp", a, b)
		}
		largest, smallest := MaxNotional(a, b), MinNotional(a, b)
		if largest.Cmp(smallest) < 0 || largest != a && largest != b || smallest != a && smallest != b {
			t.Fatalf("largest %v, smallest %v of %v and %v", largest, smallest, a, b)
		}
		if (largest == smallest) != (a == b) {
			t.Fatalf("largest %v, smallest %v of %v and %v", largest, smallest, a, b)
		}
	})
}

// TestEveryUnitHasItsOwnArithmetic catches a method that was copied to another
// unit and kept a wrong body.
func TestEveryUnitHasItsOwnArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		n, m := Notional{a}, Notional{b}
		sum, sumOK := n.Add(m)
		difference, differenceOK := n.Sub(m)
		type answers struct {
			cmp             int
			equal           bool
			sum, difference fixed
			sumOK, diffOK   bool
		}
		want := answers{n.Cmp(m), n == m, sum.fixed, difference.fixed, sumOK, differenceOK}

		p, pSumOK := Price{a}.Add(Price{b})
		pd, pDiffOK := Price{a}.Sub(Price{b})
		q, qSumOK := Quantity{a}.Add(Quantity{b})
		qd, qDiffOK := Quantity{a}.Sub(Quantity{b})
		bp, bSumOK := BasisPoints{a}.Add(BasisPoints{b})
		bd, bDiffOK := BasisPoints{a}.Sub(BasisPoints{b})
		pc, cSumOK := Percent{a}.Add(Percent{b})
		cd, cDiffOK := Percent{a}.Sub(Percent{b})
		for unit, got := range map[string]answers{
			"Price":       {Price{a}.Cmp(Price{b}), Price{a}.Equal(Price{b}), p.fixed, pd.fixed, pSumOK, pDiffOK},
			"Quantity":    {Quantity{a}.Cmp(Quantity{b}), Quantity{a}.Equal(Quantity{b}), q.fixed, qd.fixed, qSumOK, qDiffOK},
			"BasisPoints": {BasisPoints{a}.Cmp(BasisPoints{b}), BasisPoints{a}.Equal(BasisPoints{b}), bp.fixed, bd.fixed, bSumOK, bDiffOK},
			"Percent":     {Percent{a}.Cmp(Percent{b}), Percent{a}.Equal(Percent{b}), pc.fixed, cd.fixed, cSumOK, cDiffOK},
		} {
			if got != want {
				t.Fatalf("%s: %+v, want %+v", unit, got, want)
			}
		}
		if MaxPrice(Price{a}, Price{b}).fixed != MaxNotional(n, m).fixed || MinPrice(Price{a}, Price{b}).fixed != MinNotional(n, m).fixed {
			t.Fatalf("extremes of prices %v and %v", a, b)
		}
		if MaxQuantity(Quantity{a}, Quantity{b}).fixed != MaxNotional(n, m).fixed || MinQuantity(Quantity{a}, Quantity{b}).fixed != MinNotional(n, m).fixed {
			t.Fatalf("extremes of quantities %v and %v", a, b)
		}
		if (Price{a}).Neg().fixed != n.Neg().fixed || (Quantity{a}).Neg().fixed != n.Neg().fixed ||
			(Price{a}).Abs().fixed != n.Abs().fixed || (Quantity{a}).Abs().fixed != n.Abs().fixed {
			t.Fatalf("signs of %v differ between units", a)
		}
	})
}

func TestProductsAndQuotients(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		a, b, c, r := draw(t, "a"), draw(t, "b"), draw(t, "c"), drawRounding(t)
		x, y, z := bigOf(a), bigOf(b), bigOf(c)
		nano := bigInt(one)

		n, ok := Price{a}.Times(Quantity{b}, r)
		sameFigure(t, "Times", n.fixed, ok, quotient(mul(x, y), nano, r))
		n, ok = Notional{a}.Scale(Quantity{b}, r)
		sameFigure(t, "Scale", n.fixed, ok, quotient(mul(x, y), nano, r))
		n, ok = Price{a}.TimesMultiplied(Quantity{b}, Quantity{c}, r)
		sameFigure(t, "TimesMultiplied", n.fixed, ok, quotient(mul(x, y, z), mul(nano, nano), r))

		p, ok := Notional{a}.Per(Quantity{b}, r)
		if b.IsZero() {
			refused(t, "Per zero", p.fixed, ok)
		} else {
			sameFigure(t, "Per", p.fixed, ok, quotient(mul(x, nano), y, r))
		}
	})
}

func TestRatios(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		a, r := draw(t, "a"), drawRounding(t)
		band := drawBand(t)
		x, y, whole := bigOf(a), bigOf(band.fixed), bigInt(10_000*one)

		p, ok := Price{a}.Raise(band, r)
		sameFigure(t, "Raise", p.fixed, ok, quotient(mul(x, plus(whole, y)), whole, r))
		n, ok := Notional{a}.Share(Percent(band), r)
		sameFigure(t, "Share", n.fixed, ok, quotient(mul(x, y), bigInt(100*one), r))

		if band.IsZero() {
			return
		}
		negative := BasisPoints{band.neg()}
		p, ok = Price{a}.Raise(negative, r)
		refused(t, "Raise by a negative band", p.fixed, ok)
		n, ok = Notional{a}.Share(Percent(negative), r)
		refused(t, "Share of a negative percentage", n.fixed, ok)
	})
}

func TestMultiples(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		a, step := draw(t, "a"), draw(t, "step")
		if rapid.Bool().Draw(t, "make it a multiple") && !step.IsZero() {
			count := new(big.Int).Quo(bigOf(a), bigOf(step))
			a = fixedOf(mul(count, bigOf(step)))
		}
		want := step.Sign() > 0 && new(big.Int).Rem(bigOf(a), bigOf(step)).Sign() == 0
		if got := (Price{a}).MultipleOf(Price{step}); got != want {
			t.Fatalf("Price %v multiple of %v: %v", a, step, got)
		}
		if got := (Quantity{a}).MultipleOf(Quantity{step}); got != want {
			t.Fatalf("Quantity %v multiple of %v: %v", a, step, got)
		}
		whole := new(big.Int).Rem(bigOf(a), bigOne).Sign() == 0
		if got := (Quantity{a}).IsWhole(); got != whole {
			t.Fatalf("IsWhole(%v) = %v", a, got)
		}
	})
}

func TestProductsCompareExactly(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		a, b, c, d := draw(t, "a"), draw(t, "b"), draw(t, "c"), draw(t, "d")
		switch rapid.IntRange(0, 4).Draw(t, "relation") {
		case 0: // the same product, its factors and signs exchanged
			c, d = b.neg(), a.neg()
		case 2: // and its factors only
			c, d = b, a
		case 1: // 0 with either sign beside it
			b, d = fixed{}, fixed{}
		}
		want := mul(bigOf(a), bigOf(b)).Cmp(mul(bigOf(c), bigOf(d)))
		if got := cmpProducts(a, b, c, d); got != want {
			t.Fatalf("%v*%v against %v*%v = %d, want %d", a, b, c, d, got, want)
		}
	})
}

func TestWideDivisionAgainstBig(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 0, 1, 1 << 63, math.MaxUint64}))
		number := func(name string) u256 {
			x := u256{word.Draw(t, name), word.Draw(t, name), word.Draw(t, name), word.Draw(t, name)}
			for range rapid.IntRange(0, 3).Draw(t, "words off") {
				x = u256{0, x.w3, x.w2, x.w1}
			}
			return x
		}
		x, d := number("x"), number("d")
		bx, bd := bigOf256(x), bigOf256(d)
		if got, want := x.cmp(d), bx.Cmp(bd); got != want {
			t.Fatalf("cmp = %d, want %d", got, want)
		}
		if got, want := x.bitLen(), bx.BitLen(); got != want {
			t.Fatalf("bitLen = %d, want %d", got, want)
		}
		y := u128{d.w1, d.w0}
		product := mul(bx, bigOf256(wide(y)))
		got, ok := x.mul128(y)
		if ok != (product.BitLen() <= 256) || ok && bigOf256(got).Cmp(product) != 0 {
			t.Fatalf("mul128 = %v, %v; want %v", got, ok, product)
		}
		if d.isZero() {
			return
		}
		quo, rem := x.divide(d)
		wantQuo, wantRem := new(big.Int).QuoRem(bx, bd, new(big.Int))
		if bigOf256(quo).Cmp(wantQuo) != 0 || bigOf256(rem).Cmp(wantRem) != 0 {
			t.Fatalf("%v / %v = %v rest %v; want %v rest %v", bx, bd, quo, rem, wantQuo, wantRem)
		}
	})
}

func TestFromInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 100, -100, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1} {
		want := mul(bigInt(n), bigOne)
		for unit, got := range map[string]fixed{
			"Price": PriceFromInt(n).fixed, "Quantity": QuantityFromInt(n).fixed, "Notional": NotionalFromInt(n).fixed,
			"BasisPoints": BasisPointsFromInt(n).fixed, "Percent": PercentFromInt(n).fixed,
		} {
			if bigOf(got).Cmp(want) != 0 {
				t.Errorf("%sFromInt(%d) = %v", unit, n, got)
			}
		}
	}
}

func TestBoundIsTheTextBound(t *testing.T) {
	largest := MustNotional("99999999999999999999.999999999")
	step := MustNotional("0.000000001")
	if sum, ok := largest.Add(step); ok {
		t.Errorf("one step past the bound is %v, want a refusal", sum)
	}
	if sum, ok := largest.Neg().Sub(step); ok {
		t.Errorf("one step past the negative bound is %v, want a refusal", sum)
	}
	if sum, ok := largest.Add(largest); ok {
		t.Errorf("twice the bound is %v, want a refusal", sum)
	}
	if rest, ok := largest.Sub(step); !ok || rest != MustNotional("99999999999999999999.999999998") {
		t.Errorf("one step below the bound is %v, %v", rest, ok)
	}
	// The exact product is 10^20 - 10^-18, past the bound by less than a step.
	p, q := MustPrice("9999999999.999999999"), MustQuantity("10000000000.000000001")
	if n, ok := p.Times(q, Down); !ok || n != largest {
		t.Errorf("rounded down onto the bound: %v, %v", n, ok)
	}
	if n, ok := p.Times(q, Up); ok {
		t.Errorf("rounded up past the bound: %v, want a refusal", n)
	}
	if n, ok := p.Neg().Times(q, Down); ok {
		t.Errorf("rounded down past the negative bound: %v, want a refusal", n)
	}
}

func TestRoundingDirections(t *testing.T) {
	unit, three := NotionalFromInt(1), QuantityFromInt(3)
	for _, row := range []struct {
		name string
		n    Notional
		q    Quantity
		r    Rounding
		want string
	}{
		{"positive up", unit, three, Up, "0.333333334"},
		{"positive down", unit, three, Down, "0.333333333"},
		{"negative up goes toward positive infinity", unit.Neg(), three, Up, "-0.333333333"},
		{"negative down goes toward negative infinity", unit.Neg(), three, Down, "-0.333333334"},
		{"negative divisor up", unit, three.Neg(), Up, "-0.333333333"},
		{"both negative up", unit.Neg(), three.Neg(), Up, "0.333333334"},
		{"exact up", NotionalFromInt(9), three, Up, "3"},
		{"exact down", NotionalFromInt(-9), three, Down, "-3"},
	} {
		if got, ok := row.n.Per(row.q, row.r); !ok || got.String() != row.want {
			t.Errorf("%s: %v, %v; want %s", row.name, got, ok, row.want)
		}
	}
}

func TestFailClosedRoundingMustBeNamed(t *testing.T) {
	p, q, n, b := PriceFromInt(2), QuantityFromInt(3), NotionalFromInt(6), BasisPointsFromInt(10)
	big, far := MustPrice("10000000000"), MustQuantity("1000000000")
	for _, r := range []Rounding{0, Down + 1, math.MaxUint8} {
		answers := map[string]func() (fixed, bool){
			"Times":               func() (fixed, bool) { x, ok := p.Times(q, r); return x.fixed, ok },
			"Times, wide":         func() (fixed, bool) { x, ok := big.Times(far, r); return x.fixed, ok },
			"TimesMultiplied":     func() (fixed, bool) { x, ok := p.TimesMultiplied(q, q, r); return x.fixed, ok },
			"TimesMultiplied 1":   func() (fixed, bool) { x, ok := p.TimesMultiplied(q, QuantityFromInt(1), r); return x.fixed, ok },
			"TimesMultiplied 0":   func() (fixed, bool) { x, ok := p.TimesMultiplied(q, Quantity{}, r); return x.fixed, ok },
			"Raise":               func() (fixed, bool) { x, ok := p.Raise(b, r); return x.fixed, ok },
			"Scale":               func() (fixed, bool) { x, ok := n.Scale(q, r); return x.fixed, ok },
			"Per":                 func() (fixed, bool) { x, ok := n.Per(q, r); return x.fixed, ok },
			"Share":               func() (fixed, bool) { x, ok := n.Share(PercentFromInt(10), r); return x.fixed, ok },
			"FromMid":             func() (fixed, bool) { x, ok := p.FromMid(p, p, r); return x.fixed, ok },
			"SpreadInBasisPoints": func() (fixed, bool) { x, ok := SpreadInBasisPoints(p, p, r); return x.fixed, ok },
		}
		for name, answer := range answers {
			if got, ok := answer(); ok || got != (fixed{}) {
				t.Errorf("%s with rounding %d = %v, %v; want a refusal", name, r, got, ok)
			}
		}
	}
}

func TestArithmeticDoesNotAllocate(t *testing.T) {
	p, q, n := MustPrice("12345.678901"), MustQuantity("187.25"), MustNotional("99999999999.5")
	far := MustQuantity("99999999999999999.5")
	band, buffer := BasisPointsFromInt(150), make([]byte, 0, 64)
	var sink bool
	allocations := testing.AllocsPerRun(100, func() {
		_, sink = p.Times(q, Up)
		_, sink = p.Times(far, Up)
		_, sink = n.Per(far, Down)
		_, sink = p.Raise(band, Up)
		_, sink = n.Add(n)
		_, sink = p.ExceedsBandAbove(p, band)
		_, sink = SpreadExceeds(p, p, band)
		_, sink = HighestWithinBandAbove(p, band, MustPrice("0.01"))
		_, sink = n.LargestQuantity(p, q, q)
		_, err := ParsePrice("12345.678901")
		sink = err == nil
		buffer = p.AppendTo(buffer[:0])
	})
	if allocations != 0 {
		t.Errorf("%v allocations a run, want none (last answer %v)", allocations, sink)
	}
}

func TestBinaryFormKeepsTheBound(t *testing.T) {
	for _, past := range []*big.Int{bigLimit, new(big.Int).Neg(bigLimit)} {
		bytes, err := fixedOf(past).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		kept := NotionalFromInt(7)
		if err := kept.UnmarshalBinary(bytes); err == nil || kept != NotionalFromInt(7) {
			t.Errorf("coefficient %v read as %v, %v; want 7 kept", past, kept, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := draw(t, "f")
		bytes, err := f.AppendBinary(nil)
		var again fixed
		if err != nil || again.UnmarshalBinary(bytes) != nil || again != f {
			t.Fatalf("%v read again from %x is %v, %v", f, bytes, again, err)
		}
	})
}
