package adversary

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// reader takes values out of a tree and keeps what is wrong with it. After a problem its
// methods return zero values; nothing is played unless there is none.
type reader struct {
	name string
	list limits.Errors
}

func (r *reader) add(t *limits.Tree, key, problem string) {
	if len(r.list) >= limits.ProblemsMax {
		return
	}
	e := &limits.Error{Name: r.name, Key: key, Problem: problem}
	if t != nil {
		e.Line, e.Column = t.Line, t.Column
	}
	r.list = append(r.list, e)
}

func (r *reader) err() error {
	if len(r.list) == 0 {
		return nil
	}
	return r.list
}

// fields is a mapping whose keys are known.
type fields struct {
	r  *reader
	at *limits.Tree
	of map[string]*limits.Tree
}

func (r *reader) mapping(t *limits.Tree, known ...string) fields {
	f := fields{r, t, map[string]*limits.Tree{}}
	if t.Shape != limits.Mapping {
		r.add(t, "", "is not a mapping")
		return f
	}
	for i, k := range t.Keys {
		switch {
		case !slices.Contains(known, k.Text):
			r.add(k, "", "is not known; known are "+strings.Join(known, ", "))
		case f.of[k.Text] != nil:
			r.add(k, k.Text, "stands twice")
		default:
			f.of[k.Text] = t.Values[i]
		}
	}
	return f
}

func (f fields) need(key string) string {
	t := f.of[key]
	if t == nil {
		f.r.add(f.at, key, "is missing")
		return ""
	}
	return f.r.plain(t, key)
}

func (f fields) text(key string) string {
	if f.of[key] == nil {
		return ""
	}
	return f.need(key)
}

func (r *reader) plain(t *limits.Tree, key string) string {
	if t.Shape != limits.Scalar || t.Text == "" || t.Null {
		r.add(t, key, "is not a text")
		return ""
	}
	return t.Text
}

func (r *reader) word(t *limits.Tree, key string, known ...string) string {
	if !slices.Contains(known, t.Text) {
		r.add(t, key, "is none of "+strings.Join(known, ", "))
	}
	return t.Text
}

func (r *reader) flag(t *limits.Tree, key string) bool {
	if t == nil {
		return false
	}
	return r.word(t, key, "true", "false") == "true"
}

func (r *reader) items(t *limits.Tree, key string, most int) []*limits.Tree {
	if t.Shape != limits.List || len(t.Values) == 0 || len(t.Values) > most {
		r.add(t, key, "is not a list that holds something, and not too much")
		return nil
	}
	return t.Values
}

func figure[T any](r *reader, t *limits.Tree, key string, parse func(string) (T, error)) (out T) {
	if t == nil || t.Shape != limits.Scalar {
		r.add(t, key, "is missing, or is not a plain value")
		return out
	}
	out, err := parse(t.Text)
	if err != nil {
		r.add(t, key, "cannot be read: "+err.Error())
	}
	return out
}

// appendJSON writes a value of a file as JSON. A number keeps its literal, and one that
// JSON has no literal for becomes a text.
func appendJSON(b []byte, t *limits.Tree) []byte {
	switch {
	case t == nil:
		return append(b, "{}"...)
	case t.Shape == limits.Mapping:
		b = append(b, '{')
		for i, k := range t.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(append(quoted(b, k.Text), ':'), t.Values[i])
		}
		return append(b, '}')
	case t.Shape == limits.List:
		b = append(b, '[')
		for i, v := range t.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v)
		}
		return append(b, ']')
	case t.Null:
		return append(b, "null"...)
	case t.Bool && (t.Text == "true" || t.Text == "false"), t.Number && jsontext.Value(t.Text).IsValid():
		return append(b, t.Text...)
	}
	return quoted(b, t.Text)
}

// quoted appends a JSON string; the text is valid UTF-8, as the whole file is.
func quoted(b []byte, text string) []byte {
	out, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}
