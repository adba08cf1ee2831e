package strict

import (
	"strconv"
	"unicode/utf8"
)

// Limits of a text: its bytes, and how deep lists and mappings may nest.
const (
	TextBytesMax = 1 << 20
	DepthMax     = 16
)

// Place is a position in the text, both counted from one, columns in characters.
type Place struct{ Line, Column int }

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
type Tree struct {
	Place
	Shape  Shape
	Text   string // of a scalar
	Quoted bool   // the scalar was written in quotes
	// What YAML would make of an unquoted scalar. A text is none of them.
	Number, Bool, Null, Other bool    // other: a date, or a merge key
	Keys, Values              []*Tree // of a mapping, equally many; Values of a list
}

// IsText reports whether a scalar is a text: written in quotes, or taken for nothing
// else without them.
func (t *Tree) IsText() bool {
	return t.Shape == Scalar && !t.Number && !t.Bool && !t.Null && !t.Other
}

// Read reads one document of YAML or JSON: no anchors, aliases, tags, blocks, hidden
// characters or second document. A name that ends in .json is read as JSON and as
// nothing else. Duplicate keys are the reader's to refuse. Errors are of type Errors.
func Read(name string, text []byte) (*Tree, error) {
	p := Problems{Name: Printable(name)}
	root := p.Read(name, text)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return root, nil
}

// Read is Read for a caller that has more to say of the same text. It returns nil after
// adding a problem.
func (p *Problems) Read(name string, text []byte) *Tree {
	readable(text, p)
	if len(p.List) > 0 {
		return nil
	}
	if looksLikeJSON(name, text) {
		return parseJSON(text, p)
	}
	return parseYAML(text, p)
}

// readable refuses texts that an editor shows otherwise than a parser reads them.
func readable(text []byte, p *Problems) {
	at := Place{1, 1}
	switch {
	case len(text) > TextBytesMax:
		p.Add(at, "", Complaint{Problem: "is larger than " + strconv.Itoa(TextBytesMax) + " bytes"})
		return
	case len(text) >= 3 && string(text[:3]) == "\xef\xbb\xbf":
		p.Add(at, "", Complaint{Problem: "begins with a byte order mark", Hint: "save it as UTF-8 without one"})
		return
	}
	for i := 0; i < len(text) && len(p.List) < ProblemsMax; {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.Add(at, "", Complaint{Problem: "is not UTF-8", Hint: "save it as UTF-8"})
			return
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case hidden(r):
			p.Add(at, "", Complaint{Problem: "holds the control character " + codePoint(r), Hint: "remove it"})
		case r == '%' && at.Column == 1:
			p.Add(at, "", Complaint{Problem: "holds a YAML directive", Hint: "remove the line"})
		}
		if at.Column++; r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
		i += size
	}
}

// hidden says whether a character changes what is seen without being seen:
// controls, other line breaks, zero widths and the marks of writing direction.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f,
		r == 0x00ad, r == 0x061c, r == 0x180e,
		r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

func codePoint(r rune) string {
	hex := strconv.FormatInt(int64(r), 16)
	for len(hex) < 4 {
		hex = "0" + hex
	}
	return "U+" + hex
}
