package lint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/scenario"
)

// choices are values of each key that random documents are made of, chosen so that they
// meet: equal, just apart, far apart, zero, off.
func choices() map[string][]string {
	value := []string{"off", `"0"`, `"1"`, `"50"`, `"999.99"`, `"1000"`, `"1000.01"`, `"25000"`, `"250000"`}
	count := []string{"off", "0", "1", "2", "3", "10"}
	bps := []string{"off", "1", "50", "150", "151", "300", "5000"}
	flag := []string{"true", "false"}
	return map[string][]string{
		"instrument.symbols": {"[]", "[AAPL]", "[AAPL, MSFT]", "[XYZ]"}, "instrument.restricted_symbols": {"[]", "[]", "[AAPL]", "[QQQ]"},
		"instrument.asset_classes":  {"[us_equity]", "[us_equity]", "[us_equity, crypto]", "[]", "[us_equity, us_option, crypto, future, forex]"},
		"instrument.sides":          {"[buy, sell]", "[buy, sell]", "[buy]", "[sell]", "[]"},
		"instrument.order_types":    {"[limit]", "[limit, market]", "[market]", "[stop, stop_limit]", "[limit, market, stop, stop_limit]", "[]"},
		"instrument.times_in_force": {"[day, gtc, ioc]", "[day]", "[ioc]", "[gtd]", "[]"}, "instrument.allow_extended_hours": flag,
		"instrument.allow_fractional": flag, "instrument.allow_short": flag,
		"size.max_order_qty": {"off", "0", "1", "5", "100", `"0.5"`}, "size.max_order_notional": value, "size.min_order_notional": value,
		"size.max_order_pct_of_equity": {"off", "0", "1", "10", "100", "200"}, "size.quantity_step": {"off", "1", "100", `"0.5"`, `"0.3"`, "7"},
		"position.max_position_qty": {"off", "0", "1", "5", "500"}, "position.max_position_notional": value, "position.max_gross_exposure": value,
		"position.max_net_exposure": value, "position.max_concentration": {"off", "0", "5", "10", "100", "300"}, "position.require_buying_power": flag,
		"position.allow_flip": flag, "position.max_open_orders": count, "position.allow_self_cross": flag, "position.max_in_doubt": count,
		"collar.limit_price_collar": bps, "collar.exit_price_collar": bps, "collar.passive_price_collar": bps, "collar.market_order_spread": bps,
		"collar.market_order_slippage": {"1", "50"}, "collar.max_quote_age": {"off", "5s", "2m"}, "collar.max_spread": bps,
		"collar.price_step": {"off", "us_equity", `"0.000000001"`, `"0.05"`, "5"}, "collar.stop_price_side": {"on", "off"},
		"session.require_market_open": flag, "session.trading_window": {"off", `{from: "09:30", to: "16:00"}`, `{from: "04:00", to: "20:00"}`, `{from: "12:00", to: "12:30"}`},
		"session.max_orders_per_minute": count, "session.max_notional_per_minute": value, "session.max_messages_per_minute": count,
		"session.max_orders_per_day": count, "session.max_notional_per_day": value, "session.max_daily_loss": value, "session.max_drawdown": value,
		"session.duplicate_window": {"off", "10s", "1h"}, "session.denial_storm": {"off", "{denials: 3, window: 10m}", "{denials: 0, window: 30s}"},
		"session.repeated_execution": {"off", "{cycles: 2, window: 1h}"},
	}
}

// randomDocument changes some keys of the shipped document.
func randomDocument(t *rapid.T, base *limits.Document) *limits.Document {
	all := choices()
	var b strings.Builder
	section := ""
	changes := rapid.IntRange(1, 100).Draw(t, "percent of keys changed")
	for _, k := range limits.Keys() {
		from, ok := all[k.Path]
		if !ok || rapid.IntRange(1, 100).Draw(t, k.Path+"?") > changes {
			continue
		}
		if s := k.Section(); s != section {
			section = s
			fmt.Fprintf(&b, "%s:\n", s)
		}
		fmt.Fprintf(&b, "  %s: %s\n", k.Name(), rapid.SampledFrom(from).Draw(t, k.Path))
	}
	if b.Len() == 0 {
		return base
	}
	doc, err := limits.Over(base, "part.yaml", []byte(b.String()))
	if err != nil {
		t.Fatalf("%s: %v", b.String(), err)
	}
	return doc
}

