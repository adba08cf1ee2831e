package limits

import (
	"errors"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// decimal is what every money type offers to a limit.
type decimal[T any] interface {
	comparable
	Cmp(T) int
	IsZero() bool
	IsNegative() bool
	AppendTo([]byte) []byte
}

// bounds of a decimal: whether zero is a value, and what it must stay below.
type bounds[T any] struct {
	zero   bool
	below  T // no bound when zero
	reason string
}

func ofDecimal[T decimal[T]](k Kind, d Direction, parse func(string) (T, error), in bounds[T]) figure[T] {
	return figure[T]{
		kind: k, direction: d, schema: decimalSchema(in.zero),
		read: func(n *node) (T, complaint) {
			var none T
			text, c := numberText(n)
			if c.Found() {
				return none, c
			}
			v, err := parse(text)
			switch {
			case err != nil:
				return none, complaint{Problem: numberProblem(err), Hint: "write digits, with at most 9 decimals"}
			case v.IsNegative():
				return none, complaint{Problem: "is negative"}
			case v.IsZero() && !in.zero:
				return none, complaint{Problem: "is 0", Hint: "write off to switch it off"}
			case in.below != none && v.Cmp(in.below) >= 0:
				return none, complaint{Problem: in.reason, Hint: "write off to switch it off"}
			}
			return v, complaint{}
		},
		write: func(b []byte, v T) []byte { return append(v.AppendTo(append(b, '"')), '"') },
		effect: func(before, after T) Effect {
			return ordered(after.Cmp(before), d)
		},
	}
}

// ordered turns a comparison (after with before) into an effect.
func ordered(cmp int, d Direction) Effect {
	if d == HigherTightens {
		cmp = -cmp
	}
	switch {
	case cmp < 0:
		return Tightens
	case cmp > 0:
		return Loosens
	}
	return Same
}

// numberText returns the source text of a number, quoted or plain.
func numberText(n *node) (string, complaint) {
	switch {
	case n.Null:
		return "", nullComplaint
	case n.Shape != strict.Scalar:
		return "", complaint{Problem: "is not a number", Hint: "write one value, or off"}
	case n.Bool:
		return "", complaint{Problem: "is not a number", Hint: "write a number, or off"}
	}
	return n.Text, wrongOff(n)
}

// wrongOff finds words that look like off but are not.
func wrongOff(n *node) complaint {
	switch lower(n.Text) {
	case "off", "none", "unlimited", "disabled", "no", "false", "inf", ".inf", "infinity":
		return complaint{Problem: "is not a number", Hint: "write off to switch it off"}
	}
	return complaint{}
}

func numberProblem(err error) string {
	var e *money.ParseError
	if errors.As(err, &e) {
		return "is not a number: " + e.Kind.String()
	}
	return "is not a number"
}

var nullComplaint = complaint{Problem: "has no value", Hint: "every key needs one; null is not accepted"}

func quantity(d Direction) figure[money.Quantity] {
	return ofDecimal(KindQuantity, d, money.ParseQuantity, bounds[money.Quantity]{zero: true})
}

func notional(d Direction) figure[money.Notional] {
	return ofDecimal(KindNotional, d, money.ParseNotional, bounds[money.Notional]{zero: true})
}

func percent() figure[money.Percent] {
	return ofDecimal(KindPercent, LowerTightens, money.ParsePercent, bounds[money.Percent]{zero: true})
}

// band is a distance that a price may keep. At 100% a floor under a sell is zero,
// so such a band would protect nothing.
func band(d Direction) figure[money.BasisPoints] {
	return ofDecimal(KindBasisPoints, d, money.ParseBasisPoints, bounds[money.BasisPoints]{
		below: money.BasisPointsFromInt(10_000), reason: "is 100% (10000) or more and would protect nothing",
	})
}

// spread is a bound on (ask-bid)/mid, which never comes to 200%.
func spread(zero bool) figure[money.BasisPoints] {
	return ofDecimal(KindBasisPoints, LowerTightens, money.ParseBasisPoints, bounds[money.BasisPoints]{
		zero: zero, below: money.BasisPointsFromInt(20_000), reason: "is 200% (20000) or more, which no spread reaches",
	})
}

// count is a whole number from low to high, both included.
func count(low, high int) figure[int] {
	return figure[int]{
		kind: KindCount, direction: LowerTightens, schema: countSchema(low, high),
		read: func(n *node) (int, complaint) {
			text, c := numberText(n)
			if c.Found() {
				return 0, c
			}
			return wholeNumber(text, low, high)
		},
		write:  func(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) },
		effect: func(before, after int) Effect { return ordered(after-before, LowerTightens) },
	}
}

