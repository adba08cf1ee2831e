package journal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutMarker ends a text that was longer than allowed.
const cutMarker = "...[cut]"

// BoundText makes text from outside fit to be kept and shown: valid UTF-8, at most max
// bytes, and every character that is invisible or moves the text around it (controls,
// bidirectional and other format characters, line and paragraph separators, tags)
// written as \u{XXXX}. Bytes that are no UTF-8 become U+FFFD. A text that had to be cut
// ends with a marker; where max is shorter than the marker the result is empty.
func BoundText(s string, max int) string {
	if isPlain(s) && len(s) <= max {
		return s
	}
	keep := max - len(cutMarker)
	var out strings.Builder
	marked := 0 // the length up to which a marker still fits
	for _, r := range s {
		piece := visible(r)
		if out.Len()+len(piece) > max {
			if keep < 0 {
				return ""
			}
			return out.String()[:marked] + cutMarker
		}
		out.WriteString(piece)
		if out.Len() <= keep {
			marked = out.Len()
		}
	}
	return out.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func visible(r rune) string {
	hidden := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
	// The supplementary variation selectors can carry a hidden text, one byte each.
	if hidden || 0xE0000 <= r && r <= 0xE0FFF {
		hex := strings.ToUpper(strconv.FormatInt(int64(r), 16))
		return `\u{` + strings.Repeat("0", max(0, 4-len(hex))) + hex + `}`
	}
	return string(utf8.AppendRune(nil, r))
}
