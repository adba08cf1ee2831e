package money

// Price is an amount of currency for one unit of an instrument. Spreads and
// differences of prices are prices too, so it may be negative.
type Price struct{ fixed }

// ParsePrice reads -?(0|[1-9][0-9]*)(\.[0-9]+)?, in ASCII, with at most 20 digits
// before and 9 after the point, and no negative zero. Its error is a *ParseError.
func ParsePrice(s string) (Price, error) {
	f, err := parse(s)
	return Price{f}, err
}

// MustPrice is ParsePrice for constants and tests. It panics on an error.
func MustPrice(s string) Price { return Price{must(s)} }

// PriceFromInt returns n exactly.
func PriceFromInt(n int64) Price { return Price{fixedFromInt(n)} }

// Cmp returns -1, 0 or 1 as p is below, equal to or above x.
func (p Price) Cmp(x Price) int { return p.cmp(x.fixed) }

// Equal reports whether both are the same number, as == does.
func (p Price) Equal(x Price) bool { return p == x }

// Neg returns -p.
func (p Price) Neg() Price { return Price{p.neg()} }

// Abs returns p without its sign.
func (p Price) Abs() Price { return Price{p.abs()} }

// Add returns p+x, and false if that is out of range.
func (p Price) Add(x Price) (Price, bool) {
	f, ok := p.add(x.fixed)
	return Price{f}, ok
}

// Sub returns p-x, and false if that is out of range.
func (p Price) Sub(x Price) (Price, bool) {
	f, ok := p.sub(x.fixed)
	return Price{f}, ok
}

// MaxPrice returns the larger of both.
func MaxPrice(a, b Price) Price {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// MinPrice returns the smaller of both.
func MinPrice(a, b Price) Price {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}

// Times returns p*q. It is false if that is out of range, or r is no direction.
func (p Price) Times(q Quantity, r Rounding) (Notional, bool) {
	f, ok := mulDiv(p.fixed, q.fixed, fixed{lo: one}, r)
	return Notional{f}, ok
}

// TimesMultiplied returns p*q*multiplier, rounded once, where Times and Scale
// would round twice. It is what LargestQuantity inverts. It is false if the
// result is out of range, or r is no direction.
func (p Price) TimesMultiplied(q, multiplier Quantity, r Rounding) (Notional, bool) {
	if multiplier == (Quantity{fixed{lo: one}}) {
		return p.Times(q, r)
	}
	pNeg, pm := p.split()
	qNeg, qm := q.split()
	mNeg, mm := multiplier.split()
	if mm == (u128{}) {
		return Notional{}, r == Up || r == Down
	}
	product, ok := pm.mul(qm).mul128(mm)
	if !ok {
		return Notional{}, false
	}
	quo, rem := product.divide64(one * one)
	f, ok := roundedWide(pNeg != qNeg != mNeg, quo, rem != 0, r)
	return Notional{f}, ok
}

// Raise returns p*(10,000+bps)/10,000. It is false if bps is negative, the
// result is out of range, or r is no direction.
func (p Price) Raise(bps BasisPoints, r Rounding) (Price, bool) {
	if bps.IsNegative() {
		return Price{}, false
	}
	f, ok := mulDiv(p.fixed, bps.aboveWhole(), fixed{lo: wholeInBps}, r)
	return Price{f}, ok
}

// MultipleOf reports whether p is a whole multiple of step. Nothing is a
// multiple of a step that is not above 0.
func (p Price) MultipleOf(step Price) bool { return p.multipleOf(step.fixed) }
