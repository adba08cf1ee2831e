package limits

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// DepthMax is how deep lists and mappings may nest.
const DepthMax = 16

// place is a position in the text, both counted from one.
type place struct{ line, column int }

// shape says what a node is.
type shape uint8

const (
	scalar shape = iota + 1
	mapping
	list
)

// reading is what a parser would make of a scalar's text by itself. Only asText
// survives quoting, so text fields accept nothing else unquoted.
type reading uint8

const (
	asText reading = iota + 1
	asNumber
	asBool
	asNull
	asOther // a date, or a merge key
)

// node is one value of the text, the same for YAML and JSON. A scalar keeps its
// source text; nothing is converted before a key says what it should be.
type node struct {
	place
	shape  shape
	text   string
	quoted bool
	as     reading
	keys   []*node // of a mapping, as long as values
	values []*node // of a mapping or a list
}

func (n *node) isNull() bool { return n.shape == scalar && !n.quoted && n.as == asNull }

// parseYAML reads exactly one document. It returns nil after adding a problem.
func parseYAML(text []byte, p *problems) *node {
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithUniqueKeys(false))
	if err != nil {
		p.add(place{1, 1}, "", complaint{problem: "cannot be read as YAML"})
		return nil
	}
	var first yaml.Node
	switch err := loader.Load(&first); {
	case errors.Is(err, io.EOF):
		p.add(place{1, 1}, "", complaint{problem: "is empty", hint: "a limits document has no defaults; start from a complete one"})
		return nil
	case err != nil:
		p.add(yamlPlace(err), "", complaint{problem: "is not YAML: " + yamlMessage(err)})
		return nil
	case first.Kind != yaml.DocumentNode || len(first.Content) != 1:
		p.add(place{1, 1}, "", complaint{problem: "is empty"})
		return nil
	}
	before := len(p.list)
	root := fromYAML(first.Content[0], 1, p)
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		p.add(yamlPlace(err), "", complaint{problem: "is not YAML: " + yamlMessage(err)})
	default:
		p.add(place{second.Line, second.Column}, "", complaint{problem: "a second document follows", hint: "one file holds one document"})
	}
	if len(p.list) > before {
		return nil
	}
	return root
}

func yamlPlace(err error) place {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok && e.Mark.Line > 0 {
		return place{e.Mark.Line, max(e.Mark.Column, 1)}
	}
	return place{1, 1}
}

func yamlMessage(err error) string {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		return printable(e.Message)
	}
	return printable(err.Error())
}

// fromYAML copies a node, refusing what YAML offers beyond plain data. What it
// refuses comes back as an empty scalar, after a problem was added.
func fromYAML(y *yaml.Node, depth int, p *problems) *node {
	n := &node{place: place{y.Line, y.Column}, shape: scalar, text: y.Value}
	refuse := func(problem, hint string) *node {
		p.add(n.place, "", complaint{problem: problem, hint: hint})
		return n
	}
	switch {
	case depth > DepthMax:
		return refuse("nests deeper than 16 levels", "")
	case y.Kind == yaml.AliasNode:
		return refuse("an alias is not accepted", "write the value out")
	case y.Anchor != "":
		return refuse("an anchor is not accepted", "write each value out")
	case y.Style&yaml.TaggedStyle != 0 || y.Tag == "!":
		return refuse("a tag is not accepted", "write the value alone")
	}
	switch y.Kind {
	case yaml.ScalarNode:
		if y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return refuse("a block of text is not accepted", "write the value on one line")
		}
		n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
		if !n.quoted && y.Tag == "!!merge" {
			return refuse("a merge key is not accepted", "write each key out")
		}
		if n.as = readingOf(y.Tag); n.as == asText && !n.quoted && isCoreNumber(n.text) {
			n.as = asNumber
		}
	case yaml.MappingNode:
		n.shape = mapping
		for i := 0; i+1 < len(y.Content); i += 2 {
			n.keys = append(n.keys, fromYAML(y.Content[i], depth+1, p))
			n.values = append(n.values, fromYAML(y.Content[i+1], depth+1, p))
		}
	case yaml.SequenceNode:
		n.shape = list
		for _, item := range y.Content {
			n.values = append(n.values, fromYAML(item, depth+1, p))
		}
	default:
		return refuse("is not plain data", "")
	}
	return n
}

func readingOf(tag string) reading {
	switch tag {
	case "!!str":
		return asText
	case "!!int", "!!float":
		return asNumber
	case "!!bool":
		return asBool
	case "!!null":
		return asNull
	}
	return asOther
}

// isCoreNumber matches the numbers of YAML 1.2's core schema, of which the parser
// takes those for texts that its own floats cannot hold.
func isCoreNumber(s string) bool {
	digits := func() (n int) {
		for s != "" && isDigit(s[0]) {
			s, n = s[1:], n+1
		}
		return n
	}
	sign := func() {
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
	}
	sign()
	whole, part := digits(), 0
	if s != "" && s[0] == '.' {
		s = s[1:]
		part = digits()
	}
	if whole+part == 0 {
		return false
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		sign()
		if digits() == 0 {
			return false
		}
	}
	return s == ""
}

// printable quotes nothing but replaces what a terminal would act on, and cuts
// what is long: the text of a refused document is not ours.
func printable(s string) string {
	const bytesMax = 80
	cut := len(s) > bytesMax
	if cut {
		s = s[:bytesMax]
	}
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '?'
		}
		return r
	}, s)
	if cut {
		s += "..."
	}
	return s
}
