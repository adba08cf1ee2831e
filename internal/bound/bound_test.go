package bound

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

func shipped(t testing.TB) *limits.Document {
	t.Helper()
	doc, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// with is the shipped document with some of its lines replaced.
func with(t testing.TB, changes ...string) *limits.Document {
	t.Helper()
	text := string(limits.Template("paper"))
	for _, change := range changes {
		key, _, _ := strings.Cut(change, ":")
		lines := strings.Split(text, "\n")
		found := false
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), key+":") {
				lines[i], found = line[:len(line)-len(strings.TrimLeft(line, " "))]+change, true
			}
		}
		if !found {
			t.Fatalf("no key %s", key)
		}
		text = strings.Join(lines, "\n")
	}
	doc, err := limits.Load("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func judged(t testing.TB, doc *limits.Document, symbols ...string) *Report {
	t.Helper()
	r, err := Run(t.Context(), doc, Options{Cash: money.NotionalFromInt(100_000), Symbols: symbols, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gapMax is how far the attacker may stay behind on the measures that it must reach.
var gapMax = big.NewRat(5, 1)

// holds fails the test unless no bound is exceeded and the broker's ledger shows what
// the attacker claims; near also holds the gap against gapMax.
func holds(t *testing.T, r *Report, near bool) {
	t.Helper()
	for _, h := range r.Horizons {
		for i := range h.Harms {
			x := &h.Harms[i]
			where := h.Name + " " + string(x.Measure)
			if x.Denied != 0 || x.attained.Cmp(x.atBroker) != 0 {
				t.Errorf("%s: the broker's ledger comes to %s with %d orders denied, the plan to %s", where, x.AtBroker, x.Denied, x.Attained)
			}
			if x.Unbounded {
				continue
			}
			if x.atBroker.Cmp(x.bound) > 0 || x.attained.Cmp(x.bound) > 0 {
				t.Errorf("%s: attained %s at the broker %s, above the bound %s", where, x.Attained, x.AtBroker, x.Bound)
			}
			switch x.Measure {
			case Shares, Exposure, Turnover:
				gap, _ := new(big.Rat).SetString(x.Gap)
				if near && x.bound.Sign() > 0 && gap.Cmp(gapMax) > 0 {
					t.Errorf("%s: bound %s, attained %s: a gap of %s %%", where, x.Bound, x.Attained, x.Gap)
				}
			}
		}
		for _, p := range h.Positions {
			most, _ := new(big.Rat).SetString(p.Bound)
			have, _ := new(big.Rat).SetString(p.Attained)
			if !p.Unbounded && have.Cmp(most) > 0 {
				t.Errorf("%s: %s %s of %s held, at most %s", h.Name, p.Side, p.Symbol, p.Attained, p.Bound)
			}
		}
	}
}

func TestShippedLimitsAreReached(t *testing.T) { holds(t, judged(t, shipped(t)), true) }

// TestExamplesAreReached takes the limits of every example, and of each of its
// scenarios those that it lays over the shipped ones.
func TestExamplesAreReached(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no examples")
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, doc := range documents(t, file, text) {
			if seen[doc.Fingerprint] {
				continue
			}
			seen[doc.Fingerprint] = true
			t.Run(fmt.Sprint(filepath.Base(file), " ", i), func(t *testing.T) { holds(t, judged(t, doc), true) })
		}
	}
	if len(seen) < 2 {
		t.Errorf("only %d documents", len(seen))
	}
}

func documents(t *testing.T, file string, text []byte) []*limits.Document {
	if doc, err := limits.Load(file, text); err == nil {
		return []*limits.Document{doc}
	}
	tree, err := strict.Read(file, text)
	if err != nil {
		t.Fatal(err)
	}
	list := []*strict.Tree{tree}
	if len(tree.Keys) == 0 {
		list = tree.Values
	}
	out := []*limits.Document{}
	for _, one := range list {
		doc := shipped(t)
		for i, key := range one.Keys {
			if key.Text != "limits" || len(one.Values[i].Keys) == 0 {
				continue
			}
			part := *one.Values[i]
			part.Keys, part.Values = nil, nil
			for j, name := range one.Values[i].Keys {
				if name.Text != "over" {
					part.Keys, part.Values = append(part.Keys, name), append(part.Values, one.Values[i].Values[j])
				}
			}
			if doc, err = limits.OverTree(doc, file, &part); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, doc)
	}
	return out
}

// TestUnboundedIsSaidWithTheKeyThatWouldBound takes limits away until nothing is left
// that bounds a measure.
func TestUnboundedIsSaidWithTheKeyThatWouldBound(t *testing.T) {
	for _, row := range []struct {
		what    string
		changes []string
		horizon string
		measure Measure
		would   string // one of the keys; empty: it is bounded
	}{
		{"no cap on exposure but cash", []string{"max_gross_exposure: off", "max_position_qty: off"}, "day", Exposure, ""},
		{
			"nothing caps exposure",
			[]string{
				"max_gross_exposure: off", "max_position_qty: off", "require_buying_power: false", "max_notional_per_minute: off",
				"max_order_qty: off", "max_order_notional: off", "max_daily_loss: off", "repeated_execution: off",
			},
			"minute", Exposure, "position.max_gross_exposure",
		},
		{
			"no pace",
			[]string{"max_orders_per_minute: off", "max_orders_per_day: off", "max_messages_per_minute: off"},
			"day", Orders, "session.max_orders_per_minute",
		},
		{"orders a day still bound shares", []string{"max_notional_per_minute: off"}, "day", Shares, ""},
	} {
		t.Run(row.what, func(t *testing.T) {
			doc := with(t, row.changes...)
			scene, err := NewScene(doc, money.NotionalFromInt(100_000), []string{"AAPL"})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range horizons(doc) {
				if h.name != row.horizon {
					continue
				}
				s := newSystem(doc, scene, h.horizon)
				got := s.harm(row.measure)
				if got.Unbounded != (row.would != "") {
					t.Fatalf("unbounded is %v, bound %s", got.Unbounded, got.Bound)
				}
				keys := wouldBound(doc, scene, h.horizon, row.measure, got.Unbounded)
				if row.would != "" && !strings.Contains(strings.Join(keys, " "), row.would) {
					t.Errorf("keys %v, want %s among them", keys, row.would)
				}
			}
		})
	}
}

// TestEachLimitBinds tightens one key at a time until it is what bounds a measure, and
// expects its name and the attacker below it.
func TestEachLimitBinds(t *testing.T) {
	for _, row := range []struct {
		change  string
		measure Measure
		key     string
		most    string // of the day; empty: not asked
	}{
		{"max_gross_exposure: \"10000\"", Exposure, "position.max_gross_exposure", "10000"},
		{"max_net_exposure: \"9000\"", Exposure, "position.max_net_exposure", "9000"},
		{"max_position_qty: 7", Exposure, "position.max_position_qty", ""},
		{"max_position_notional: \"3000\"", Exposure, "position.max_position_notional", ""},
		{"max_concentration: 5", Exposure, "position.max_concentration", ""},
		{"max_orders_per_day: 3", Shares, "session.max_orders_per_day", ""},
		{"max_notional_per_day: \"20000\"", Turnover, "session.max_notional_per_day", ""},
		{"max_order_notional: \"1000\"", Turnover, "session.max_orders_per_day", ""},
		{"max_daily_loss: \"50\"", Loss, "", ""},
		{"max_drawdown: \"40\"", Loss, "", ""},
	} {
		t.Run(row.change, func(t *testing.T) {
			r := judged(t, with(t, row.change), "AAPL")
			holds(t, r, false)
			h := r.harmOf("day", row.measure)
			if row.key != "" && h.Tight != row.key {
				t.Errorf("tight is %s of %v, bound %s", h.Tight, h.Binding, h.Bound)
			}
			if want, ok := new(big.Rat).SetString(row.most); ok && h.bound.Cmp(want) != 0 {
				t.Errorf("bound %s, want %s", h.Bound, row.most)
			}
		})
	}
}

// TestABoundThatForgetsALimitIsExceeded shows that the attacker would find a system that
// claims too little: each row taken by half, some plan is above.
func TestABoundThatForgetsALimitIsExceeded(t *testing.T) {
	doc := shipped(t)
	scene, err := NewScene(doc, money.NotionalFromInt(100_000), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := horizons(doc)[0].horizon
	best, err := search(doc, scene, h, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := newSystem(doc, scene, h)
	for i := range s.rows {
		if len(s.rows[i].keys) > 0 && s.rows[i].keys[0] == "session.max_notional_per_minute" && s.rows[i].most.Sign() > 0 {
			s.rows[i].most = over(s.rows[i].most, whole(2))
		}
	}
	for _, m := range []Measure{Shares, Exposure, Turnover, Overpaid, Loss} {
		if x := s.harm(m); best[m].tally.of(m).Cmp(x.bound) <= 0 {
			t.Errorf("%s: attained %s is not above the halved bound %s", m, best[m].tally.of(m).FloatString(2), x.Bound)
		}
	}
}

// someLimits draws a document: any figure may be off, and they need not fit each other.
func someLimits(t *rapid.T) []string {
	var out []string
	figure := func(key string, low, high int, off int, format string) {
		if rapid.IntRange(0, 99).Draw(t, key+" off") < off {
			out = append(out, key+": off")
			return
		}
		out = append(out, fmt.Sprintf("%s: "+format, key, rapid.IntRange(low, high).Draw(t, key)))
	}
	flag := func(key string) { out = append(out, fmt.Sprintf("%s: %v", key, rapid.Bool().Draw(t, key))) }
	figure("max_order_qty", 1, 300, 20, "%d")
	figure("max_order_notional", 100, 60_000, 30, `"%d"`)
	figure("max_order_pct_of_equity", 1, 100, 60, "%d")
	figure("quantity_step", 1, 7, 30, `"%d"`)
	figure("max_position_qty", 1, 900, 30, "%d")
	figure("max_position_notional", 500, 90_000, 60, `"%d"`)
	figure("max_gross_exposure", 500, 300_000, 40, `"%d"`)
	figure("max_net_exposure", 500, 200_000, 60, `"%d"`)
	figure("max_concentration", 1, 100, 60, "%d")
	flag("require_buying_power")
	flag("allow_short")
	flag("allow_flip")
	flag("allow_fractional")
	figure("max_open_orders", 0, 20, 20, "%d")
	figure("limit_price_collar", 1, 400, 20, "%d")
	figure("exit_price_collar", 1, 600, 20, "%d")
	figure("max_spread", 1, 200, 20, "%d")
	figure("max_orders_per_minute", 1, 20, 10, "%d")
	figure("max_notional_per_minute", 500, 150_000, 30, `"%d"`)
	figure("max_messages_per_minute", 1, 60, 20, "%d")
	figure("max_orders_per_day", 1, 60, 10, "%d")
	figure("max_notional_per_day", 1000, 400_000, 40, `"%d"`)
	figure("max_daily_loss", 1, 5000, 30, `"%d"`)
	figure("max_drawdown", 1, 5000, 50, `"%d"`)
	figure("min_order_notional", 1, 500, 40, `"%d"`)
	if rapid.Bool().Draw(t, "cycles") {
		out = append(out, fmt.Sprintf("repeated_execution: {cycles: %d, window: %dm}",
			rapid.IntRange(1, 20).Draw(t, "cycles in"), rapid.IntRange(1, 120).Draw(t, "minutes")))
	}
	return out
}

// TestNothingExceedsABoundOfRandomLimits is the property that the whole package stands
// for. The day is cut to an hour, so that hundreds of documents fit into the test.
func TestNothingExceedsABoundOfRandomLimits(t *testing.T) {
	for _, name := range []string{"first hundred", "second hundred", "third hundred"} {
		t.Run(name, notExceeded)
	}
}

func notExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := with(t, someLimits(rt)...)
		scene, err := NewScene(doc, money.NotionalFromInt(int64(rapid.IntRange(500, 200_000).Draw(rt, "cash"))), []string{"AAPL", "NVDA"})
		if err != nil {
			rt.Fatal(err)
		}
		h := rapid.SampledFrom([]horizon{{1, time.Minute}, {2, time.Minute + 1}, {60, time.Hour}}).Draw(rt, "horizon")
		p := policy{
			symbols: rapid.SampledFrom([][]int{{0}, {1}, {0, 1}, {1, 0}}).Draw(rt, "symbols"), full: rapid.Bool().Draw(rt, "full"),
			edge: rapid.Bool().Draw(rt, "edge"), give: rapid.Bool().Draw(rt, "give"), turn: rapid.Bool().Draw(rt, "turn"),
			sell: rapid.Bool().Draw(rt, "sell"), wash: rapid.Bool().Draw(rt, "wash"), crumbs: rapid.IntRange(0, 9).Draw(rt, "crumbs") == 0,
			most:  150,
			short: doc.Instrument.AllowShort && rapid.Bool().Draw(rt, "short"),
		}
		r, _, err := play(doc, scene, h, p)
		if err != nil {
			rt.Fatal(err)
		}
		s := newSystem(doc, scene, h)
		for _, m := range Measures() {
			x := s.harm(m)
			if x.Unbounded {
				if got := largest(s.rows, s.objective(m), s.choices()); !got.unbounded {
					rt.Fatalf("%s: no solution, and no proof that there is none", m)
				}
				continue
			}
			if got := r.tally.of(m); got.Cmp(x.bound) > 0 {
				rt.Fatalf("%s: attained %s, above the bound %s: %v", m, got.FloatString(4), x.bound.FloatString(4), x.Says())
			}
		}
	})
}
