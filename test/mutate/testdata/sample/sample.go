// Package sample is what the mutator is tried on: its test is weak in one place.
package sample

// Over reports whether n is above the limit. Its test forgets n at the limit.
func Over(n, limit int) bool { return n > limit }

// Word names a small number.
func Word(n int) string {
	switch n {
	case 1:
		return "one"
	case 2:
		return "two"
	}
	return ""
}

// Sum adds up the numbers that are not negative, up to the first zero.
func Sum(list []int) int {
	total := 0
	for _, n := range list {
		if n == 0 {
			break
		}
		if n > 0 && !skipped(n) {
			total += n
		}
	}
	return total
}

func skipped(n int) bool { return n == 13 }
