package journal

// EncodeAny is the general encoder, which the quick one is held to.
func EncodeAny(body any) ([]byte, error) { return encodeAny(body) }

// Handed reports whether the entry carries its body, so that nothing has to be read.
func Handed(e *Entry) bool { return e.decoded != nil }

// Unhanded is the entry without a body that was handed over.
func Unhanded(e Entry) Entry { e.decoded = nil; return e }
