package limits

// Shape says what a tree is.
type Shape uint8

// Shapes.
const (
	Scalar Shape = iota + 1
	Mapping
	List
)

// Tree is one value of a strictly read text, the same for YAML and JSON. A scalar
// keeps its source text: nothing is converted before a reader says what it should be.
// It is for documents that stand beside the limits and are read as strictly.
type Tree struct {
	Line, Column int // from 1
	Shape        Shape
	Text         string // of a scalar
	Quoted       bool   // the scalar was written in quotes
	// What YAML would make of an unquoted scalar. A text is none of them.
	Number, Bool, Null, Other bool    // other: a date
	Keys, Values              []*Tree // of a mapping; Values of a list
}

// ReadTree reads one document of YAML or JSON as Load does: no anchors, tags, blocks,
// hidden characters or second document. Duplicate keys are the reader's to refuse.
// Errors are those of Load.
func ReadTree(name string, text []byte) (*Tree, error) {
	p := problems{name: printable(name)}
	readable(text, &p)
	if err := p.err(); err != nil {
		return nil, err
	}
	var root *node
	if looksLikeJSON(name, text) {
		root = parseJSON(text, &p)
	} else {
		root = parseYAML(text, &p)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return root.tree(), nil
}

// OverTree is Over for a part of a text that was read already; problems have their
// place in that text.
func OverTree(base *Document, name string, t *Tree) (*Document, error) {
	d := *base
	w := &walker{d: &d, nodes: make([]*node, len(table)), p: problems{name: printable(name)}, partial: true}
	w.document(t.node())
	return w.finish()
}

// Nearest returns the known name that was probably meant; empty if none is close.
func Nearest(text string, known []string) string { return nearest(text, known) }

func (n *node) tree() *Tree {
	t := &Tree{
		Line: n.line, Column: n.column, Text: n.text, Quoted: n.quoted,
		Number: !n.quoted && n.as == asNumber, Bool: !n.quoted && n.as == asBool, Null: n.isNull(),
		Other: !n.quoted && n.as == asOther,
	}
	switch n.shape {
	case mapping:
		t.Shape = Mapping
	case list:
		t.Shape = List
	default:
		t.Shape = Scalar
	}
	for _, k := range n.keys {
		t.Keys = append(t.Keys, k.tree())
	}
	for _, v := range n.values {
		t.Values = append(t.Values, v.tree())
	}
	return t
}

func (t *Tree) node() *node {
	n := &node{place: place{t.Line, t.Column}, shape: scalar, text: t.Text, quoted: t.Quoted, as: asText}
	switch {
	case t.Number:
		n.as = asNumber
	case t.Bool:
		n.as = asBool
	case t.Null:
		n.as = asNull
	case t.Other:
		n.as = asOther
	}
	switch t.Shape {
	case Mapping:
		n.shape = mapping
	case List:
		n.shape = list
	}
	for _, k := range t.Keys {
		n.keys = append(n.keys, k.node())
	}
	for _, v := range t.Values {
		n.values = append(n.values, v.node())
	}
	return n
}
