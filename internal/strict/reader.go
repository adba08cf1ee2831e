package strict

import (
	"slices"
	"strconv"
	"strings"
)

// Reader takes values out of a tree and keeps what is wrong with it. After a problem its
// methods return zero values, so that a caller reads on and reports all at once.
type Reader struct {
	Problems
}

// Fields is a mapping whose keys are known, by path from the text's root.
type Fields struct {
	r    *Reader
	at   *Tree
	path string
	of   map[string]*Tree
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (r *Reader) add(t *Tree, path, problem, hint string) {
	var at Place
	if t != nil {
		at = t.Place
	}
	r.Add(at, path, Complaint{Problem: problem, Hint: hint})
}

// Refuse notes a problem of the reader's caller at a value.
func (r *Reader) Refuse(t *Tree, path, problem, hint string) { r.add(t, path, problem, hint) }

// Fields reads a mapping with known keys only, each at most once.
func (r *Reader) Fields(t *Tree, path string, known ...string) Fields {
	f := Fields{r: r, at: t, path: path, of: map[string]*Tree{}}
	if t == nil || t.Shape != Mapping {
		r.add(t, path, "is not a mapping of keys to values", "")
		return f
	}
	for i, k := range t.Keys {
		switch {
		case !k.IsText():
			r.add(k, path, "has the key "+strconv.Quote(Printable(k.Text))+", which is not a text in YAML", "put it in quotes")
		case !slices.Contains(known, k.Text):
			hint := "known are " + strings.Join(known, ", ")
			if near := Nearest(k.Text, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.add(k, join(path, Printable(k.Text)), "is not a known key", hint)
		case f.of[k.Text] != nil:
			r.add(k, join(path, k.Text), "is written twice", "")
		default:
			f.of[k.Text] = t.Values[i]
		}
	}
	return f
}

// At returns the value of a key; nil when it is not written.
func (f Fields) At(key string) *Tree { return f.of[key] }

// Path returns the path of a key.
func (f Fields) Path(key string) string { return join(f.path, key) }

// Refuse notes a problem at a key, or at the mapping when the key is not written.
func (f Fields) Refuse(key, problem, hint string) {
	at := f.of[key]
	if at == nil {
		at = f.at
	}
	f.r.add(at, f.Path(key), problem, hint)
}

// Text reads a text that may be left out: "" then.
func (f Fields) Text(key string) string {
	if f.of[key] == nil {
		return ""
	}
	return f.r.Text(f.of[key], f.Path(key))
}

// Need reads a text that must be there.
func (f Fields) Need(key string) string {
	if f.of[key] == nil {
		f.Refuse(key, "is missing", "")
		return ""
	}
	return f.Text(key)
}

// Word reads one of the known words; "" when the key is not written.
func (f Fields) Word(key string, known ...string) string {
	if f.of[key] == nil {
		return ""
	}
	return f.r.Word(f.of[key], f.Path(key), known...)
}

// Flag reads true or false; false when the key is not written.
func (f Fields) Flag(key string) bool {
	if f.of[key] == nil {
		return false
	}
	return f.r.Flag(f.of[key], f.Path(key))
}

// Count reads a whole number from low to high, both included; low when it is not written.
func (f Fields) Count(key string, low, high int) int {
	t := f.of[key]
	if t == nil {
		return low
	}
	n, err := strconv.Atoi(t.Text)
	if err != nil || !t.Number || n < low || n > high || strconv.Itoa(n) != t.Text {
		f.Refuse(key, "is not a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high), "")
		return low
	}
	return n
}

// Texts reads a list of texts, each once.
func (f Fields) Texts(key string, most int) []string {
	return f.r.Texts(f.of[key], f.Path(key), most)
}

// Items reads a list's values.
func (f Fields) Items(key string, most int) []*Tree {
	return f.r.Items(f.of[key], f.Path(key), most)
}

// Pairs reads a mapping whose keys are free texts, each once, in their order.
func (f Fields) Pairs(key string, most int) []Pair {
	return f.r.Pairs(f.of[key], f.Path(key), most)
}

// Text reads a scalar that is a text.
func (r *Reader) Text(t *Tree, path string) string {
	switch {
	case t == nil || t.Shape != Scalar:
		r.add(t, path, "is not a text", "")
		return ""
	case !t.IsText():
		r.add(t, path, strconv.Quote(Printable(t.Text))+" is not a text in YAML", "put it in quotes")
		return ""
	}
	return t.Text
}

// Word reads one of the known words.
func (r *Reader) Word(t *Tree, path string, known ...string) string {
	text := r.Text(t, path)
	if text == "" || slices.Contains(known, text) {
		return text
	}
	hint := "known are " + strings.Join(known, ", ")
	if near := Nearest(text, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.add(t, path, strconv.Quote(Printable(text))+" is not known", hint)
	return ""
}

// Flag reads true or false.
func (r *Reader) Flag(t *Tree, path string) bool {
	if t == nil || !t.Bool || t.Text != "true" && t.Text != "false" {
		r.add(t, path, "is neither true nor false", "write true or false, without quotes")
		return false
	}
	return t.Text == "true"
}

// Items reads a list's values; none for a list that is not written.
func (r *Reader) Items(t *Tree, path string, most int) []*Tree {
	switch {
	case t == nil:
		return nil
	case t.Shape != List:
		r.add(t, path, "is not a list", "write [...]")
		return nil
	case len(t.Values) > most:
		r.add(t, path, "holds more than "+strconv.Itoa(most)+" items", "")
		return nil
	}
	return t.Values
}

// Texts reads a list of texts, each once.
func (r *Reader) Texts(t *Tree, path string, most int) []string {
	items := r.Items(t, path, most)
	out := make([]string, 0, len(items))
	for _, item := range items {
		text := r.Text(item, path)
		if slices.Contains(out, text) {
			r.add(item, path, "lists "+Printable(text)+" twice", "")
		}
		out = append(out, text)
	}
	return out
}

// Pair is a key of a mapping with free keys, and its value.
type Pair struct {
	Key   string
	At    *Tree // the key, for its place
	Value *Tree
}

// Pairs reads a mapping whose keys are free texts, each once, in their order.
func (r *Reader) Pairs(t *Tree, path string, most int) []Pair {
	switch {
	case t == nil:
		return nil
	case t.Shape != Mapping:
		r.add(t, path, "is not a mapping of keys to values", "")
		return nil
	case len(t.Keys) > most:
		r.add(t, path, "holds more than "+strconv.Itoa(most)+" keys", "")
		return nil
	}
	out := make([]Pair, 0, len(t.Keys))
	for i, k := range t.Keys {
		text := r.Text(k, path)
		if slices.ContainsFunc(out, func(p Pair) bool { return p.Key == text }) {
			r.add(k, join(path, Printable(text)), "is written twice", "")
			continue
		}
		out = append(out, Pair{text, k, t.Values[i]})
	}
	return out
}
