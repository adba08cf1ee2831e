package profile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a call's arguments, and of a reply that is read.
const (
	ArgumentsBytesMax = 64 << 10
	ReplyBytesMax     = 4 << 20
	DepthMax          = 32
	MembersMax        = 4096
	OpenDepthMax      = 4   // of objects whose members are arguments
	LabelBytesMax     = 256 // of a text that nothing depends on
	WordBytesMax      = 64  // of a text that is taken as it is: a currency, a date, a product
	// DigitsMax is how many significant digits a JSON number may have. Servers read it as a
	// double, which keeps 15 (IEEE 754-2019, 5.12.2): a longer one would be another number.
	DigitsMax = 15
)

// value is one JSON value in the order of its text. A number keeps its literal.
type value struct {
	kind    jsontext.Kind
	text    string // decoded string; literal of a number, true, false or null
	names   []string
	members []*value // of an object, as many as names; of an array
	encoded bool     // stands in its place as a text that holds its JSON
}

func (v *value) get(name string) *value {
	if v == nil || v.kind != '{' {
		return nil
	}
	for i, n := range v.names {
		if n == name {
			return v.members[i]
		}
	}
	return nil
}

// set replaces a member, or adds it at the end.
func (v *value) set(name string, to *value) {
	for i, n := range v.names {
		if n == name {
			v.members[i] = to
			return
		}
	}
	v.names, v.members = append(v.names, name), append(v.members, to)
}

func (v *value) clone() *value {
	c := *v
	c.names = append([]string(nil), v.names...)
	c.members = make([]*value, len(v.members))
	for i, m := range v.members {
		c.members[i] = m.clone()
	}
	return &c
}

// remove takes a member out; no member of that name is no change.
func (v *value) remove(name string) {
	for i, n := range v.names {
		if n == name {
			v.names, v.members = slices.Delete(v.names, i, i+1), slices.Delete(v.members, i, i+1)
			return
		}
	}
}

// appendTo writes the value as compact JSON.
func (v *value) appendTo(b []byte) []byte {
	if v.encoded {
		bare := *v
		bare.encoded = false
		return text(string(bare.appendTo(nil))).appendTo(b)
	}
	switch v.kind {
	case '"':
		out, err := jsontext.AppendQuote(b, v.text)
		if err != nil { // the text was decoded from valid UTF-8
			panic("profile: a text that is not UTF-8")
		}
		return out
	case '{':
		b = append(b, '{')
		for i, n := range v.names {
			if i > 0 {
				b = append(b, ',')
			}
			b = (&value{kind: '"', text: n}).appendTo(b)
			b = v.members[i].appendTo(append(b, ':'))
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.appendTo(b)
		}
		return append(b, ']')
	}
	return append(b, v.text...)
}

func text(s string) *value { return &value{kind: '"', text: s} }

// decode reads exactly one JSON value: no duplicate names, no invalid UTF-8, nothing
// after it, nothing nested deeper than DepthMax or with more than MembersMax members.
func decode(raw []byte, bytesMax int) (*value, *Refusal) {
	return decodeMembers(raw, bytesMax, MembersMax)
}

// decodeMembers is decode with another limit of members: MembersMax is for what an agent
// sends, not for the lists of a server.
func decodeMembers(raw []byte, bytesMax, membersMax int) (*value, *Refusal) {
	if len(raw) > bytesMax {
		return nil, &Refusal{Reason: MalformedCall, Problem: "is too long"}
	}
	d := &decoder{dec: jsontext.NewDecoder(bytes.NewReader(raw)), members: MembersMax - membersMax}
	v, err := d.value(1)
	if err == nil {
		if _, end := d.dec.ReadToken(); !errors.Is(end, io.EOF) {
			err = errTrailing
		}
	}
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, &Refusal{Reason: DuplicateKey, Problem: "a name stands twice"}
	}
	return nil, &Refusal{Reason: MalformedCall, Problem: "is not one JSON value in UTF-8, or is nested too deep"}
}

var (
	errTrailing = errors.New("profile: something follows the value")
	errTooMuch  = errors.New("profile: nested too deep, or too many members")
)

type decoder struct {
	dec     *jsontext.Decoder
	members int
}

func (d *decoder) value(depth int) (*value, error) {
	if d.members++; depth > DepthMax || d.members > MembersMax {
		return nil, errTooMuch
	}
	token, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: token.Kind()}
	switch v.kind {
	case '{':
		for d.dec.PeekKind() != '}' {
			name, err := d.dec.ReadToken()
			if err != nil {
				return nil, err
			}
			v.names = append(v.names, name.String())
			m, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.dec.ReadToken()
	case '[':
		for d.dec.PeekKind() != ']' {
			m, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.dec.ReadToken()
	default:
		if v.text = token.String(); !utf8.ValidString(v.text) {
			return nil, errTooMuch
		}
	}
	return v, err
}
