package limits

import (
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func override(section, keys string) string {
	return with("symbols", "{AAPL: {"+section+": {"+keys+"}}}")
}

// Every key that a symbol may have takes effect for that symbol alone, and only
// when it is tighter.
func TestEveryOverride(t *testing.T) {
	for _, k := range Keys() {
		if k.Section() == "" {
			continue
		}
		loose, tight := pair(k)
		t.Run(k.Path, func(t *testing.T) {
			write := func(base, value string) string {
				return text(map[string]string{
					k.Path: base, "symbols": "{AAPL: {" + k.Section() + ": {" + k.Name() + ": " + value + "}}}",
				})
			}
			key := "symbols.AAPL." + k.Path
			if !k.PerSymbol {
				refused(t, "limits.yaml", write(loose, tight))
				return
			}
			plain := load(t, with(k.Path, loose))
			d := load(t, write(loose, tight))
			row := &table[index(k.Path)]
			got := display(row.write(sectionsOf(d.For("AAPL")), nil))
			if want := display(row.write(load(t, with(k.Path, tight)), nil)); got != want {
				t.Errorf("AAPL is judged by %s, want %s", got, want)
			}
			if got, want := display(row.write(sectionsOf(d.For("MSFT")), nil)), display(row.write(d, nil)); got != want {
				t.Errorf("MSFT is judged by %s, want %s", got, want)
			}
			expectChange(t, key, plain, d, Tightens)
			expectChange(t, key, d, plain, Loosens)
			load(t, write(loose, loose)) // the same figure is no looser
			if e := refusedAt(t, write(tight, loose), key); !strings.Contains(e.Problem, "looser") {
				t.Error(e)
			}
			if loose != "off" {
				refusedAt(t, write(loose, "off"), key)
				load(t, write("off", tight))
			}
		})
	}
}

func sectionsOf(e Effective) *Document {
	return &Document{Size: *e.Size, Position: *e.Position, Collar: *e.Collar}
}

func TestOverridesAreStrict(t *testing.T) {
	for name, v := range map[string]string{
		"unknown key":      override("size", "max_order_qtty: 1"),
		"unknown section":  with("symbols", "{AAPL: {sizes: {max_order_qty: 1}}}"),
		"account section":  override("session", "max_orders_per_day: 1"),
		"account key":      override("position", "max_gross_exposure: 1"),
		"key elsewhere":    override("size", "max_position_qty: 1"),
		"twice":            override("size", "max_order_qty: 1, max_order_qty: 2"),
		"section twice":    with("symbols", "{AAPL: {size: {max_order_qty: 1}, size: {max_order_qty: 2}}}"),
		"symbol twice":     with("symbols", "{AAPL: {size: {max_order_qty: 1}}, aapl: {size: {max_order_qty: 2}}}"),
		"null symbol":      with("symbols", "{AAPL: null}"),
		"null section":     with("symbols", "{AAPL: {size: }}"),
		"empty symbol":     with("symbols", "{AAPL: {}}"),
		"empty section":    with("symbols", "{AAPL: {size: {}}}"),
		"list":             with("symbols", "[AAPL]"),
		"list of sections": with("symbols", "{AAPL: [size]}"),
		"null":             with("symbols", "null"),
		"off":              with("symbols", "off"),
		"ambiguous symbol": with("symbols", "{TRUE: {size: {max_order_qty: 1}}}"),
		"no symbol":        with("symbols", "{'A B': {size: {max_order_qty: 1}}}"),
		"null value":       override("size", "max_order_qty: null"),
		"negative":         override("size", "max_order_qty: -1"),
		"incomparable":     text(map[string]string{"size.quantity_step": "2", "symbols": "{AAPL: {size: {quantity_step: 3}}}"}),
		"step to default":  text(map[string]string{"collar.price_step": "0.05", "symbols": "{AAPL: {collar: {price_step: us_equity}}}"}),
	} {
		t.Run(name, func(t *testing.T) { refused(t, "limits.yaml", v) })
	}
	var b strings.Builder
	for i := range OverridesMax + 1 {
		b.WriteString("S" + strings.Repeat("A", i/100) + strings.Repeat("B", i%100%10) + strings.Repeat("C", i%100/10) + ": {size: {max_order_qty: 1}}, ")
	}
	refused(t, "limits.yaml", with("symbols", "{"+b.String()+"}"))
}

func TestForDoesNotAllocate(t *testing.T) {
	d := load(t, override("size", "max_order_qty: 7"))
	var e Effective
	if n := testing.AllocsPerRun(100, func() { e = d.For("AAPL"); e = d.For("MSFT"); e = d.For("AAPL") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := e.Size.MaxOrderQuantity.Value; got != money.QuantityFromInt(7) {
		t.Errorf("AAPL may order %v", got)
	}
	if e.Size.MaxOrderNotional != d.Size.MaxOrderNotional {
		t.Error("a key that was not overridden is not the document's own")
	}
	if d.For("NONE").Size != &d.Size || d.For("aapl").Size != &d.Size {
		t.Error("an unknown symbol is not judged by the document itself")
	}
	// A document that was put together by hand answers alike.
	byHand := &Document{Size: d.Size, Position: d.Position, Collar: d.Collar, Symbols: d.Symbols}
	if *byHand.For("AAPL").Size != *e.Size {
		t.Error("a document made by hand is judged otherwise")
	}
}

// Figures laid over a document must stand with the overrides that it keeps.
func TestOver(t *testing.T) {
	base := load(t, override("size", "max_order_qty: 7"))
	was := string(base.Canonical)
	d, err := Over(base, "trial", []byte("size: {max_order_qty: 50}\nposition: {max_open_orders: off, allow_flip: true}\ninstrument: {symbols: [ibm]}"))
	if err != nil {
		t.Fatal(err)
	}
	want := load(t, text(map[string]string{
		"size.max_order_qty": "50", "position.max_open_orders": "off", "position.allow_flip": "true",
		"instrument.symbols": "[IBM]", "symbols": "{AAPL: {size: {max_order_qty: 7}}}",
	}))
	if d.Fingerprint != want.Fingerprint || d.For("AAPL").Size.MaxOrderQuantity.Value != money.QuantityFromInt(7) {
		t.Errorf("the result is %v away", Diff(want, d))
	}
	if string(appendDocument(nil, base)) != was {
		t.Error("the document below was changed")
	}
	if d.Position.MaxOpenOrders != (Limit[int]{Set: true}) {
		t.Errorf("off is %+v", d.Position.MaxOpenOrders)
	}
	none, err := Over(base, "trial", []byte("{}"))
	if err != nil || none.Fingerprint != base.Fingerprint {
		t.Errorf("nothing laid over it changes it: %v", err)
	}
	for _, v := range []string{
		"", "size: {max_order_qty: 6}", "size: {max_ordr_qty: 6}", "sizes: {}", "size: null", "mode:", "size: {max_order_qty: 1e3}",
		"instrument: {order_types: [market]}\ncollar: {market_order_slippage: off}", "size: {max_order_qty: off, max_order_qty: 1}",
	} {
		if _, err := Over(base, "trial", []byte(v)); err == nil {
			t.Errorf("%q is laid over it", v)
		}
	}
	slipless := load(t, with("collar.market_order_slippage", "off"))
	if _, err := Over(slipless, "trial", []byte("instrument: {order_types: [market]}")); err == nil {
		t.Error("market orders without a slippage")
	}
	d, err = Over(base, "trial.json", []byte(`{"symbols":{"MSFT":{"size":{"max_order_qty":1}}}}`))
	if err != nil || !slices.Equal(d.overridden(), []string{"MSFT"}) {
		t.Errorf("symbols are not replaced as a whole: %v", err)
	}
}
