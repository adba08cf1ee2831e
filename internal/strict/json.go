package strict

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// looksLikeJSON reports whether the text is to be read as JSON: by its name, or
// because it is one strict JSON value. Such a text means the same in YAML.
func looksLikeJSON(name string, text []byte) bool {
	if strings.HasSuffix(Lower(name), ".json") {
		return true
	}
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && jsontext.Value(trimmed).IsValid()
}

// jsonReader builds nodes from JSON. Duplicate names are let through here and
// refused by the walk, which knows their keys.
type jsonReader struct {
	dec  *jsontext.Decoder
	text []byte
	p    *Problems
	// last offset and its place, so that finding places is linear in the text
	offset int64
	at     Place
}

// parseJSON reads exactly one value. It returns nil after adding a problem.
func parseJSON(text []byte, p *Problems) *Tree {
	r := &jsonReader{
		dec:  jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)),
		text: text, p: p, at: Place{1, 1},
	}
	if r.dec.PeekKind() == 0 && len(bytes.TrimSpace(text)) == 0 {
		p.Add(Place{1, 1}, "", Complaint{Problem: "is empty", Hint: "write it whole"})
		return nil
	}
	before := len(p.List)
	root := r.value(1)
	if len(p.List) > before {
		return nil
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		p.Add(r.place(r.dec.InputOffset()), "", Complaint{Problem: "a second value follows", Hint: "one file holds one document"})
		return nil
	}
	return root
}

// place finds line and column of a byte offset that is not before the last one.
func (r *jsonReader) place(offset int64) Place {
	for r.offset < offset && r.offset < int64(len(r.text)) {
		switch c := r.text[r.offset]; {
		case c == '\n':
			r.at.Line, r.at.Column = r.at.Line+1, 1
		case c&0xc0 != 0x80: // columns count characters, not bytes
			r.at.Column++
		}
		r.offset++
	}
	return r.at
}

// start is the place of the next token: past white space, commas and colons.
func (r *jsonReader) start() Place {
	at := r.dec.InputOffset()
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return r.place(at)
}

// value reads one value, or adds a problem and returns nil.
func (r *jsonReader) value(depth int) *Tree {
	n := &Tree{Place: r.start(), Shape: Scalar}
	if depth > DepthMax {
		r.p.Add(n.Place, "", Complaint{Problem: "nests deeper than 16 levels"})
		return nil
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		r.p.Add(n.Place, "", Complaint{Problem: "is not JSON: " + jsonMessage(err)})
		return nil
	}
	switch token.Kind() {
	case '"':
		n.Text, n.Quoted = token.String(), true
	case '0':
		n.Text, n.Number = token.String(), true // the literal's own text
	case 't', 'f':
		n.Text, n.Bool = token.String(), true
	case 'n':
		n.Text, n.Null = token.String(), true
	case '{':
		n.Shape = Mapping
		for r.dec.PeekKind() != '}' {
			key := r.value(depth + 1)
			if key == nil {
				return nil
			}
			v := r.value(depth + 1)
			if v == nil {
				return nil
			}
			n.Keys, n.Values = append(n.Keys, key), append(n.Values, v)
		}
		return r.closed(n)
	case '[':
		n.Shape = List
		for r.dec.PeekKind() != ']' {
			v := r.value(depth + 1)
			if v == nil {
				return nil
			}
			n.Values = append(n.Values, v)
		}
		return r.closed(n)
	}
	return n
}

// closed reads the token that ends n.
func (r *jsonReader) closed(n *Tree) *Tree {
	if _, err := r.dec.ReadToken(); err != nil {
		r.p.Add(r.start(), "", Complaint{Problem: "is not JSON: " + jsonMessage(err)})
		return nil
	}
	return n
}

func jsonMessage(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && e.Err != nil {
		return Printable(e.Err.Error())
	}
	return Printable(err.Error())
}
