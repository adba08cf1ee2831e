package money

import "math/bits"

// TimesBetween returns p*q*multiplier rounded down and rounded up, for the price of one
// product: they are equal if it is exact. It is false if either is out of range.
func (p Price) TimesBetween(q, multiplier Quantity) (down, up Notional, ok bool) {
	pNeg, pm := p.split()
	qNeg, qm := q.split()
	if multiplier == (Quantity{fixed{lo: one}}) && pm.hi|qm.hi == 0 {
		if hi, lo := bits.Mul64(pm.lo, qm.lo); hi < one {
			// A quotient of 64 bits and one more is within the range of a figure.
			quo, rem := bits.Div64(hi, lo, one)
			near, far := u128{lo: quo}, u128{lo: quo}
			if rem != 0 {
				var carry uint64
				far.lo, carry = bits.Add64(quo, 1, 0)
				far.hi = carry
			}
			if pNeg != qNeg {
				return Notional{join(true, far)}, Notional{join(true, near)}, true
			}
			return Notional{join(false, near)}, Notional{join(false, far)}, true
		}
	}
	down, ok1 := p.TimesMultiplied(q, multiplier, Down)
	up, ok2 := p.TimesMultiplied(q, multiplier, Up)
	return down, up, ok1 && ok2
}
