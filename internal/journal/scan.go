package journal

import (
	"encoding/binary"
	"unicode/utf8"
)

// scan reads canonical text from its front and allocates nothing. It accepts exactly what
// decoding and encoding again accepts; a fuzz target holds it to that.
type scan struct {
	b  []byte
	at int
}

// canonicalBody reports whether b is the only text of a body of the kind.
func canonicalBody(k Kind, b []byte) bool {
	parts := bodyForm(k)
	s := scan{b: b}
	return parts != nil && s.object(parts) && s.at == len(b)
}

func (s *scan) take(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scan) takeText(text string) bool {
	if len(s.b)-s.at >= len(text) && string(s.b[s.at:s.at+len(text)]) == text {
		s.at += len(text)
		return true
	}
	return false
}

// object reads the members that are there; each may stand only where its name comes.
func (s *scan) object(parts []member) bool {
	if !s.take('{') {
		return false
	}
	first := true
	for i := range parts {
		m, start := &parts[i], s.at
		if (first || s.take(',')) && s.takeText(m.name) {
			if !s.value(m) {
				return false
			}
			first = false
			continue
		}
		if !m.opt {
			return false
		}
		s.at = start
	}
	return s.take('}')
}

func (s *scan) value(m *member) bool {
	switch m.form {
	case formText:
		start := s.at
		return s.text() && (!m.opt || s.at-start > len(`""`))
	case formWord:
		return s.word(m.words)
	case formDecimal:
		return s.decimal(m.opt && m.words == nil)
	case formInstant:
		return s.instant(m.opt)
	case formFlag:
		return s.takeText("true") || !m.opt && s.takeText("false")
	case formSigned:
		return s.whole(true)
	case formCount:
		return s.whole(false)
	case formObject:
		return s.object(m.parts)
	case formTexts:
		return s.list(nil)
	case formObjects:
		return s.list(m.parts)
	}
	return false
}

// list reads a list of objects, or of texts where there are no parts.
func (s *scan) list(parts []member) bool {
	if !s.take('[') {
		return false
	}
	for first := true; ; first = false {
		if s.take(']') {
			return true
		}
		if !first && !s.take(',') {
			return false
		}
		if parts != nil && !s.object(parts) || parts == nil && !s.text() {
			return false
		}
	}
}

// Bytes of every lane of a word, for text.
const (
	lanes = 0x0101010101010101
	tops  = 0x8080808080808080
)

// text reads a string with its quotes. Eight bytes at a time are passed over while none
// of them is special.
func (s *scan) text() bool {
	if !s.take('"') {
		return false
	}
	b, i := s.b, s.at
	for {
		for len(b)-i >= 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, back := w^lanes*'"', w^lanes*'\\'
			// A lane's top bit is set where the byte is 0 after the change, below a space,
			// or not ASCII; a borrow can set more of them, never fewer.
			if (w|(w-lanes*' ')|(quote-lanes)&^quote|(back-lanes)&^back)&tops != 0 {
				break
			}
			i += 8
		}
		if i >= len(b) {
			return false
		}
		// One special byte, or the last few.
		for stop := min(len(b), i+8); i < stop; {
			switch c := b[i]; {
			case c == '"':
				s.at = i + 1
				return true
			case c < ' ':
				return false
			case c == '\\':
				n := escapeBytes(b[i:])
				if n == 0 {
					return false
				}
				i += n
			case c < utf8.RuneSelf:
				i++
			default:
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n <= 1 {
					return false
				}
				i += n
			}
		}
	}
}

func (s *scan) word(words []string) bool {
	if !s.take('"') {
		return false
	}
	for _, w := range words {
		if len(s.b)-s.at > len(w) && string(s.b[s.at:s.at+len(w)]) == w && s.b[s.at+len(w)] == '"' {
			s.at += len(w) + 1
			return true
		}
	}
	return false
}

// Digits that money takes before and after the point.
const (
	decimalDigitsMax = 20
	decimalPlacesMax = 9
)

// decimal reads a decimal in its shortest spelling.
func (s *scan) decimal(zeroRefused bool) bool {
	if !s.take('"') {
		return false
	}
	negative := s.take('-')
	start := s.at
	digits := s.digits()
	zero := digits == 1 && s.b[start] == '0'
	if digits == 0 || digits > decimalDigitsMax || s.b[start] == '0' && !zero {
		return false
	}
	if s.take('.') {
		places := s.digits()
		if places == 0 || places > decimalPlacesMax || s.b[s.at-1] == '0' {
			return false
		}
		zero = false // its last place is not
	}
	if zero && (negative || zeroRefused) {
		return false
	}
	return s.take('"')
}

func (s *scan) digits() int {
	start := s.at
	for s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9' {
		s.at++
	}
	return s.at - start
}

// zeroInstant is the text of the zero time, which is left out where it may be.
const zeroInstant = "0001-01-01T00:00:00.000000000Z"

func (s *scan) instant(zeroRefused bool) bool {
	end := s.at + len(timeLayout) + 2
	if end > len(s.b) || s.b[s.at] != '"' || s.b[end-1] != '"' {
		return false
	}
	text := s.b[s.at+1 : end-1]
	s.at = end
	return isInstant(text) && (!zeroRefused || string(text) != zeroInstant)
}

// isInstant reports whether text is one that parseTime reads.
func isInstant(b []byte) bool {
	if len(b) != len(timeLayout) {
		return false
	}
	for i := range len(timeLayout) {
		if c := timeLayout[i]; c >= '0' && c <= '9' {
			if b[i] < '0' || b[i] > '9' {
				return false
			}
		} else if b[i] != c {
			return false
		}
	}
	year, month, day := digits(b[0:4]), digits(b[5:7]), digits(b[8:10])
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) &&
		digits(b[11:13]) <= 23 && digits(b[14:16]) <= 59 && digits(b[17:19]) <= 59
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// whole reads a whole number of 64 bits in its only spelling.
func (s *scan) whole(signed bool) bool {
	negative := signed && s.take('-')
	start := s.at
	n := s.digits()
	if n == 0 || n > 20 || s.b[start] == '0' && (n > 1 || negative) {
		return false
	}
	most := ^uint64(0)
	if signed {
		most >>= 1
		if negative {
			most++
		}
	}
	var v uint64
	for _, c := range s.b[start:s.at] {
		d := uint64(c - '0')
		if v > (most-d)/10 {
			return false
		}
		v = v*10 + d
	}
	return true
}
