package account

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// TryAll says whether the entries of one batch would be taken one after the other, and
// changes nothing. An entry that does not fold would end the account's chain for good,
// so a writer asks before it makes a batch durable. hashes are those of the entries.
func (s *State) TryAll(entries []journal.Entry, hashes []journal.Hash) error {
	if len(entries) == 1 && len(hashes) == 1 {
		return s.Try(&entries[0], hashes[0], 0)
	}
	if len(entries) != len(hashes) {
		return &ApplyError{Account: s.Account, Seq: s.Seq + 1, Cause: broken("entries without their hashes")}
	}
	trial := s.fork()
	for i := range entries {
		if err := trial.ApplyEntry(&entries[i], hashes[i]); err != nil {
			return err
		}
	}
	return nil
}

// fork copies the state as far as Apply changes things in place. Ids and ended orders,
// of which there may be very many, are looked up behind the fork. What Apply replaces
// and never changes in place is shared: a Pending, the differences. The fork is good for
// Apply only as long as the state stands still.
func (s *State) fork() *State {
	f := *s
	f.Orders = make([]*Order, len(s.Orders))
	f.Holdings = slices.Clone(s.Holdings)
	for i := range f.Holdings {
		f.Holdings[i].Orders = make([]*Order, 0, len(s.Holdings[i].Orders)+1)
	}
	f.side.bySeq = make(map[string]*Order, len(s.Orders))
	for i, o := range s.Orders {
		copied := *o
		f.Orders[i], f.side.bySeq[o.ID] = &copied, &copied
		h := f.Holding(o.Symbol)
		h.Orders = append(h.Orders, &copied)
	}
	for _, win := range f.windows() {
		win.borrow()
	}
	// Twins are the many: they are shared, since a fork only appends behind them and
	// forgets none (pruneTwins).
	f.side.realized = slices.Clone(s.side.realized)
	f.side.ended, f.side.behind = nil, &s.side
	f.ids = idSet{behind: &s.ids}
	return &f
}
