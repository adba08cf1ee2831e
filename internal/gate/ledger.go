package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
)

// SnapshotEvery is how many entries may be applied before the folded state is saved.
const SnapshotEvery = 10_000

// draft is an entry before its place in the chain is known.
type draft struct {
	kind journal.Kind
	body any
}

// load folds the account from its newest usable snapshot, and the control chain from
// its start. The caller holds mu.
func (g *Gate) load(ctx context.Context) error {
	g.state, g.ctl, g.stopSeq = nil, nil, 0
	state := g.restore(ctx)
	g.state, g.ctl = state, account.NewControl()
	if err := g.catchUp(ctx); err != nil {
		g.state, g.ctl = nil, nil
		return err
	}
	return nil
}

// restore returns the state of a snapshot that stands on the journal, or a fresh one.
func (g *Gate) restore(ctx context.Context) *account.State {
	fresh := account.New(g.cfg.Account)
	snapshots := g.cfg.Store.Snapshots()
	if snapshots == nil {
		return fresh
	}
	text, at, err := snapshots.LoadSnapshot(ctx, g.cfg.Account)
	if err != nil || text == nil {
		return fresh
	}
	state, err := account.Restore(text)
	if err != nil || state.Account != g.cfg.Account || state.Seq != at.Seq || state.Head != at.Hash {
		g.log.Warn("snapshot not used", "account", g.cfg.Account, "error", err)
		return fresh
	}
	if !g.standsOnJournal(ctx, at) {
		g.log.Warn("snapshot does not stand on the journal", "account", g.cfg.Account, "seq", at.Seq)
		return fresh
	}
	g.saved, g.stopSeq = at.Seq, at.Seq
	return state
}

// standsOnJournal reports whether the journal holds the entry that a snapshot names.
func (g *Gate) standsOnJournal(ctx context.Context, at Head) bool {
	errFound := errors.New("found")
	err := g.cfg.Store.Read(ctx, g.cfg.Account, at.Seq-1, func(s Stored) error {
		if s.Seq == at.Seq && s.Hash == at.Hash && journal.HashOf(s.Bytes) == at.Hash {
			return errFound
		}
		return errors.New("another entry stands there")
	})
	return errors.Is(err, errFound)
}

