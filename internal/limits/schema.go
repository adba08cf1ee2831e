package limits

import (
	"slices"
	"strconv"
)

// The schema helps editors; Load decides. A number that Load reads from its text
// can only be bounded roughly here.
const (
	decimalPattern   = `^(0|[1-9][0-9]{0,19})(\\.[0-9]{1,9})?$`
	symbolSchema     = `{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9./-]{0,31}$"}`
	durationSchema   = `{"type":"string","pattern":"^[1-9][0-9]*(ms|s|m|h)$"}`
	timeSchema       = `{"type":"string","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$"}`
	timeWindowSchema = `{"type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":` +
		timeSchema + `,"to":` + timeSchema + `}}`
	priceStepSchema = `{"anyOf":[{"const":"us_equity"},{"type":"number","exclusiveMinimum":0},{"type":"string","pattern":"` +
		decimalPattern + `"}]}`
)

func decimalSchema(zero bool) string {
	low := "exclusiveMinimum"
	if zero {
		low = "minimum"
	}
	return `{"anyOf":[{"type":"number","` + low + `":0},{"type":"string","pattern":"` + decimalPattern + `"}]}`
}

func countSchema(low, high int) string {
	return `{"anyOf":[{"type":"integer","minimum":` + strconv.Itoa(low) + `,"maximum":` + strconv.Itoa(high) +
		`},{"type":"string","pattern":"^(0|[1-9][0-9]*)$"}]}`
}

func listSchema(item string) string {
	return `{"type":"array","uniqueItems":true,"items":` + item + `}`
}

func withinSchema(name string, low, high int) string {
	return `{"type":"object","additionalProperties":false,"required":["` + name + `","window"],"properties":{"` + name +
		`":` + countSchema(low, high) + `,"window":` + durationSchema + `}}`
}

// Schema returns the JSON schema (draft 2020-12) of the document, for editors.
func Schema() []byte {
	b := []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Broker Rails limits document",`)
	b = append(b, `"description":"Every key must be present: a value, or the word off.",`...)
	b = appendObject(b, "", true, func(r *row) bool { return r.section == "" }, func(b []byte) []byte {
		for _, s := range sections {
			b = append(appendName(b, s, false), '{')
			b = append(appendObject(b, s, true, func(r *row) bool { return r.section == s }, nil), '}')
		}
		return b
	})
	return append(b, "}\n"...)
}

// appendObject writes the members of an object's schema. With need every key is
// required; extra appends further properties.
func appendObject(b []byte, section string, need bool, want func(*row) bool, extra func([]byte) []byte) []byte {
	b = append(b, `"type":"object","additionalProperties":false,`...)
	if need {
		var names []string
		for i := range table {
			if want(&table[i]) {
				names = append(names, table[i].name)
			}
		}
		if section == "" {
			names = append(names, sections[:]...)
		}
		b = append(appendTexts(append(b, `"required":`...), names), ',')
	} else {
		b = append(b, `"minProperties":1,`...)
	}
	b = append(b, `"properties":{`...)
	first := true
	for i := range table {
		if r := &table[i]; want(r) {
			b, first = appendName(b, r.name, first), false
			b = appendProperty(b, r)
		}
	}
	if extra != nil {
		b = extra(b)
	}
	return append(b, '}')
}

func appendProperty(b []byte, r *row) []byte {
	b = append(strconv.AppendQuote(append(b, `{"description":`...), r.About), ',')
	switch {
	case r.Kind == KindOverrides:
		return append(appendSymbolsSchema(b), '}')
	case r.Off:
		b = append(append(append(b, `"anyOf":[{"const":"off"},`...), r.schema...), "]"...)
		return append(b, '}')
	}
	return append(append(b, r.schema[1:len(r.schema)-1]...), '}')
}

// appendSymbolsSchema writes the overrides: the same keys, none of them required.
func appendSymbolsSchema(b []byte) []byte {
	b = append(b, `"type":"object","propertyNames":`...)
	b = append(append(b, symbolSchema...), `,"additionalProperties":{"type":"object","minProperties":1,"additionalProperties":false,"properties":{`...)
	first := true
	for _, s := range sections {
		if !slices.ContainsFunc(table[:], func(r row) bool { return r.section == s && r.PerSymbol }) {
			continue
		}
		b, first = append(appendName(b, s, first), '{'), false
		b = append(appendObject(b, s, false, func(r *row) bool { return r.section == s && r.PerSymbol }, nil), '}')
	}
	return append(b, "}}"...)
}

// Off returns the paths of the keys that are switched off, in the order of the
// shipped document.
func (d *Document) Off() []string {
	var paths []string
	for i := range table {
		if table[i].Off && table[i].off(d) {
			paths = append(paths, table[i].Path)
		}
	}
	return paths
}
