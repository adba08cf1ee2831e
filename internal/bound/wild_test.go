package bound

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// wild draws orders that no policy would: any symbol and side, any size, any price from the
// quote to the collar, at any instant of the horizon.
func wild(rt *rapid.T, d *desk, h horizon) error {
	steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [6]int {
		n := rapid.IntRange(0, 1<<20)
		return [6]int{
			n.Draw(rt, "wait"), n.Draw(rt, "symbol"), n.Draw(rt, "side"), n.Draw(rt, "size"), n.Draw(rt, "price"), n.Draw(rt, "again"),
		}
	}), 1, 60).Draw(rt, "steps")
	// Waits begin short: where a window ends is where bounds are tried.
	waits := []time.Duration{0, 0, 0, 1, time.Second, 20 * time.Second, time.Minute - 1, time.Minute}
	end := d.scene.Opens.Add(h.session)
	for _, s := range steps {
		at := d.now.Add(waits[s[0]%len(waits)])
		if !at.Before(end) {
			continue
		}
		d.now = at
		q := &d.scene.Quotes[s[1]%len(d.scene.Quotes)]
		side := []order.Side{order.Buy, order.Sell}[s[2]%2]
		if err := d.wildly(q, side, s[3], s[4], 1+s[5]%6); err != nil {
			return err
		}
	}
	return nil
}

// wildly places an order and repeats it at prices a step apart. The size is one of those at
// which a rail begins to refuse, or none of them.
func (d *desk) wildly(q *Quote, side order.Side, size, price, times int) error {
	a := attacker{desk: d, policy: policy{short: side == order.Sell}}
	exit := d.held(q.Symbol).Sign() > 0 == (side == order.Sell) && !d.held(q.Symbol).IsZero()
	edge := price%3 != 0
	limit := a.price(q, side, edge, exit)
	step := a.step(q)
	for range times {
		most := a.sizes(q)
		switch size % 4 {
		case 0:
			most = money.MinQuantity(most, d.held(q.Symbol).Abs())
		case 1: // as large as may be
		case 2:
			most = step
		default:
			most = a.floor(q, quantity(over(rat(most), whole(1+size/4%9))))
		}
		most, _ = a.biggest(q, side, limit, most)
		if most.IsPositive() {
			if _, err := d.place(q, side, most, limit); err != nil {
				return err
			}
		}
		a.policy.edge = edge
		limit = a.nudge(q, side, limit)
	}
	return nil
}

// TestNothingWildExceedsABoundOfRandomLimits: both directions at once, orders that cross
// zero, and windows that begin at any instant are in no policy of the attacker's.
func TestNothingWildExceedsABoundOfRandomLimits(t *testing.T) {
	for _, name := range []string{"first hundred", "second hundred"} {
		t.Run(name, notExceededWildly)
	}
}

func notExceededWildly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := with(t, someLimits(rt)...)
		scene, err := NewScene(doc, money.NotionalFromInt(int64(rapid.IntRange(500, 200_000).Draw(rt, "cash"))), []string{"AAPL", "NVDA"})
		if err != nil {
			rt.Fatal(err)
		}
		h := rapid.SampledFrom([]horizon{{1, time.Minute}, {2, time.Minute + 1}, {60, time.Hour}}).Draw(rt, "horizon")
		d, err := newDesk(doc, scene)
		if err != nil {
			rt.Fatal(err)
		}
		if err := wild(rt, d, h); err != nil {
			rt.Fatal(err)
		}
		s := newSystem(doc, scene, h)
		for _, m := range Measures() {
			x := s.harm(m)
			if got := d.tally.of(m); !x.Unbounded && got.Cmp(x.bound) > 0 {
				rt.Fatalf("%s: attained %s, above the bound %s: %v\n%v", m, got.FloatString(4), x.bound.FloatString(4), x.Says(), d.plan)
			}
		}
		for i := range s.legs {
			l := &s.legs[i]
			most, seen := s.greatest(l, nil), d.tally.quotes[l.symbol].peak
			if l.short {
				seen = neg(d.tally.quotes[l.symbol].low)
			}
			if bound, ok := new(big.Rat).SetString(most.Bound); ok && seen.Cmp(bound) > 0 {
				rt.Fatalf("%s of %s held, at most %s", l.name(), dec(seen), most.Bound)
			}
		}
	})
}

// TestAWeekendBelongsToTheTradeDateAfterIt: where the exchange need not be open, a trade
// date has more minutes than a day.
func TestAWeekendBelongsToTheTradeDateAfterIt(t *testing.T) {
	doc := with(t, "allow_extended_hours: true", "require_market_open: false", "max_orders_per_day: off", "max_orders_per_minute: 1", "max_quote_age: off")
	scene, err := NewScene(doc, money.NotionalFromInt(100_000), []string{"AAPL"})
	if err != nil {
		t.Fatal(err)
	}
	scene.Opens = time.Date(2026, 3, 21, 4, 0, 0, 0, time.UTC) // Saturday 00:00 in New York
	d, err := newDesk(doc, scene)
	if err != nil {
		t.Fatal(err)
	}
	q := &scene.Quotes[0]
	first := d.state.Day.Date
	for d.now.Before(scene.Opens.Add(72 * time.Hour)) {
		req := d.request(q, order.Buy, money.QuantityFromInt(1), q.Ask)
		req.Intent.ExtendedHours = true
		if got := risk.Decide(d.state, d.doc, req, scene.Calendar); !got.Allowed() && !slices.Contains(got.Refusing(), "duplicate_order") {
			t.Fatalf("%s: %v %v", d.now, got.Refusing(), got.Faults())
		}
		if day := d.state.DayAt(d.now); day.Date != first {
			t.Fatalf("%s is of %s, not %s", d.now, day.Date, first)
		}
		d.now = d.now.Add(time.Hour)
	}
	for _, h := range horizons(doc) {
		if h.name != "day" {
			continue
		}
		if h.session < 72*time.Hour {
			t.Errorf("a trade date of %s, and one of 72 h was found", h.session)
		}
		if x := newSystem(doc, scene, h.horizon).harm(Orders); x.bound.Cmp(whole(72*60)) < 0 {
			t.Errorf("%s orders, and one a minute for 72 h passes", x.Bound)
		}
	}
}
