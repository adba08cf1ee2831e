package market

import "time"

// IsTradingDay reports whether the exchange trades on the date; false for every date
// outside the validity.
func (c Calendar) IsTradingDay(d TradeDate) bool {
	return d.Valid() && c.kind(d.number()) != dayClosed
}

// IsEarlyClose reports whether the regular session of the date ends at 13:00.
func (c Calendar) IsEarlyClose(d TradeDate) bool {
	return d.Valid() && c.kind(d.number()) == dayEarly
}

// NextTradeDate returns the first trading day after d, and false if the validity does
// not show one, or d lies before it.
func (c Calendar) NextTradeDate(d TradeDate) (TradeDate, bool) {
	if !d.Valid() {
		return 0, false
	}
	day, ok := c.tradingDayFrom(d.number() + 1)
	if !ok {
		return 0, false
	}
	return dateOf(day), true
}

// PreviousTradeDate returns the last trading day before d, and false if the validity
// does not show one, or d lies more than a day after it.
func (c Calendar) PreviousTradeDate(d TradeDate) (TradeDate, bool) {
	if !d.Valid() {
		return 0, false
	}
	for day := d.number() - 1; c.covers(day); day-- {
		if c.kind(day) != dayClosed {
			return dateOf(day), true
		}
	}
	return 0, false
}

// RegularOpen returns the instant, in UTC, at which the regular session of the date
// begins, and false if the exchange does not trade on it.
func (c Calendar) RegularOpen(d TradeDate) (time.Time, bool) {
	if !c.IsTradingDay(d) {
		return time.Time{}, false
	}
	return fromNewYork(d.number(), regularOpensAt), true
}

// RegularClose returns the first instant, in UTC, after the regular session of the
// date, and false if the exchange does not trade on it.
func (c Calendar) RegularClose(d TradeDate) (time.Time, bool) {
	if !c.IsTradingDay(d) {
		return time.Time{}, false
	}
	_, closes := c.regular(d.number())
	return closes, true
}

// NextOpen returns the first opening of a regular session later than after, in UTC,
// and false if the validity does not show one.
func (c Calendar) NextOpen(after time.Time) (time.Time, bool) {
	day, _, _, ok := newYork(after)
	for ok {
		if day, ok = c.tradingDayFrom(day); !ok {
			break
		}
		if opens := fromNewYork(day, regularOpensAt); opens.After(after) {
			return opens, true
		}
		day++
	}
	return time.Time{}, false
}

// AdvanceOpen returns the instant, in UTC, at which d of regular session has passed
// since start: a clock that stands still while the exchange is closed. The result is
// always within a regular session, so a start outside one, with d zero, gives the next
// opening, and d that ends exactly at a close gives the opening after it. It is
// false for a negative d, and once start or the result lies outside the validity. It
// takes one step a calendar day.
func (c Calendar) AdvanceOpen(start time.Time, d time.Duration) (time.Time, bool) {
	day, _, _, ok := newYork(start)
	if d < 0 || !ok {
		return time.Time{}, false
	}
	start = start.Round(0).UTC()
	for {
		if day, ok = c.tradingDayFrom(day); !ok {
			return time.Time{}, false
		}
		from, closes := c.regular(day)
		if start.After(from) {
			from = start
		}
		if left := closes.Sub(from); left > 0 {
			if d < left {
				return from.Add(d), true
			}
			d -= left
		}
		day++
	}
}

// OpenFor returns how much regular session lies between from and to: the inverse of
// AdvanceOpen. It is false if to is before from, or either lies outside the validity.
func (c Calendar) OpenFor(from, to time.Time) (time.Duration, bool) {
	day, _, _, ok := newYork(from)
	last, _, _, okLast := newYork(to)
	from, to = from.Round(0), to.Round(0)
	if !ok || !okLast || !c.covers(day) || !c.covers(last) || to.Before(from) {
		return 0, false
	}
	var sum time.Duration
	for ; day <= last; day++ {
		if c.kind(day) == dayClosed {
			continue
		}
		opens, closes := c.regular(day)
		if from.After(opens) {
			opens = from
		}
		if to.Before(closes) {
			closes = to
		}
		if open := closes.Sub(opens); open > 0 {
			sum += open
		}
	}
	return sum, true
}

// tradingDayFrom is the first trading day from day on, itself included; false outside
// the validity.
func (c Calendar) tradingDayFrom(day int) (int, bool) {
	for ; c.covers(day); day++ {
		if c.kind(day) != dayClosed {
			return day, true
		}
	}
	return 0, false
}

// regular returns the bounds of a trading day's regular session, in UTC.
func (c Calendar) regular(day int) (opens, closes time.Time) {
	end, _ := closesOf(c.kind(day))
	return fromNewYork(day, regularOpensAt), fromNewYork(day, end)
}
