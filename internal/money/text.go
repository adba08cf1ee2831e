package money

import (
	"math/bits"
	"strconv"
)

// textBytesMax bounds the text of a figure. The longest that can be valid has
// 31 bytes: a sign, 20 digits, a point and 9 decimals.
const textBytesMax = 32

// ParseErrorKind says why a text is not a figure.
type ParseErrorKind uint8

// The kinds of parse errors.
const (
	// Empty: no text at all.
	Empty ParseErrorKind = iota + 1
	// TooLong: more than 32 bytes. Nothing past them was looked at.
	TooLong
	// Syntax: not of the form -?(0|[1-9][0-9]*)(\.[0-9]+)?, or a negative zero.
	Syntax
	// TooManyDecimals: more than 9 digits after the point, zeros included.
	TooManyDecimals
	// TooManyDigits: more than 20 digits before the point.
	TooManyDigits
)

// String returns the kind in words.
func (k ParseErrorKind) String() string {
	switch k {
	case Empty:
		return "empty"
	case TooLong:
		return "longer than 32 bytes"
	case Syntax:
		return "not a plain decimal"
	case TooManyDecimals:
		return "more than 9 decimals"
	case TooManyDigits:
		return "more than 20 integer digits"
	}
	return "unknown"
}

// ParseError is the error of every parse in this package. It never holds the
// text, which may come from an agent.
type ParseError struct{ Kind ParseErrorKind }

// Error returns a sentence without the text.
func (e *ParseError) Error() string { return "invalid number: " + e.Kind.String() }

func parse[T string | []byte](s T) (fixed, error) {
	f, kind := scan(s)
	if kind != 0 {
		return fixed{}, &ParseError{Kind: kind}
	}
	return f, nil
}

// scan reads the grammar of Syntax. It checks the form of the whole text before
// the counts of digits, so that what is no number is never called a long one.
func scan[T string | []byte](s T) (fixed, ParseErrorKind) {
	switch {
	case len(s) == 0:
		return fixed{}, Empty
	case len(s) > textBytesMax:
		return fixed{}, TooLong
	}
	start := 0
	if s[0] == '-' {
		start = 1
	}
	// The first 19 integer digits fit 64 bits; a twentieth is kept apart. Wrapped
	// sums of longer texts are refused below by their count.
	var whole, last, fraction uint64
	i := start
	for ; i < len(s) && isDigit(s[i]); i++ {
		if i-start < integerDigits-1 {
			whole = whole*10 + uint64(s[i]-'0')
		} else {
			last = uint64(s[i] - '0')
		}
	}
	digits, places := i-start, 0
	if digits == 0 || digits > 1 && s[start] == '0' {
		return fixed{}, Syntax
	}
	if i < len(s) {
		if s[i] != '.' {
			return fixed{}, Syntax
		}
		first := i + 1
		for i = first; i < len(s) && isDigit(s[i]); i++ {
			fraction = fraction*10 + uint64(s[i]-'0')
		}
		places = i - first
		if i < len(s) || places == 0 {
			return fixed{}, Syntax
		}
	}
	switch {
	case digits > integerDigits:
		return fixed{}, TooManyDigits
	case places > decimals:
		return fixed{}, TooManyDecimals
	}
	for ; places < decimals; places++ {
		fraction *= 10
	}
	unit := uint64(one)
	if digits == integerDigits {
		unit, fraction = 10*one, fraction+last*one
	}
	hi, lo := bits.Mul64(whole, unit)
	lo, carry := bits.Add64(lo, fraction, 0)
	m := u128{hi + carry, lo}
	if start == 1 && m == (u128{}) {
		return fixed{}, Syntax
	}
	return join(start == 1, m), 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// AppendTo appends the shortest decimal text of the figure: no exponent, no
// trailing zeros, "0" for 0.
func (a fixed) AppendTo(b []byte) []byte {
	neg, m := a.split()
	if neg {
		b = append(b, '-')
	}
	var fraction uint64
	if m.hi == 0 {
		b, fraction = strconv.AppendUint(b, m.lo/one, 10), m.lo%one
	} else if quo, rem := wide(m).divide64(one); quo.w1 == 0 {
		b, fraction = strconv.AppendUint(b, quo.w0, 10), rem
	} else {
		// Only a 20-digit integer part needs more than 64 bits.
		tens, unit := quo.divide64(10)
		b, fraction = append(strconv.AppendUint(b, tens.w0, 10), '0'+byte(unit)), rem
	}
	if fraction == 0 {
		return b
	}
	b = append(b, '.')
	for weight := uint64(one / 10); fraction != 0; weight /= 10 {
		b = append(b, '0'+byte(fraction/weight))
		fraction %= weight
	}
	return b
}

// String returns the text of AppendTo.
func (a fixed) String() string {
	var b [textBytesMax]byte
	return string(a.AppendTo(b[:0]))
}

// AppendText implements encoding.TextAppender. It never fails.
func (a fixed) AppendText(b []byte) ([]byte, error) { return a.AppendTo(b), nil }

// MarshalText implements encoding.TextMarshaler. It never fails.
func (a fixed) MarshalText() ([]byte, error) {
	return a.AppendTo(make([]byte, 0, textBytesMax)), nil
}

// UnmarshalText accepts what the parse functions accept. On a *ParseError the
// figure is unchanged.
func (a *fixed) UnmarshalText(text []byte) error {
	f, err := parse(text)
	if err != nil {
		return err
	}
	*a = f
	return nil
}

// UnmarshalJSON accepts a JSON string that holds what the parse functions
// accept, without escapes. It exists to refuse null, which a decoder would turn
// into 0. On a *ParseError the figure is unchanged.
func (a *fixed) UnmarshalJSON(value []byte) error {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return &ParseError{Kind: Syntax}
	}
	return a.UnmarshalText(value[1 : len(value)-1])
}

func must(s string) fixed {
	f, err := parse(s)
	if err != nil {
		panic(err)
	}
	return f
}
