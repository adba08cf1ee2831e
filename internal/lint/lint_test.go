package lint

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/scenario"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// over lays a part over the shipped document.
func over(t testing.TB, part string) *limits.Document {
	t.Helper()
	base, err := limits.Load("limits.yaml", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := limits.Over(base, "part.yaml", []byte(part))
	if err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	return doc
}

func judge(t testing.TB, doc *limits.Document) *Report {
	t.Helper()
	r, err := Run(context.Background(), doc, doc.Canonical, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// committed are the documents of the source: the shipped one, the examples', the cases'
// and our own.
func committed(t *testing.T) map[string]*limits.Document {
	t.Helper()
	out := map[string]*limits.Document{"shipped": over(t, "version: 1")}
	for _, name := range []string{"../../examples/limits.yaml", "../../testdata/cases/base.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if out[name], err = limits.Load(name, text); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = over(t, string(text))
	}
	return out
}

// TestEveryRailIsReachableSomewhere: each rail is shown alone under some document of the
// source, no rail of any of them is left undecided, and no scenario has more steps than
// the argument says are needed.
func TestEveryRailIsReachableSomewhere(t *testing.T) {
	shown := map[string]string{}
	all := committed(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := judge(t, all[name])
		for i := range r.Rails {
			x := &r.Rails[i]
			switch x.Verdict {
			case Reachable:
				shown[x.Rail] = name
				if x.Steps != x.Floor {
					t.Errorf("%s: %s takes %d steps, and %d are argued for", name, x.Rail, x.Steps, x.Floor)
				}
				if x.Steps < 100 { // the same text was played already; only its head is new
					replay(t, all[name], x.Scenario)
				}
			case Undecided:
				t.Errorf("%s: %s is not decided: %s", name, x.Rail, x.Because)
			}
		}
	}
	for _, r := range rail.All() {
		if shown[string(r.ID)] == "" {
			t.Errorf("%s is reachable under no document", r.ID)
		}
	}
}

// TestExamplesAreDecided: also what the examples lay over the shipped document.
func TestExamplesAreDecided(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	base, seen := over(t, "version: 1"), 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := strict.Read(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts(tree) {
			doc, err := limits.OverTree(base, name, part)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			r := judge(t, doc)
			for i := range r.Rails {
				if x := &r.Rails[i]; x.Verdict == Undecided {
					t.Errorf("%s: %s is not decided: %s", name, x.Rail, x.Because)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no example lays figures over the shipped ones")
	}
}

// parts are the figures that the scenarios of a file lay over the shipped document.
func parts(t *strict.Tree) []*strict.Tree {
	if t.Shape == strict.List {
		var out []*strict.Tree
		for _, v := range t.Values {
			out = append(out, parts(v)...)
		}
		return out
	}
	for i, k := range t.Keys {
		if k.Text == "limits" && t.Values[i].Shape == strict.Mapping {
			return []*strict.Tree{t.Values[i]}
		}
	}
	return nil
}

// replay plays a generated file as rails test does.
func replay(t *testing.T, doc *limits.Document, text string) {
	t.Helper()
	list, err := scenario.Load("generated.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := scenario.Run(context.Background(), list[0], scenario.Options{Document: doc.Canonical})
	if err != nil || !r.Passed() {
		t.Errorf("%v %v\n%s", err, r.Failures, text)
	}
}

// TestARailMovesOutOfReachAndBack: one figure, on either side of the edge that the
// arithmetic names.
func TestARailMovesOutOfReachAndBack(t *testing.T) {
	for _, c := range []struct {
		rail        rail.ID
		never, back string
	}{
		{rail.FractionalNotAllowed, `size: {quantity_step: "1"}`, `size: {quantity_step: "0.5"}`},
		{rail.QuantityStep, `size: {quantity_step: "0.25"}`, `size: {quantity_step: "2"}`},
		{rail.MarketClosed, `instrument: {allow_extended_hours: false}`, `instrument: {allow_extended_hours: true}`},
		{rail.TradingWindow, `session: {trading_window: {from: "09:30", to: "16:00"}}`, `session: {trading_window: {from: "09:31", to: "16:00"}}`},
		{rail.TradingWindow, `{instrument: {allow_extended_hours: true}, session: {trading_window: {from: "04:00", to: "20:00"}}}`,
			`{instrument: {allow_extended_hours: true}, session: {trading_window: {from: "04:00", to: "19:59"}}}`},
		{rail.MaxNetExposure, `position: {max_net_exposure: "250000"}`, `position: {max_net_exposure: "249999.99"}`},
		{rail.MarketOrderGuard, `instrument: {order_types: [limit]}`, `instrument: {order_types: [limit, market]}`},
		{rail.MarketOrderGuard, `{instrument: {order_types: [market]}, collar: {market_order_spread: 200}}`,
			`{instrument: {order_types: [market]}, collar: {market_order_spread: 199}}`},
		{rail.SpreadTooWide, `{instrument: {order_types: [market]}, collar: {market_order_spread: 200}}`,
			`{instrument: {order_types: [market]}, collar: {market_order_spread: 201}}`},
		{rail.LimitPriceCollar, `collar: {passive_price_collar: 150}`, `collar: {passive_price_collar: 151}`},
		{rail.MaxOrdersPerMinute, `session: {max_messages_per_minute: 10}`, `session: {max_messages_per_minute: 11}`},
		{rail.MaxNotionalPerMinute, `session: {max_notional_per_day: "50000"}`, `session: {max_notional_per_day: "50000.01"}`},
		{rail.MinOrderNotional, `{size: {min_order_notional: "0.01"}, collar: {price_step: "0.01"}}`, `{size: {min_order_notional: "0.02"}, collar: {price_step: "0.01"}}`},
		{rail.MaxOrderQty, `{size: {max_order_qty: 100}, collar: {price_step: "250"}}`, `{size: {max_order_qty: 100}, collar: {price_step: "247.5"}}`},
		{rail.StopPriceSide, `instrument: {order_types: [limit]}`, `instrument: {order_types: [limit, stop]}`},
		{rail.ShortNotAllowed, `instrument: {sides: [buy]}`, `instrument: {sides: [buy, sell]}`},
		{rail.TimeInForceNotAllowed, `instrument: {times_in_force: [day, gtc, ioc]}`, `instrument: {times_in_force: [day, gtc]}`},
		{rail.PositionFlip, `instrument: {sides: [sell]}`, `instrument: {sides: [buy]}`},
		{rail.MaxOrderQty, `instrument: {sides: []}`, `instrument: {sides: [sell]}`},
		{rail.QuoteStale, `instrument: {symbols: []}`, `instrument: {symbols: [SPY]}`},
	} {
		for _, v := range []struct {
			part string
			want Verdict
		}{{c.never, NeverAlone}, {c.back, Reachable}, {c.never, NeverAlone}} {
			doc := over(t, v.part)
			r, err := only(doc, c.rail)
			if err != nil || r.Verdict != v.want {
				t.Errorf("%s under %s: %s (%s) %v, want %s", c.rail, v.part, r.Verdict, r.Because, err, v.want)
			}
		}
	}
}

// only judges one rail.
func only(doc *limits.Document, id rail.ID) (Rail, error) {
	l := &linter{ctx: context.Background(), all: newGrounds(doc, whole(startCash)), text: doc.Canonical}
	l.g = l.all[0]
	for _, r := range rail.All() {
		if r.ID == id {
			return l.rail(&r, prove(doc))
		}
	}
	return Rail{}, nil
}

func figures(t *testing.T, doc *limits.Document) []Finding {
	t.Helper()
	l := &linter{ctx: context.Background(), all: newGrounds(doc, whole(startCash)), text: doc.Canonical}
	l.g = l.all[0]
	out, err := l.findings(whole(startCash))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTraps: each kind of position that does not close is found, shown by a scenario that
// passes, and gone when the figure is.
func TestTraps(t *testing.T) {
	for _, c := range []struct {
		name, part, key string
		kind            Kind
		danger          bool
		mended          string
	}{
		{"one way", `instrument: {sides: [buy]}`, "instrument.sides", Trap, true, `instrument: {sides: [buy, sell]}`},
		{"short one way", `instrument: {sides: [sell], allow_short: true}`, "instrument.sides", Trap, true, `instrument: {sides: [sell]}`},
		{"stops only", `instrument: {order_types: [stop, stop_limit]}`, "instrument.order_types", Trap, true, `instrument: {order_types: [stop, limit]}`},
		{"neither size", `size: {min_order_notional: "900", max_order_notional: "1000"}`, "size.min_order_notional", Trap, true,
			`{size: {min_order_notional: "500", max_order_notional: "1000"}, position: {max_position_qty: 100}}`},
		{"penny", `size: {min_order_notional: "500"}`, "size.min_order_notional", Trap, true, `{size: {min_order_notional: "500"}, position: {max_position_qty: 100}}`},
		{"coarse", `collar: {price_step: "5"}`, "collar.price_step", Trap, true, `collar: {price_step: "0.01"}`},
		{"coarse, no collar", `collar: {price_step: "5", exit_price_collar: off}`, "collar.price_step", Trap, true, `collar: {price_step: us_equity}`},
		{"restricted", `instrument: {restricted_symbols: [AAPL]}`, "instrument.restricted_symbols", Stuck, false, `instrument: {restricted_symbols: []}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := func(part string) *Finding {
				for _, f := range figures(t, over(t, part)) {
					if f.Key == c.key && f.Kind == c.kind {
						return &f
					}
				}
				return nil
			}
			f := found(c.part)
			if f == nil || f.Danger != c.danger || f.Arithmetic == "" || f.Hint == "" || f.File == "" {
				t.Fatalf("found %+v", f)
			}
			replay(t, over(t, c.part), f.Scenario)
			if f := found(c.mended); f != nil {
				t.Errorf("still found: %+v", f)
			}
		})
	}
}

func TestFindingsOfFigures(t *testing.T) {
	for _, c := range []struct {
		part, key string
		kind      Kind
		danger    bool
	}{
		{`size: {min_order_notional: "26000"}`, "size.min_order_notional", Contradiction, true},
		{`instrument: {order_types: []}`, "instrument.order_types", Contradiction, true},
		{`size: {quantity_step: "1000"}`, "size.quantity_step", Contradiction, true},
		{`position: {max_net_exposure: "300000"}`, "position.max_net_exposure", NoEffect, false},
		{`version: 1`, "collar.market_order_slippage", NoEffect, false},
		{`version: 1`, "position.max_gross_exposure", BeyondAccount, false},
		{`session: {max_drawdown: "200000"}`, "session.max_drawdown", BeyondAccount, false},
		{`collar: {limit_price_collar: off}`, "collar.exit_price_collar", OutOfOrder, false},
		{`collar: {limit_price_collar: 400}`, "collar.exit_price_collar", OutOfOrder, false},
		{`position: {allow_flip: true}`, "position.allow_flip", NoEffect, false},
		{`version: 1`, "session.max_orders_per_minute", SlowExit, false},
	} {
		all := figures(t, over(t, c.part))
		if !slices.ContainsFunc(all, func(f Finding) bool {
			return f.Key == c.key && f.Kind == c.kind && f.Danger == c.danger && f.Hint != ""
		}) {
			t.Errorf("%s: no %s of %s in %+v", c.part, c.kind, c.key, all)
		}
	}
}

// TestReportIsAFunction: the same document, the same bytes; and those of the shipped one
// are kept, since scripts read them.
func TestReportIsAFunction(t *testing.T) {
	var texts [2][]byte
	for i := range texts {
		var err error
		if texts[i], err = json.Marshal(judge(t, over(t, "version: 1")), json.Deterministic(true), jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two runs differ")
	}
	const golden = "testdata/shipped.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, append(texts[0], '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(append(texts[0], '\n'), want) {
		t.Errorf("%v: differs from %s; see the change with UPDATE=1", err, golden)
	}
}

func TestPageShowsEveryRail(t *testing.T) {
	doc := over(t, "version: 1")
	r, err := Run(context.Background(), doc, doc.Canonical, Options{Page: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rail.All() {
		if !bytes.Contains(r.Page, []byte(x.ID)) {
			t.Errorf("%s is not on the page", x.ID)
		}
	}
	for _, must := range []string{"max_order_qty and max_order_notional", "insufficient_buying_power", "limit_price_collar", "<rect "} {
		if !bytes.Contains(r.Page, []byte(must)) {
			t.Errorf("%q is not on the page", must)
		}
	}
}

func TestAStoppedRunEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	doc := over(t, "version: 1")
	if _, err := Run(ctx, doc, doc.Canonical, Options{}); err == nil {
		t.Error("a stopped run ended well")
	}
}

// TestALongStoryIsLeftOut: a limit in the thousands is not decided for want of time, and
// says so; asked to, it is.
func TestALongStoryIsLeftOut(t *testing.T) {
	doc := over(t, "session: {max_messages_per_minute: 1500}")
	for _, long := range []bool{false, true} {
		l := &linter{ctx: context.Background(), all: newGrounds(doc, whole(startCash)), text: doc.Canonical, long: long}
		l.g = l.all[0]
		var r rail.Rail
		for _, x := range rail.All() {
			if x.ID == rail.MaxMessagesPerMinute {
				r = x
			}
		}
		x, err := l.rail(&r, prove(doc))
		if want := map[bool]Verdict{false: Undecided, true: Reachable}[long]; err != nil || x.Verdict != want {
			t.Errorf("long %v: %s (%s) %v, want %s", long, x.Verdict, x.Because, err, want)
		}
	}
}
