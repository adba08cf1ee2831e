package strict

// Nearest returns the known name closest to text by edit distance, or "" when
// none is close enough to be what was meant: a third of the name, at least two.
// Ties go to the name that stands first.
func Nearest(text string, known []string) string {
	if len(text) > 64 {
		return ""
	}
	best, name := len(text)/3, ""
	best = max(best, 2)
	for _, k := range known {
		if d := distance(Lower(text), k); d < best || (name == "" && d == best) {
			best, name = d, k
		}
	}
	return name
}

// distance is the number of single-byte edits between a and b, where a swap of
// two neighbours counts as one (optimal string alignment).
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			edit := 1
			if a[i-1] == b[j-1] {
				edit = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+edit)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Lower folds ASCII letters only.
func Lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
