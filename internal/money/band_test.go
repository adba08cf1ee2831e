package money

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func sameAnswer(t *rapid.T, what string, got, ok, want bool) {
	t.Helper()
	if !ok || got != want {
		t.Fatalf("%s = %v, %v; want %v", what, got, ok, want)
	}
}

func noAnswer(t *rapid.T, what string, got, ok bool) {
	t.Helper()
	if got || ok {
		t.Fatalf("%s = %v, %v; want a refusal", what, got, ok)
	}
}

// drawNear draws a price on or next to the exact edge of a band, where an answer
// can be wrong by one step.
func drawNear(t *rapid.T, edge *big.Int) fixed {
	near := plus(edge, bigInt(rapid.Int64Range(-1, 1).Draw(t, "off the edge")))
	if within(near) && rapid.Bool().Draw(t, "near the edge") {
		return fixedOf(near)
	}
	return draw(t, "p")
}

func TestBandComparisons(t *testing.T) {
	whole := bigInt(10_000 * one)
	manyChecks(t, func(t *rapid.T) {
		ref, band := Price{drawPositive(t, "ref")}, drawBand(t)
		z, b := bigOf(ref.fixed), bigOf(band.fixed)

		above := mul(z, plus(whole, b))
		p := Price{drawNear(t, quotient(above, whole, Down))}
		got, ok := p.ExceedsBandAbove(ref, band)
		sameAnswer(t, "ExceedsBandAbove", got, ok, mul(bigOf(p.fixed), whole).Cmp(above) > 0)

		below := mul(z, minus(whole, b))
		p = Price{drawNear(t, quotient(below, whole, Up))}
		got, ok = p.ExceedsBandBelow(ref, band)
		sameAnswer(t, "ExceedsBandBelow", got, ok, mul(bigOf(p.fixed), whole).Cmp(below) < 0)

		for _, bad := range []Price{{}, ref.Neg()} {
			got, ok = p.ExceedsBandAbove(bad, band)
			noAnswer(t, "ExceedsBandAbove of a bad reference", got, ok)
			got, ok = p.ExceedsBandBelow(bad, band)
			noAnswer(t, "ExceedsBandBelow of a bad reference", got, ok)
		}
		if negative := (BasisPoints{band.neg()}); !negative.IsZero() {
			got, ok = p.ExceedsBandAbove(ref, negative)
			noAnswer(t, "ExceedsBandAbove of a negative band", got, ok)
			got, ok = p.ExceedsBandBelow(ref, negative)
			noAnswer(t, "ExceedsBandBelow of a negative band", got, ok)
		}
	})
}

func TestQuoteComparisons(t *testing.T) {
	whole := bigInt(10_000 * one)
	manyChecks(t, func(t *rapid.T) {
		bid, ask, band := Price{draw(t, "bid")}, Price{draw(t, "ask")}, drawBand(t)
		x, y, b := bigOf(bid.fixed), bigOf(ask.fixed), bigOf(band.fixed)
		sum, r := plus(x, y), drawRounding(t)

		if sum.Sign() <= 0 {
			got, ok := SpreadExceeds(bid, ask, band)
			noAnswer(t, "SpreadExceeds without a mid", got, ok)
			got, ok = ask.FurtherFromMidThan(bid, ask, band)
			noAnswer(t, "FurtherFromMidThan without a mid", got, ok)
			bps, ok := SpreadInBasisPoints(bid, ask, r)
			refused(t, "SpreadInBasisPoints without a mid", bps.fixed, ok)
			bps, ok = ask.FromMid(bid, ask, r)
			refused(t, "FromMid without a mid", bps.fixed, ok)
			return
		}
		got, ok := SpreadExceeds(bid, ask, band)
		sameAnswer(t, "SpreadExceeds", got, ok, mul(minus(y, x), whole, bigInt(2)).Cmp(mul(b, sum)) > 0)
		bps, ok := SpreadInBasisPoints(bid, ask, r)
		sameFigure(t, "SpreadInBasisPoints", bps.fixed, ok, quotient(mul(minus(y, x), whole, bigInt(2)), sum, r))

		edge := quotient(mul(sum, plus(whole, b)), mul(whole, bigInt(2)), Down)
		p := Price{drawNear(t, edge)}
		distance := minus(mul(bigOf(p.fixed), bigInt(2)), sum)
		distance.Abs(distance)
		got, ok = p.FurtherFromMidThan(bid, ask, band)
		sameAnswer(t, "FurtherFromMidThan", got, ok, mul(distance, whole).Cmp(mul(b, sum)) > 0)
		bps, ok = p.FromMid(bid, ask, r)
		sameFigure(t, "FromMid", bps.fixed, ok, quotient(mul(distance, whole), sum, r))

		if negative := (BasisPoints{band.neg()}); !negative.IsZero() {
			got, ok = SpreadExceeds(bid, ask, negative)
			noAnswer(t, "SpreadExceeds of a negative band", got, ok)
			got, ok = p.FurtherFromMidThan(bid, ask, negative)
			noAnswer(t, "FurtherFromMidThan of a negative band", got, ok)
		}
	})
}

