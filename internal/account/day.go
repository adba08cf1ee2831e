package account

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// TradeDateAt returns the trade date that figures at now belong to: the exchange's, by
// the calendar as shipped, so that a journal alone gives it. It is never before the date
// of the newest entry. Where an operator's calendar closes a day that the shipped one
// has open, an open or latch entry names the later date and moves the figures there.
func (s *State) TradeDateAt(now time.Time) market.TradeDate {
	return max(market.Session(now, s.side.calendar).TradeDate, s.Day.Date)
}

// daysAheadMax is how far an entry may name a trade date after the one of its time: more
// than any run of closed days.
const daysAheadMax = 14

// moveTo makes the named date the step's, if that is its own or a little later.
func (st *step) moveTo(text string) bool {
	date, err := market.ParseTradeDate(text)
	if err != nil || date < st.date || date > st.date.AddDays(daysAheadMax) {
		return false
	}
	if date > st.date {
		st.date, st.day = date, Day{Date: date}
	}
	return true
}

// DayAt returns the figures of the trade date at now: the state's own, or those of a
// new date, all zero, if no entry of it has been applied yet.
func (s *State) DayAt(now time.Time) Day { return s.dayOf(s.TradeDateAt(now)) }

func (s *State) dayOf(date market.TradeDate) Day {
	if date > s.Day.Date {
		return Day{Date: date}
	}
	return s.Day
}

// OrdersInAll is the new orders of the trade date, reducing ones too: what
// max_orders_per_day is compared with.
func (d *Day) OrdersInAll() int { return d.Orders + d.ExitOrders }

// roll begins a new trade date.
func (s *State) roll(date market.TradeDate) {
	left := s.Day.Date
	for i := range s.Holdings {
		s.Holdings[i].Realized = money.Notional{}
	}
	s.side.realized = nil
	// What ended on the date that is left may still be filled late; before it, no more.
	n := 0
	for n < len(s.side.ended) && s.side.ended[n].date < left {
		n++
	}
	s.side.ended = dropFront(s.side.ended, n)
	s.ids.forget(date.AddDays(-IDsKeptDays))
	s.Day = Day{Date: date}
}

// profitToday returns what a holding earned on the step's trade date so far.
func (st *step) profitToday(symbol string) money.Notional {
	s := st.state
	if st.date > s.Day.Date {
		return money.Notional{}
	}
	if h := s.Holding(symbol); h != nil {
		return h.Realized
	}
	if i := s.side.findRealized(symbol); i >= 0 {
		return s.side.realized[i].profit
	}
	return money.Notional{}
}
