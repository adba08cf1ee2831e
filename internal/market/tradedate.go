package market

import (
	"errors"
	"time"
)

// TradeDate is a calendar date of the exchange, as the number yyyymmdd, so that dates
// compare with < and ==. The zero value is no date. Years run from 1 to 9999.
type TradeDate int32

// ErrDate says that a text is not a date of the form 2026-03-18.
var ErrDate = errors.New("not a date of the form YYYY-MM-DD")

// dateTextBytes is the length of a date's only text form.
const dateTextBytes = len("2006-01-02")

// NewTradeDate returns the date, and false if the calendar has no such day.
func NewTradeDate(year int, month time.Month, day int) (TradeDate, bool) {
	if year < 1 || year > 9999 || month < time.January || month > time.December ||
		day < 1 || day > daysIn(year, int(month)) {
		return 0, false
	}
	return TradeDate(year*10_000 + int(month)*100 + day), true
}

// ParseTradeDate reads exactly YYYY-MM-DD, ten ASCII bytes, of a day that exists.
func ParseTradeDate(text string) (TradeDate, error) {
	if len(text) != dateTextBytes {
		return 0, ErrDate
	}
	n := 0
	for i := range dateTextBytes {
		c := text[i]
		switch {
		case i == 4 || i == 7:
			if c != '-' {
				return 0, ErrDate
			}
		case c < '0' || c > '9':
			return 0, ErrDate
		default:
			n = n*10 + int(c-'0')
		}
	}
	d, ok := NewTradeDate(n/10_000, time.Month(n/100%100), n%100)
	if !ok {
		return 0, ErrDate
	}
	return d, nil
}

// Year of the date.
func (d TradeDate) Year() int { return int(d) / 10_000 }

// Month of the date.
func (d TradeDate) Month() time.Month { return time.Month(int(d) / 100 % 100) }

// Day of the month.
func (d TradeDate) Day() int { return int(d) % 100 }

// Weekday of the date; of no use for the zero date.
func (d TradeDate) Weekday() time.Weekday { return weekday(d.number()) }

// IsZero reports whether this is no date.
func (d TradeDate) IsZero() bool { return d == 0 }

// Valid reports whether the calendar has such a day.
func (d TradeDate) Valid() bool {
	_, ok := NewTradeDate(d.Year(), d.Month(), d.Day())
	return ok
}

// AddDays returns the date n calendar days later, earlier if n is negative; the zero
// date if that leaves the years 1 to 9999, or from no date.
func (d TradeDate) AddDays(n int) TradeDate {
	if !d.Valid() || n > 4_000_000 || n < -4_000_000 {
		return 0
	}
	return dateOf(d.number() + n)
}

// String returns the form 2026-03-18, and nothing for no date.
func (d TradeDate) String() string { return string(d.AppendTo(nil)) }

// AppendTo appends the text of String to b.
func (d TradeDate) AppendTo(b []byte) []byte {
	if !d.Valid() {
		return b
	}
	y, m, day := d.Year(), int(d.Month()), d.Day()
	return append(b,
		byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10), '-',
		byte('0'+m/10), byte('0'+m%10), '-',
		byte('0'+day/10), byte('0'+day%10))
}

// MarshalText writes the form 2026-03-18; nothing for no date. A number that is no
// day of the calendar is an error.
func (d TradeDate) MarshalText() ([]byte, error) {
	if d != 0 && !d.Valid() {
		return nil, ErrDate
	}
	return d.AppendTo(nil), nil
}

// UnmarshalText reads what MarshalText writes, byte for byte.
func (d *TradeDate) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*d = 0
		return nil
	}
	*d, err = ParseTradeDate(string(b))
	return err
}

// Day numbers count days from 1970-01-01, which is 0. They are the index into a
// calendar's table; dates are what people and the journal read.

// first and last day number that a TradeDate can hold.
const (
	dayNumberMin = -719_162  // 0001-01-01
	dayNumberMax = 2_932_896 // 9999-12-31
)

// number is the day number of a valid date.
func (d TradeDate) number() int {
	y, m := d.Year(), int(d.Month())
	// The year is taken to begin in March, so that the leap day is its last.
	if m <= 2 {
		y--
		m += 12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d.Day() - 1 - daysToMarchYear0
}

// daysToMarchYear0 is the number of days from 0000-03-01 to 1970-01-01.
const daysToMarchYear0 = 719_468

// dateOf is the inverse of number; the zero date outside the years 1 to 9999.
func dateOf(number int) TradeDate {
	if number < dayNumberMin || number > dayNumberMax {
		return 0
	}
	const perEra, perCentury, perOlympiad = 146_097, 36_524, 1_460
	z := number + daysToMarchYear0
	era, inEra := z/perEra, z%perEra
	yearOfEra := (inEra - inEra/perOlympiad + inEra/perCentury - inEra/(perEra-1)) / 365
	inYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	march := (5*inYear + 2) / 153 // months since March
	day := inYear - (153*march+2)/5 + 1
	year, month := yearOfEra+era*400, march+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return TradeDate(year*10_000 + month*100 + day)
}

// weekday of a day number: 1970-01-01 was a Thursday.
func weekday(number int) time.Weekday {
	return time.Weekday(((number+int(time.Thursday))%7 + 7) % 7)
}

func isWeekend(number int) bool {
	w := weekday(number)
	return w == time.Saturday || w == time.Sunday
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