func TestShareComparisons(t *testing.T) {
	hundred := bigInt(100 * one)
	manyChecks(t, func(t *rapid.T) {
		base, pct := Notional{draw(t, "base")}, Percent{drawBand(t).fixed}
		x, y := bigOf(base.fixed), bigOf(pct.fixed)
		n := Notional{drawNear(t, quotient(mul(x, y), hundred, Down))}
		z := bigOf(n.fixed)

		got, ok := n.ExceedsPercentOf(base, pct)
		sameAnswer(t, "ExceedsPercentOf", got, ok, mul(z, hundred).Cmp(mul(x, y)) > 0)
		if negative := (Percent{pct.neg()}); !negative.IsZero() {
			got, ok = n.ExceedsPercentOf(base, negative)
			noAnswer(t, "ExceedsPercentOf of a negative percentage", got, ok)
		}
	})
}

// TestInversesOfBands holds the price that a message offers to the comparison
// that the rail makes: it passes, and one step further does not.
func TestInversesOfBands(t *testing.T) {
	whole := bigInt(10_000 * one)
	manyChecks(t, func(t *rapid.T) {
		ref, band, step := Price{drawPositive(t, "ref")}, drawBand(t), Price{drawPositive(t, "step")}
		if rapid.Bool().Draw(t, "usual step") {
			step = rapid.SampledFrom([]Price{MustPrice("0.01"), MustPrice("0.0001"), MustPrice("1")}).Draw(t, "step")
		}
		z, b, s := bigOf(ref.fixed), bigOf(band.fixed), bigOf(step.fixed)

		want := mul(quotient(mul(z, plus(whole, b)), mul(whole, s), Down), s)
		p, ok := HighestWithinBandAbove(ref, band, step)
		if want.Sign() == 0 {
			refused(t, "HighestWithinBandAbove", p.fixed, ok)
		} else {
			sameFigure(t, "HighestWithinBandAbove", p.fixed, ok, want)
		}
		if ok {
			exceeds, known := p.ExceedsBandAbove(ref, band)
			sameAnswer(t, "the highest price", exceeds, known, false)
			if next, inRange := p.Add(step); inRange {
				exceeds, known = next.ExceedsBandAbove(ref, band)
				sameAnswer(t, "one step above it", exceeds, known, true)
			}
		}

		p, ok = LowestWithinBandBelow(ref, band, step)
		if b.Cmp(whole) >= 0 {
			refused(t, "LowestWithinBandBelow", p.fixed, ok)
		} else {
			sameFigure(t, "LowestWithinBandBelow", p.fixed, ok, mul(quotient(mul(z, minus(whole, b)), mul(whole, s), Up), s))
		}
		if ok {
			exceeds, known := p.ExceedsBandBelow(ref, band)
			sameAnswer(t, "the lowest price", exceeds, known, false)
			if next, inRange := p.Sub(step); inRange {
				exceeds, known = next.ExceedsBandBelow(ref, band)
				sameAnswer(t, "one step below it", exceeds, known, true)
			}
		}
	})
}

func TestInversesRefuseBadArguments(t *testing.T) {
	ref, band, step := PriceFromInt(100), BasisPointsFromInt(150), MustPrice("0.01")
	for _, row := range []struct {
		name      string
		ref, step Price
		band      BasisPoints
	}{
		{"no reference", Price{}, step, band},
		{"negative reference", ref.Neg(), step, band},
		{"no step", ref, Price{}, band},
		{"negative step", ref, step.Neg(), band},
		{"negative band", ref, step, BasisPointsFromInt(-1)},
	} {
		if p, ok := HighestWithinBandAbove(row.ref, row.band, row.step); ok {
			t.Errorf("%s: highest %v, want a refusal", row.name, p)
		}
		if p, ok := LowestWithinBandBelow(row.ref, row.band, row.step); ok {
			t.Errorf("%s: lowest %v, want a refusal", row.name, p)
		}
	}
	if p, ok := HighestWithinBandAbove(ref, band, PriceFromInt(1000)); ok {
		t.Errorf("step wider than the band: highest %v, want a refusal", p)
	}
	if p, ok := LowestWithinBandBelow(ref, BasisPointsFromInt(10_000), step); ok {
		t.Errorf("band down to 0: lowest %v, want a refusal", p)
	}
	n, q := NotionalFromInt(1000), QuantityFromInt(1)
	for _, row := range []struct {
		name             string
		n                Notional
		price            Price
		multiplier, step Quantity
	}{
		{"negative notional", n.Neg(), ref, q, q},
		{"no price", n, Price{}, q, q},
		{"negative price", n, ref.Neg(), q, q},
		{"no multiplier", n, ref, Quantity{}, q},
		{"negative multiplier", n, ref, q.Neg(), q},
		{"no step", n, ref, q, Quantity{}},
		{"negative step", n, ref, q, q.Neg()},
	} {
		if got, ok := row.n.LargestQuantity(row.price, row.multiplier, row.step); ok {
			t.Errorf("%s: largest quantity %v, want a refusal", row.name, got)
		}
	}
}

