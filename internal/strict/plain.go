package strict

import "github.com/go-json-experiment/json/jsontext"

// Plain reads a scalar by the text that stands there, whatever YAML would take it for, for
// a caller who parses it: figures, dates and ids that are numbers. Null is none.
func (r *Reader) Plain(t *Tree, path string) string {
	if t == nil || t.Shape != Scalar || t.Null {
		r.add(t, path, "is not a text", "")
		return ""
	}
	return t.Text
}

// Plain is Reader.Plain of a key that may be left out: "" then.
func (f Fields) Plain(key string) string {
	if f.of[key] == nil {
		return ""
	}
	return f.r.Plain(f.of[key], f.Path(key))
}

// NeedPlain is Reader.Plain of a key that must be there.
func (f Fields) NeedPlain(key string) string {
	if f.Must(key) == nil {
		return ""
	}
	return f.Plain(key)
}

// Must returns the value of a key that must be there; nil after noting that it is not.
func (f Fields) Must(key string) *Tree {
	if f.of[key] == nil {
		f.Refuse(key, "is missing", "")
	}
	return f.of[key]
}

// Len is how many known keys are written.
func (f Fields) Len() int { return len(f.of) }

// Parse reads a scalar with the parser of what it should be; the zero value when it is not
// written. What the parser refuses is the given problem: its own words are of a text that
// may be anything.
func Parse[T any](r *Reader, t *Tree, path string, parse func(string) (T, error), problem, hint string) T {
	var zero T
	if t == nil {
		return zero
	}
	if t.Shape != Scalar || t.Null {
		r.add(t, path, problem, hint)
		return zero
	}
	v, err := parse(t.Text)
	if err != nil {
		r.add(t, path, problem, hint)
		return zero
	}
	return v
}

// AppendJSON writes a tree as JSON, keys in their order. A number keeps its literal; one
// that is none in JSON (010, .5, 1_000) becomes a text, and so is judged as it was written.
func AppendJSON(b []byte, t *Tree) []byte {
	switch {
	case t.Shape == Mapping:
		b = append(b, '{')
		for i, k := range t.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(append(AppendQuoted(b, k.Text), ':'), t.Values[i])
		}
		return append(b, '}')
	case t.Shape == List:
		b = append(b, '[')
		for i, v := range t.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, v)
		}
		return append(b, ']')
	case t.Null:
		return append(b, "null"...)
	case t.Bool && (t.Text == "true" || t.Text == "false"), t.Number && jsontext.Value(t.Text).IsValid():
		return append(b, t.Text...)
	}
	return AppendQuoted(b, t.Text)
}

// AppendQuoted writes a JSON string. The text is valid UTF-8, as every text is that Read
// accepts; else nothing of it is written.
func AppendQuoted(b []byte, text string) []byte {
	out, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}
