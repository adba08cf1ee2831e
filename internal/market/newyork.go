package market

import "time"

// New York's clock since 2007: 5 hours behind UTC, and 4 from the second Sunday of
// March to the first Sunday of November, changing at 02:00 local time.
//
// Source: Energy Policy Act of 2005, section 110 (15 USC 260a). Earlier years had
// other dates; no calendar here reaches back to them.
const (
	standardOffset   = -5 * secondsPerHour
	daylightOffset   = -4 * secondsPerHour
	daylightFromDay  = 8 // the second Sunday of March falls on the 8th to 14th
	daylightToDay    = 1 // the first Sunday of November on the 1st to 7th
	daylightFromHour = 2 // in standard time
	daylightToHour   = 1 // in standard time: 02:00 on the daylight clock

	secondsPerHour = 3_600
	secondsPerDay  = 24 * secondsPerHour
)

// LocalTime is what a calendar and a clock on a wall in New York show.
type LocalTime struct {
	Date TradeDate // zero outside the years 1 to 9999
	// SinceMidnight is the clock's reading, from 0 to below 24 h. On the two days of a
	// change it is not the time that has passed since midnight.
	SinceMidnight time.Duration
	// Offset is local time less UTC: -5 h or -4 h.
	Offset time.Duration
}

// NewYork returns New York's date and time of day at t. It is right from 2007 on, for
// as long as the federal rule stands.
func NewYork(t time.Time) LocalTime {
	day, sec, offset, ok := newYork(t)
	if !ok {
		return LocalTime{}
	}
	return LocalTime{
		Date:          dateOf(day),
		SinceMidnight: time.Duration(sec)*time.Second + time.Duration(t.Nanosecond()),
		Offset:        time.Duration(offset) * time.Second,
	}
}

// FromNewYork returns the instant, in UTC, at which New York's clock shows
// sinceMidnight on the date; 24 h and more run into the next days. A time that the
// clock shows twice means the first of the two; one that it skips is read as if it had
// not yet been moved, so 02:30 is what then shows 03:30. The zero time without a date.
func FromNewYork(d TradeDate, sinceMidnight time.Duration) time.Time {
	if !d.Valid() {
		return time.Time{}
	}
	return fromNewYork(d.number(), sinceMidnight)
}

// newYork splits t to the local day's number, whole seconds since local midnight by
// the clock, and the offset in seconds. It is false outside the years 1 to 9999.
func newYork(t time.Time) (day, sec, offset int, ok bool) {
	unix := t.Unix()
	if unix < (dayNumberMin+1)*secondsPerDay || unix >= dayNumberMax*secondsPerDay {
		return 0, 0, 0, false
	}
	offset = standardOffset
	if inDaylight(floorDay(unix + standardOffset)) {
		offset = daylightOffset
	}
	day, sec = floorDay(unix + int64(offset))
	return day, sec, offset, true
}

func fromNewYork(day int, sinceMidnight time.Duration) time.Time {
	sec, nano := sinceMidnight/time.Second, sinceMidnight%time.Second
	wall := int64(day)*secondsPerDay + int64(sec)
	// Read as daylight time first: where both readings hold it is the earlier instant.
	offset := standardOffset
	if inDaylight(floorDay(wall - secondsPerHour)) {
		offset = daylightOffset
	}
	return time.Unix(wall-int64(offset), int64(nano)).UTC()
}

// inDaylight reports whether daylight time is in force at sec of day, both counted in
// standard time.
func inDaylight(day, sec int) bool {
	d := dateOf(day)
	switch m := d.Month(); {
	case m < time.March || m > time.November:
		return false
	case m > time.March && m < time.November:
		return true
	case m == time.March:
		change := sundayFrom(day, d.Day(), daylightFromDay)
		return day > change || day == change && sec >= daylightFromHour*secondsPerHour
	default:
		change := sundayFrom(day, d.Day(), daylightToDay)
		return day < change || day == change && sec < daylightToHour*secondsPerHour
	}
}

// sundayFrom is the day number of the first Sunday on or after the given day of the
// month in which day, the dayOfMonth, lies.
func sundayFrom(day, dayOfMonth, from int) int {
	first := day - dayOfMonth + from
	return first + (7-int(weekday(first)))%7
}

// floorDay splits seconds since 1970 to a day number and the seconds within it.
func floorDay(seconds int64) (day, sec int) {
	day, sec = int(seconds/secondsPerDay), int(seconds%secondsPerDay)
	if sec < 0 {
		day, sec = day-1, sec+secondsPerDay
	}
	return day, sec
}
