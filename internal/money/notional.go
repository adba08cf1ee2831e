package money

// Notional is a signed amount of currency: the value of an order or a position,
// cash, profit or loss.
type Notional struct{ fixed }

// ParseNotional reads -?(0|[1-9][0-9]*)(\.[0-9]+)?, in ASCII, with at most 20 digits
// before and 9 after the point, and no negative zero. Its error is a *ParseError.
func ParseNotional(s string) (Notional, error) {
	f, err := parse(s)
	return Notional{f}, err
}

// MustNotional is ParseNotional for constants and tests. It panics on an error.
func MustNotional(s string) Notional { return Notional{must(s)} }

// NotionalFromInt returns n exactly.
func NotionalFromInt(n int64) Notional { return Notional{fixedFromInt(n)} }

// Cmp returns -1, 0 or 1 as n is below, equal to or above x.
func (n Notional) Cmp(x Notional) int { return n.cmp(x.fixed) }

// Equal reports whether both are the same number, as == does.
func (n Notional) Equal(x Notional) bool { return n == x }

// Neg returns -n.
func (n Notional) Neg() Notional { return Notional{n.neg()} }

// Abs returns n without its sign.
func (n Notional) Abs() Notional { return Notional{n.abs()} }

// Add returns n+x, and false if that is out of range.
func (n Notional) Add(x Notional) (Notional, bool) {
	f, ok := n.add(x.fixed)
	return Notional{f}, ok
}

// Sub returns n-x, and false if that is out of range.
func (n Notional) Sub(x Notional) (Notional, bool) {
	f, ok := n.sub(x.fixed)
	return Notional{f}, ok
}

// MaxNotional returns the larger of both.
func MaxNotional(a, b Notional) Notional {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// MinNotional returns the smaller of both.
func MinNotional(a, b Notional) Notional {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}

// Scale returns n*m, for a contract multiplier m. It is false if that is out of
// range, or r is no direction.
func (n Notional) Scale(m Quantity, r Rounding) (Notional, bool) {
	f, ok := mulDiv(n.fixed, m.fixed, fixed{lo: one}, r)
	return Notional{f}, ok
}

// Per returns n/q, as for an average cost. It is false if q is 0, the result is
// out of range, or r is no direction.
func (n Notional) Per(q Quantity, r Rounding) (Price, bool) {
	f, ok := mulDiv(n.fixed, fixed{lo: one}, q.fixed, r)
	return Price{f}, ok
}

// Share returns n*pct/100. It is false if pct is negative, the result is out of
// range, or r is no direction.
func (n Notional) Share(pct Percent, r Rounding) (Notional, bool) {
	if pct.IsNegative() {
		return Notional{}, false
	}
	f, ok := mulDiv(n.fixed, pct.fixed, fixed{lo: wholeInPercent}, r)
	return Notional{f}, ok
}

// LargestQuantity returns the largest multiple of step, from 0 up, for which
// price*quantity*multiplier is at most n. It is false if n is negative, if
// price, multiplier or step is not above 0, or if the result is out of range.
func (n Notional) LargestQuantity(price Price, multiplier, step Quantity) (Quantity, bool) {
	if n.IsNegative() || !price.IsPositive() || !multiplier.IsPositive() || !step.IsPositive() {
		return Quantity{}, false
	}
	_, nm := n.split()
	_, pm := price.split()
	_, mm := multiplier.split()
	_, sm := step.split()
	// steps = n*10^18 / (price*multiplier*step) in coefficients. A divisor of more
	// than 256 bits is larger than any dividend.
	dividend := nm.mul(u128{lo: one * one})
	divisor, ok := pm.mul(mm).mul128(sm)
	if !ok {
		return Quantity{}, true
	}
	steps, _ := dividend.divide(divisor)
	quantity, ok := steps.mul128(sm)
	f, inRange := roundedWide(false, quantity, false, Down)
	return Quantity{f}, ok && inRange
}
