package limits

// Load reads a limits document, in YAML or JSON. The name stands in problems only,
// but one that ends in .json is read as JSON and as nothing else. It returns a
// whole document or an error of type Errors; there is nothing in between.
func Load(name string, text []byte) (*Document, error) {
	w := &walker{d: &Document{}, nodes: make([]*node, len(table)), p: problems{Name: printable(name)}}
	return w.load(name, text)
}

// Over reads a partial document and lays it over a whole one, which stays as it
// is. Each key that is written replaces the one below, symbols as a whole; what
// results must be valid like any other document. Errors are those of Load. It
// serves trials and tests: limits in force always come from one whole text.
func Over(base *Document, name string, text []byte) (*Document, error) {
	d := *base
	w := &walker{d: &d, nodes: make([]*node, len(table)), p: problems{Name: printable(name)}, partial: true}
	return w.load(name, text)
}

func (w *walker) load(name string, text []byte) (*Document, error) {
	if root := w.p.Read(name, text); root != nil {
		w.document(root)
	}
	return w.finish()
}

// finish checks what the keys come to together, and seals the document.
func (w *walker) finish() (*Document, error) {
	if len(w.p.List) == 0 {
		w.keptOverrides()
		w.tightenOnly()
		w.priced()
	}
	if err := w.p.Err(); err != nil {
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
		w.p.Add(n.Place, table[at].Path, complaint{
			Problem: "is off while order_types allows market or stop orders",
			Hint:    "write a slippage, or take market and stop out of instrument.order_types",
		})
	}
}
