package money

// The functions here put into words what the comparisons in band.go decided.
// They round, so they explain a verdict and must never make one.

// FromMid returns the distance of p from the mid of bid and ask, in basis points
// of the mid, never negative. ok is false if the mid is not above 0, the result
// is out of range, or r is no direction.
func (p Price) FromMid(bid, ask Price, r Rounding) (bps BasisPoints, ok bool) {
	sum := bid.plus(ask.fixed)
	if !sum.IsPositive() {
		return BasisPoints{}, false
	}
	f, ok := mulDiv(p.plus(p.fixed).plus(sum.neg()).abs(), fixed{lo: wholeInBps}, sum, r)
	return BasisPoints{f}, ok
}

// SpreadInBasisPoints returns ask-bid in basis points of the mid, negative if the
// quote is crossed. ok is false if the mid is not above 0, the result is out of
// range, or r is no direction.
func SpreadInBasisPoints(bid, ask Price, r Rounding) (bps BasisPoints, ok bool) {
	sum := bid.plus(ask.fixed)
	if !sum.IsPositive() {
		return BasisPoints{}, false
	}
	spread := ask.plus(bid.neg())
	f, ok := mulDiv(spread.plus(spread), fixed{lo: wholeInBps}, sum, r)
	return BasisPoints{f}, ok
}
