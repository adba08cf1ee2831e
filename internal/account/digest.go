package account

import (
	"crypto/sha256"
	"encoding/binary"
)

// digestDomain names what the digest is of, and its form.
const digestDomain = "broker-rails account digest v1\n"

// Digest is the SHA-256 of everything that a rail can read, in the state's binary form.
// The windows, the recent orders and the set of ids go in as running sums, so that its
// cost does not grow with what was counted or remembered. Two folds of one journal have
// one digest. It writes into memory that the state keeps, so like Apply it is for one
// caller at a time.
func (s *State) Digest() [32]byte {
	w := wire{b: append(s.side.scratch[:0], digestDomain...)}
	w.header(s)
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(len(s.Holdings)))
	for i := range s.Holdings {
		w.holding(&s.Holdings[i])
	}
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(len(s.Orders)))
	for _, o := range s.Orders {
		w.order(o)
	}
	for _, win := range s.windows() {
		w.b = appendSummary(w.b, win)
	}
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(len(s.Recent)))
	w.b = binary.BigEndian.AppendUint64(w.b, s.side.twins)
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(len(s.ids.clientOrder)))
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(len(s.ids.seenOrder)))
	w.b = append(w.b, s.ids.mixed[:]...)
	s.side.scratch = w.b
	return sha256.Sum256(w.b)
}

// windows lists the windows in the order in which they are written.
func (s *State) windows() [7]*Window {
	return [...]*Window{
		&s.Messages.Open, &s.Messages.Exit, &s.Rate.Open, &s.Rate.Exit, &s.Turnover, &s.Denials, &s.Cycles,
	}
}

func appendSummary(b []byte, win *Window) []byte {
	last := win.totalsBefore(len(win.items))
	sum, _ := last.sum.Sub(win.base.sum)
	b = binary.BigEndian.AppendUint64(b, uint64(len(win.items)-win.head))
	b = binary.BigEndian.AppendUint64(b, last.count-win.base.count)
	b, _ = sum.AppendBinary(b)
	return binary.BigEndian.AppendUint64(b, win.mixed)
}
