package risk

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// tradeDates tells whether an instant is of this or the previous trade date. The start
// of the previous one is worked out when a mark is old enough to need it.
type tradeDates struct {
	now      time.Time
	unix     int64 // now in whole seconds
	session  market.SessionInfo
	calendar market.Calendar
	since    time.Time
}

// surelyRecent is an age at which an instant is on this or the previous local date, and
// so on this or the previous trade date: the shortest day has 23 hours.
const surelyRecent = 22 * time.Hour

// closuresMax is more days than an exchange has been closed in a row.
const closuresMax = 30

// surely reports whether at is recent by its whole seconds alone, which settles nearly
// all marks and costs a tenth of comparing instants. False says nothing.
func (d *tradeDates) surely(at time.Time) bool {
	then := at.Unix()
	return then < d.unix && then > d.unix-int64(surelyRecent/time.Second)
}

// recent reports whether at is of this or the previous trade date, and not further
// ahead of now than a quote may be.
func (d *tradeDates) recent(at time.Time) bool {
	switch {
	case d.surely(at):
		return true
	case at.Unix() >= d.unix:
		return d.now.Sub(at) >= -market.QuoteFutureMax
	case at.IsZero():
		return false
	}
	if d.since.IsZero() {
		d.since = previousTradeDate(d.session.TradeDate, d.calendar)
	}
	return !d.since.IsZero() && !at.Before(d.since)
}

// previousTradeDate is the instant at which the trade date before date starts; the zero
// time if there is none.
//
// It is not Calendar.PreviousTradeDate, which shows nothing outside the validity: there
// Session goes on with weekdays, exits still pass and are still to be valued, and a mark
// of the weekday before must not turn too old because a calendar ended.
func previousTradeDate(date market.TradeDate, c market.Calendar) time.Time {
	for range closuresMax {
		date = date.AddDays(-1)
		start := market.FromNewYork(date, 0)
		if start.IsZero() {
			return time.Time{}
		}
		if market.Session(start, c).TradeDate == date {
			return start
		}
	}
	return time.Time{}
}

func tradeDatesOf(f *rail.Facts) tradeDates {
	return tradeDates{now: f.Request.Now, unix: f.Request.Now.Unix(), session: f.Session, calendar: f.Calendar}
}
