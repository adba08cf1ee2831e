package account

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Remember puts ids in as an order and its fills would, two for one order if twice is
// set, so that a benchmark need not fold a million entries first.
func (s *State) Remember(id string, twice bool) {
	s.ids.addClient(keyOf(clientKind, id), clientRecord{seq: 1}, s.Day.Date)
	s.ids.addSeen(keyOf(executionKind, id), s.Day.Date)
	if twice {
		s.ids.addSeen(keyOf(executionKind, id+"/2"), s.Day.Date)
	}
}

// ForgetEnded makes the state remember n ended orders more, newer than those it has.
func (s *State) ForgetEnded(n int) {
	for range n {
		s.side.remember(ended{seq: 1 << 60, date: s.Day.Date})
	}
}

// EndedCount is how many ended orders are remembered.
func (s *State) EndedCount() int { return len(s.side.ended) }

// Crowd counts n instants before at in the windows that have a largest count, so that a test need not fold as many entries.
func (s *State) Crowd(n int, at time.Time) {
	for i := range n {
		ns := at.UnixNano() - int64(n) + int64(i)
		s.Messages.Open.add(ns, 1, money.Notional{}, 0)
		s.Rate.Open.add(ns, 1, money.Notional{}, 0)
		s.Denials.add(ns, 1, money.Notional{}, 0)
		s.Cycles.add(ns, 1, money.Notional{}, 0)
	}
}