// TestNoDocumentContradictsItsVerdicts: for random documents no story of any rail, and no
// random order, comes to a denial by a rail alone that is claimed off or never alone; and
// what is shown has no fewer steps than was argued.
func TestNoDocumentContradictsItsVerdicts(t *testing.T) {
	base := over(t, "version: 1")
	const parts = 10
	decided, undecided := map[Verdict]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		doc := randomDocument(t, base)
		l := &linter{ctx: context.Background(), all: newGrounds(doc, whole(startCash)), text: doc.Canonical}
		l.g = l.all[0]
		proofs := prove(doc)
		verdicts := map[string]Rail{}
		part := rapid.IntRange(0, parts-1).Draw(t, "part of the rails")
		for i, r := range rail.All() {
			proven := proofs[r.ID].because != "" || len(l.grounds(r.ID)) == 0
			if i%parts != part && !proven {
				continue
			}
			x, err := l.rail(&r, proofs)
			if err != nil {
				t.Fatal(err)
			}
			verdicts[x.Rail] = x
			switch x.Verdict {
			case Reachable:
				if x.Steps < x.Floor {
					t.Fatalf("%s: shown in %d steps, and no fewer than %d are said to do", x.Rail, x.Steps, x.Floor)
				}
			case Undecided:
				undecided[x.Rail]++
			}
			// The stories that would show the rail are the best that can be said against the claim.
			if decided[x.Verdict]++; i%parts == part && (x.Verdict == NeverAlone || x.Verdict == Off) {
				nearest := ""
				for _, g := range l.all {
					if found, _ := l.search(g, &r, &Rail{}, &nearest); found {
						t.Fatalf("%s is claimed %s (%s), and a story shows it alone", x.Rail, x.Verdict, x.Because)
					}
				}
			}
		}
		chance := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 10 {
			s := l.g.random(chance)
			text := s.text("random", "", "")
			list, err := scenario.Load("random", []byte(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			result, err := scenario.Run(l.ctx, list[0], scenario.Options{Document: doc.Canonical})
			if err != nil {
				continue // such an account cannot begin
			}
			for _, step := range result.Steps {
				if len(step.Rails) != 1 || len(step.Faults) != 0 {
					continue
				}
				if v, ok := verdicts[step.Rails[0]]; ok && (v.Verdict == NeverAlone || v.Verdict == Off) {
					t.Fatalf("%s is claimed %s (%s), and denied alone at step %d of\n%s", v.Rail, v.Verdict, v.Because, step.Step, text)
				}
			}
		}
	})
	t.Logf("verdicts: %v; not decided: %v", decided, undecided)
}

// random is a story that has nothing to do with any rail.
func (g *ground) random(chance *rand.Rand) story {
	pick := func(from ...string) string { return from[chance.IntN(len(from))] }
	price := func() number {
		return parse(pick("0.0001", "0.05", "1", "9.99", "10", "100", "101.5", "250", "1000.01", "25000", "50000.03"))
	}
	h := *g
	h.symbol = pick(g.symbol, g.symbol, g.symbol, "AAPL", "MSFT", foreignName)
	h.extended = chance.IntN(3) == 0
	p := price()
	s := h.beginAt(p)
	s.cash = pick("0", "50", "1000", "100000", "10000000")
	if chance.IntN(3) == 0 {
		s.at = clock(h.times()[chance.IntN(len(h.times()))])
	}
	quantity := func() number {
		return parse(pick("0.000000001", "0.3", "0.5", "1", "2", "5", "7", "100", "101", "501"))
	}
	if chance.IntN(2) == 0 {
		held := quantity()
		if chance.IntN(3) == 0 {
			held = zero().minus(held)
		}
		s = s.holding(h.symbol, held)
	}
	if chance.IntN(4) == 0 {
		s = h.beside(s, price()).holding(h.second, whole(1))
	}
	if chance.IntN(4) == 0 {
		s.turnover = pick("1", "999", "1000", "25000")
	}
	if chance.IntN(4) == 0 {
		s.equity = pick("10", "1000", "101000", "1000000")
	}
	if chance.IntN(4) == 0 {
		spread := p.plus(p.times(parse(pick("0.0001", "0.01", "0.03"))))
		s.quotes[0] = h.symbol + ": {" + between(p, larger(spread, p)) + pick("", ", halted: true", ", age: 6s", ", last: \"0\"") + "}"
	}
	for range 1 + chance.IntN(5) {
		limit := p
		if chance.IntN(2) == 0 {
			limit = larger(p.plus(p.times(parse(pick("0.001", "0.0151", "0.02", "0.4")))), least())
		}
		o := ask{symbol: h.symbol, side: pick("buy", "sell"), quantity: quantity(), limit: limit, tif: pick("day", "day", "gtc", "ioc"), extended: h.extended, id: pick("", "", "a", "b")}
		switch chance.IntN(8) {
		case 0:
			s = s.with("advance: " + pick("1s", "31s", "61s"))
		case 1:
			s = s.with("broker: " + pick("timeout", "reject", "partial"))
		default:
			s = s.placed(o.as(&h, pick(h.kind, h.kind, "limit", "market", "stop", "stop_limit")))
		}
	}
	return s
}
