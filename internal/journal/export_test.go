package journal

// EncodeAny is the general encoder, which the quick one is held to.
func EncodeAny(body any) ([]byte, error) { return encodeAny(body) }

// Handed reports whether the entry carries its body, so that nothing has to be read.
func Handed(e *Entry) bool { return e.decoded != nil }

// Unhanded is the entry without a body that was handed over.
func Unhanded(e Entry) Entry { e.decoded = nil; return e }

// CanonicalBody is the checker that Inspect asks first.
func CanonicalBody(k Kind, b []byte) bool { return canonicalBody(k, b) }

// FormText writes a kind's table: names, a question mark where a member may be left out,
// and the parts in parentheses.
func FormText(k Kind) string { return namesOf(bodyForm(k)) }

func namesOf(parts []member) (out string) {
	for _, m := range parts {
		out += " " + m.name[1:len(m.name)-2]
		if m.opt {
			out += "?"
		}
		if m.parts != nil {
			out += "(" + namesOf(m.parts) + " )"
		}
	}
	return out
}
