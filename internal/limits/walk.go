package limits

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// walker reads one document by the table. Nothing is skipped: whatever it does not
// know is a problem, and so is whatever it does not find.
type walker struct {
	p       problems
	d       *Document
	nodes   []*node // where each key was written
	root    *node
	partial bool // keys may be missing: d holds them already
	written []*written
}

// key is the text of a mapping's key, which must be a plain text.
func (w *walker) key(n *node, section string) (string, bool) {
	switch {
	case n.Shape != strict.Scalar:
		w.p.Add(n.Place, section, complaint{Problem: "has a key that is not a text"})
		return "", false
	case !n.IsText():
		w.p.Add(n.Place, section, complaint{Problem: "has the key " + quoted(n.Text) + ", which is not a text in YAML", Hint: "put it in quotes"})
		return "", false
	}
	return n.Text, true
}

// document reads the whole text.
func (w *walker) document(root *node) {
	if root.Shape != strict.Mapping {
		w.p.Add(root.Place, "", complaint{Problem: "is not a mapping of keys to values"})
		return
	}
	w.root = root
	w.section(root, "")
	if w.partial {
		return
	}
	for i := range table {
		if w.nodes[i] == nil && table[i].section == "" {
			w.p.Add(root.Place, table[i].Path, missing(&table[i]))
		}
	}
}

// missing is the complaint about a key that was not written.
func missing(r *row) complaint {
	c := complaint{Problem: "is missing", Hint: "write a value"}
	if r.Off {
		c.Hint = "write a value, or off"
	}
	return c
}

// section reads one mapping: the document itself when name is empty.
func (w *walker) section(n *node, name string) {
	var seen []string
	for i, k := range n.Keys {
		text, ok := w.key(k, name)
		if !ok || w.p.Full() {
			continue
		}
		if contains(seen, text) {
			w.p.Add(k.Place, join(name, text), complaint{Problem: "is written twice"})
			continue
		}
		seen = append(seen, text)
		if at := find(name, text); at >= 0 {
			w.nodes[at] = k
			w.value(at, n.Values[i])
		} else if name == "" && contains(sections[:], text) {
			w.part(n.Values[i], text)
		} else {
			w.p.Add(k.Place, join(name, printable(text)), unknown(name, text, false))
		}
	}
	if name != "" || w.partial {
		return
	}
	for _, s := range sections {
		if !contains(seen, s) {
			w.p.Add(n.Place, s, complaint{Problem: "is missing", Hint: "every section needs all of its keys"})
		}
	}
}

// part reads one section's mapping and finds the keys that it lacks.
func (w *walker) part(n *node, name string) {
	switch {
	case n.Null:
		w.p.Add(n.Place, name, nullComplaint)
		return
	case n.Shape != strict.Mapping:
		w.p.Add(n.Place, name, complaint{Problem: "is not a mapping of keys to values"})
		return
	}
	w.section(n, name)
	for i := range table {
		if !w.partial && w.nodes[i] == nil && table[i].section == name {
			w.p.Add(n.Place, table[i].Path, missing(&table[i]))
		}
	}
}

func (w *walker) value(at int, n *node) {
	if table[at].Kind == KindOverrides {
		w.overrides(n)
		return
	}
	if c := table[at].read(w.d, n); c.Found() {
		w.p.Add(n.Place, table[at].Path, c)
	}
}

// find returns the index of a key in the table, or -1.
func find(section, name string) int {
	for i := range table {
		if table[i].section == section && table[i].name == name {
			return i
		}
	}
	return -1
}

// index returns the index of a path that is known to exist.
func index(path string) int {
	section, name, found := strings.Cut(path, ".")
	if !found {
		section, name = "", path
	}
	return find(section, name)
}

// unknown explains a key that nobody reads: by the nearest name of its section,
// else by the section where it belongs.
func unknown(section, text string, perSymbol bool) complaint {
	c := complaint{Problem: "is not a known key"}
	var here []string
	if section == "" && !perSymbol {
		here = append(here, sections[:]...)
	}
	for i := range table {
		if table[i].section == section && (table[i].PerSymbol || !perSymbol) {
			here = append(here, table[i].name)
		}
	}
	if near := nearest(text, here); near != "" {
		c.Hint = "did you mean " + near + "?"
		return c
	}
	for i := range table {
		switch {
		case table[i].name != text || perSymbol && table[i].section != section:
		case perSymbol:
			c = complaint{Problem: "cannot be set for one symbol"}
		default:
			c.Hint = "it belongs at " + table[i].Path
		}
	}
	return c
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

func join(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}
