package strict

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// parseYAML reads exactly one document. It returns nil after adding a problem.
func parseYAML(text []byte, p *Problems) *Tree {
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithUniqueKeys(false))
	if err != nil {
		p.Add(Place{1, 1}, "", Complaint{Problem: "cannot be read as YAML"})
		return nil
	}
	var first yaml.Node
	switch err := loader.Load(&first); {
	case errors.Is(err, io.EOF):
		p.Add(Place{1, 1}, "", Complaint{Problem: "is empty", Hint: "write it whole"})
		return nil
	case err != nil:
		p.Add(yamlPlace(err), "", Complaint{Problem: "is not YAML: " + yamlMessage(err)})
		return nil
	case first.Kind != yaml.DocumentNode || len(first.Content) != 1:
		p.Add(Place{1, 1}, "", Complaint{Problem: "is empty"})
		return nil
	}
	before := len(p.List)
	root := fromYAML(first.Content[0], 1, p)
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		p.Add(yamlPlace(err), "", Complaint{Problem: "is not YAML: " + yamlMessage(err)})
	default:
		p.Add(Place{second.Line, second.Column}, "", Complaint{Problem: "a second document follows", Hint: "one file holds one document"})
	}
	if len(p.List) > before {
		return nil
	}
	return root
}

func yamlPlace(err error) Place {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok && e.Mark.Line > 0 {
		return Place{e.Mark.Line, max(e.Mark.Column, 1)}
	}
	return Place{1, 1}
}

func yamlMessage(err error) string {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		return Printable(e.Message)
	}
	return Printable(err.Error())
}

// fromYAML copies a node, refusing what YAML offers beyond plain data. What it
// refuses comes back as an empty scalar, after a problem was added.
func fromYAML(y *yaml.Node, depth int, p *Problems) *Tree {
	n := &Tree{Place: Place{y.Line, y.Column}, Shape: Scalar, Text: y.Value}
	refuse := func(problem, hint string) *Tree {
		p.Add(n.Place, "", Complaint{Problem: problem, Hint: hint})
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
		n.Quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
		if !n.Quoted && y.Tag == "!!merge" {
			return refuse("a merge key is not accepted", "write each key out")
		}
		if !n.Quoted {
			n.readAs(y.Tag)
		}
	case yaml.MappingNode:
		n.Shape = Mapping
		for i := 0; i+1 < len(y.Content); i += 2 {
			n.Keys = append(n.Keys, fromYAML(y.Content[i], depth+1, p))
			n.Values = append(n.Values, fromYAML(y.Content[i+1], depth+1, p))
		}
	case yaml.SequenceNode:
		n.Shape = List
		for _, item := range y.Content {
			n.Values = append(n.Values, fromYAML(item, depth+1, p))
		}
	default:
		return refuse("is not plain data", "")
	}
	return n
}

// readAs notes what YAML makes of an unquoted scalar.
func (n *Tree) readAs(tag string) {
	switch tag {
	case "!!str":
		n.Number = isCoreNumber(n.Text)
	case "!!int", "!!float":
		n.Number = true
	case "!!bool":
		n.Bool = true
	case "!!null":
		n.Null = true
	default:
		n.Other = true
	}
}

// isCoreNumber matches the numbers of YAML 1.2's core schema, of which the parser
// takes those for texts that its own floats cannot hold.
func isCoreNumber(s string) bool {
	digits := func() (n int) {
		for s != "" && '0' <= s[0] && s[0] <= '9' {
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

// Printable quotes nothing but replaces what a terminal would act on, and cuts
// what is long: the text of a refused document is not ours.
func Printable(s string) string {
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
