package money

// wholeInBps and wholeInPercent are the coefficients of the ratio 1 in each unit.
const (
	wholeInBps     = 10_000 * one
	wholeInPercent = 100 * one
)

// BasisPoints is a ratio in units of 1/10,000.
type BasisPoints struct{ fixed }

// ParseBasisPoints reads -?(0|[1-9][0-9]*)(\.[0-9]+)?, in ASCII, with at most 20 digits
// before and 9 after the point, and no negative zero. Its error is a *ParseError.
func ParseBasisPoints(s string) (BasisPoints, error) {
	f, err := parse(s)
	return BasisPoints{f}, err
}

// MustBasisPoints is ParseBasisPoints for constants and tests. It panics on an error.
func MustBasisPoints(s string) BasisPoints { return BasisPoints{must(s)} }

// BasisPointsFromInt returns n exactly.
func BasisPointsFromInt(n int64) BasisPoints { return BasisPoints{fixedFromInt(n)} }

// Cmp returns -1, 0 or 1 as b is below, equal to or above x.
func (b BasisPoints) Cmp(x BasisPoints) int { return b.cmp(x.fixed) }

// Equal reports whether both are the same number, as == does.
func (b BasisPoints) Equal(x BasisPoints) bool { return b == x }

// Add returns b+x, and false if that is out of range.
func (b BasisPoints) Add(x BasisPoints) (BasisPoints, bool) {
	f, ok := b.add(x.fixed)
	return BasisPoints{f}, ok
}

// Sub returns b-x, and false if that is out of range.
func (b BasisPoints) Sub(x BasisPoints) (BasisPoints, bool) {
	f, ok := b.sub(x.fixed)
	return BasisPoints{f}, ok
}

// Percent is a ratio in units of 1/100.
type Percent struct{ fixed }

// ParsePercent reads -?(0|[1-9][0-9]*)(\.[0-9]+)?, in ASCII, with at most 20 digits
// before and 9 after the point, and no negative zero. Its error is a *ParseError.
func ParsePercent(s string) (Percent, error) {
	f, err := parse(s)
	return Percent{f}, err
}

// MustPercent is ParsePercent for constants and tests. It panics on an error.
func MustPercent(s string) Percent { return Percent{must(s)} }

// PercentFromInt returns n exactly.
func PercentFromInt(n int64) Percent { return Percent{fixedFromInt(n)} }

// Cmp returns -1, 0 or 1 as p is below, equal to or above x.
func (p Percent) Cmp(x Percent) int { return p.cmp(x.fixed) }

// Equal reports whether both are the same number, as == does.
func (p Percent) Equal(x Percent) bool { return p == x }

// Add returns p+x, and false if that is out of range.
func (p Percent) Add(x Percent) (Percent, bool) {
	f, ok := p.add(x.fixed)
	return Percent{f}, ok
}

// Sub returns p-x, and false if that is out of range.
func (p Percent) Sub(x Percent) (Percent, bool) {
	f, ok := p.sub(x.fixed)
	return Percent{f}, ok
}

// aboveWhole returns 10,000+b and belowWhole 10,000-b. They may pass the bound
// of a figure, so they are factors only.
func (b BasisPoints) aboveWhole() fixed { return fixed{lo: wholeInBps}.plus(b.fixed) }

func (b BasisPoints) belowWhole() fixed { return fixed{lo: wholeInBps}.plus(b.neg()) }
