package money

import "math/bits"

// u128 is an unsigned magnitude. A coefficient needs 97 bits of it.
type u128 struct{ hi, lo uint64 }

// u256 holds products of magnitudes, w3 the most significant word. It is a
// struct, not an array, because the compiler keeps small structs in registers.
type u256 struct{ w3, w2, w1, w0 uint64 }

func wide(x u128) u256 { return u256{w1: x.hi, w0: x.lo} }

func (x u128) cmp(y u128) int {
	switch {
	case x == y:
		return 0
	case x.hi < y.hi || x.hi == y.hi && x.lo < y.lo:
		return -1
	}
	return 1
}

// mul is exact: two 128-bit factors always fit 256 bits.
func (x u128) mul(y u128) u256 {
	if x.hi|y.hi == 0 {
		hi, lo := bits.Mul64(x.lo, y.lo)
		return u256{w1: hi, w0: lo}
	}
	h00, l00 := bits.Mul64(x.lo, y.lo)
	h01, l01 := bits.Mul64(x.lo, y.hi)
	h10, l10 := bits.Mul64(x.hi, y.lo)
	h11, l11 := bits.Mul64(x.hi, y.hi)
	var z u256
	var c, d uint64
	z.w0 = l00
	z.w1, c = bits.Add64(h00, l01, 0)
	z.w2, d = bits.Add64(h01, l11, c)
	z.w3 = h11 + d
	z.w1, c = bits.Add64(z.w1, l10, 0)
	z.w2, d = bits.Add64(z.w2, h10, c)
	z.w3 += d
	return z
}

// mul128 returns x*y, and false if that needs more than 256 bits.
func (x u256) mul128(y u128) (u256, bool) {
	low := u128{x.w1, x.w0}.mul(y)
	high := u128{x.w3, x.w2}.mul(y)
	if high.w3|high.w2 != 0 {
		return u256{}, false
	}
	var c uint64
	low.w2, c = bits.Add64(low.w2, high.w0, 0)
	low.w3, c = bits.Add64(low.w3, high.w1, c)
	return low, c == 0
}

func (x u256) cmp(y u256) int {
	if c := (u128{x.w3, x.w2}).cmp(u128{y.w3, y.w2}); c != 0 {
		return c
	}
	return u128{x.w1, x.w0}.cmp(u128{y.w1, y.w0})
}

func (x u256) isZero() bool { return x.w3|x.w2|x.w1|x.w0 == 0 }

func (x u256) bitLen() int {
	switch {
	case x.w3 != 0:
		return 192 + bits.Len64(x.w3)
	case x.w2 != 0:
		return 128 + bits.Len64(x.w2)
	case x.w1 != 0:
		return 64 + bits.Len64(x.w1)
	}
	return bits.Len64(x.w0)
}

func (x u256) sub(y u256) u256 {
	var z u256
	var b uint64
	z.w0, b = bits.Sub64(x.w0, y.w0, 0)
	z.w1, b = bits.Sub64(x.w1, y.w1, b)
	z.w2, b = bits.Sub64(x.w2, y.w2, b)
	z.w3, _ = bits.Sub64(x.w3, y.w3, b)
	return z
}

func (x u256) shiftLeft(n int) u256 {
	for ; n >= 64; n -= 64 {
		x = u256{x.w2, x.w1, x.w0, 0}
	}
	if n == 0 {
		return x
	}
	m := 64 - n
	return u256{x.w3<<n | x.w2>>m, x.w2<<n | x.w1>>m, x.w1<<n | x.w0>>m, x.w0 << n}
}

func (x u256) halve() u256 {
	return u256{x.w3 >> 1, x.w2>>1 | x.w3<<63, x.w1>>1 | x.w2<<63, x.w0>>1 | x.w1<<63}
}

// divide returns quotient and remainder. A zero divisor is the caller's to
// refuse: it must not come here.
func (x u256) divide(d u256) (quo, rem u256) {
	if d.w3|d.w2|d.w1 == 0 {
		q, r := x.divide64(d.w0)
		return q, u256{w0: r}
	}
	// Long division bit by bit: at most as many steps as the quotient has bits.
	// Divisors over 64 bits are met in messages and far outside real figures,
	// so plain steps are worth more here than speed.
	n := x.bitLen() - d.bitLen()
	if n < 0 {
		return u256{}, x
	}
	d = d.shiftLeft(n)
	for ; n >= 0; n-- {
		quo = quo.shiftLeft(1)
		if x.cmp(d) >= 0 {
			x = x.sub(d)
			quo.w0 |= 1
		}
		d = d.halve()
	}
	return quo, x
}

func (x u256) divide64(d uint64) (quo u256, rem uint64) {
	quo.w3, rem = x.w3/d, x.w3%d
	quo.w2, rem = bits.Div64(rem, x.w2, d)
	quo.w1, rem = bits.Div64(rem, x.w1, d)
	quo.w0, rem = bits.Div64(rem, x.w0, d)
	return quo, rem
}
