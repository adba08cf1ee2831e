package normalize

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// Limits of a call's arguments.
const (
	ArgumentsBytesMax = 64 << 10
	ArgumentsDepthMax = 64
	ArgumentsCountMax = 64
)

// argument is one member of the arguments object: its JSON kind and its text, a
// number's literal as it was written, a string's value decoded.
type argument struct {
	kind jsontext.Kind
	text string
}

// readArguments reads one JSON object strictly: no duplicate names, no invalid UTF-8,
// nothing after it, nothing nested where the tool has plain fields. A name that
// differs from a known one only in case is refused like any unknown one.
func readArguments(raw []byte, known []string) (map[string]argument, *Refusal) {
	if len(raw) > ArgumentsBytesMax {
		return nil, &Refusal{Code: MalformedCall, Problem: "arguments are too long"}
	}
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, &Refusal{Code: MalformedCall, Problem: "arguments are not a JSON object"}
	}
	if tooDeep(raw) {
		return nil, &Refusal{Code: MalformedCall, Problem: "arguments are nested too deep"}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	out := make(map[string]argument, len(known))
	var unknown *Refusal
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, notJSON(err)
		}
		field := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, notJSON(err)
		}
		if len(out) >= ArgumentsCountMax {
			return nil, &Refusal{Code: MalformedCall, Problem: "too many arguments"}
		}
		if !slices.Contains(known, field) {
			if unknown == nil {
				unknown = &Refusal{Code: UnknownArgument, Problem: unknownProblem(known, field)}
			}
			field = "\x00" + field
		}
		arg, refusal := scalar(value, strings.TrimPrefix(field, "\x00"), slices.Contains(known, field))
		if refusal != nil && unknown == nil {
			return nil, refusal
		}
		out[field] = arg
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &Refusal{Code: MalformedCall, Problem: "something follows the arguments object"}
	}
	if unknown != nil {
		return nil, unknown
	}
	return out, nil
}

func notJSON(err error) *Refusal {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return &Refusal{Code: MalformedCall, Problem: "a name stands twice in the arguments"}
	}
	return &Refusal{Code: MalformedCall, Problem: "arguments are not valid JSON in UTF-8"}
}

// unknownProblem names the known argument that was probably meant, never the caller's
// own text.
func unknownProblem(known []string, field string) string {
	for _, k := range known {
		if strings.EqualFold(k, field) {
			return "an argument is not known; names are lower case, as in " + k
		}
	}
	if len(known) == 0 {
		return "an argument is not known; this tool has none"
	}
	return "an argument is not known; known are " + strings.Join(known, ", ")
}

func scalar(v jsontext.Value, field string, known bool) (argument, *Refusal) {
	a := argument{kind: v.Kind()}
	switch a.kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil || !utf8.Valid(text) {
			return a, &Refusal{Code: MalformedCall, Problem: "a string is not valid UTF-8"}
		}
		a.text = string(text)
	case '0':
		a.text = string(v)
	case 't', 'f':
		a.text = string(v)
	default:
		if known {
			return a, &Refusal{Code: MalformedCall, Field: field, Problem: "is neither text, number nor true or false"}
		}
	}
	return a, nil
}

// tooDeep counts brackets outside strings, before any parser recurses. Package wire does
// the same for whole messages: neither door nor mapping leans on the other.
func tooDeep(raw []byte) bool {
	depth, inString, escaped := 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > ArgumentsDepthMax {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Plain shows a caller's bounded text safely, for entries and terminals.
func Plain(text string) string { return journal.BoundText(text, 128) }
