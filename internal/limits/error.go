package limits

import (
	"slices"
	"strconv"
	"strings"
)

// ProblemsMax is how many problems of one document are reported at once.
const ProblemsMax = 20

// Error is one problem of a document, with its place. Line and Column count from
// one, columns in characters; both are zero when the place is the whole text.
type Error struct {
	Name    string // of the document, as given to Load
	Line    int
	Column  int
	Key     string // dotted path, such as size.max_order_qty; empty for the text itself
	Problem string // what is wrong
	Hint    string // what to write instead; may be empty
}

func (e *Error) Error() string {
	b := make([]byte, 0, 96)
	b = append(b, e.Name...)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(e.Line), 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(e.Column), 10)
	b = append(b, ": "...)
	if e.Key != "" {
		b = append(b, e.Key...)
		b = append(b, ": "...)
	}
	b = append(b, e.Problem...)
	if e.Hint != "" {
		b = append(b, "; "...)
		b = append(b, e.Hint...)
	}
	return string(b)
}

// Errors is what Load returns for a document that it refuses: one to ProblemsMax
// problems by their place in the text. errors.As finds the first *Error in it.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns every problem.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// complaint is a problem before its place is known. The zero value is none.
type complaint struct {
	problem string
	hint    string
	at      *node  // a node inside the value, when the problem is there
	suffix  string // the key inside the value
}

func (c complaint) found() bool { return c.problem != "" }

// problems collects what is wrong with one text.
type problems struct {
	name string
	list Errors
}

// full says that more problems would help nobody. It bounds the work and memory
// that a hostile text can cost.
func (p *problems) full() bool { return len(p.list) >= 10*ProblemsMax }

func (p *problems) add(at place, key string, c complaint) {
	if p.full() {
		return
	}
	if c.at != nil {
		at = c.at.place
	}
	p.list = append(p.list, &Error{
		Name: p.name, Line: at.line, Column: at.column,
		Key: key + c.suffix, Problem: c.problem, Hint: c.hint,
	})
}

// err returns the problems in the order of the text, cut to ProblemsMax.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		if a.Column != b.Column {
			return a.Column - b.Column
		}
		return strings.Compare(a.Key, b.Key)
	})
	if len(p.list) > ProblemsMax {
		p.list = slices.Clip(p.list[:ProblemsMax])
	}
	return p.list
}
