package money

import "math/bits"

const (
	// decimals is the scale of every figure: 10^-9 is finer than the smallest
	// price step or quantity step of the brokers we speak to.
	decimals = 9
	// integerDigits bounds the integer part of every figure.
	integerDigits = 20
	// one is the coefficient of the number 1.
	one = 1_000_000_000
	// maxHi and maxLo are the words of the largest coefficient, 10^29 - 1.
	maxHi = 5421010862
	maxLo = 0x6d7217ca9fffffff
)

// Rounding is the direction in which an inexact result goes. Its zero value is
// not a direction: operations refuse it.
type Rounding uint8

const (
	// Up rounds toward positive infinity.
	Up Rounding = iota + 1
	// Down rounds toward negative infinity.
	Down
)

// fixed is a signed count of billionths in two's complement. Its magnitude is
// at most 10^29 - 1, so sums of two never wrap and negation always exists.
type fixed struct {
	hi int64
	lo uint64
}

func fixedFromInt(n int64) fixed {
	neg, m := fixed{n >> 63, uint64(n)}.split()
	hi, lo := bits.Mul64(m.lo, one)
	return join(neg, u128{hi, lo})
}

// split returns sign and magnitude.
func (a fixed) split() (neg bool, m u128) {
	sign := uint64(a.hi >> 63)
	lo, borrow := bits.Sub64(a.lo^sign, sign, 0)
	hi, _ := bits.Sub64(uint64(a.hi)^sign, sign, borrow)
	return a.hi < 0, u128{hi, lo}
}

// join is the inverse of split. The caller has checked m with inRange, or knows
// that it fits.
func join(neg bool, m u128) fixed {
	if neg {
		lo, borrow := bits.Sub64(0, m.lo, 0)
		hi, _ := bits.Sub64(0, m.hi, borrow)
		return fixed{int64(hi), lo}
	}
	return fixed{int64(m.hi), m.lo}
}

func (x u128) inRange() bool {
	return x.hi < maxHi || x.hi == maxHi && x.lo <= maxLo
}

// checked refuses a sum that left the range.
func (a fixed) checked() (fixed, bool) {
	// -1 and 0 cover every magnitude below 2^64, which is nearly all of them.
	if uint64(a.hi+1) <= 1 {
		return a, true
	}
	if _, m := a.split(); !m.inRange() {
		return fixed{}, false
	}
	return a, true
}

func (a fixed) add(b fixed) (fixed, bool) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return fixed{a.hi + b.hi + int64(carry), lo}.checked()
}

func (a fixed) sub(b fixed) (fixed, bool) {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return fixed{a.hi - b.hi - int64(borrow), lo}.checked()
}

func (a fixed) neg() fixed {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return fixed{-a.hi - int64(borrow), lo}
}

func (a fixed) abs() fixed {
	if a.hi < 0 {
		return a.neg()
	}
	return a
}

func (a fixed) cmp(b fixed) int {
	switch {
	case a.hi < b.hi:
		return -1
	case a.hi > b.hi:
		return 1
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	}
	return 0
}

// Sign returns -1, 0 or 1.
func (a fixed) Sign() int {
	switch {
	case a.hi < 0:
		return -1
	case a == fixed{}:
		return 0
	}
	return 1
}

// IsZero reports whether the figure is 0.
func (a fixed) IsZero() bool { return a == fixed{} }

// IsNegative reports whether the figure is below 0.
func (a fixed) IsNegative() bool { return a.hi < 0 }

// IsPositive reports whether the figure is above 0.
func (a fixed) IsPositive() bool { return a.hi >= 0 && a != fixed{} }

// multipleOf reports whether a is a whole multiple of step. Nothing is a
// multiple of a step that is not above 0.
func (a fixed) multipleOf(step fixed) bool {
	if !step.IsPositive() {
		return false
	}
	_, m := a.split()
	if m.hi == 0 && step.hi == 0 {
		return m.lo%step.lo == 0
	}
	_, rem := wide(m).divide(wide(u128{uint64(step.hi), step.lo}))
	return rem.isZero()
}

// mulDiv returns a*b/d rounded once. It refuses d == 0, an unknown rounding,
// and a result out of range.
func mulDiv(a, b, d fixed, r Rounding) (fixed, bool) {
	aNeg, am := a.split()
	bNeg, bm := b.split()
	dNeg, dm := d.split()
	neg := aNeg != bNeg != dNeg
	if am.hi|bm.hi|dm.hi == 0 {
		// A zero divisor is never above hi, so it falls through to the refusal.
		if hi, lo := bits.Mul64(am.lo, bm.lo); hi < dm.lo {
			quo, rem := bits.Div64(hi, lo, dm.lo)
			return rounded(neg, u128{lo: quo}, rem != 0, r)
		}
	}
	if dm == (u128{}) {
		return fixed{}, false
	}
	quo, rem := am.mul(bm).divide(wide(dm))
	return roundedWide(neg, quo, !rem.isZero(), r)
}

// rounded puts sign and magnitude together after a truncating division, one
// further from 0 if that is where an inexact result must go.
func rounded(neg bool, m u128, inexact bool, r Rounding) (fixed, bool) {
	if r != Up && r != Down {
		return fixed{}, false
	}
	if inexact && (r == Down) == neg {
		var carry uint64
		m.lo, carry = bits.Add64(m.lo, 1, 0)
		m.hi += carry
	}
	if !m.inRange() {
		return fixed{}, false
	}
	return join(neg, m), true
}

func roundedWide(neg bool, m u256, inexact bool, r Rounding) (fixed, bool) {
	// The second test keeps the increment in rounded from wrapping.
	if m.w3|m.w2 != 0 || m.w1 > maxHi {
		return fixed{}, false
	}
	return rounded(neg, u128{m.w1, m.w0}, inexact, r)
}

// cmpProducts compares a*b with c*d exactly. The factors may be sums of a few
// figures: up to 127 bits each.
func cmpProducts(a, b, c, d fixed) int {
	if a.hi|b.hi|c.hi|d.hi == 0 {
		// Nearly all figures: none is negative, and each is one word.
		leftHi, leftLo := bits.Mul64(a.lo, b.lo)
		rightHi, rightLo := bits.Mul64(c.lo, d.lo)
		return u128{leftHi, leftLo}.cmp(u128{rightHi, rightLo})
	}
	aNeg, am := a.split()
	bNeg, bm := b.split()
	cNeg, cm := c.split()
	dNeg, dm := d.split()
	left, right := am.mul(bm), cm.mul(dm)
	leftNeg := aNeg != bNeg && !left.isZero()
	rightNeg := cNeg != dNeg && !right.isZero()
	switch {
	case leftNeg && rightNeg:
		return right.cmp(left)
	case leftNeg:
		return -1
	case rightNeg:
		return 1
	}
	return left.cmp(right)
}

// plus adds without a range check, for the factors of cmpProducts only.
func (a fixed) plus(b fixed) fixed {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return fixed{a.hi + b.hi + int64(carry), lo}
}
