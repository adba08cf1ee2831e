package limits

import "slices"

// Effect is what a change of one key does to what is allowed.
type Effect uint8

// Effects. Same is no change; Changes is neither tighter nor looser, or both.
const (
	Same Effect = iota
	Tightens
	Loosens
	Changes
)

var effectWords = [...]string{"same", "tightens", "loosens", "changes"}

func (e Effect) String() string {
	if int(e) < len(effectWords) {
		return effectWords[e]
	}
	return ""
}

// MarshalText writes the word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// and is the effect of two changes together.
func (e Effect) and(other Effect) Effect {
	switch {
	case e == Same:
		return other
	case other == Same || other == e:
		return e
	}
	return Changes
}

// Change is one key that differs between two documents. Old and New are as a
// person reads them; one is empty when that document does not name the key.
type Change struct {
	Key    string `json:"key"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Effect Effect `json:"effect"`
}

// Diff lists what differs, in the order of the shipped document, overrides last.
// Against no document (before is nil) every key is listed as a change.
func Diff(before, after *Document) []Change {
	if after == nil {
		return nil
	}
	var changes []Change
	for i := range table {
		r := &table[i]
		if r.Kind == KindOverrides {
			continue
		}
		c := Change{Key: r.Path, New: display(r.write(after, nil)), Effect: Changes}
		if before != nil {
			c.Old = display(r.write(before, nil))
			c.Effect = r.effect(before, after)
		}
		if c.Effect != Same {
			changes = append(changes, c)
		}
	}
	return append(changes, symbolChanges(before, after)...)
}

// symbolChanges compares overrides. Its effects compare what judges the symbol
// before and after, so that removing an override of an unchanged document loosens.
func symbolChanges(before, after *Document) []Change {
	names := after.overridden()
	if before != nil {
		names = append(names, before.overridden()...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	var changes []Change
	for _, symbol := range names {
		changes = append(changes, changesOf(symbol, before, after)...)
	}
	return changes
}

func changesOf(symbol string, before, after *Document) []Change {
	var changes []Change
	newOwn, newAll := after.Symbols[symbol].lift(), after.merge(after.Symbols[symbol])
	oldOwn, oldAll := &Document{}, &Document{}
	if before != nil {
		oldOwn, oldAll = before.Symbols[symbol].lift(), before.merge(before.Symbols[symbol])
	}
	for i := range table {
		r := &table[i]
		if !r.PerSymbol || !r.set(oldOwn) && !r.set(newOwn) {
			continue
		}
		c := Change{Key: "symbols." + symbol + "." + r.Path, Effect: Changes}
		if r.set(oldOwn) {
			c.Old = display(r.write(oldOwn, nil))
		}
		if r.set(newOwn) {
			c.New = display(r.write(newOwn, nil))
		}
		if c.Old == c.New {
			continue
		}
		if before != nil {
			if e := r.effect(oldAll, newAll); e != Same {
				c.Effect = e
			}
		}
		changes = append(changes, c)
	}
	return changes
}
