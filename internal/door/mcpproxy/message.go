package mcpproxy

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var errShape = errors.New("not one strict JSON object")

// member is one member of an object, with its value's own bytes.
type member struct {
	name  string
	value jsontext.Value
}

// members reads one strict JSON object; the values alias raw.
func members(raw []byte) (out []member, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errShape
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, errShape
		}
		m := member{name: token.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, errShape
		}
		end := dec.InputOffset()
		m.value = raw[end-int64(len(value)) : end]
		out = append(out, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errShape
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errShape
	}
	return out, nil
}

// elements reads a JSON list; the elements alias raw.
func elements(raw []byte, most int) (out []jsontext.Value, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '[' {
		return nil, errShape
	}
	for dec.PeekKind() != ']' {
		if len(out) >= most {
			return nil, errShape
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, errShape
		}
		end := dec.InputOffset()
		out = append(out, raw[end-int64(len(value)):end])
	}
	return out, nil
}

func find(ms []member, name string) jsontext.Value {
	for _, m := range ms {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with writes the object again with one member replaced or added; all others keep their
// bytes.
func with(ms []member, name string, value []byte) []byte {
	out, done := []byte{'{'}, false
	put := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, quote(name)...), ':')
		out = append(out, value...)
	}
	for _, m := range ms {
		if m.name == name {
			put(name, value)
			done = true
			continue
		}
		put(m.name, m.value)
	}
	if !done {
		put(name, value)
	}
	return append(out, '}')
}

func quote(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8, which no text here is
		return []byte(`""`)
	}
	return out
}

// text is a string's value; empty for anything else.
func text(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() != '"' {
		return ""
	}
	out, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(out)
}

// envelope is a message of the server.
type envelope struct {
	id, method            string // id: its JSON text
	params, result, fault jsontext.Value
}

// readEnvelope reads a message of the server strictly.
func readEnvelope(raw []byte) (e envelope, err error) {
	ms, err := members(raw)
	if err != nil {
		return e, err
	}
	if string(find(ms, "jsonrpc")) != `"2.0"` {
		return e, errShape
	}
	e.id, e.method = string(find(ms, "id")), text(find(ms, "method"))
	e.params, e.result, e.fault = find(ms, "params"), find(ms, "result"), find(ms, "error")
	if len(e.id) > 256 {
		return e, errShape
	}
	return e, nil
}

// salvageID finds the number in the id of a message that is not sound, or of its
// beginning, before anything that could hold another.
func salvageID(raw []byte) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return ""
	}
	for {
		token, err := dec.ReadToken()
		if err != nil || token.Kind() != '"' {
			return ""
		}
		if token.String() == "id" {
			value, err := dec.ReadValue()
			if err != nil {
				return ""
			}
			return string(value)
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
}

func request(id, method string, params []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	out = append(append(out, `,"method":`...), quote(method)...)
	return append(withParams(out, params), '}')
}

func notification(method string, params []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","method":`), quote(method)...)
	return append(withParams(out, params), '}')
}

func withParams(out, params []byte) []byte {
	if len(params) == 0 {
		return out
	}
	return append(append(out, `,"params":`...), params...)
}

func response(id string, result []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"result":`...), result...), '}')
}

func failure(id string, fault []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"error":`...), fault...), '}')
}

func fault(code int, message string) []byte {
	out := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	return append(append(append(out, `,"message":`...), quote(message)...), '}')
}
