package account

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// snapshotMagic begins a snapshot and names its version.
const snapshotMagic = "broker-rails account snapshot v1\n"

// ErrSnapshot says that bytes are no snapshot of this version, or were changed. The
// journal is then folded from its start.
var ErrSnapshot = errors.New("not an intact snapshot")

// Snapshot writes the whole state: magic, parts, SHA-256 of all before it. Two states
// with one history have the same bytes.
func (s *State) Snapshot() ([]byte, error) {
	w := wire{b: append(make([]byte, 0, s.snapshotBytes()), snapshotMagic...)}
	w.state(s)
	sum := sha256.Sum256(w.b)
	return append(w.b, sum[:]...), nil
}

// snapshotBytes is about how long the snapshot gets.
func (s *State) snapshotBytes() int {
	const each = 512
	ids := 44*len(s.ids.clientOrder) + 24*len(s.ids.seenOrder)
	return ids + 256*(len(s.Recent)+len(s.side.ended)) + 40*len(s.Denials.items) + each*(len(s.Holdings)+2*len(s.Orders)+8) + len(s.LimitsText)
}

// Restore reads what Snapshot wrote. The result is the very state: whatever is applied
// to it next gives what it would have given there. On ErrSnapshot the state is nil.
func Restore(b []byte) (*State, error) {
	n := len(b) - sha256.Size
	if n < len(snapshotMagic) || !bytes.HasPrefix(b, []byte(snapshotMagic)) {
		return nil, ErrSnapshot
	}
	if sum := sha256.Sum256(b[:n]); !bytes.Equal(sum[:], b[n:]) {
		return nil, ErrSnapshot
	}
	s := New("")
	w := wire{b: b[len(snapshotMagic):n], reading: true}
	w.state(s)
	if w.bad || len(w.b) > 0 || !s.relink() {
		return nil, ErrSnapshot
	}
	return s, nil
}

func (w *wire) state(s *State) {
	w.header(s)
	w.text(&s.LimitsText)
	list(w, &s.Holdings, 16, (*wire).holding)
	w.orders(s)
	for _, win := range s.windows() {
		w.window(win)
	}
	list(w, &s.Recent, 9, (*wire).twin)
	list(w, &s.side.ended, 15, (*wire).ended)
	list(w, &s.side.realized, 2, func(w *wire, p *symbolProfit) {
		w.text(&p.symbol)
		w.notional(&p.profit)
	})
	w.ids(&s.ids)
}

// list writes or reads a list whose items take at least least bytes.
func list[T any](w *wire, items *[]T, least int, each func(*wire, *T)) {
	n := w.count(len(*items), least)
	if w.reading && n > 0 {
		*items = make([]T, n)
	}
	for i := range *items {
		each(w, &(*items)[i])
	}
}

func (w *wire) orders(s *State) {
	n := w.count(len(s.Orders), 40)
	for i := range n {
		if w.reading {
			s.Orders = append(s.Orders, new(Order))
		}
		w.order(s.Orders[i])
	}
}

// window keeps the live items, counted from zero.
func (w *wire) window(win *Window) {
	live := win.items[win.head:]
	n := w.count(len(live), 3)
	if !w.reading {
		before := win.base
		for i := range live {
			at, count := live[i].at, live[i].count-before.count
			sum, _ := live[i].sum.Sub(before.sum)
			w.i64(&at)
			w.u64(&count)
			w.notional(&sum)
			before = live[i].totals
		}
		return
	}
	if n > 0 {
		win.items = make([]item, 0, n)
	}
	last := int64(-1 << 63)
	for range n {
		var at int64
		var count uint64
		var sum money.Notional
		w.i64(&at)
		w.u64(&count)
		w.notional(&sum)
		if w.bad || at <= last || count == 0 || count > 1<<40 || sum.IsNegative() || !win.canAdd(sum) {
			w.bad = true
			return
		}
		win.add(at, int(count), sum, 0)
		last = at
	}
}

func (w *wire) ended(e *ended) {
	w.u64(&e.seq)
	w.text(&e.clientOrderID)
	w.text(&e.brokerID)
	w.instrument(&e.instrument)
	w.u8((*uint8)(&e.side))
	w.quantity(&e.quantity)
	w.quantity(&e.filled)
	w.text(&e.status)
	w.date(&e.date)
}

// ids writes the keys in the order in which they came, grouped by their date.
func (w *wire) ids(ids *idSet) {
	n := w.count(len(ids.clientOrder), 16+16+1)
	if w.reading && n > 0 {
		ids.clients = make(map[idKey]clientRecord, n)
		ids.clientOrder = make([]agedKey, 0, n)
	}
	w.dated(ids.clientOrder, n, func(key *idKey, date market.TradeDate) {
		var rec clientRecord
		if !w.reading {
			rec = ids.clients[*key]
		}
		w.u64(&rec.seq)
		w.raw(rec.digest[:])
		if w.reading {
			ids.addClient(*key, rec, date)
		}
	})
	n = w.count(len(ids.seenOrder), 16)
	if w.reading && n > 0 {
		ids.seen = make(map[idKey]struct{}, n)
		ids.seenOrder = make([]agedKey, 0, n)
	}
	w.dated(ids.seenOrder, n, func(key *idKey, date market.TradeDate) {
		if w.reading {
			ids.addSeen(*key, date)
		}
	})
	if len(ids.clients) != len(ids.clientOrder) || len(ids.seen) != len(ids.seenOrder) {
		w.bad = true
	}
}

// dated writes or reads n keys in runs of one date each.
func (w *wire) dated(keys []agedKey, n int, each func(*idKey, market.TradeDate)) {
	var key idKey
	for i := 0; i < n && !w.bad; {
		var date market.TradeDate
		run := 0
		if !w.reading {
			date = keys[i].date
			for run = 1; i+run < n && keys[i+run].date == date; run++ {
			}
		}
		w.date(&date)
		run = w.count(run, 16)
		if run < 1 || run > n-i {
			w.bad = true
			return
		}
		for range run {
			if !w.reading {
				key = keys[i].key
			}
			w.raw(key[:])
			if w.bad {
				return
			}
			each(&key, date)
			i++
		}
	}
}

// relink makes what follows from the rest: the index of open orders, each holding's
// orders, the sums for the digest. It is false if the parts contradict each other.
func (s *State) relink() bool {
	s.side.bySeq = make(map[string]*Order, len(s.Orders))
	for i := range s.Holdings {
		if i > 0 && s.Holdings[i-1].Instrument.Symbol >= s.Holdings[i].Instrument.Symbol {
			return false
		}
	}
	for i, o := range s.Orders {
		h := s.Holding(o.Symbol)
		if h == nil || s.side.bySeq[o.ID] != nil || i > 0 && s.Orders[i-1].Seq > o.Seq {
			return false
		}
		s.side.bySeq[o.ID] = o
		h.Orders = append(h.Orders, o)
	}
	for i := range s.Recent {
		s.side.twins += mixTwin(&s.Recent[i])
	}
	return slices.IsSortedFunc(s.Recent, func(a, b Twin) int { return a.At.Compare(b.At) })
}
