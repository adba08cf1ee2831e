package strict

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

// Complaint is a problem before its place is known. The zero value is none.
type Complaint struct {
	Problem string
	Hint    string
	At      *Tree  // a node inside the value, when the problem is there
	Suffix  string // the key inside the value
}

// Found reports whether there is a problem.
func (c Complaint) Found() bool { return c.Problem != "" }

// Problems collects what is wrong with one text.
type Problems struct {
	Name string // of the text
	List Errors
}

// Full says that more problems would help nobody. It bounds the work and memory
// that a hostile text can cost.
func (p *Problems) Full() bool { return len(p.List) >= 10*ProblemsMax }

// Add notes a problem at a place, unless there are too many already.
func (p *Problems) Add(at Place, key string, c Complaint) {
	if p.Full() {
		return
	}
	if c.At != nil {
		at = c.At.Place
	}
	p.List = append(p.List, &Error{
		Name: p.Name, Line: at.Line, Column: at.Column,
		Key: key + c.Suffix, Problem: c.Problem, Hint: c.Hint,
	})
}

// Err returns the problems in the order of the text, cut to ProblemsMax.
func (p *Problems) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		if a.Column != b.Column {
			return a.Column - b.Column
		}
		return strings.Compare(a.Key, b.Key)
	})
	if len(p.List) > ProblemsMax {
		p.List = slices.Clip(p.List[:ProblemsMax])
	}
	return p.List
}
