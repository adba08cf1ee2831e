package mcpserver

import (
	"encoding/json"
	"strings"
)

// field is one property of an object schema.
type field struct {
	name     string
	schema   string
	optional bool
}

// object writes a closed object schema: no other properties, and no defaults anywhere.
func object(fields ...field) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(f.name) + ":" + f.schema)
		if !f.optional {
			required = append(required, quoted(f.name))
		}
	}
	b.WriteString(`},`)
	if len(required) > 0 {
		b.WriteString(`"required":[` + strings.Join(required, ",") + `],`)
	}
	b.WriteString(`"additionalProperties":false}`)
	return b.String()
}

func must(name, schema string) field { return field{name: name, schema: schema} }
func may(name, schema string) field  { return field{name: name, schema: schema, optional: true} }

func text(description string) string {
	return `{"type":"string","description":` + quoted(description) + `}`
}

func boundedText(description string, most int) string {
	n, _ := json.Marshal(most)
	return `{"type":"string","maxLength":` + string(n) + `,"description":` + quoted(description) + `}`
}

func words(description string, words ...string) string {
	list, _ := json.Marshal(words)
	return `{"type":"string","enum":` + string(list) + `,"description":` + quoted(description) + `}`
}

func flag(description string) string {
	return `{"type":"boolean","description":` + quoted(description) + `}`
}

func whole(description string) string {
	return `{"type":"integer","description":` + quoted(description) + `}`
}

func list(description, item string) string {
	return `{"type":"array","description":` + quoted(description) + `,"items":` + item + `}`
}

// decimal takes a plain decimal as text or as a JSON number; text keeps every digit.
func decimal(description string) string {
	return `{"anyOf":[{"type":"string","pattern":"^(0|[1-9][0-9]*)(\\.[0-9]+)?$"},{"type":"number"}],"description":` +
		quoted(description) + `}`
}

// open is an object whose members are not listed.
func open(description string) string {
	return `{"type":"object","description":` + quoted(description) + `,"additionalProperties":true}`
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}
