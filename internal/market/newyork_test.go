package market_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the oracle must not depend on the host either

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/market"
)

// zone is the zone database's New York, which the package itself must not read.
func zone(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// wantLocal is the zone database's answer.
func wantLocal(loc *time.Location, at time.Time) market.LocalTime {
	l := at.In(loc)
	_, offset := l.Zone()
	return market.LocalTime{
		Date: market.TradeDate(l.Year()*10_000 + int(l.Month())*100 + l.Day()),
		SinceMidnight: time.Duration(l.Hour())*time.Hour + time.Duration(l.Minute())*time.Minute +
			time.Duration(l.Second())*time.Second + time.Duration(l.Nanosecond()),
		Offset: time.Duration(offset) * time.Second,
	}
}

func TestNewYorkAgreesWithTheZoneDatabase(t *testing.T) {
	loc := zone(t)
	from := time.Date(2009, 12, 1, 0, 0, 0, 0, time.UTC)
	to := time.Date(2028, 2, 1, 0, 0, 0, 0, time.UTC)
	changes, before := 0, market.NewYork(from).Offset
	for at := from; at.Before(to); at = at.Add(time.Hour) {
		for _, edge := range []time.Duration{-1, 0, 1} {
			instant := at.Add(edge)
			if got, want := market.NewYork(instant), wantLocal(loc, instant); got != want {
				t.Fatalf("%s: got %v, want %v", instant.Format(time.RFC3339Nano), got, want)
			}
		}
		if now := market.NewYork(at).Offset; now != before {
			changes, before = changes+1, now
		}
	}
	if changes != 2*18 {
		t.Errorf("%d clock changes in 18 years, want 36", changes)
	}
}

func TestNewYorkIgnoresTheInstantsOwnZone(t *testing.T) {
	at := time.Date(2026, 3, 18, 15, 0, 0, 123, time.UTC)
	want := market.NewYork(at)
	if want.Date != 2026_03_18 || want.SinceMidnight != 11*time.Hour+123 || want.Offset != -4*time.Hour {
		t.Fatalf("base clock reads %v", want)
	}
	for _, offset := range []int{-12, -8, 9, 14} {
		if got := market.NewYork(at.In(time.FixedZone("", offset*3600))); got != want {
			t.Errorf("offset %d: got %v, want %v", offset, got, want)
		}
	}
}

// TestFromNewYorkAgreesWithTheZoneDatabase reads every half hour of the wall clock: the
// earliest instant that shows it, or, for a skipped one, the reading in standard time.
func TestFromNewYorkAgreesWithTheZoneDatabase(t *testing.T) {
	loc := zone(t)
	skipped, twice := 0, 0
	for d := market.TradeDate(2010_01_01); d <= 2027_12_31; d = d.AddDays(1) {
		for wall := time.Duration(0); wall < 24*time.Hour; wall += 30 * time.Minute {
			utc := time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC).Add(wall)
			daylight, standard := utc.Add(4*time.Hour), utc.Add(5*time.Hour)
			shows := func(at time.Time) bool {
				l := wantLocal(loc, at)
				return l.Date == d && l.SinceMidnight == wall
			}
			want := standard
			if shows(daylight) {
				want = daylight
				if shows(standard) {
					twice++
				}
			} else if !shows(standard) {
				skipped++
			}
			got := market.FromNewYork(d, wall)
			if !got.Equal(want) || got.Location() != time.UTC {
				t.Fatalf("%s + %s: got %s, want %s", d, wall, got, want)
			}
		}
	}
	if skipped != 2*18 || twice != 2*18 {
		t.Errorf("%d half hours skipped and %d shown twice, want 36 and 36", skipped, twice)
	}
}

func TestFromNewYorkTakesTheLocalTimeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(1_262_304_000, 1_830_000_000).Draw(t, "unix"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nano"))
		l := market.NewYork(at)
		back := market.FromNewYork(l.Date, l.SinceMidnight)
		// The second reading of a repeated hour comes back as the first.
		if !back.Equal(at) && !back.Equal(at.Add(-time.Hour)) {
			t.Fatalf("%s came back as %s", at.UTC(), back)
		}
		if again := market.NewYork(back); again.Date != l.Date || again.SinceMidnight != l.SinceMidnight {
			t.Fatalf("%v reads %v", l, again)
		}
	})
}

func TestNewYorkBefore1970(t *testing.T) {
	loc := zone(t)
	for _, at := range []time.Time{
		time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1960, 1, 15, 3, 0, 0, 1, time.UTC),
		time.Date(1955, 7, 4, 4, 0, 0, 0, time.UTC),
	} {
		if got, want := market.NewYork(at), wantLocal(loc, at); got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
}

func TestFromNewYorkRunsIntoOtherDays(t *testing.T) {
	want := market.FromNewYork(2026_03_19, 0)
	if got := market.FromNewYork(2026_03_18, 24*time.Hour); !got.Equal(want) {
		t.Errorf("24 h: got %s, want %s", got, want)
	}
	if got := market.FromNewYork(2026_03_20, -24*time.Hour); !got.Equal(want) {
		t.Errorf("-24 h: got %s, want %s", got, want)
	}
	if got := market.FromNewYork(2026_03_19, -1); !got.Equal(want.Add(-1)) {
		t.Errorf("-1 ns: got %s", got)
	}
}

func TestFailClosedNewYorkOutsideTheYears(t *testing.T) {
	for _, at := range []time.Time{
		{}, time.Unix(-1<<62, 0), time.Unix(1<<62, 0), time.Unix(-1<<63, 0), time.Unix(1<<63-1, 0),
		time.Date(10_000, 1, 1, 12, 0, 0, 0, time.UTC), time.Date(-4, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got := market.NewYork(at); got != (market.LocalTime{}) {
			t.Errorf("%s: got %v, want nothing", at, got)
		}
	}
	for _, d := range []market.TradeDate{0, -1, 2026_02_29, 2026_13_01, 2026_00_10, 1<<31 - 1, -1 << 31} {
		if got := market.FromNewYork(d, time.Hour); !got.IsZero() {
			t.Errorf("date %d: got %s, want the zero time", d, got)
		}
	}
}
