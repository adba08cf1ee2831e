package clock

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
)

// Origin ties the practice clock to the wall's: at the instant Wall it showed Market.
// It stands in the paper ledger, so that every process that shares the ledger shows
// one time.
type Origin struct {
	Wall   time.Time
	Market time.Time
}

// PracticeStart is where a new practice clock begins: Wednesday 2026-03-18, 11:00 in
// New York, an ordinary hour of an ordinary day.
func PracticeStart() time.Time { return time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC) }

// Practice is the clock of the paper market. It runs as fast as the wall's and stands
// still while the exchange is closed: the instant after a close is the next opening. So
// paper trading works on a Sunday. At the calendar's end it stops for good.
type Practice struct {
	clock    gate.Clock
	calendar market.Calendar
	origin   Origin
	last     time.Time // the calendar's last whole second of regular session
	ends     time.Time // when the wall's clock shows this, the market's shows last
	// near is a point of the mapping not long before the newest reading, so that a reading
	// does not have to walk all days since the origin.
	near atomic.Pointer[Origin]
}

// nearFor is how far readings get from near before it is moved.
const nearFor = time.Hour

// PracticeEndedError says that the practice clock has come to the end of its calendar.
type PracticeEndedError struct {
	At time.Time // where it stopped
}

func (e *PracticeEndedError) Error() string {
	return fmt.Sprintf("the practice clock stopped at %s, the end of its calendar", e.At.Format(time.RFC3339))
}

// Hint says what to do.
func (e *PracticeEndedError) Hint() string {
	return "move paper.db away to start practice anew, or install a version with a later calendar"
}

// NewPractice returns the practice clock with this origin over the given clock. It is a
// *PracticeEndedError if the origin lies outside the calendar.
func NewPractice(clock gate.Clock, calendar market.Calendar, origin Origin) (*Practice, error) {
	if _, ok := calendar.AdvanceOpen(origin.Market, 0); !ok {
		return nil, &PracticeEndedError{At: origin.Market}
	}
	through := calendar.ValidThrough()
	last, ok := calendar.RegularClose(through)
	if !ok {
		var day market.TradeDate
		if day, ok = calendar.PreviousTradeDate(through); ok {
			last, ok = calendar.RegularClose(day)
		}
	}
	last = last.Add(-time.Second)
	runs, okRuns := calendar.OpenFor(origin.Market, last)
	if !ok || !okRuns {
		return nil, &PracticeEndedError{At: origin.Market}
	}
	origin.Wall, origin.Market = origin.Wall.Round(0), origin.Market.Round(0)
	return &Practice{clock: clock, calendar: calendar, origin: origin, last: last, ends: origin.Wall.Add(runs)}, nil
}

// Read returns the clocks beneath with the practice time as the market's.
func (p *Practice) Read() gate.Reading {
	r := p.clock.Read()
	r.Market, _ = p.at(r.Wall)
	return r
}

// Ended is nil while the clock runs, and a *PracticeEndedError once it has stopped.
func (p *Practice) Ended() error {
	if _, ok := p.at(p.clock.Read().Wall); !ok {
		return &PracticeEndedError{At: p.last}
	}
	return nil
}

// Origin is what the clock counts from.
func (p *Practice) Origin() Origin { return p.origin }

// at maps the wall's time. Before the origin, which a wall clock that was set back may
// show, it is the origin: practice has no past.
func (p *Practice) at(wall time.Time) (time.Time, bool) {
	wall = wall.Round(0)
	if wall.After(p.ends) {
		return p.last, false
	}
	from := &p.origin
	if near := p.near.Load(); near != nil && !wall.Before(near.Wall) {
		from = near
	}
	d := max(0, wall.Sub(from.Wall))
	t, ok := p.calendar.AdvanceOpen(from.Market, d)
	if !ok {
		return p.last, false
	}
	if d > nearFor {
		p.near.Store(&Origin{Wall: wall, Market: t})
	}
	return t, true
}
