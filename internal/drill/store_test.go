package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// journalFile is where the journal is, for processes that come and go.
type journalFile interface {
	open() (journalHandle, error)
	// all reads the entries as they are stored, beside every process.
	all(ctx context.Context, after uint64, each func(gate.Stored) error) error
	// cut makes the machine die in an append of which only a part reached the disk. All
	// handles are gone after it. false: this journal has no such state.
	cut(r *roll, write func() error) bool
	close() error
}

type journalHandle interface {
	gate.Store
	Close() error
}

type inMemory struct{ store *memory.Store }

type memoryHandle struct{ *memory.Store }

func (memoryHandle) Close() error { return nil }

func (m inMemory) open() (journalHandle, error) { return memoryHandle{m.store}, nil }

func (m inMemory) close() error { return nil }

func (m inMemory) cut(*roll, func() error) bool { return false }

func (m inMemory) all(ctx context.Context, after uint64, each func(gate.Stored) error) error {
	return m.store.All(ctx, after, each)
}

var (
	errInjected = errors.New("drill: it failed")
	errFull     = errors.New("drill: no space left on the disk")
	errFlush    = errors.New("drill: a flush failed before; this process may not append")
)

// savedState is a snapshot that was kept once.
type savedState struct {
	at    gate.Head
	state []byte
}

// disk is the store as one process has it, with what can go wrong there.
type disk struct {
	w *world
	p *process // nil: a command line without an account of its own
}

func (d *disk) inner() (journalHandle, error) {
	if d.p.store == nil {
		return nil, errInjected // of a process that is gone
	}
	return d.p.store, nil
}

// Append implements gate.Store.
func (d *disk) Append(ctx context.Context, b *gate.Batch) error {
	w := d.w
	w.park(true)
	store, err := d.inner()
	switch {
	case err != nil:
		return err
	case d.p.broken != "":
		return errFlush
	case w.full:
		w.phased(func(phase string) { w.hit("append", "disk full", phase) })
		return errFull
	}
	kind := w.fault("append", "failed", "wrote", "conflict", "disk full", "flush lost", "flush kept",
		"died before", "died after", "panicked before", "panicked after", "torn")
	switch kind {
	case "failed":
		return errInjected
	case "disk full":
		w.full = true
		return errFull
	case "flush lost":
		d.p.broken = kind
		return errFlush
	case "conflict":
		own, _, err := store.Heads(ctx, b.Account)
		if err != nil {
			return err
		}
		return &gate.ConflictError{Account: b.Account, Have: own}
	case "died before":
		w.die()
	case "panicked before":
		d.panics()
	case "torn":
		d.torn(store, b)
	}
	err = store.Append(ctx, b)
	var conflict *gate.ConflictError
	if errors.As(err, &conflict) {
		w.phased(func(phase string) { w.hit("append", "lost race", phase) })
	}
	if err == nil {
		w.oracle.read()
	}
	switch kind {
	case "wrote":
		return errInjected
	case "flush kept":
		d.p.broken = kind
		return errFlush
	case "died after":
		w.die()
	case "panicked after":
		d.panics()
	}
	w.park(true)
	return err
}

// torn ends the machine in the middle of the append. A journal in memory has nothing that
// could be torn: it dies before the append.
func (d *disk) torn(store journalHandle, b *gate.Batch) {
	w := d.w
	place := at(w.seed, "torn", w.current.id, w.current.calls)
	if w.store.cut(place, func() error { return store.Append(context.Background(), b) }) {
		w.hit("append", "tail torn", w.current.phase)
		for _, p := range w.processes {
			p.store = nil // closed by the cut
		}
		w.machineDied = true
	}
	w.die()
}

// panics is a fault inside the adapter. What the gate had done by then is not known to it:
// it must halt, or never send again.
func (d *disk) panics() {
	d.w.panics(d.p)
}

func (w *world) panics(p *process) {
	if p != nil {
		p.mustHalt = w.oracle.entries + 1
	}
	panic("drill: a fault in an adapter")
}

// phased calls do with the phase of the running task; the history's own calls have none.
func (w *world) phased(do func(phase string)) {
	if w.current != nil {
		do(w.current.phase)
	}
}

