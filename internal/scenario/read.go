package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
)

// reader takes typed values out of a tree and keeps what is wrong with it. Its methods
// return zero values after a problem; nothing is run unless there is none.
type reader struct {
	name string
	list limits.Errors
}

func (r *reader) add(t *limits.Tree, key, problem, hint string) {
	if len(r.list) >= limits.ProblemsMax {
		return
	}
	e := &limits.Error{Name: r.name, Key: key, Problem: problem, Hint: hint}
	if t != nil {
		e.Line, e.Column = t.Line, t.Column
	}
	r.list = append(r.list, e)
}

func (r *reader) err() error {
	if len(r.list) == 0 {
		return nil
	}
	slices.SortStableFunc(r.list, func(a, b *limits.Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.list
}

// fields is a mapping whose keys are known.
type fields struct {
	r    *reader
	at   *limits.Tree
	path string
	of   map[string]*limits.Tree
}

// mapping takes a mapping apart. A key that is not known is a problem with the nearest
// known name; one that stands twice is one too.
func (r *reader) mapping(t *limits.Tree, path string, known ...string) fields {
	f := fields{r: r, at: t, path: path, of: map[string]*limits.Tree{}}
	for _, k := range r.entries(t, path) {
		if !slices.Contains(known, k.name) {
			hint := "known are " + strings.Join(known, ", ")
			if near := limits.Nearest(k.name, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.add(k.key, join(path, printable(k.name)), "is not a known key", hint)
			continue
		}
		f.of[k.name] = k.value
	}
	return f
}

type entry struct {
	name       string
	key, value *limits.Tree
}

// entries are the keys and values of a mapping, in the order of the text.
func (r *reader) entries(t *limits.Tree, path string) []entry {
	if t.Shape != limits.Mapping {
		r.add(t, path, "is not a mapping of keys to values", "")
		return nil
	}
	var out []entry
	for i, k := range t.Keys {
		switch {
		case k.Shape != limits.Scalar || k.Null:
			r.add(k, path, "has a key that is not a text", "")
		case slices.ContainsFunc(out, func(e entry) bool { return e.name == k.Text }):
			r.add(k, join(path, printable(k.Text)), "is written twice", "")
		default:
			out = append(out, entry{k.Text, k, t.Values[i]})
		}
	}
	return out
}

// items are the values of a list.
func (r *reader) items(t *limits.Tree, path string) []*limits.Tree {
	if t.Shape != limits.List {
		r.add(t, path, "is not a list", "")
		return nil
	}
	return t.Values
}

func (f fields) has(name string) bool { return f.of[name] != nil }

// need returns a value, and a problem when it is missing.
func (f fields) need(name string) *limits.Tree {
	t := f.of[name]
	if t == nil {
		f.r.add(f.at, join(f.path, name), "is missing", "")
	}
	return t
}

// text takes a scalar's source text. Numbers and dates are texts here.
func (f fields) text(name string, required bool) string {
	t := f.of[name]
	if t == nil {
		if required {
			f.need(name)
		}
		return ""
	}
	return f.r.text(t, join(f.path, name))
}

func (r *reader) text(t *limits.Tree, path string) string {
	if t.Shape != limits.Scalar || t.Null {
		r.add(t, path, "is not a text", "")
		return ""
	}
	return t.Text
}

// wordsShownMax is how many words a hint still lists.
const wordsShownMax = 20

func (r *reader) word(t *limits.Tree, path string, known ...string) string {
	text := r.text(t, path)
	if text != "" && !slices.Contains(known, text) {
		hint := "one of " + strings.Join(known, ", ")
		if len(known) > wordsShownMax {
			hint = "docs/rails.md lists the ids of rails; rails decisions and rails test show those of refusals"
		}
		if near := limits.Nearest(text, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.add(t, path, "is not a known word", hint)
		return ""
	}
	return text
}

func (f fields) flag(name string) bool {
	t := f.of[name]
	if t == nil {
		return false
	}
	return f.r.flag(t, join(f.path, name))
}

func (r *reader) flag(t *limits.Tree, path string) bool {
	if t.Shape == limits.Scalar && t.Bool && (t.Text == "true" || t.Text == "false") {
		return t.Text == "true"
	}
	r.add(t, path, "is not true or false", "")
	return false
}

func (f fields) count(name string, most int) int {
	t := f.of[name]
	if t == nil {
		return 0
	}
	n, err := strconv.Atoi(t.Text)
	if t.Shape != limits.Scalar || err != nil || n < 0 || n > most || strconv.Itoa(n) != t.Text {
		f.r.add(t, join(f.path, name), "is not a whole number from 0 to "+strconv.Itoa(most), "")
		return 0
	}
	return n
}

// duration takes a duration such as 61s, 1h30m, -8h or 2d; days are of 24 hours.
func (r *reader) duration(t *limits.Tree, path string) time.Duration {
	text := r.text(t, path)
	if text == "0" || text == "" {
		return 0
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > -10_000 && n < 10_000 {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		r.add(t, path, "is not a duration", "such as 61s, 1h30m or 2d")
	}
	return d
}

func (r *reader) price(t *limits.Tree, path string) money.Price {
	return figure(r, t, path, money.ParsePrice)
}

func (r *reader) quantity(t *limits.Tree, path string) money.Quantity {
	return figure(r, t, path, money.ParseQuantity)
}

func (r *reader) notional(t *limits.Tree, path string) money.Notional {
	return figure(r, t, path, money.ParseNotional)
}

func figure[T any](r *reader, t *limits.Tree, path string, parse func(string) (T, error)) T {
	var zero T
	if t == nil {
		return zero
	}
	v, err := parse(r.text(t, path))
	if err != nil {
		r.add(t, path, "is not a plain decimal", `such as 12.50, or "12.50"`)
		return zero
	}
	return v
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// printable shows a text of a file on a terminal.
func printable(s string) string {
	const bytesMax = 80
	if len(s) > bytesMax {
		s = s[:bytesMax] + "..."
	}
	return strings.Map(func(c rune) rune {
		if c < 0x20 || c > 0x7e {
			return '?'
		}
		return c
	}, s)
}
