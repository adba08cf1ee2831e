package money

// ExceedsBandAbove reports whether p is above ref by more than bps:
// p*10,000 > ref*(10,000+bps). On the band it does not exceed. ok is false if
// ref is not above 0 or bps is negative.
func (p Price) ExceedsBandAbove(ref Price, bps BasisPoints) (exceeds, ok bool) {
	if !ref.IsPositive() || bps.IsNegative() {
		return false, false
	}
	return cmpProducts(p.fixed, fixed{lo: wholeInBps}, ref.fixed, bps.aboveWhole()) > 0, true
}

// ExceedsBandBelow reports whether p is below ref by more than bps:
// p*10,000 < ref*(10,000-bps). On the band it does not exceed. ok is false if
// ref is not above 0 or bps is negative.
func (p Price) ExceedsBandBelow(ref Price, bps BasisPoints) (exceeds, ok bool) {
	if !ref.IsPositive() || bps.IsNegative() {
		return false, false
	}
	return cmpProducts(p.fixed, fixed{lo: wholeInBps}, ref.fixed, bps.belowWhole()) < 0, true
}

// FurtherFromMidThan reports whether p is more than bps away from the mid of bid
// and ask, on either side: |2p-(bid+ask)|*10,000 > bps*(bid+ask). ok is false if
// the mid is not above 0 or bps is negative.
func (p Price) FurtherFromMidThan(bid, ask Price, bps BasisPoints) (further, ok bool) {
	sum := bid.plus(ask.fixed)
	if !sum.IsPositive() || bps.IsNegative() {
		return false, false
	}
	distance := p.plus(p.fixed).plus(sum.neg()).abs()
	return cmpProducts(distance, fixed{lo: wholeInBps}, bps.fixed, sum) > 0, true
}

// SpreadExceeds reports whether the spread is more than bps of the mid:
// (ask-bid)*10,000*2 > bps*(ask+bid). A crossed quote has a negative spread and
// exceeds nothing: its validity is another rail's business. ok is false if the
// mid is not above 0 or bps is negative.
func SpreadExceeds(bid, ask Price, bps BasisPoints) (exceeds, ok bool) {
	sum := bid.plus(ask.fixed)
	if !sum.IsPositive() || bps.IsNegative() {
		return false, false
	}
	spread := ask.plus(bid.neg())
	return cmpProducts(spread.plus(spread), fixed{lo: wholeInBps}, bps.fixed, sum) > 0, true
}

// ExceedsPercentOf reports whether n is more than pct of base:
// n*100 > base*pct. A negative base is exceeded by everything from 0 up. ok is
// false if pct is negative.
func (n Notional) ExceedsPercentOf(base Notional, pct Percent) (exceeds, ok bool) {
	if pct.IsNegative() {
		return false, false
	}
	return cmpProducts(n.fixed, fixed{lo: wholeInPercent}, base.fixed, pct.fixed) > 0, true
}

// HighestWithinBandAbove returns the highest multiple of step that does not
// exceed the band above ref. ok is false if ref or step is not above 0, bps is
// negative, no positive multiple lies within, or it is out of range.
func HighestWithinBandAbove(ref Price, bps BasisPoints, step Price) (Price, bool) {
	if bps.IsNegative() {
		return Price{}, false
	}
	return stepWithin(ref, bps.aboveWhole(), step, Down)
}

// LowestWithinBandBelow returns the lowest multiple of step that does not exceed
// the band below ref. ok is false if ref or step is not above 0, bps is negative
// or 10,000 and more, so that every positive price lies within, or the result
// is out of range.
func LowestWithinBandBelow(ref Price, bps BasisPoints, step Price) (Price, bool) {
	if bps.IsNegative() {
		return Price{}, false
	}
	return stepWithin(ref, bps.belowWhole(), step, Up)
}

// stepWithin returns ref*ratio/10,000 on its step, rounded as r says, if that is
// above 0.
func stepWithin(ref Price, ratio fixed, step Price, r Rounding) (Price, bool) {
	if !ref.IsPositive() || !step.IsPositive() || !ratio.IsPositive() {
		return Price{}, false
	}
	_, rm := ref.split()
	_, fm := ratio.split()
	_, sm := step.split()
	steps, rem := rm.mul(fm).divide(sm.mul(u128{lo: wholeInBps}))
	count, ok := roundedWide(false, steps, !rem.isZero(), r)
	if !ok || count.IsZero() {
		return Price{}, false
	}
	_, cm := count.split()
	f, ok := roundedWide(false, cm.mul(sm), false, r)
	return Price{f}, ok
}
