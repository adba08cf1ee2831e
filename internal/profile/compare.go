package profile

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// ListBytesMax is how long a tools/list result may be that is compared with a profile.
const ListBytesMax = 8 << 20

// Kinds of differences between a server's list of tools and a profile.
const (
	Added    = "added"    // the profile does not name the tool: calls of it are refused
	Removed  = "removed"  // the profile names a tool that the server does not list
	Twice    = "twice"    // the server lists two tools of one name
	Unmapped = "unmapped" // the profile has no answer for an argument: calls with it are refused
	Gone     = "gone"     // the profile has an answer for an argument that the server does not take
	Changed  = "changed"  // the server's default or type is another
)

// Difference is one thing in which a server's list and a profile differ.
type Difference struct {
	Kind     string `json:"kind"`
	Tool     string `json:"tool"`
	Class    Class  `json:"class,omitzero"` // in the profile; empty for an added tool
	Argument string `json:"argument,omitzero"`
	Note     string `json:"note,omitzero"`
}

// Compare returns how a server's tools differ from those that the profile was written for,
// sorted by tool. The list is the result of tools/list: an object with tools, alone or in a
// JSON-RPC response, or the array itself.
func (p *Profile) Compare(list []byte) ([]Difference, error) {
	v, refusal := decodeMembers(list, ListBytesMax, FigureMembersMax)
	if refusal != nil {
		return nil, errors.New("the list " + refusal.Problem)
	}
	for _, path := range []string{"tools", "result.tools"} {
		if at := v.path(path); at != nil {
			v = at
			break
		}
	}
	if v.kind != '[' {
		return nil, errors.New("the list is not the result of tools/list: it holds no tools")
	}
	if len(v.members) > ToolsMax {
		return nil, errors.New("the list holds more than " + strconv.Itoa(ToolsMax) + " tools")
	}
	var out []Difference
	var listed []string
	for _, tool := range v.members {
		name := tool.word("name")
		if name == "" {
			return nil, errors.New("the list holds a tool without a name")
		}
		class, known := p.Class(name)
		switch {
		case slices.Contains(listed, name):
			out = append(out, Difference{Kind: Twice, Tool: name, Class: class})
		case !known:
			out = append(out, Difference{Kind: Added, Tool: name})
		default:
			out = append(out, p.schema(name, class, tool.get("inputSchema").get("properties"))...)
		}
		listed = append(listed, name)
	}
	for _, name := range p.Tools() {
		if !slices.Contains(listed, name) {
			class, _ := p.Class(name)
			out = append(out, Difference{Kind: Removed, Tool: name, Class: class})
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		if c := strings.Compare(a.Tool, b.Tool); c != 0 {
			return c
		}
		return strings.Compare(a.Argument, b.Argument)
	})
	return out, nil
}

// schema compares a mapped tool's arguments.
func (p *Profile) schema(tool string, class Class, properties *value) (out []Difference) {
	names, mapped := p.Arguments(tool)
	if !mapped {
		return nil
	}
	if properties == nil {
		properties = &value{kind: '{'}
	}
	for i, name := range properties.names {
		if !slices.Contains(names, name) {
			out = append(out, Difference{Kind: Unmapped, Tool: tool, Class: class, Argument: name, Note: "a call with it is refused"})
			continue
		}
		for _, note := range p.ruleset(tool).differs(name, properties.members[i]) {
			out = append(out, Difference{Kind: Changed, Tool: tool, Class: class, Argument: name, Note: note})
		}
	}
	for _, name := range names {
		if !slices.Contains(properties.names, name) {
			out = append(out, Difference{Kind: Gone, Tool: tool, Class: class, Argument: name, Note: "the server no longer takes it"})
		}
	}
	return out
}

// differs compares an argument's type and default with those that the profile reads.
func (rs *ruleset) differs(name string, property *value) (out []string) {
	if len(rs.variants) > 0 {
		for _, v := range rs.variants {
			out = append(out, v.rules.differs(name, property)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	a := rs.argument(name)
	if a == nil {
		return nil
	}
	if types := jsonTypes(property); len(types) > 0 && !slices.ContainsFunc(types, a.takes) {
		out = append(out, "is of type "+strings.Join(types, " or ")+", and is read as "+a.kind)
	}
	theirs := property.get("default")
	if theirs == nil || theirs.kind == 'n' || theirs.kind == '{' || theirs.kind == '[' {
		return out
	}
	if a.absent == "default" && theirs.text != a.fallback {
		out = append(out, "has another default than the one that is written out")
	}
	if a.absent == "none" && slices.Contains(decided(), a.to) && !slices.ContainsFunc(rs.set, func(w Word) bool { return w.From == a.to && a.says(theirs.text) == w.To }) {
		out = append(out, "has a default that the profile leaves to the server")
	}
	return out
}

func (a *argument) says(word string) string {
	for _, w := range a.words {
		if w.From == word {
			return w.To
		}
	}
	return ""
}

// takes reports whether an argument of a JSON schema's type can be what is read.
func (a *argument) takes(schemaType string) bool {
	switch schemaType {
	case "string":
		return a.kind == "text" || a.kind == "decimal_text" || a.kind == "decimal"
	case "number", "integer":
		return a.kind == "number" || a.kind == "integer" || a.kind == "decimal"
	case "boolean":
		return a.kind == "flag"
	}
	return schemaType != "object" && schemaType != "array"
}

// jsonTypes are the types of a property but null.
func jsonTypes(property *value) (out []string) {
	add := func(v *value) {
		if v != nil && v.kind == '"' && v.text != "null" && !slices.Contains(out, v.text) {
			out = append(out, v.text)
		}
	}
	if t := property.get("type"); t != nil && t.kind == '[' {
		for _, m := range t.members {
			add(m)
		}
	} else {
		add(t)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := property.get(key); list != nil && list.kind == '[' {
			for _, m := range list.members {
				add(m.get("type"))
			}
		}
	}
	return out
}
