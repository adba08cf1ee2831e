package money

// Quantity is a signed number of units: shares, contracts or coins. Negative is
// short, or sold. It also serves for contract multipliers.
type Quantity struct{ fixed }

// ParseQuantity reads -?(0|[1-9][0-9]*)(\.[0-9]+)?, in ASCII, with at most 20 digits
// before and 9 after the point, and no negative zero. Its error is a *ParseError.
func ParseQuantity(s string) (Quantity, error) {
	f, err := parse(s)
	return Quantity{f}, err
}

// MustQuantity is ParseQuantity for constants and tests. It panics on an error.
func MustQuantity(s string) Quantity { return Quantity{must(s)} }

// QuantityFromInt returns n exactly.
func QuantityFromInt(n int64) Quantity { return Quantity{fixedFromInt(n)} }

// Cmp returns -1, 0 or 1 as q is below, equal to or above x.
func (q Quantity) Cmp(x Quantity) int { return q.cmp(x.fixed) }

// Equal reports whether both are the same number, as == does.
func (q Quantity) Equal(x Quantity) bool { return q == x }

// Neg returns -q.
func (q Quantity) Neg() Quantity { return Quantity{q.neg()} }

// Abs returns q without its sign.
func (q Quantity) Abs() Quantity { return Quantity{q.abs()} }

// Add returns q+x, and false if that is out of range.
func (q Quantity) Add(x Quantity) (Quantity, bool) {
	f, ok := q.add(x.fixed)
	return Quantity{f}, ok
}

// Sub returns q-x, and false if that is out of range.
func (q Quantity) Sub(x Quantity) (Quantity, bool) {
	f, ok := q.sub(x.fixed)
	return Quantity{f}, ok
}

// MaxQuantity returns the larger of both.
func MaxQuantity(a, b Quantity) Quantity {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// MinQuantity returns the smaller of both.
func MinQuantity(a, b Quantity) Quantity {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}

// WholeShare returns the whole units in q*pct/100, which must not be negative; false if
// pct or q is negative, or the result is out of range.
func (q Quantity) WholeShare(pct Percent) (Quantity, bool) {
	part, ok := mulDiv(q.fixed, pct.fixed, fixed{lo: wholeInPercent}, Down)
	if !ok || pct.IsNegative() || q.IsNegative() {
		return Quantity{}, false
	}
	unit := QuantityFromInt(1)
	return Notional{part}.LargestQuantity(PriceFromInt(1), unit, unit)
}

// MultipleOf reports whether q is a whole multiple of step. Nothing is a
// multiple of a step that is not above 0.
func (q Quantity) MultipleOf(step Quantity) bool { return q.multipleOf(step.fixed) }

// IsWhole reports whether q is a whole number of units.
func (q Quantity) IsWhole() bool { return q.multipleOf(fixed{lo: one}) }
