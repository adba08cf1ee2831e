package account

import (
	"errors"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// ApplyError says why an entry was not applied. The state is then as it was before.
type ApplyError struct {
	Account string // of the state
	Seq     uint64 // of the entry that would have been next
	Kind    journal.Kind
	Cause   error
}

func (e *ApplyError) Error() string {
	return fmt.Sprintf("apply %s/%d %s: %v", e.Account, e.Seq, e.Kind, e.Cause)
}

func (e *ApplyError) Unwrap() error { return e.Cause }

// Causes of an ApplyError that callers tell apart.
var (
	// ErrUnknownOrder: the entry names an order of ours that is neither open nor lately
	// ended. A fill of such an order is to be journaled as external.
	ErrUnknownOrder = errors.New("order is not known")
	errOutOfRange   = errors.New("a figure leaves the range of money")
)

// brokenError is an entry that contradicts the state or itself.
type brokenError string

func (e brokenError) Error() string { return string(e) }

func broken(text string) error { return brokenError(text) }

// New returns the state of an account without entries.
func New(account string) *State {
	return &State{Account: account, side: sidecar{calendar: market.XNYS()}}
}

// Apply reads one entry's stored bytes, whose hash is h, and folds it. An entry that
// does not follow, cannot be read, or contradicts the state is refused with an
// *ApplyError and changes nothing. That h is the hash of b is the caller's to know: a
// reader of foreign bytes takes journal.HashOf(b).
func (s *State) Apply(b []byte, h journal.Hash) error {
	e, err := journal.Envelope(b)
	if err != nil {
		return &ApplyError{Account: s.Account, Seq: s.Seq + 1, Cause: err}
	}
	return s.ApplyEntry(&e, h)
}

// ApplyEntry is Apply for an entry that was taken apart already.
func (s *State) ApplyEntry(e *journal.Entry, h journal.Hash) error {
	st := step{state: s, entry: e, hash: h, at: e.At.Time}
	err := st.begin()
	if err == nil {
		err = st.fold()
	}
	if err != nil {
		return &ApplyError{Account: s.Account, Seq: s.Seq + 1, Kind: e.Kind, Cause: err}
	}
	return nil
}

// Try says whether ApplyEntry would take the entry, and changes nothing. ahead is how
// many entries of the same batch come before it: its seq and prev are then not those
// that follow the state, and are not looked at.
func (s *State) Try(e *journal.Entry, h journal.Hash, ahead int) error {
	st := step{state: s, entry: e, hash: h, at: e.At.Time, dry: true, ahead: ahead}
	err := st.begin()
	if err == nil {
		err = st.fold()
	}
	if err != nil {
		return &ApplyError{Account: s.Account, Seq: e.Seq, Kind: e.Kind, Cause: err}
	}
	return nil
}

// step is one entry on its way into the state. Each kind's method first works out all
// that will change, calls commit when nothing can fail any more, and then changes it.
type step struct {
	state *State
	entry *journal.Entry
	hash  journal.Hash
	at    time.Time
	ns    int64
	date  tradeDate
	day   Day // the figures of date before this entry: those of the state, or none yet
	dry   bool
	ahead int
}

// Instants that the windows can count in nanoseconds, with room for their length.
const (
	yearMin = 1971
	yearMax = 2199
)

func (st *step) begin() error {
	s, e := st.state, st.entry
	switch {
	case s.Account == "" || s.Account == journal.ControlAccount:
		return broken("state is of no account")
	case e.Account != s.Account:
		return broken("entry is of another account")
	case e.Seq != s.Seq+1+uint64(st.ahead):
		return broken("seq does not follow")
	case st.ahead == 0 && e.Prev != s.Head:
		return broken("prev is not the state's head")
	case st.at.Before(s.At):
		return broken("time is before the newest entry's")
	case st.at.Year() < yearMin || st.at.Year() > yearMax:
		return broken("time is out of range")
	case s.Started == (e.Kind == journal.KindGenesis):
		return broken("genesis has to be the first entry, once")
	case e.Kind != journal.KindLimits && e.Limits != s.Fingerprint:
		return broken("fingerprint is not the one in force")
	}
	st.ns = st.at.UnixNano()
	st.date = s.TradeDateAt(st.at)
	st.day = s.dayOf(st.date)
	return nil
}

func (st *step) fold() error {
	switch st.entry.Kind {
	case journal.KindDecision:
		return st.decision()
	case journal.KindOutcome:
		return st.outcome()
	case journal.KindFill:
		return st.fill()
	case journal.KindRefusal:
		return st.refusal()
	case journal.KindExternal:
		return st.external()
	case journal.KindReconcile:
		return st.reconcile()
	case journal.KindGenesis:
		return st.genesis()
	case journal.KindLimits:
		return st.limits()
	case journal.KindOpen:
		return st.open()
	case journal.KindLatch:
		return st.latch()
	case journal.KindMode:
		return st.mode()
	case journal.KindRecovery:
		return st.recovery()
	}
	return broken("kind is not known")
}

// commit takes the entry as the newest and moves the windows and the day on. Nothing
// may fail after it. It is false for a step that only tries: nothing may change after it.
func (st *step) commit() bool {
	if st.dry {
		return false
	}
	s := st.state
	if st.date > s.Day.Date {
		s.roll(st.date)
	}
	s.Day = st.day
	s.Seq, s.Head, s.At = st.entry.Seq, st.hash, st.at
	minute := st.ns - int64(MinuteWindow)
	s.Messages.prune(minute)
	s.Rate.prune(minute)
	s.Turnover.prune(minute)
	s.Denials.prune(st.ns - int64(BehaviourWindowMax))
	s.Cycles.prune(st.ns - int64(BehaviourWindowMax))
	s.pruneTwins(st.at.Add(-DuplicateWindowMax))
	return true
}

// turnoverFits reports whether the notional can be counted in the minute.
func (st *step) turnoverFits(n money.Notional) bool {
	past := st.state.Turnover.Sum(st.at, MinuteWindow)
	_, ok := past.Add(n)
	return ok
}
