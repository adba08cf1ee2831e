package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// canonicalOrder is the table's indexes by path, as sorted JSON objects need them.
var canonicalOrder = sortedByPath()

func sortedByPath() (order [len(table)]int) {
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order[:], func(a, b int) int { return strings.Compare(table[a].Path, table[b].Path) })
	return order
}

// seal sets what is computed from the rest of the document.
func (d *Document) seal() {
	d.Canonical = appendDocument(nil, d)
	sum := sha256.Sum256(d.Canonical)
	d.Fingerprint = hex.EncodeToString(sum[:])
	d.merged = make(map[string]*Document, len(d.Symbols))
	for _, symbol := range d.overridden() {
		d.merged[symbol] = d.merge(d.Symbols[symbol])
	}
}

// appendDocument writes the canonical form: JSON without white space, names in
// byte order at every depth, decimals and durations as strings in their shortest
// form, counts as numbers, lists sorted.
func appendDocument(b []byte, d *Document) []byte {
	return appendRows(b, d, func(*row) bool { return true })
}

// appendRows writes the rows that are wanted as one object of sections and keys.
func appendRows(b []byte, d *Document, want func(*row) bool) []byte {
	b = append(b, '{')
	section, first := "", true
	for _, i := range canonicalOrder {
		r := &table[i]
		if !want(r) {
			continue
		}
		if r.section != section {
			if section != "" {
				b, first = append(b, '}'), false
			}
			section = r.section
			if section != "" {
				b = append(appendName(b, section, first), '{')
				first = true
			}
		}
		b, first = appendName(b, r.name, first), false
		if r.Kind == KindOverrides {
			b = appendOverrides(d, b)
			continue
		}
		b = r.write(d, b)
	}
	if section != "" {
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendName(b []byte, name string, first bool) []byte {
	if !first {
		b = append(b, ',')
	}
	return append(appendText(b, name), ':')
}

// appendOverrides writes each symbol's own keys, and none that it did not name.
func appendOverrides(d *Document, b []byte) []byte {
	b = append(b, '{')
	for i, symbol := range d.overridden() {
		from := d.Symbols[symbol].lift()
		b = appendName(b, symbol, i == 0)
		b = appendRows(b, from, func(r *row) bool { return r.PerSymbol && r.set(from) })
	}
	return append(b, '}')
}

// display is a canonical value as a person reads it: without the outer quotes.
func display(value []byte) string {
	if n := len(value); n >= 2 && value[0] == '"' {
		return string(value[1 : n-1])
	}
	return string(value)
}
