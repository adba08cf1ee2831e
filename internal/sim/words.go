package sim

import (
	"math"
	"strconv"
	"strings"
)

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}

func words(id string) string { return strings.ReplaceAll(id, "_", " ") }

func number(n int) string { return spaced(strconv.Itoa(n)) }

// spaced groups the digits before the point by threes, and drops decimals past the cent.
func spaced(text string) string {
	whole, decimals, has := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if has {
		b.WriteString("." + (decimals + "0")[:2])
	}
	return sign + b.String()
}

// toCents is an amount with two decimals.
func toCents(text string) string {
	if !strings.Contains(text, ".") {
		text += ".00"
	}
	return spaced(text)
}

func grouped(v float64) string { return spaced(strconv.FormatFloat(math.Round(v), 'f', 0, 64)) }

// round keeps two digits.
func round(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/unit) * unit
}

func top(values []float64) (most float64) {
	for _, v := range values {
		most = math.Max(most, v)
	}
	return most
}

func last(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1]
}

// spread is a range that holds all values with some room.
func spread(values []float64) (low, high float64) {
	if len(values) == 0 {
		return 0, 1
	}
	low, high = values[0], values[0]
	for _, v := range values {
		low, high = math.Min(low, v), math.Max(high, v)
	}
	room := math.Max(1, (high-low)*0.08)
	return math.Floor(low - room), math.Ceil(high + room)
}
