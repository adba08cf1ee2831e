package limits

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
	if strings.HasSuffix(lower(name), ".json") {
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
	p    *problems
	// last offset and its place, so that finding places is linear in the text
	offset int64
	at     place
}

// parseJSON reads exactly one value. It returns nil after adding a problem.
func parseJSON(text []byte, p *problems) *node {
	r := &jsonReader{
		dec:  jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)),
		text: text, p: p, at: place{1, 1},
	}
	if r.dec.PeekKind() == 0 && len(bytes.TrimSpace(text)) == 0 {
		p.add(place{1, 1}, "", complaint{problem: "is empty", hint: "a limits document has no defaults; start from a complete one"})
		return nil
	}
	before := len(p.list)
	root := r.value(1)
	if len(p.list) > before {
		return nil
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		p.add(r.place(r.dec.InputOffset()), "", complaint{problem: "a second value follows", hint: "one file holds one document"})
		return nil
	}
	return root
}

// place finds line and column of a byte offset that is not before the last one.
func (r *jsonReader) place(offset int64) place {
	for r.offset < offset && r.offset < int64(len(r.text)) {
		switch c := r.text[r.offset]; {
		case c == '\n':
			r.at.line, r.at.column = r.at.line+1, 1
		case c&0xc0 != 0x80: // columns count characters, not bytes
			r.at.column++
		}
		r.offset++
	}
	return r.at
}

// start is the place of the next token: past white space, commas and colons.
func (r *jsonReader) start() place {
	at := r.dec.InputOffset()
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return r.place(at)
}

// value reads one value, or adds a problem and returns nil.
func (r *jsonReader) value(depth int) *node {
	n := &node{place: r.start(), shape: scalar}
	if depth > DepthMax {
		r.p.add(n.place, "", complaint{problem: "nests deeper than 16 levels"})
		return nil
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		r.p.add(n.place, "", complaint{problem: "is not JSON: " + jsonMessage(err)})
		return nil
	}
	switch token.Kind() {
	case '"':
		n.text, n.quoted, n.as = token.String(), true, asText
	case '0':
		n.text, n.as = token.String(), asNumber // the literal's own text
	case 't', 'f':
		n.text, n.as = token.String(), asBool
	case 'n':
		n.text, n.as = token.String(), asNull
	case '{':
		n.shape = mapping
		for r.dec.PeekKind() != '}' {
			key := r.value(depth + 1)
			if key == nil {
				return nil
			}
			v := r.value(depth + 1)
			if v == nil {
				return nil
			}
			n.keys, n.values = append(n.keys, key), append(n.values, v)
		}
		return r.closed(n)
	case '[':
		n.shape = list
		for r.dec.PeekKind() != ']' {
			v := r.value(depth + 1)
			if v == nil {
				return nil
			}
			n.values = append(n.values, v)
		}
		return r.closed(n)
	}
	return n
}

// closed reads the token that ends n.
func (r *jsonReader) closed(n *node) *node {
	if _, err := r.dec.ReadToken(); err != nil {
		r.p.add(r.start(), "", complaint{problem: "is not JSON: " + jsonMessage(err)})
		return nil
	}
	return n
}

func jsonMessage(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && e.Err != nil {
		return printable(e.Err.Error())
	}
	return printable(err.Error())
}
