package market_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/market"
)

func TestNeighbouringTradeDates(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct{ d, before, after market.TradeDate }{
		{2026_03_18, 2026_03_17, 2026_03_19},
		{2026_03_16, 2026_03_13, 2026_03_17},
		{2026_04_03, 2026_04_02, 2026_04_06}, // Good Friday
		{2026_04_05, 2026_04_02, 2026_04_06},
		{2012_10_29, 2012_10_26, 2012_10_31}, // Sandy
		{2009_12_31, 0, 2010_01_04},
		{2010_01_04, 0, 2010_01_05},
		{2027_12_31, 2027_12_30, 0},
		{2028_01_01, 2027_12_31, 0},
		{2028_01_02, 0, 0},
		{0, 0, 0},
	} {
		before, okBefore := cal.PreviousTradeDate(c.d)
		after, okAfter := cal.NextTradeDate(c.d)
		if before != c.before || okBefore != (c.before != 0) {
			t.Errorf("before %s: got %s, %t, want %s", c.d, before, okBefore, c.before)
		}
		if after != c.after || okAfter != (c.after != 0) {
			t.Errorf("after %s: got %s, %t, want %s", c.d, after, okAfter, c.after)
		}
	}
}

func TestRegularHours(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct {
		d             market.TradeDate
		opens, closes string
	}{
		{2026_03_06, "2026-03-06T14:30:00Z", "2026-03-06T21:00:00Z"},
		{2026_03_09, "2026-03-09T13:30:00Z", "2026-03-09T20:00:00Z"},
		{2026_11_27, "2026-11-27T14:30:00Z", "2026-11-27T18:00:00Z"},
	} {
		opens, okOpens := cal.RegularOpen(c.d)
		closes, okCloses := cal.RegularClose(c.d)
		if !okOpens || !okCloses || opens != utc(t, c.opens) || closes != utc(t, c.closes) {
			t.Errorf("%s: got %s to %s", c.d, opens, closes)
		}
	}
	for _, d := range []market.TradeDate{0, 2026_04_03, 2026_03_14, 2028_01_03, 2009_12_31, 2026_02_30} {
		if _, ok := cal.RegularOpen(d); ok {
			t.Errorf("%d opens", d)
		}
		if _, ok := cal.RegularClose(d); ok {
			t.Errorf("%d closes", d)
		}
	}
}

func TestNextOpen(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct{ after, want string }{
		{"2026-03-18T13:29:59.999999999Z", "2026-03-18T13:30:00Z"},
		{"2026-03-18T13:30:00Z", "2026-03-19T13:30:00Z"}, // strictly later
		{"2026-03-18T15:00:00Z", "2026-03-19T13:30:00Z"},
		{"2026-03-06T21:00:00Z", "2026-03-09T13:30:00Z"}, // over the clock change
		{"2026-04-02T20:00:00Z", "2026-04-06T13:30:00Z"}, // over Good Friday
		{"2012-10-26T20:00:00Z", "2012-10-31T13:30:00Z"}, // over Sandy
		{"2027-12-31T14:29:59Z", "2027-12-31T14:30:00Z"},
	} {
		if got, ok := cal.NextOpen(utc(t, c.after)); !ok || got != utc(t, c.want) {
			t.Errorf("after %s: got %s, %t, want %s", c.after, got, ok, c.want)
		}
	}
	for _, after := range []string{"2027-12-31T14:30:00Z", "2028-03-01T00:00:00Z", "2009-06-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
		if got, ok := cal.NextOpen(utc(t, after)); ok {
			t.Errorf("after %s: got %s, want none", after, got)
		}
	}
	if _, ok := (market.Calendar{}).NextOpen(utc(t, "2026-03-18T15:00:00Z")); ok {
		t.Error("the zero calendar opens")
	}
}

