package money

import "math/bits"

// Product is an exact value, price x quantity x multiplier, before any rounding. It is
// made by Exactly and can only be summed.
type Product struct {
	neg bool
	m   u128 // in units of 1e-18, below 2^127
}

// Exactly returns p*q*multiplier as it is. It is false if the value is not exact in
// 1e-18, or if a factor or the value is too large for the quick way taken here; Times
// and TimesMultiplied may still have it, rounded.
func (p Price) Exactly(q, multiplier Quantity) (Product, bool) {
	pNeg, pm := p.split()
	qNeg, qm := q.split()
	if pm.hi|qm.hi != 0 {
		return Product{}, false
	}
	hi, lo := bits.Mul64(pm.lo, qm.lo)
	x := Product{pNeg != qNeg, u128{hi, lo}}
	if multiplier == (Quantity{fixed{lo: one}}) {
		return x, hi>>63 == 0
	}
	mNeg, mm := multiplier.split()
	if mm.hi != 0 || mm.lo%one != 0 {
		return Product{}, false
	}
	wide := x.m.mul(u128{lo: mm.lo / one})
	x.neg, x.m = x.neg != mNeg, u128{wide.w1, wide.w0}
	return x, wide.w3|wide.w2|wide.w1>>63 == 0
}

// Total is a sum of products and amounts that is rounded once, when it is read. The
// zero Total is 0. It holds more summands than can be counted, so it does not
// overflow; its reading may.
type Total struct {
	w2, w1, w0 uint64 // two's complement, in units of 1e-18
}

// Add adds a product.
func (t *Total) Add(x Product) { t.add(x.neg, x.m) }

// Sub takes a product off.
func (t *Total) Sub(x Product) { t.add(!x.neg, x.m) }

// AddTotal adds another sum.
func (t *Total) AddTotal(x Total) {
	var c uint64
	t.w0, c = bits.Add64(t.w0, x.w0, 0)
	t.w1, c = bits.Add64(t.w1, x.w1, c)
	t.w2, _ = bits.Add64(t.w2, x.w2, c)
}

// SubTotal takes another sum off.
func (t *Total) SubTotal(x Total) {
	var c uint64
	t.w0, c = bits.Sub64(t.w0, x.w0, 0)
	t.w1, c = bits.Sub64(t.w1, x.w1, c)
	t.w2, _ = bits.Sub64(t.w2, x.w2, c)
}

// AddNotional adds an amount.
func (t *Total) AddNotional(n Notional) {
	neg, m := n.split()
	wide := m.mul(u128{lo: one})
	t.add(neg, u128{wide.w1, wide.w0})
}

func (t *Total) add(neg bool, m u128) {
	var c uint64
	if neg {
		t.w0, c = bits.Sub64(t.w0, m.lo, 0)
		t.w1, c = bits.Sub64(t.w1, m.hi, c)
		t.w2, _ = bits.Sub64(t.w2, 0, c)
		return
	}
	t.w0, c = bits.Add64(t.w0, m.lo, 0)
	t.w1, c = bits.Add64(t.w1, m.hi, c)
	t.w2 += c
}

// Round returns the sum as an amount. It is false if that is out of range, or r is no
// direction.
func (t *Total) Round(r Rounding) (Notional, bool) {
	size, neg := *t, int64(t.w2) < 0
	if neg {
		var c uint64
		size.w0, c = bits.Sub64(0, t.w0, 0)
		size.w1, c = bits.Sub64(0, t.w1, c)
		size.w2, _ = bits.Sub64(0, t.w2, c)
	}
	if size.w2 == 0 && size.w1 < one {
		// Below 2^64 units of 1e-9, as nearly all sums are: one division, not four.
		quo, rem := bits.Div64(size.w1, size.w0, one)
		f, ok := rounded(neg, u128{lo: quo}, rem != 0, r)
		return Notional{f}, ok
	}
	quo, rem := u256{w2: size.w2, w1: size.w1, w0: size.w0}.divide64(one)
	f, ok := roundedWide(neg, quo, rem != 0, r)
	return Notional{f}, ok
}

// Marked sums what positions are worth by their quotes: longs at ask and at bid, shorts
// at ask, as a magnitude. The zero Marked is 0.
type Marked struct {
	LongAtAsk, LongAtBid, ShortAtAsk Total
}

// Add adds a position. It is the quick way for nearly all: false, and nothing is added,
// if the position is zero, if bid is not above 0 or above ask, if multiplier is not 1, or
// if Exactly has not the values. Whoever is told so has to look at the position himself.
func (m *Marked) Add(position, multiplier Quantity, bid, ask Price) bool {
	// All that comes in fits the registers of a call, and two products are all that is
	// to work out: of a gate's decision on an account with many positions this is most.
	if bid.hi|ask.hi != 0 || bid.lo == 0 || ask.lo < bid.lo || multiplier != (Quantity{fixed{lo: one}}) {
		return false
	}
	switch {
	case position.hi == 0 && position.lo != 0:
		hi, lo := bits.Mul64(ask.lo, position.lo)
		if hi>>63 != 0 {
			return false
		}
		m.LongAtAsk.add(false, u128{hi, lo})
		hi, lo = bits.Mul64(bid.lo, position.lo)
		m.LongAtBid.add(false, u128{hi, lo})
		return true
	case position.hi == -1 && position.lo != 0:
		hi, lo := bits.Mul64(ask.lo, -position.lo)
		if hi>>63 != 0 {
			return false
		}
		m.ShortAtAsk.add(false, u128{hi, lo})
		return true
	}
	return false
}