// catchUp applies what other processes have written since. The caller holds mu.
func (g *Gate) catchUp(ctx context.Context) error {
	if g.cfg.Store == nil {
		return errClosed
	}
	if g.broken != nil {
		return g.broken
	}
	if g.state == nil {
		return g.load(ctx)
	}
	own, control, err := g.cfg.Store.Heads(ctx, g.cfg.Account)
	if err != nil {
		return err
	}
	if own.Seq < g.state.Seq || control.Seq < g.ctl.Seq {
		return g.breakDown(fmt.Errorf("the journal got shorter: %s has %d entries, %d were seen", g.cfg.Account, own.Seq, g.state.Seq))
	}
	if own.Seq > g.state.Seq {
		if err := g.readOwn(ctx); err != nil {
			return err
		}
	}
	if control.Seq > g.ctl.Seq {
		err := g.cfg.Store.Read(ctx, journal.ControlAccount, g.ctl.Seq, func(s Stored) error {
			if err := g.ctl.Apply(s.Bytes, s.Hash); err != nil {
				return g.breakDown(err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return g.refreshLimits()
}

func (g *Gate) readOwn(ctx context.Context) error {
	return g.cfg.Store.Read(ctx, g.cfg.Account, g.state.Seq, func(s Stored) error { return g.apply(s) })
}

// apply folds one durable entry as a store gave it.
func (g *Gate) apply(s Stored) error {
	e, err := journal.Envelope(s.Bytes)
	if err == nil && journal.HashOf(s.Bytes) != s.Hash {
		err = fmt.Errorf("entry %s/%d: its hash is not that of its bytes", s.Account, s.Seq)
	}
	if err != nil {
		return g.breakDown(err)
	}
	return g.applyEntry(&e, s.Hash)
}

// applyEntry folds one durable entry. One that does not fold is a broken invariant.
func (g *Gate) applyEntry(e *journal.Entry, h journal.Hash) error {
	if err := g.state.ApplyEntry(e, h); err != nil {
		return g.breakDown(err)
	}
	switch e.Kind {
	case journal.KindMode, journal.KindLatch, journal.KindLimits:
		g.stopSeq = e.Seq // also one that changes nothing: what was decided before it is not sent
	}
	return nil
}

// breakDown latches the gate: the journal and the fold disagree, or a flush failed,
// and no later answer of this process can be trusted.
func (g *Gate) breakDown(err error) error {
	if g.broken == nil {
		g.broken = &BrokenError{Account: g.cfg.Account, Err: err}
		g.log.Error("gate broken; restart the process to verify the journal again", "account", g.cfg.Account, "error", err)
	}
	return g.broken
}

// BrokenError says that this process must not go on with the account.
type BrokenError struct {
	Account string
	Err     error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("account %s: journal and state disagree: %v", e.Account, e.Err)
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// UnfoldableError says that an entry was not written because the account could not take
// it. It is a fault inside the gate, or a figure out of range.
type UnfoldableError struct{ Err error }

func (e *UnfoldableError) Error() string { return "entry not written: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnfoldableError) Unwrap() error { return e.Err }

// refreshLimits loads the document in force when it has changed.
func (g *Gate) refreshLimits() error {
	if g.state.Fingerprint == "" || (g.doc != nil && g.doc.Fingerprint == g.state.Fingerprint) {
		return nil
	}
	doc, err := limits.Load("limits in force", []byte(g.state.LimitsText))
	if err != nil {
		return g.breakDown(fmt.Errorf("limits in force do not load: %w", err))
	}
	if doc.Fingerprint != g.state.Fingerprint {
		return g.breakDown(fmt.Errorf("limits in force have fingerprint %s, the entry says %s", doc.Fingerprint, g.state.Fingerprint))
	}
	g.doc, g.limitsInvalid = doc, false
	return nil
}

// commit makes drafts durable as one batch and folds them. build is called again, on
// newer state, each time that another process was faster; it returns no drafts to say
// that nothing is left to write. The caller holds mu.
func (g *Gate) commit(ctx context.Context, build func() ([]draft, time.Time, error)) ([]Stored, error) {
	var drafts []draft
	var at time.Time
	var err error
	// The bound is on the journal's part, and most often there is nothing to write.
	built := g.state != nil
	if built {
		if drafts, at, err = build(); err != nil || len(drafts) == 0 {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), AppendWithin)
	defer cancel()
	for try := 0; ; try++ {
		if g.state == nil {
			if err := g.catchUp(ctx); err != nil {
				return nil, err
			}
		}
		if !built {
			if drafts, at, err = build(); err != nil || len(drafts) == 0 {
				return nil, err
			}
		}
		built = false
		s, err := g.seal(drafts, at)
		if err != nil {
			return nil, err
		}
		err = g.cfg.Store.Append(ctx, s.batch)
		var conflict *ConflictError
		switch {
		case err == nil:
			return s.batch.Entries, g.applyAll(ctx, s)
		case errors.As(err, &conflict):
			if err := pause(ctx, try); err != nil {
				return nil, err
			}
			if err := g.catchUp(ctx); err != nil {
				return nil, err
			}
		default:
			// Whether the batch was written is not known: fold again before the next call.
			g.state = nil
			return nil, err
		}
	}
}

// pause waits a little longer after each lost race, so that many processes spread out.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	most := min(time.Duration(try)*200*time.Microsecond, 5*time.Millisecond)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(most)):
		return nil
	}
}

// sealed is a batch with its entries taken apart, so that they are folded without
// being read again.
type sealed struct {
	batch   *Batch
	entries []journal.Entry
	hashes  []journal.Hash
}

// seal makes a batch of drafts. An entry that does not fold would end the account's
// chain for good: it is found out before it is durable.
func (g *Gate) seal(drafts []draft, at time.Time) (*sealed, error) {
	control := Head{Seq: g.ctl.Seq, Hash: g.ctl.Head}
	s := &sealed{batch: &Batch{Account: g.cfg.Account, Expect: Head{Seq: g.state.Seq, Hash: g.state.Head}, Control: &control}}
	seq, prev, fingerprint := g.state.Seq, g.state.Head, g.state.Fingerprint
	for _, d := range drafts {
		seq++
		if l, ok := d.body.(journal.Limits); ok {
			fingerprint = l.Fingerprint
		}
		e, text, hash, err := journal.SealEntry(g.cfg.Account, seq, prev, at, fingerprint, d.kind, d.body)
		if err != nil {
			return nil, fmt.Errorf("entry %s/%d: %w", g.cfg.Account, seq, err)
		}
		s.batch.Entries = append(s.batch.Entries, Stored{Account: g.cfg.Account, Seq: seq, Hash: hash, Bytes: text})
		s.entries, s.hashes = append(s.entries, e), append(s.hashes, hash)
		prev = hash
	}
	if err := g.state.TryAll(s.entries, s.hashes); err != nil {
		return nil, &UnfoldableError{Err: err}
	}
	return s, nil
}

func (g *Gate) applyAll(ctx context.Context, s *sealed) error {
	for i := range s.entries {
		if err := g.applyEntry(&s.entries[i], s.hashes[i]); err != nil {
			return err
		}
	}
	if err := g.refreshLimits(); err != nil {
		return err
	}
	if g.state.Seq-g.saved >= SnapshotEvery {
		g.save(ctx)
	}
	return nil
}

// save keeps the folded state. Failing to costs time at the next start, nothing else.
func (g *Gate) save(ctx context.Context) {
	snapshots := g.cfg.Store.Snapshots()
	if snapshots == nil || g.state == nil || g.state.Seq == 0 || g.state.Seq == g.saved {
		return
	}
	text, err := g.state.Snapshot()
	if err == nil {
		err = snapshots.SaveSnapshot(ctx, g.cfg.Account, Head{Seq: g.state.Seq, Hash: g.state.Head}, text)
	}
	if err != nil {
		g.log.Warn("snapshot not saved", "account", g.cfg.Account, "error", err)
		return
	}
	g.saved = g.state.Seq
}

// Close writes what is still counted in memory and saves the folded state.
func (g *Gate) Close(ctx context.Context) error {
	if g.cfg.Store == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.flushSpent(ctx, true)
	if g.broken == nil && g.state != nil && g.state.Seq-g.saved >= SnapshotEvery/10 {
		g.save(ctx)
	}
	return err
}
