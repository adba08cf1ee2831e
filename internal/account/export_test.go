package account

// Remember puts ids in as an order and its fills would, two for one order if twice is
// set, so that a benchmark need not fold a million entries first.
func (s *State) Remember(id string, twice bool) {
	s.ids.addClient(keyOf(clientKind, id), clientRecord{seq: 1}, s.Day.Date)
	s.ids.addSeen(keyOf(executionKind, id), s.Day.Date)
	if twice {
		s.ids.addSeen(keyOf(executionKind, id+"/2"), s.Day.Date)
	}
}
