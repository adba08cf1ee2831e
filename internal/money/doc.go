// Package money holds exact decimal figures whose types carry their units:
// Price, Quantity, Notional, BasisPoints and Percent.
//
// Every figure is a whole number of billionths, between -(10^20 - 10^-9) and
// 10^20 - 10^-9. The bounds are those of the text form (20 integer digits and
// 9 decimals), so whatever can be computed can be written, and whatever was
// written can be read again. There is no NaN, no infinity, no exponent and no
// negative zero: two figures are equal exactly if == says so, and the zero
// value of each type is the number 0.
//
// Sums are exact. Products and quotients round once, in the direction that the
// caller names, because a gate has to round against the order: exposure Up,
// proceeds Down. The zero Rounding is refused, so that no rounding is chosen by
// omission. Ratios are compared by cross-multiplication, in 256 bits, and do
// not round at all.
//
// Where a result may leave the range, or an argument makes no sense (a divisor
// of 0, a negative band), the operation returns ok == false and a zero figure.
// A caller must treat that as a fault and never use the figure. Nothing wraps,
// and nothing panics but the Must functions, which are for constants.
//
// The package is our own because the decimal libraries for Go each break one of
// the rules above: they round without saying so, order NaN, accept exponents,
// panic on a zero divisor, or allocate. Its tests hold it to math/big and to
// one of those libraries.
package money
