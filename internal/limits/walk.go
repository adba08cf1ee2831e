package limits

import "strings"

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
	case n.shape != scalar:
		w.p.add(n.place, section, complaint{problem: "has a key that is not a text"})
		return "", false
	case !n.quoted && n.as != asText:
		w.p.add(n.place, section, complaint{problem: "has the key " + quoted(n.text) + ", which is not a text in YAML", hint: "put it in quotes"})
		return "", false
	}
	return n.text, true
}

// document reads the whole text.
func (w *walker) document(root *node) {
	if root.shape != mapping {
		w.p.add(root.place, "", complaint{problem: "is not a mapping of keys to values"})
		return
	}
	w.root = root
	w.section(root, "")
	if w.partial {
		return
	}
	for i := range table {
		if w.nodes[i] == nil && table[i].section == "" {
			w.p.add(root.place, table[i].Path, missing(&table[i]))
		}
	}
}

// missing is the complaint about a key that was not written.
func missing(r *row) complaint {
	c := complaint{problem: "is missing", hint: "write a value"}
	if r.Off {
		c.hint = "write a value, or off"
	}
	return c
}

// section reads one mapping: the document itself when name is empty.
func (w *walker) section(n *node, name string) {
	var seen []string
	for i, k := range n.keys {
		text, ok := w.key(k, name)
		if !ok || w.p.full() {
			continue
		}
		if contains(seen, text) {
			w.p.add(k.place, join(name, text), complaint{problem: "is written twice"})
			continue
		}
		seen = append(seen, text)
		if at := find(name, text); at >= 0 {
			w.nodes[at] = k
			w.value(at, n.values[i])
		} else if name == "" && contains(sections[:], text) {
			w.part(n.values[i], text)
		} else {
			w.p.add(k.place, join(name, printable(text)), unknown(name, text, false))
		}
	}
	if name != "" || w.partial {
		return
	}
	for _, s := range sections {
		if !contains(seen, s) {
			w.p.add(n.place, s, complaint{problem: "is missing", hint: "every section needs all of its keys"})
		}
	}
}

// part reads one section's mapping and finds the keys that it lacks.
func (w *walker) part(n *node, name string) {
	switch {
	case n.isNull():
		w.p.add(n.place, name, nullComplaint)
		return
	case n.shape != mapping:
		w.p.add(n.place, name, complaint{problem: "is not a mapping of keys to values"})
		return
	}
	w.section(n, name)
	for i := range table {
		if !w.partial && w.nodes[i] == nil && table[i].section == name {
			w.p.add(n.place, table[i].Path, missing(&table[i]))
		}
	}
}

func (w *walker) value(at int, n *node) {
	if table[at].Kind == KindOverrides {
		w.overrides(n)
		return
	}
	if c := table[at].read(w.d, n); c.found() {
		w.p.add(n.place, table[at].Path, c)
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
	c := complaint{problem: "is not a known key"}
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
		c.hint = "did you mean " + near + "?"
		return c
	}
	for i := range table {
		switch {
		case table[i].name != text || perSymbol && table[i].section != section:
		case perSymbol:
			c = complaint{problem: "cannot be set for one symbol"}
		default:
			c.hint = "it belongs at " + table[i].Path
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