func wholeNumber(text string, low, high int) (int, complaint) {
	q, err := money.ParseQuantity(text)
	switch {
	case err != nil:
		return 0, complaint{Problem: numberProblem(err), Hint: "write a whole number"}
	case q.IsNegative():
		return 0, complaint{Problem: "is negative"}
	case !q.IsWhole():
		return 0, complaint{Problem: "is not a whole number"}
	case q.Cmp(money.QuantityFromInt(int64(high))) > 0:
		return 0, complaint{Problem: "is more than " + strconv.Itoa(high)}
	case q.Cmp(money.QuantityFromInt(int64(low))) < 0:
		return 0, complaint{Problem: "is less than " + strconv.Itoa(low), Hint: "write off to switch it off"}
	}
	v, err := strconv.Atoi(q.String())
	if err != nil {
		return 0, complaint{Problem: "is not a whole number"}
	}
	return v, complaint{}
}

// duration is a whole number of one unit, above zero.
func duration(d Direction, most time.Duration) figure[time.Duration] {
	return figure[time.Duration]{
		kind: KindDuration, direction: d, schema: durationSchema,
		read:  func(n *node) (time.Duration, complaint) { return readDuration(n, most) },
		write: appendDuration,
		effect: func(before, after time.Duration) Effect {
			return ordered(compareInt(after, before), d)
		},
	}
}

func compareInt[T ~int | ~int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// units of a duration, the longest first, so that the canonical form of 60s is 1m.
var units = [...]struct {
	name string
	unit time.Duration
}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

func readDuration(n *node, most time.Duration) (time.Duration, complaint) {
	const form = "write a whole number and ms, s, m or h, such as 10s"
	switch {
	case n.Null:
		return 0, nullComplaint
	case n.Shape != strict.Scalar:
		return 0, complaint{Problem: "is not a duration", Hint: form}
	}
	end := 0
	for end < len(n.Text) && n.Text[end] >= '0' && n.Text[end] <= '9' {
		end++
	}
	if end == 0 || n.Text[0] == '0' && end > 1 {
		return 0, complaint{Problem: "is not a duration", Hint: form}
	}
	v, err := strconv.ParseInt(n.Text[:end], 10, 64)
	if err != nil {
		return 0, complaint{Problem: "is a duration longer than " + string(bareDuration(most))}
	}
	if v == 0 && end == len(n.Text) {
		return 0, complaint{Problem: "is 0", Hint: "write off to switch it off"}
	}
	for _, u := range units {
		if n.Text[end:] != u.name {
			continue
		}
		switch {
		case v == 0:
			return 0, complaint{Problem: "is 0", Hint: "write off to switch it off"}
		case v > int64(most/u.unit):
			return 0, complaint{Problem: "is a duration longer than " + string(bareDuration(most))}
		}
		return time.Duration(v) * u.unit, complaint{}
	}
	return 0, complaint{Problem: "is not a duration", Hint: form}
}

func bareDuration(v time.Duration) []byte {
	for _, u := range units {
		if v%u.unit == 0 {
			return append(strconv.AppendInt(nil, int64(v/u.unit), 10), u.name...)
		}
	}
	return append(strconv.AppendInt(nil, int64(v), 10), "ns"...)
}

func appendDuration(b []byte, v time.Duration) []byte {
	return append(append(append(b, '"'), bareDuration(v)...), '"')
}
