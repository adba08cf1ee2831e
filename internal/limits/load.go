package limits

import (
	"strconv"
	"unicode/utf8"
)

// Load reads a limits document, in YAML or JSON. The name stands in problems only,
// but one that ends in .json is read as JSON and as nothing else. It returns a
// whole document or an error of type Errors; there is nothing in between.
func Load(name string, text []byte) (*Document, error) {
	w := &walker{d: &Document{}, nodes: make([]*node, len(table)), p: problems{name: printable(name)}}
	return w.load(name, text)
}

// Over reads a partial document and lays it over a whole one, which stays as it
// is. Each key that is written replaces the one below, symbols as a whole; what
// results must be valid like any other document. Errors are those of Load. It
// serves trials and tests: limits in force always come from one whole text.
func Over(base *Document, name string, text []byte) (*Document, error) {
	d := *base
	w := &walker{d: &d, nodes: make([]*node, len(table)), p: problems{name: printable(name)}, partial: true}
	return w.load(name, text)
}

func (w *walker) load(name string, text []byte) (*Document, error) {
	readable(text, &w.p)
	if err := w.p.err(); err != nil {
		return nil, err
	}
	var root *node
	if looksLikeJSON(name, text) {
		root = parseJSON(text, &w.p)
	} else {
		root = parseYAML(text, &w.p)
	}
	if root != nil {
		w.document(root)
	}
	return w.finish()
}

// finish checks what the keys come to together, and seals the document.
func (w *walker) finish() (*Document, error) {
	if len(w.p.list) == 0 {
		w.keptOverrides()
		w.tightenOnly()
		w.priced()
	}
	if err := w.p.err(); err != nil {
		return nil, err
	}
	w.d.seal()
	return w.d, nil
}

// keptOverrides has the overrides of a document below compared with the figures
// that were laid over it.
func (w *walker) keptOverrides() {
	if !w.partial || w.nodes[index("symbols")] != nil {
		return
	}
	for _, symbol := range w.d.overridden() {
		o := &written{path: "symbols." + symbol, d: w.d.Symbols[symbol].lift(), nodes: make([]*node, len(table))}
		for i := range table {
			if table[i].PerSymbol && table[i].set(o.d) {
				o.nodes[i] = w.root
			}
		}
		w.written = append(w.written, o)
	}
}

// priced refuses order types whose risk could not be priced: without a slippage a
// market or stop order would be taken at a price that it need not get.
func (w *walker) priced() {
	at := index("collar.market_order_slippage")
	if !w.d.Collar.MarketOrderSlippage.On && w.d.takesTheMarket() {
		n := w.nodes[at]
		if n == nil {
			n = w.root
		}
		w.p.add(n.place, table[at].Path, complaint{
			problem: "is off while order_types allows market or stop orders",
			hint:    "write a slippage, or take market and stop out of instrument.order_types",
		})
	}
}

// readable refuses texts that an editor shows otherwise than a parser reads them.
func readable(text []byte, p *problems) {
	at := place{1, 1}
	switch {
	case len(text) > DocumentBytesMax:
		p.add(at, "", complaint{problem: "is larger than " + strconv.Itoa(DocumentBytesMax) + " bytes"})
		return
	case len(text) >= 3 && string(text[:3]) == "\xef\xbb\xbf":
		p.add(at, "", complaint{problem: "begins with a byte order mark", hint: "save it as UTF-8 without one"})
		return
	}
	for i := 0; i < len(text) && len(p.list) < ProblemsMax; {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.add(at, "", complaint{problem: "is not UTF-8", hint: "save it as UTF-8"})
			return
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case hidden(r):
			p.add(at, "", complaint{problem: "holds the control character " + codePoint(r), hint: "remove it"})
		case r == '%' && at.column == 1:
			p.add(at, "", complaint{problem: "holds a YAML directive", hint: "remove the line"})
		}
		if at.column++; r == '\n' {
			at.line, at.column = at.line+1, 1
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
