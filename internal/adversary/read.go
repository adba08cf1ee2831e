package adversary

import "github.com/broker-rails/broker-rails/internal/strict"

// entriesMax limits one mapping's free keys, such as symbols.
const entriesMax = 1000

// reader is the strict reader and the words of cases. Nothing is played unless it has no
// problem.
type reader struct{ strict.Reader }

// items are a list's values. One that holds nothing is a slip of the pen.
func (r *reader) items(t *strict.Tree, path string, most int) []*strict.Tree {
	items := r.Items(t, path, most)
	if t.Shape == strict.List && len(t.Values) == 0 {
		r.Refuse(t, path, "holds nothing", "")
	}
	return items
}

func figure[T any](r *reader, t *strict.Tree, path string, parse func(string) (T, error)) T {
	return strict.Parse(&r.Reader, t, path, parse, "cannot be read as what it should be", "")
}

// appendJSON writes the arguments of a call; a call without any has none to write.
func appendJSON(b []byte, t *strict.Tree) []byte {
	if t == nil {
		return append(b, "{}"...)
	}
	return strict.AppendJSON(b, t)
}
