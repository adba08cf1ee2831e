package market_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

// day is an oracle's answer for a date.
type day uint8

const (
	full day = iota
	early
	shut
)

// oneOffClosures are the closures that no rule gives.
var oneOffClosures = map[string]bool{
	"2012-10-29": true, "2012-10-30": true, // Hurricane Sandy
	"2018-12-05": true, // mourning of President G. H. W. Bush
	"2025-01-09": true, // mourning of President Carter
}

// byRule is the exchange's calendar derived from NYSE Rule 7.2, with package time's
// dates and none of the table's: a holiday on a Saturday closes the Friday before,
// unless that Friday ends a year; on a Sunday, the Monday after.
func byRule(t time.Time) day {
	if w := t.Weekday(); w == time.Saturday || w == time.Sunday {
		return shut
	}
	if oneOffClosures[t.Format(time.DateOnly)] || isHoliday(t) {
		return shut
	}
	switch {
	case t.Month() == time.November && t.AddDate(0, 0, -1).Equal(nth(t.Year(), time.November, time.Thursday, 4)):
		return early // the day after Thanksgiving
	case t.Month() == time.December && t.Day() == 24:
		return early // Christmas Eve, where it is not the day of observance
	case t.Month() == time.July && t.Day() == 3:
		return early // the eve of Independence Day, where it is not the day of observance
	}
	return full
}

func isHoliday(t time.Time) bool {
	y := t.Year()
	fixed := []time.Time{
		date(y, time.January, 1), date(y, time.July, 4), date(y, time.December, 25),
	}
	if y >= 2022 {
		fixed = append(fixed, date(y, time.June, 19))
	}
	for _, h := range fixed {
		switch h.Weekday() {
		case time.Sunday:
			h = h.AddDate(0, 0, 1)
		case time.Saturday:
			h = h.AddDate(0, 0, -1) // New Year's lands in the year before and so closes nothing
		}
		if h.Equal(t) {
			return true
		}
	}
	memorial := nth(y, time.June, time.Monday, 1).AddDate(0, 0, -7)
	for _, h := range []time.Time{
		nth(y, time.January, time.Monday, 3), nth(y, time.February, time.Monday, 3),
		easter(y).AddDate(0, 0, -2), memorial,
		nth(y, time.September, time.Monday, 1), nth(y, time.November, time.Thursday, 4),
	} {
		if h.Equal(t) {
			return true
		}
	}
	return false
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// nth is the n-th given weekday of a month.
func nth(y int, m time.Month, w time.Weekday, n int) time.Time {
	t := date(y, m, 1)
	for t.Weekday() != w {
		t = t.AddDate(0, 0, 1)
	}
	return t.AddDate(0, 0, 7*(n-1))
}

// easter is Easter Sunday of the Gregorian calendar, by Gauss's rule as completed by
// Lichtenberg.
func easter(y int) time.Time {
	century := y / 100
	m := 15 + (3*century+3)/4 - (8*century+13)/25
	s := 2 - (3*century+3)/4
	a := y % 19
	d := (19*a + m) % 30
	r := (d + a/11) / 29
	og := 21 + d - r
	sz := 7 - (y+y/4+s)%7
	return date(y, time.March, og+7-(og-sz)%7)
}

func tradeDate(t time.Time) market.TradeDate {
	return market.TradeDate(t.Year()*10_000 + int(t.Month())*100 + t.Day())
}

func TestEveryDayAgreesWithTheRules(t *testing.T) {
	cal := market.XNYS()
	for at := date(2010, 1, 1); at.Year() <= 2027; at = at.AddDate(0, 0, 1) {
		d, want := tradeDate(at), byRule(at)
		got := shut
		switch {
		case cal.IsEarlyClose(d):
			got = early
		case cal.IsTradingDay(d):
			got = full
		}
		if got != want {
			t.Errorf("%s %s: table says %d, rules %d", d, at.Weekday(), got, want)
		}
	}
}

// TestTradingDaysOfEachYear holds the table to counts from outside: those of an
// independent calendar library (exchange_calendars 4.13.2), whose dates are the same.
func TestTradingDaysOfEachYear(t *testing.T) {
	trading := [...]int{252, 252, 250, 252, 252, 252, 252, 251, 251, 252, 253, 252, 251, 250, 252, 250, 251, 251}
	earlies := [...]int{1, 1, 3, 3, 3, 2, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}
	cal := market.XNYS()
	for i := range trading {
		days, short := 0, 0
		for d := market.TradeDate((2010+i)*10_000 + 101); d.Year() == 2010+i; d = d.AddDays(1) {
			if cal.IsTradingDay(d) {
				days++
			}
			if cal.IsEarlyClose(d) {
				short++
			}
		}
		if days != trading[i] || short != earlies[i] {
			t.Errorf("%d: %d trading days and %d early closes, want %d and %d", 2010+i, days, short, trading[i], earlies[i])
		}
	}
}

// TestKnownDays are the days that calendars get wrong.
func TestKnownDays(t *testing.T) {
	cal := market.XNYS()
	for _, c := range []struct {
		d    market.TradeDate
		want day
		why  string
	}{
		{2010_12_31, full, "New Year's Day 2011 is a Saturday: no Friday is given"},
		{2021_12_31, full, "New Year's Day 2022 is a Saturday: no Friday is given"},
		{2027_12_31, full, "New Year's Day 2028 is a Saturday: no Friday is given"},
		{2012_10_29, shut, "Hurricane Sandy"},
		{2012_10_30, shut, "Hurricane Sandy"},
		{2012_10_31, full, "open again after Sandy"},
		{2018_12_05, shut, "mourning of President Bush"},
		{2025_01_09, shut, "mourning of President Carter"},
		{2021_06_18, full, "TIM-02: Juneteenth was not yet kept"},
		{2020_06_19, full, "Juneteenth was not yet kept"},
		{2022_06_20, shut, "TIM-02: Juneteenth on a Sunday"},
		{2026_06_19, shut, "TIM-02: Juneteenth"},
		{2027_06_18, shut, "Juneteenth on a Saturday"},
		{2015_07_02, full, "eve of the observed Independence Day"},
		{2015_07_03, shut, "Independence Day on a Saturday"},
		{2026_07_02, full, "eve of the observed Independence Day"},
		{2026_07_03, shut, "Independence Day on a Saturday"},
		{2025_07_03, early, "eve of Independence Day"},
		{2021_12_24, shut, "Christmas Day on a Saturday"},
		{2021_12_23, full, "the Thursday before is a full day"},
		{2026_04_03, shut, "Good Friday"},
		{2026_04_06, full, "Easter Monday"},
		{2026_10_12, full, "Columbus Day is a bank holiday only"},
		{2026_11_11, full, "Veterans Day is a bank holiday only"},
		{2026_11_27, early, "day after Thanksgiving"},
	} {
		got := full
		if cal.IsEarlyClose(c.d) {
			got = early
		} else if !cal.IsTradingDay(c.d) {
			got = shut
		}
		if got != c.want {
			t.Errorf("%s (%s): got %d, want %d", c.d, c.why, got, c.want)
		}
	}
}
