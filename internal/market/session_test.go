package market_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/market"
)

func utc(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestSessionCases are the calendar's part of the cases named, and the other bounds
// where a session or a trade date changes.
func TestSessionCases(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct {
		id, at string
		kind   market.SessionKind
		trade  market.TradeDate
	}{
		{"base clock", "2026-03-18T15:00:00Z", market.Regular, 2026_03_18},
		{"TIM-02 Juneteenth 2026", "2026-06-19T15:00:00Z", market.Closed, 2026_06_22},
		{"TIM-02 Juneteenth 2022, observed on Monday", "2022-06-20T15:00:00Z", market.Closed, 2022_06_21},
		{"TIM-02 not yet kept in 2021", "2021-06-18T15:00:00Z", market.Regular, 2021_06_18},
		{"TIM-06 a week after the US change", "2026-03-16T13:35:00Z", market.Regular, 2026_03_16},
		{"TIM-06 close, a week after the US change", "2026-03-16T20:05:00Z", market.Post, 2026_03_16},
		{"the Friday before the US change", "2026-03-06T14:29:59Z", market.Pre, 2026_03_06},
		{"the Friday before the US change, opening", "2026-03-06T14:30:00Z", market.Regular, 2026_03_06},
		{"the Monday after the US change, opening", "2026-03-09T13:30:00Z", market.Regular, 2026_03_09},
		{"the Monday after the change back", "2026-11-02T14:29:59Z", market.Pre, 2026_11_02},
		{"the Monday after the change back, opening", "2026-11-02T14:30:00Z", market.Regular, 2026_11_02},
		{"TIM-08 post-market", "2026-03-18T23:30:00Z", market.Post, 2026_03_18},
		{"TIM-08 its last second", "2026-03-18T23:59:59Z", market.Post, 2026_03_18},
		{"TIM-08 20:00 exactly, midnight UTC", "2026-03-19T00:00:00Z", market.Closed, 2026_03_18},
		{"TIM-08 20:30, the same trading day", "2026-03-19T00:30:00Z", market.Closed, 2026_03_18},
		{"TIM-08 last instant of the day", "2026-03-19T03:59:59.999999999Z", market.Closed, 2026_03_18},
		{"TIM-08 New York's midnight", "2026-03-19T04:00:00Z", market.Closed, 2026_03_19},
		{"TIM-08 next opening", "2026-03-19T13:30:00Z", market.Regular, 2026_03_19},
		{"TIM-11 the day before", "2026-03-17T15:00:00Z", market.Regular, 2026_03_17},
		{"TIM-16 before the opening", "2026-03-18T13:29:59.999Z", market.Pre, 2026_03_18},
		{"TIM-16 opening", "2026-03-18T13:30:00Z", market.Regular, 2026_03_18},
		{"TIM-16 before the close", "2026-03-18T19:59:59.999Z", market.Regular, 2026_03_18},
		{"TIM-16 close", "2026-03-18T20:00:00Z", market.Post, 2026_03_18},
		{"before the pre-market", "2026-03-18T07:59:59.999999999Z", market.Closed, 2026_03_18},
		{"pre-market", "2026-03-18T08:00:00Z", market.Pre, 2026_03_18},
		{"early close, before", "2026-11-27T17:59:59.999999999Z", market.Regular, 2026_11_27},
		{"early close", "2026-11-27T18:00:00Z", market.Post, 2026_11_27},
		{"early close, last of the post-market", "2026-11-27T21:59:59Z", market.Post, 2026_11_27},
		{"early close, 17:00", "2026-11-27T22:00:00Z", market.Closed, 2026_11_27},
		{"Saturday is Monday's", "2026-03-14T15:00:00Z", market.Closed, 2026_03_16},
		{"Sunday of the change", "2026-03-08T06:59:59Z", market.Closed, 2026_03_09},
		{"Good Friday is Monday's", "2026-04-03T15:00:00Z", market.Closed, 2026_04_06},
		{"Thursday night before Good Friday", "2026-04-03T03:59:59Z", market.Closed, 2026_04_02},
		{"Sandy's second day is Wednesday's", "2012-10-30T15:00:00Z", market.Closed, 2012_10_31},
		{"first day of the table", "2010-01-01T15:00:00Z", market.Closed, 2010_01_04},
		{"last regular instant of the table", "2027-12-31T20:59:59Z", market.Regular, 2027_12_31},
		{"last instant of the table", "2028-01-01T04:59:59Z", market.Closed, 2027_12_31},
	} {
		got := market.Session(utc(t, c.at), cal)
		if got.Kind != c.kind || got.TradeDate != c.trade || !got.Known {
			t.Errorf("%s at %s: got %s of %s, known %t; want %s of %s", c.id, c.at, got.Kind, got.TradeDate, got.Known, c.kind, c.trade)
		}
	}
}

// TestFailClosedSessionOutsideTheValidity is TIM-04 with the shipped table's own end.
func TestFailClosedSessionOutsideTheValidity(t *testing.T) {
	for _, c := range []struct {
		id, at string
		cal    market.Calendar
		trade  market.TradeDate
	}{
		{"TIM-04 past the end, a weekday", "2028-01-04T15:00:00Z", market.XNYS(), 2028_01_04},
		{"past the end, a Saturday", "2028-01-01T15:00:00Z", market.XNYS(), 2028_01_03},
		{"before the start", "2009-12-31T15:00:00Z", market.XNYS(), 2009_12_31},
		{"zero calendar", "2026-03-18T15:00:00Z", market.Calendar{}, 2026_03_18},
	} {
		got := market.Session(utc(t, c.at), c.cal)
		if got != (market.SessionInfo{TradeDate: c.trade}) {
			t.Errorf("%s: got %+v, want a closed, unknown session of %s", c.id, got, c.trade)
		}
	}
	if got := market.Session(time.Time{}, market.XNYS()); got != (market.SessionInfo{}) {
		t.Errorf("zero time: got %+v, want nothing", got)
	}
}

func TestSessionTimes(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct{ at, pre, opens, closes, post string }{
		{"2026-03-18T15:00:00Z", "2026-03-18T08:00:00Z", "2026-03-18T13:30:00Z", "2026-03-18T20:00:00Z", "2026-03-19T00:00:00Z"},
		// Still Thanksgiving in New York: the hours are those of its trade date, Friday.
		{"2026-11-27T03:00:00Z", "2026-11-27T09:00:00Z", "2026-11-27T14:30:00Z", "2026-11-27T18:00:00Z", "2026-11-27T22:00:00Z"},
		{"2026-11-28T03:00:00Z", "2026-11-27T09:00:00Z", "2026-11-27T14:30:00Z", "2026-11-27T18:00:00Z", "2026-11-27T22:00:00Z"},
	} {
		got := market.Session(utc(t, c.at), cal)
		for i, pair := range [][2]time.Time{
			{got.ExtendedOpensAt, utc(t, c.pre)}, {got.OpensAt, utc(t, c.opens)},
			{got.ClosesAt, utc(t, c.closes)}, {got.ExtendedClosesAt, utc(t, c.post)},
		} {
			if !pair[0].Equal(pair[1]) || pair[0].Location() != time.UTC {
				t.Errorf("%s, time %d: got %s, want %s", c.at, i, pair[0], pair[1])
			}
		}
	}
}

// wantKind places an instant by the zone database and the rules, as plainly as it can
// be said.
func wantKind(loc *time.Location, at time.Time) market.SessionKind {
	l := at.In(loc)
	kind := byRule(date(l.Year(), l.Month(), l.Day()))
	clock := l.Format("15:04")
	closes, extended := "16:00", "20:00"
	if kind == early {
		closes, extended = "13:00", "17:00"
	}
	switch {
	case kind == shut || clock < "04:00" || clock >= extended:
		return market.Closed
	case clock < "09:30":
		return market.Pre
	case clock < closes:
		return market.Regular
	}
	return market.Post
}

// wantTrade is the trade date by the zone database and the rules.
func wantTrade(loc *time.Location, at time.Time) market.TradeDate {
	l := at.In(loc)
	d := date(l.Year(), l.Month(), l.Day())
	for byRule(d) == shut {
		d = d.AddDate(0, 0, 1)
	}
	return tradeDate(d)
}

// TestEveryBoundOfEveryDay asks at each bound that a day may have, and just before it.
func TestEveryBoundOfEveryDay(t *testing.T) {
	loc, cal := zone(t), market.XNYS()
	for d := market.TradeDate(2010_01_01); d <= 2027_12_20; d = d.AddDays(1) {
		for _, minute := range []int{0, 4 * 60, 9*60 + 30, 13 * 60, 16 * 60, 17 * 60, 20 * 60} {
			bound := time.Date(d.Year(), d.Month(), d.Day(), 0, minute, 0, 0, loc)
			for _, at := range []time.Time{bound.Add(-1), bound} {
				if at.Year() < 2010 {
					continue
				}
				got := market.Session(at, cal)
				if want := wantKind(loc, at); got.Kind != want {
					t.Fatalf("%s: got %s, want %s", at, got.Kind, want)
				}
				if want := wantTrade(loc, at); got.TradeDate != want {
					t.Fatalf("%s: got trade date %s, want %s", at, got.TradeDate, want)
				}
			}
		}
	}
}

// TestTradeDateNeverGoesBack walks the validity and beyond both its ends by the half
// hour: the date never falls, and changes at New York's midnight only.
func TestTradeDateNeverGoesBack(t *testing.T) {
	closedLast, err := market.XNYS().WithOverrides([]market.Override{
		{Date: 2027_12_31, Kind: market.OverrideClosed, Reason: "closed on the last day known"},
	})
	if err != nil {
		t.Fatal(err)
	}
	loc := zone(t)
	for _, cal := range []market.Calendar{market.XNYS(), closedLast, {}} {
		at := time.Date(2009, 12, 20, 0, 0, 0, 0, time.UTC)
		last := market.Session(at, cal).TradeDate
		for ; at.Year() < 2029; at = at.Add(30 * time.Minute) {
			now := market.Session(at, cal).TradeDate
			if now < last {
				t.Fatalf("%s: trade date fell from %s to %s", at, last, now)
			}
			if now != last && at.In(loc).Format("15:04") != "00:00" {
				t.Fatalf("%s: trade date changed within a day to %s", at.In(loc), now)
			}
			last = now
		}
	}
}

func TestSessionAgreesWithTheOracle(t *testing.T) {
	loc, cal := zone(t), market.XNYS()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(1_262_322_000, 1_829_000_000).Draw(t, "unix"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
		got := market.Session(at, cal)
		if got.Kind != wantKind(loc, at) || got.TradeDate != wantTrade(loc, at) || !got.Known {
			t.Fatalf("%s: got %+v", at.In(loc), got)
		}
		if regular := !at.Before(got.OpensAt) && at.Before(got.ClosesAt); regular != (got.Kind == market.Regular) {
			t.Fatalf("%s is %s, but the regular hours are %s to %s", at, got.Kind, got.OpensAt, got.ClosesAt)
		}
	})
}

func TestSessionAllocatesNothing(t *testing.T) {
	cal, at := market.XNYS(), utc(t, "2026-04-03T15:00:00Z")
	if n := testing.AllocsPerRun(100, func() { market.Session(at, cal) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkSession(b *testing.B) {
	cal := market.XNYS()
	for name, text := range map[string]string{"trading_day": "2026-03-18T15:00:00Z", "long_weekend": "2026-04-03T15:00:00Z"} {
		at := utc(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				market.Session(at, cal)
			}
		})
	}
}

func TestSessionKindText(t *testing.T) {
	for k, word := range map[market.SessionKind]string{
		market.Closed: "closed", market.Pre: "pre", market.Regular: "regular", market.Post: "post",
	} {
		b, err := k.MarshalText()
		var back market.SessionKind
		if err != nil || string(b) != word || back.UnmarshalText(b) != nil || back != k {
			t.Errorf("%s: wrote %q (%v), read %s", word, b, err, back)
		}
	}
	if _, err := market.SessionKind(9).MarshalText(); err == nil {
		t.Error("a kind without a word was written")
	}
	var k market.SessionKind
	for _, bad := range []string{"", "Regular", "open", "post "} {
		if k.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