// Heads implements gate.Store.
func (d *disk) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	w := d.w
	w.park(true)
	store, err := d.inner()
	if err != nil {
		return own, control, err
	}
	switch w.fault("heads", "failed", "died", "panicked") {
	case "failed":
		return own, control, errInjected
	case "died":
		w.die()
	case "panicked":
		d.panics()
	}
	own, control, err = store.Heads(ctx, account)
	if err == nil && w.current != nil {
		w.current.headsAt = w.oracle.entries
	}
	w.park(true)
	return own, control, err
}

// Read implements gate.Store.
func (d *disk) Read(ctx context.Context, account string, after uint64, each func(gate.Stored) error) error {
	w := d.w
	w.park(true)
	store, err := d.inner()
	if err != nil {
		return err
	}
	left := -1
	switch w.fault("read", "failed", "cut short", "panicked") {
	case "failed":
		return errInjected
	case "cut short":
		left = w.current.calls % 3
	case "panicked":
		d.panics()
	}
	return store.Read(ctx, account, after, func(s gate.Stored) error {
		if left == 0 {
			return errInjected
		}
		left--
		return each(s)
	})
}

// Snapshots implements gate.Store.
func (d *disk) Snapshots() gate.Snapshots { return d }

// LoadSnapshot implements gate.Snapshots. Old is one of an earlier time, as after a crash
// that lost the newest; changed has a byte that is not what was written.
func (d *disk) LoadSnapshot(ctx context.Context, account string) (state []byte, at gate.Head, err error) {
	w := d.w
	store, err := d.inner()
	if err != nil {
		return nil, gate.Head{}, err
	}
	state, at, err = store.Snapshots().LoadSnapshot(ctx, account)
	if err != nil || state == nil {
		return state, at, err
	}
	w.phased(func(phase string) { w.hit("snapshot", "used", phase) })
	switch w.fault("snapshot", "lost", "failed", "changed", "old", "misplaced") {
	case "lost":
		return nil, gate.Head{}, nil
	case "failed":
		return nil, gate.Head{}, errInjected
	case "changed":
		state = bytes.Clone(state)
		state[w.current.calls*7919%len(state)] ^= 1
	case "old":
		old := w.snapshots[w.current.calls%len(w.snapshots)]
		return bytes.Clone(old.state), old.at, nil
	case "misplaced":
		at.Seq++
	}
	return state, at, nil
}

// SaveSnapshot implements gate.Snapshots.
func (d *disk) SaveSnapshot(ctx context.Context, account string, at gate.Head, state []byte) error {
	w := d.w
	store, err := d.inner()
	if err != nil {
		return err
	}
	if w.fault("snapshot", "not kept") != "" {
		return errInjected
	}
	err = store.Snapshots().SaveSnapshot(ctx, account, at, state)
	if err == nil {
		w.snapshots = append(w.snapshots, savedState{at, bytes.Clone(state)})
	}
	return err
}

// stopFile is the halt that needs no journal.
type stopFile struct{ w *world }

// Requested implements gate.Stop.
func (s *stopFile) Requested() (string, bool) {
	if t := s.w.current; t != nil {
		t.stopSeen = t.stopSeen || s.w.haltFile != ""
	}
	return s.w.haltFile, s.w.haltFile != ""
}

// Take implements gate.Stop.
func (s *stopFile) Take() (reason string, requested bool, done func() error) {
	reason, requested = s.Requested()
	seen := s.w.halts
	return reason, requested, func() error {
		kind := s.w.fault("halt file", "not taken away", "taken away, it seems not")
		if kind == "not taken away" {
			return errInjected
		}
		if s.w.halts == seen {
			s.w.oracle.haltKept()
			s.w.haltFile = ""
		}
		if kind != "" {
			return errInjected
		}
		return nil
	}
}

// badMark is the word to every process that the limits did not load.
type badMark struct{ w *world }

// Request implements gate.Mark.
func (m *badMark) Request(reason string) error {
	switch m.w.fault("limits mark", "not made", "made, it seems not") {
	case "not made":
		return errInjected
	case "made, it seems not":
		m.w.badLimits = reason
		return errInjected
	}
	m.w.badLimits = reason
	return nil
}

// Requested implements gate.Mark.
func (m *badMark) Requested() (string, bool) { return m.w.badLimits, m.w.badLimits != "" }

// Done implements gate.Mark.
func (m *badMark) Done() error {
	if m.w.fault("limits mark", "not taken away") != "" {
		return fmt.Errorf("mark: %w", errInjected)
	}
	m.w.badLimits = ""
	return nil
}
