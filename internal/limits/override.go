package limits

import (
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Effective is what judges one symbol: the document's own sections, with the
// symbol's overrides where it has some. Read only.
type Effective struct {
	Size     *Size
	Position *Position
	Collar   *Collar
}

// For returns the sections that judge a symbol, which must be upper case. It does
// not allocate for a document that came from Load; a symbol without overrides, and
// one that is not in the document at all, gets the document's own sections.
func (d *Document) For(symbol string) Effective {
	if len(d.Symbols) > 0 {
		if m, ok := d.merged[symbol]; ok {
			return Effective{&m.Size, &m.Position, &m.Collar}
		}
		if o, ok := d.Symbols[symbol]; ok { // not from Load
			m := d.merge(o)
			return Effective{&m.Size, &m.Position, &m.Collar}
		}
	}
	return Effective{&d.Size, &d.Position, &d.Collar}
}

// merge returns the document as it stands for a symbol with these overrides.
func (d *Document) merge(o Override) *Document {
	m := &Document{Size: d.Size, Position: d.Position, Collar: d.Collar}
	from := o.lift()
	for i := range table {
		if table[i].PerSymbol && table[i].set(from) {
			table[i].copy(m, from)
		}
	}
	return m
}

// lift puts overrides where the table's functions find them.
func (o Override) lift() *Document {
	return &Document{Size: o.Size, Collar: o.Collar, Position: Position{
		MaxPositionQuantity: o.Position.MaxPositionQuantity,
		MaxPositionNotional: o.Position.MaxPositionNotional,
		MaxConcentration:    o.Position.MaxConcentration,
	}}
}

// override is the reverse of lift.
func (d *Document) override() Override {
	return Override{Size: d.Size, Collar: d.Collar, Position: PositionOverride{
		MaxPositionQuantity: d.Position.MaxPositionQuantity,
		MaxPositionNotional: d.Position.MaxPositionNotional,
		MaxConcentration:    d.Position.MaxConcentration,
	}}
}

// overridden returns the symbols that have overrides, sorted.
func (d *Document) overridden() []string {
	names := make([]string, 0, len(d.Symbols))
	//archtest:map-order-free the names are sorted before they are used
	for name := range d.Symbols {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// overrides is the row of the key symbols. It has no functions of its own: they
// would need the table that it stands in.
func overrides() row {
	return row{Key: Key{Kind: KindOverrides, Direction: EachKeyTightens}}
}

// written is one override as it stands in the text.
type written struct {
	path  string // symbols.AAPL
	d     *Document
	nodes []*node // where each key was written
}

func (w *walker) overrides(n *node) {
	switch {
	case n.Null:
		w.p.Add(n.Place, "symbols", nullComplaint)
		return
	case n.Shape != strict.Mapping:
		w.p.Add(n.Place, "symbols", complaint{Problem: "is not a mapping of symbols to sections", Hint: "write {} for none"})
		return
	case len(n.Keys) > OverridesMax:
		w.p.Add(n.Place, "symbols", complaint{Problem: "holds more than " + strconv.Itoa(OverridesMax) + " symbols"})
		return
	}
	w.d.Symbols = make(map[string]Override, len(n.Keys))
	for i, k := range n.Keys {
		if w.p.Full() {
			return
		}
		symbol, c := readSymbol(k)
		if c.Found() {
			w.p.Add(k.Place, "symbols", c)
			continue
		}
		path := "symbols." + symbol
		if _, twice := w.d.Symbols[symbol]; twice {
			w.p.Add(k.Place, path, complaint{Problem: "is written twice"})
			continue
		}
		o := &written{path: path, d: &Document{}, nodes: make([]*node, len(table))}
		w.symbol(o, k, n.Values[i])
		w.d.Symbols[symbol] = o.d.override()
		w.written = append(w.written, o)
	}
}

// symbol reads the sections of one symbol.
func (w *walker) symbol(o *written, at, n *node) {
	switch {
	case n.Null:
		w.p.Add(n.Place, o.path, nullComplaint)
		return
	case n.Shape != strict.Mapping || len(n.Keys) == 0:
		w.p.Add(n.Place, o.path, complaint{Problem: "holds no section", Hint: "write the sections to tighten, or leave the symbol out"})
		return
	}
	var seen []string
	for i, k := range n.Keys {
		name, ok := w.key(k, o.path)
		switch {
		case !ok, w.p.Full():
		case contains(seen, name):
			w.p.Add(k.Place, join(o.path, name), complaint{Problem: "is written twice"})
		case name != "size" && name != "position" && name != "collar":
			w.p.Add(k.Place, join(o.path, printable(name)), complaint{Problem: "cannot be set for one symbol", Hint: "only size, position and collar can"})
		default:
			seen = append(seen, name)
			w.symbolSection(o, n.Values[i], name)
		}
	}
}

func (w *walker) symbolSection(o *written, n *node, section string) {
	path := join(o.path, section)
	switch {
	case n.Null:
		w.p.Add(n.Place, path, nullComplaint)
		return
	case n.Shape != strict.Mapping || len(n.Keys) == 0:
		w.p.Add(n.Place, path, complaint{Problem: "holds no key", Hint: "write the keys to tighten, or leave the section out"})
		return
	}
	for i, k := range n.Keys {
		name, ok := w.key(k, path)
		if !ok || w.p.Full() {
			continue
		}
		at := find(section, name)
		switch {
		case at < 0 || !table[at].PerSymbol:
			w.p.Add(k.Place, join(path, printable(name)), unknown(section, name, true))
		case o.nodes[at] != nil:
			w.p.Add(k.Place, join(path, name), complaint{Problem: "is written twice"})
		default:
			o.nodes[at] = k
			if c := table[at].read(o.d, n.Values[i]); c.Found() {
				w.p.Add(n.Values[i].Place, join(path, name), c)
			}
		}
	}
}

// tightenOnly refuses overrides that allow what the document does not. It runs
// once the document is known to be whole.
func (w *walker) tightenOnly() {
	for _, o := range w.written {
		for i := range table {
			if o.nodes[i] == nil {
				continue
			}
			problem := "is not tighter than"
			switch table[i].effect(w.d, o.d) {
			case Same, Tightens:
				continue
			case Loosens:
				problem = "is looser than"
			}
			w.p.Add(o.nodes[i].Place, o.path+"."+table[i].Path, complaint{
				Problem: problem + " the document's own " + display(table[i].write(w.d, nil)),
				Hint:    "an override may only tighten",
			})
		}
	}
}