func TestLargestQuantity(t *testing.T) {
	nano := bigInt(one)
	manyChecks(t, func(t *rapid.T) {
		n, price := Notional{draw(t, "n").abs()}, Price{drawPositive(t, "price")}
		multiplier, step := Quantity{drawPositive(t, "multiplier")}, Quantity{drawPositive(t, "step")}
		if rapid.Bool().Draw(t, "shares") {
			multiplier, step = QuantityFromInt(1), QuantityFromInt(1)
		}
		x, p, m, s := bigOf(n.fixed), bigOf(price.fixed), bigOf(multiplier.fixed), bigOf(step.fixed)
		steps := quotient(mul(x, nano, nano), mul(p, m, s), Down)
		q, ok := n.LargestQuantity(price, multiplier, step)
		sameFigure(t, "LargestQuantity", q.fixed, ok, mul(steps, s))
		if !ok {
			return
		}
		if value, known := price.TimesMultiplied(q, multiplier, Up); !known || value.Cmp(n) > 0 {
			t.Fatalf("%v offered within %v is worth %v, %v", q, n, value, known)
		}
		if next, inRange := q.Add(step); inRange {
			if value, known := price.TimesMultiplied(next, multiplier, Up); known && value.Cmp(n) <= 0 {
				t.Fatalf("%v also fits %v", next, n)
			}
		}
	})
}

func TestWorkedExamples(t *testing.T) {
	bid, ask := MustPrice("224.06"), MustPrice("224.10")
	band, cent := BasisPointsFromInt(150), MustPrice("0.01")
	highest, ok := HighestWithinBandAbove(ask, band, cent)
	if !ok || highest.String() != "227.46" {
		t.Errorf("highest = %v, %v", highest, ok)
	}
	lowest, ok := LowestWithinBandBelow(bid, band, cent)
	if !ok || lowest.String() != "220.7" {
		t.Errorf("lowest = %v, %v", lowest, ok)
	}
	for _, row := range []struct {
		price   string
		exceeds bool
	}{{"227.4615", false}, {"227.461500001", true}, {"231.40", true}, {"224.10", false}} {
		if got, ok := MustPrice(row.price).ExceedsBandAbove(ask, band); !ok || got != row.exceeds {
			t.Errorf("%s against the band: %v, %v", row.price, got, ok)
		}
	}
	// 0.04 over a mid of 224.08 is 1.785 bps.
	for bps, exceeds := range map[string]bool{"1.785": true, "1.786": false} {
		if got, ok := SpreadExceeds(bid, ask, MustBasisPoints(bps)); !ok || got != exceeds {
			t.Errorf("spread over %s bps: %v, %v", bps, got, ok)
		}
	}
	if got, ok := SpreadExceeds(ask, bid, BasisPoints{}); got || !ok {
		t.Errorf("a crossed quote exceeds no spread: %v, %v", got, ok)
	}
	if got, ok := (Notional{}).ExceedsPercentOf(NotionalFromInt(-1), PercentFromInt(10)); !got || !ok {
		t.Errorf("nothing at all exceeds a share of a debt: %v, %v", got, ok)
	}
	if got, ok := NotionalFromInt(25_000).LargestQuantity(MustPrice("224.10"), QuantityFromInt(1), QuantityFromInt(1)); !ok || got.String() != "111" {
		t.Errorf("shares within 25,000 = %v, %v", got, ok)
	}
	if got, ok := NotionalFromInt(25_000).LargestQuantity(MustPrice("2.50"), QuantityFromInt(100), QuantityFromInt(1)); !ok || got.String() != "100" {
		t.Errorf("contracts within 25,000 = %v, %v", got, ok)
	}
}