func TestAdvanceOpen(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct {
		start string
		d     time.Duration
		want  string // empty: none
	}{
		{"2026-03-18T15:00:00Z", 0, "2026-03-18T15:00:00Z"},
		{"2026-03-18T15:00:00Z", 5*time.Hour - 1, "2026-03-18T19:59:59.999999999Z"},
		{"2026-03-18T15:00:00Z", 5 * time.Hour, "2026-03-19T13:30:00Z"}, // a close is the next opening
		{"2026-03-18T15:00:00Z", 6 * time.Hour, "2026-03-19T14:30:00Z"},
		{"2026-03-18T05:00:00Z", 0, "2026-03-18T13:30:00Z"},
		{"2026-03-18T20:00:00Z", time.Minute, "2026-03-19T13:31:00Z"},
		{"2026-03-14T12:00:00Z", time.Second, "2026-03-16T13:30:01Z"},
		{"2026-03-06T20:00:00Z", 2 * time.Hour, "2026-03-09T14:30:00Z"},                     // clock change
		{"2026-11-25T20:00:00Z", time.Hour + 3*time.Hour + 30*60e9, "2026-11-30T14:30:00Z"}, // early close
		{"2027-12-31T20:59:59Z", 999_999_999, "2027-12-31T20:59:59.999999999Z"},
		{"2027-12-31T20:59:59Z", time.Second, ""},
		{"2026-03-18T15:00:00Z", 1<<63 - 1, ""},
		{"2026-03-18T15:00:00Z", -1, ""},
		{"2009-12-31T15:00:00Z", time.Hour, ""},
		{"2028-01-03T15:00:00Z", 0, ""},
	} {
		got, ok := cal.AdvanceOpen(utc(t, c.start), c.d)
		if ok != (c.want != "") || ok && got != utc(t, c.want) {
			t.Errorf("%s + %s: got %s, %t, want %q", c.start, c.d, got, ok, c.want)
		}
	}
	start := utc(t, "2026-03-18T15:00:00Z")
	if got, _ := cal.AdvanceOpen(start.In(time.FixedZone("", 9*3600)), 0); got != start {
		t.Errorf("a start in another zone gives %s, want it in UTC", got)
	}
	if _, ok := (market.Calendar{}).AdvanceOpen(utc(t, "2026-03-18T15:00:00Z"), 0); ok {
		t.Error("the zero calendar's clock runs")
	}
}

// TestAdvanceOpenProperties: the clock never goes back, stands in regular hours only,
// can be taken in two steps, and OpenFor measures what it advanced by.
func TestAdvanceOpenProperties(t *testing.T) {
	cal := market.XNYS()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(rapid.Int64Range(1_262_322_000, 1_700_000_000).Draw(t, "unix"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
		a := time.Duration(rapid.Int64Range(0, int64(2_000*time.Hour)).Draw(t, "a"))
		b := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "b"))
		first, ok1 := cal.AdvanceOpen(start, a)
		second, ok2 := cal.AdvanceOpen(start, a+b)
		if !ok1 || !ok2 || second.Before(first) || first.Before(start) {
			t.Fatalf("%s: +%s gives %s (%t), +%s gives %s (%t)", start, a, first, ok1, a+b, second, ok2)
		}
		if b > 0 && !second.After(first) {
			t.Fatalf("%s stood still for %s", first, b)
		}
		if s := market.Session(second, cal); s.Kind != market.Regular {
			t.Fatalf("%s is %s", second, s.Kind)
		}
		if steps, ok := cal.AdvanceOpen(first, b); !ok || !steps.Equal(second) {
			t.Fatalf("in two steps %s, in one %s", steps, second)
		}
		if open, ok := cal.OpenFor(start, second); !ok || open != a+b {
			t.Fatalf("OpenFor measures %s, %t, want %s", open, ok, a+b)
		}
	})
}

// TestOpenForCountsRegularMinutes holds OpenFor to counting minutes one by one.
func TestOpenForCountsRegularMinutes(t *testing.T) {
	loc, cal := zone(t), market.XNYS()
	rapid.Check(t, func(t *rapid.T) {
		from := time.Unix(60*rapid.Int64Range(1_262_322_000/60, 1_829_000_000/60).Draw(t, "minute"), 0)
		minutes := rapid.IntRange(0, 5*24*60).Draw(t, "minutes")
		want := time.Duration(0)
		for i := range minutes {
			if wantKind(loc, from.Add(time.Duration(i)*time.Minute)) == market.Regular {
				want += time.Minute
			}
		}
		to := from.Add(time.Duration(minutes) * time.Minute)
		if got, ok := cal.OpenFor(from, to); !ok || got != want {
			t.Fatalf("%s to %s: got %s, %t, want %s", from, to, got, ok, want)
		}
	})
}

func TestFailClosedOpenFor(t *testing.T) {
	cal, at := market.XNYS(), utc(t, "2026-03-18T15:00:00Z")
	for name, pair := range map[string][2]time.Time{
		"backwards":    {at, at.Add(-1)},
		"past the end": {at, utc(t, "2028-01-03T15:00:00Z")},
		"before":       {utc(t, "2009-12-31T15:00:00Z"), at},
		"zero time":    {{}, at},
	} {
		if got, ok := cal.OpenFor(pair[0], pair[1]); ok || got != 0 {
			t.Errorf("%s: got %s, %t", name, got, ok)
		}
	}
}
