package replay

import (
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
)

// other is the followed history: a chain of entries of its own, of which only the state
// that they fold to is kept.
type other struct {
	state *account.State
	base  uint64 // recorded entries up to this one are both histories'
	// fates say what became of recorded decisions since. They are only asked for one key.
	fates   map[uint64]fate
	guesses map[uint64]*guess // open orders that have left their record, by their seq here
	order   []uint64          // the guesses' seqs, oldest first
	parted  bool              // it is no longer the recorded history
	assumed bool              // something was assumed
	date    market.TradeDate
}

// fate is a recorded decision in the followed history.
type fate struct {
	seq  uint64 // of its decision there; 0: it never came to be
	date market.TradeDate
}

// put writes the next entry. An entry that does not fold changes nothing.
func (o *other) put(at time.Time, kind journal.Kind, body any, fingerprint ...string) error {
	s := o.state
	in := s.Fingerprint
	if len(fingerprint) > 0 {
		in = fingerprint[0]
	}
	e, _, h, err := journal.SealEntry(s.Account, s.Seq+1, s.Head, at, in, kind, body)
	if err != nil {
		return err
	}
	return s.ApplyEntry(&e, h)
}

// decisionFor is a recorded decision's seq here.
func (o *other) decisionFor(seq uint64) (uint64, bool) {
	if seq <= o.base {
		return seq, true
	}
	f, known := o.fates[seq]
	return f.seq, known && f.seq != 0
}

// orderFor is a recorded order's id here. External orders are both histories'.
func (o *other) orderFor(id string) (here string, ours, ok bool) {
	seq, ours := o.seqOf(id)
	if !ours {
		return id, false, true
	}
	seq, ok = o.decisionFor(seq)
	return o.id(seq), true, ok
}

func (o *other) id(seq uint64) string { return o.state.Account + "/" + strconv.FormatUint(seq, 10) }

func (o *other) seqOf(id string) (uint64, bool) {
	number, ours := strings.CutPrefix(id, o.state.Account+"/")
	if !ours {
		return 0, false
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, err == nil
}

// guessed is the assumption that an order here is under; nil if it follows its record.
func (o *other) guessed(id string) *guess {
	seq, ours := o.seqOf(id)
	if !ours {
		return nil
	}
	return o.guesses[seq]
}

// forget drops the fates that no later entry names: of dates before the previous one,
// whose order is open in neither history.
func (o *other) forget(recorded *account.State, date market.TradeDate) {
	previous := o.date
	if date == previous {
		return
	}
	o.date = date
	for seq, f := range o.fates {
		if f.date < previous && recorded.Order(o.id(seq)) == nil && (f.seq == 0 || o.state.Order(o.id(f.seq)) == nil) {
			delete(o.fates, seq)
		}
	}
}
