package market_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/market"
)

func TestTradeDateAgreesWithPackageTime(t *testing.T) {
	d := market.TradeDate(1_01_01)
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for at.Year() <= 9999 {
		if d.Year() != at.Year() || d.Month() != at.Month() || d.Day() != at.Day() || d.Weekday() != at.Weekday() {
			t.Fatalf("got %s %s, want %s %s", d, d.Weekday(), at.Format(time.DateOnly), at.Weekday())
		}
		next := d.AddDays(1)
		at = at.AddDate(0, 0, 1)
		if at.Year() <= 9999 && (next <= d || next.AddDays(-1) != d) {
			t.Fatalf("%s is followed by %s", d, next)
		}
		d = next
	}
	if d != 0 {
		t.Errorf("after the last year comes %d, want no date", d)
	}
}

func TestTradeDateAddDays(t *testing.T) {
	for _, c := range []struct {
		d    market.TradeDate
		n    int
		want market.TradeDate
	}{
		{2026_03_18, 0, 2026_03_18}, {2024_02_28, 1, 2024_02_29}, {2026_02_28, 1, 2026_03_01},
		{2026_01_01, -1, 2025_12_31}, {2026_03_18, 365, 2027_03_18}, {2000_02_28, 2, 2000_03_01},
		{1_01_01, -1, 0}, {9999_12_31, 1, 0}, {0, 1, 0}, {2026_02_29, 1, 0},
		{2026_03_18, 1<<31 - 1, 0}, {2026_03_18, -1 << 31, 0},
	} {
		if got := c.d.AddDays(c.n); got != c.want {
			t.Errorf("%d + %d days: got %d, want %d", c.d, c.n, got, c.want)
		}
	}
}

func TestTradeDateText(t *testing.T) {
	for text, want := range map[string]market.TradeDate{
		"2026-03-18": 2026_03_18, "0001-01-01": 1_01_01, "9999-12-31": 9999_12_31, "2024-02-29": 2024_02_29,
	} {
		d, err := market.ParseTradeDate(text)
		if err != nil || d != want || d.String() != text || !d.Valid() || d.IsZero() {
			t.Errorf("%s: got %d (%v), which is written %s", text, d, err, d)
		}
	}
	for _, bad := range []string{
		"", "2026-3-18", "2026-03-18 ", " 2026-03-18", "20260318", "2026/03/18", "2026-02-29", "2026-13-01",
		"2026-00-01", "2026-01-00", "2026-04-31", "0000-01-01", "-026-03-18", "+026-03-18", "2026-03-1a", "2026-03-18T00:00:00Z",
		"２０２６-03-18", "2026-03-1\x00",
	} {
		if d, err := market.ParseTradeDate(bad); err == nil || d != 0 {
			t.Errorf("%q was read as %d", bad, d)
		}
	}
	if d, ok := market.NewTradeDate(2026, time.March, 18); !ok || d != 2026_03_18 {
		t.Errorf("got %d, %t", d, ok)
	}
	if d, ok := market.NewTradeDate(2100, time.February, 29); ok || d != 0 {
		t.Errorf("2100 is taken for a leap year: %d", d)
	}
}

func TestTradeDateJSON(t *testing.T) {
	type doc struct {
		Day market.TradeDate `json:"day"`
	}
	for d, want := range map[market.TradeDate]string{2026_03_18: `{"day":"2026-03-18"}`, 0: `{"day":""}`} {
		b, err := json.Marshal(doc{d})
		if err != nil || string(b) != want {
			t.Errorf("wrote %s (%v), want %s", b, err, want)
		}
		var back doc
		if err := json.Unmarshal(b, &back); err != nil || back.Day != d {
			t.Errorf("read %s (%v), want %s", back.Day, err, d)
		}
	}
	if _, err := json.Marshal(doc{2026_02_30}); err == nil {
		t.Error("30 February was written")
	}
	var back doc
	for _, bad := range []string{`{"day":20260318}`, `{"day":"2026-02-30"}`, `{"day":["2026-03-18"]}`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func FuzzParseTradeDate(f *testing.F) {
	for _, s := range []string{"2026-03-18", "2024-02-29", "0000-01-01", "9999-12-31", "2026-02-30", "2026-3-18", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := market.ParseTradeDate(text)
		at, oracle := time.Parse(time.DateOnly, text)
		if want := oracle == nil && at.Year() > 0; (err == nil) != want {
			t.Fatalf("%q: got %d (%v), oracle says %t", text, d, err, want)
		}
		if err == nil && (d.String() != text || d != tradeDate(at)) {
			t.Fatalf("%q was read as %s", text, d)
		}
	})
}
