package lint

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// number is an exact decimal of nine places, the scale of every figure of the document.
// It is unbounded: a search may come to figures that no order can have, and the gate
// refuses those.
type number struct{ n *big.Int }

const places = 9

func scale() *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(places), nil) }

// parse reads the text of a figure that was read once already; anything else is zero.
func parse(text string) number {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > places {
		return zero()
	}
	n, ok := new(big.Int).SetString(whole+part+strings.Repeat("0", places-len(part)), 10)
	if !ok {
		return zero()
	}
	return number{n}
}

// of turns a figure of the document into a number.
func of(figure interface{ String() string }) number { return parse(figure.String()) }

func whole(n int64) number { return number{new(big.Int).Mul(big.NewInt(n), scale())} }
func zero() number         { return number{new(big.Int)} }
func least() number        { return number{big.NewInt(1)} }

func (a number) plus(b number) number  { return number{new(big.Int).Add(a.n, b.n)} }
func (a number) minus(b number) number { return number{new(big.Int).Sub(a.n, b.n)} }
func (a number) cmp(b number) int      { return a.n.Cmp(b.n) }
func (a number) positive() bool        { return a.n.Sign() > 0 }

// times is a×b, rounded down to nine places.
func (a number) times(b number) number {
	n := new(big.Int).Mul(a.n, b.n)
	return number{n.Div(n, scale())}
}

// over is a÷b, rounded down to nine places; zero for a divisor that is not positive.
func (a number) over(b number) number {
	if !b.positive() {
		return zero()
	}
	n := new(big.Int).Mul(a.n, scale())
	return number{n.Div(n, b.n)}
}

// down is the largest multiple of step that is not above a.
func (a number) down(step number) number {
	if !step.positive() {
		return a
	}
	return number{new(big.Int).Mul(new(big.Int).Div(a.n, step.n), step.n)}
}

// up is the smallest multiple of step that is not below a.
func (a number) up(step number) number {
	d := a.down(step)
	if d.cmp(a) < 0 {
		d = d.plus(step)
	}
	return d
}

func (a number) multipleOf(step number) bool { return a.down(step).cmp(a) == 0 }

// common is the least common multiple.
func common(a, b number) number {
	if !a.positive() || !b.positive() {
		return smaller(a, b)
	}
	g := new(big.Int).GCD(nil, nil, a.n, b.n)
	return number{new(big.Int).Mul(new(big.Int).Div(a.n, g), b.n)}
}

func smaller(a, b number) number {
	if a.cmp(b) <= 0 {
		return a
	}
	return b
}

func larger(a, b number) number {
	if a.cmp(b) >= 0 {
		return a
	}
	return b
}

// String writes the number without zeros at its end.
func (a number) String() string {
	sign, digits := "", a.n.String()
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= places {
		digits = strings.Repeat("0", places+1-len(digits)) + digits
	}
	head, part := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if part == "" {
		return sign + head
	}
	return sign + head + "." + part
}

// money writes the number with at least two places.
func (a number) money() string {
	text := a.String()
	_, part, _ := strings.Cut(text, ".")
	switch len(part) {
	case 0:
		return text + ".00"
	case 1:
		return text + "0"
	}
	return text
}

// root is ratio to the power of i/n, for places on a logarithmic axis; nothing is decided
// by it.
func root(ratio float64, i, n int) number {
	text := strconv.FormatFloat(math.Pow(ratio, float64(i)/float64(n)), 'f', places, 64)
	return parse(text)
}
