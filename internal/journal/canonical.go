package journal

import "errors"

// errNotCanonical says that a document is not in the only form that is written.
var errNotCanonical = errors.New("not in canonical form")

// depthMax bounds how deep a body may nest; the deepest of ours is 4.
const depthMax = 16

// checkForm looks once over a document that is known to be valid JSON and refuses
// whatever a writer of canonical bytes cannot have written: space between tokens,
// names out of order or twice, null, an escape that is longer than it need be. What
// it does not see is a member that should have been left out because it is zero, and
// a number or text with two spellings; Decode finds those by writing the entry again.
func checkForm(b []byte) error {
	var stack [depthMax]frame
	depth := -1
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '{', '[':
			if depth++; depth == depthMax {
				return errNotCanonical
			}
			stack[depth] = frame{name: c == '{', object: c == '{'}
			i++
		case '}', ']':
			if depth--; depth < -1 {
				return errNotCanonical
			}
			i++
		case ',':
			if depth < 0 {
				return errNotCanonical
			}
			stack[depth].name = stack[depth].object
			i++
		case '"':
			end, ok := stringEnd(b, i+1)
			if !ok {
				return errNotCanonical
			}
			if depth >= 0 && stack[depth].name {
				name := b[i+1 : end-1]
				if last := stack[depth].last; last != nil && string(last) >= string(name) {
					return errNotCanonical
				}
				stack[depth].last, stack[depth].name = name, false
			}
			i = end
		case ' ', '\t', '\n', '\r', 'n': // space, or the start of null
			return errNotCanonical
		default:
			i++
			// The n inside no other literal follows a letter: true and false have none.
		}
	}
	return nil
}

// frame is one open object or array.
type frame struct {
	object bool
	name   bool   // the next string is a member's name
	last   []byte // the last name; nil before the first
}

// stringEnd returns the index after the closing quote of the string whose text starts
// at i. Only the escapes of RFC 8785 section 3.2.2.2 pass.
func stringEnd(b []byte, i int) (end int, ok bool) {
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c < ' ':
			return 0, false
		case c == '\\':
			n := escapeBytes(b[i:])
			if n == 0 {
				return 0, false
			}
			i += n - 1
		}
	}
	return 0, false
}

// escapeBytes returns the length of the escape that b starts with, and 0 if the
// character has a shorter form or needs no escape.
func escapeBytes(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', 'b', 't', 'n', 'f', 'r':
		return 2
	case 'u':
		const form = `\u00`
		if len(b) < 6 || string(b[:4]) != form || b[4] != '0' && b[4] != '1' {
			return 0
		}
		v := lowerHex(b[5])
		if v > 0xf {
			return 0
		}
		c := (b[4]-'0')<<4 | v
		if c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r' {
			return 0
		}
		return 6
	}
	return 0
}
