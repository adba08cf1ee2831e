package sqlite

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// serve is the writer's goroutine, from Open until Close closed the queue and all that
// waits in it was answered.
func (s *Store) serve() {
	defer close(s.stopped)
	group := make([]*request, 0, GroupMax)
	idle := time.NewTimer(time.Hour)
	idle.Stop()
	for {
		var rest <-chan time.Time
		if s.writer.dirty >= CheckpointBytes && s.broken.Load() == nil {
			idle.Reset(CheckpointIdle)
			rest = idle.C
		}
		select {
		case first, open := <-s.queue:
			if !open {
				return
			}
			group = s.gather(append(group[:0], first))
			s.commit(group)
			clear(group)
		case <-rest:
			s.checkpoint()
		}
	}
}

// gather adds what waits already to the group. It never waits for more: callers that
// arrive during a flush form the next group by themselves.
func (s *Store) gather(group []*request) []*request {
	bytes := group[0].size
	for len(group) < GroupMax && bytes < GroupBytesMax {
		select {
		case r, open := <-s.queue:
			if !open {
				return group
			}
			group = append(group, r)
			bytes += r.size
		default:
			return group
		}
	}
	return group
}

// weight is how many bytes r writes.
func (r *request) weight() (n int64) {
	if r.snapshot != nil {
		return int64(len(r.snapshot.state))
	}
	for i := range r.batch.Entries {
		n += int64(len(r.batch.Entries[i].Bytes))
	}
	return n
}

// commit writes a group in one transaction and answers every request in it. A batch
// that lost its race is left out; any other error fails all, since the transaction is
// theirs together.
func (s *Store) commit(group []*request) {
	err := s.refuseBroken("append")
	wrote := false
	if err == nil {
		wrote, err = s.transact(group)
	}
	if wrote {
		s.writer.weigh(group)
	}
	for _, r := range group {
		// Taking here answers those that the transaction never reached.
		if !r.taken.CompareAndSwap(waiting, writing) && r.taken.Load() == withdrawn {
			continue
		}
		if err != nil {
			r.err = err // also of a lost race: what it lost against was not written either
		}
		r.done <- struct{}{} // r is its caller's again
	}
}

// transact runs the transaction. Before COMMIT an error that passes leaves nothing
// written; every other error breaks the store.
func (s *Store) transact(group []*request) (wrote bool, err error) {
	w := &s.writer
	if _, err := w.exec(w.stmts.begin); err != nil {
		return false, s.fault("begin", err)
	}
	var control *gate.Head // the control chain's head as this transaction sees it
	for _, r := range group {
		if !r.taken.CompareAndSwap(waiting, writing) {
			continue
		}
		var written bool
		if r.snapshot != nil {
			written, r.err, err = w.writeSnapshot(r.snapshot)
		} else {
			written, r.err, err = w.write(r.batch, &control)
		}
		if err != nil {
			return false, s.abandon("write", err)
		}
		wrote = wrote || written
	}
	if !wrote {
		if _, err := w.exec(w.stmts.rollback); err != nil {
			return false, s.fault("roll back", err)
		}
		return false, nil
	}
	if err := w.sameFiles(); err != nil {
		return false, s.abandon("commit", err)
	}
	if _, err := w.exec(w.stmts.commit); err != nil {
		return false, s.abandon("commit", err)
	}
	return true, nil
}

// abandon rolls back after err. SQLite may have done so by itself, so an error of the
// rollback says nothing; a transaction left open fails the next BEGIN, which breaks.
func (s *Store) abandon(op string, err error) error {
	fault := s.fault(op, err)
	_, _ = s.writer.exec(s.writer.stmts.rollback)
	return fault
}

// fault types err, and breaks the store unless the fault passes.
func (s *Store) fault(op string, err error) error {
	typed := &UnavailableError{Op: op, Path: s.path, Reason: reasonOf(err), Err: err}
	if !typed.Passing() {
		s.broken.CompareAndSwap(nil, typed)
	}
	return typed
}

// write compares the heads and inserts a batch. lost is the caller's answer if a head
// had moved; err fails the whole transaction.
func (w *writer) write(b *gate.Batch, control **gate.Head) (written bool, lost, err error) {
	if b.Control != nil {
		if *control == nil {
			have, err := w.head(journal.ControlAccount)
			if err != nil {
				return false, nil, err
			}
			*control = &have
		}
		if **control != *b.Control {
			return false, &gate.ConflictError{Account: journal.ControlAccount, Have: **control}, nil
		}
	}
	after := b.After()
	var changed int64
	if b.Expect.Seq == 0 {
		changed, err = w.exec(w.stmts.start, b.Account, int64(after.Seq), after.Hash[:])
	} else {
		changed, err = w.exec(w.stmts.advance, int64(after.Seq), after.Hash[:], b.Account, int64(b.Expect.Seq), b.Expect.Hash[:])
	}
	if err != nil {
		return false, nil, err
	}
	if changed != 1 {
		have, err := w.head(b.Account)
		return false, &gate.ConflictError{Account: b.Account, Have: have}, err
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		if _, err := w.exec(w.stmts.entry, e.Account, int64(e.Seq), e.Hash[:], e.Bytes); err != nil {
			return false, nil, err
		}
	}
	if b.Account == journal.ControlAccount {
		*control = &after
	}
	return true, nil, nil
}

// head reads an account's head inside the transaction.
func (w *writer) head(account string) (gate.Head, error) {
	row, err := w.row(w.stmts.head, account)
	if err != nil || row == nil {
		return gate.Head{}, err
	}
	return headOf(row[0], row[1])
}

// writeSnapshot keeps a snapshot unless a newer one is kept.
func (w *writer) writeSnapshot(s *snapshot) (written bool, refused, err error) {
	row, err := w.row(w.stmts.hashAt, s.account, int64(s.at.Seq))
	if err != nil {
		return false, nil, err
	}
	if row == nil || string(row[0].([]byte)) != string(s.at.Hash[:]) {
		return false, &gate.BatchError{Account: s.account, Seq: s.at.Seq, Problem: "snapshot at a head that the chain never had"}, nil
	}
	digest := sha256.Sum256(s.state)
	changed, err := w.exec(w.stmts.snapshot, s.account, int64(s.at.Seq), s.at.Hash[:], s.state, digest[:])
	return changed != 0, nil, err
}

// headOf makes a head of two columns.
func headOf(seq, hash any) (gate.Head, error) {
	n, isNumber := seq.(int64)
	text, isBlob := hash.([]byte)
	if !isNumber || n <= 0 || !isBlob || len(text) != len(journal.Hash{}) {
		return gate.Head{}, fmt.Errorf("a head of %T and %T", seq, hash)
	}
	return gate.Head{Seq: uint64(n), Hash: journal.Hash(text)}, nil
}

// weigh adds up what a group added to the log: its bytes, and for each batch the pages
// of index and heads that it touched, of which a group shares most.
func (w *writer) weigh(group []*request) {
	const page, sharedMax = 4096, 32
	for _, r := range group {
		w.dirty += r.size
	}
	w.dirty += 3 * page * int64(min(len(group), sharedMax))
}

// checkpoint moves the log into the file. One that readers hinder is tried again after
// as much was written once more, and so is one for which the disk is too full.
func (s *Store) checkpoint() {
	w := &s.writer
	w.dirty = 0
	if _, err := w.row(w.stmts.checkpoint); err != nil {
		_ = s.fault("checkpoint", err)
	}
}
