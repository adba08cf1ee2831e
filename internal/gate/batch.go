package gate

import (
	"crypto/sha256"
	"fmt"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// BatchEntriesMax is the most entries that one batch may hold. A decision takes one
// or two; the most come from a broker's page of events after a long absence.
const BatchEntriesMax = 1024

// BatchError says that a batch contradicts itself: a broken invariant of whoever
// built it, never a state of the store. Nothing was written.
type BatchError struct {
	Account string
	Seq     uint64 // of the entry at fault; zero for the batch as a whole
	Problem string
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("batch of %q, seq %d: %s", e.Account, e.Seq, e.Problem)
}

// Check says whether the batch agrees with itself: every store calls it before it
// writes, so that no caller's mistake reaches the journal. It cannot say whether the
// heads still hold.
func (b *Batch) Check() error {
	switch {
	case b.Account == "":
		return &BatchError{b.Account, 0, "no account"}
	case len(b.Entries) == 0:
		return &BatchError{b.Account, 0, "no entries"}
	case len(b.Entries) > BatchEntriesMax:
		return &BatchError{b.Account, 0, fmt.Sprintf("%d entries, over %d", len(b.Entries), BatchEntriesMax)}
	case !b.Expect.sound():
		return &BatchError{b.Account, b.Expect.Seq, "expected head has a seq without a hash, or a hash without a seq"}
	case b.Control != nil && !b.Control.sound():
		return &BatchError{b.Account, b.Control.Seq, "control head has a seq without a hash, or a hash without a seq"}
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		problem := ""
		switch {
		case e.Account != b.Account:
			problem = fmt.Sprintf("entry is of account %q", e.Account)
		case e.Seq != b.Expect.Seq+1+uint64(i):
			problem = fmt.Sprintf("seq does not follow head %d at place %d", b.Expect.Seq, i)
		case len(e.Bytes) == 0:
			problem = "no bytes"
		case len(e.Bytes) > journal.EntryBytesMax:
			problem = fmt.Sprintf("%d bytes, over %d", len(e.Bytes), journal.EntryBytesMax)
		case e.Hash != journal.Hash(sha256.Sum256(e.Bytes)):
			problem = "hash is not the SHA-256 of the bytes"
		}
		if problem != "" {
			return &BatchError{b.Account, e.Seq, problem}
		}
	}
	return nil
}

// After returns the head once the batch is written.
func (b *Batch) After() Head {
	if len(b.Entries) == 0 {
		return b.Expect
	}
	last := &b.Entries[len(b.Entries)-1]
	return Head{Seq: last.Seq, Hash: last.Hash}
}

// sound reports whether seq and hash are both set or both not.
func (h Head) sound() bool {
	return (h.Seq == 0) == (h.Hash == journal.Hash{})
}

// SnapshotBytesMax is the longest folded state that a store keeps. An account of
// thousands of positions and orders folds to a few MiB.
const SnapshotBytesMax = 64 << 20

// CheckSnapshot says whether a folded state may be handed to a store: it has bytes,
// not too many, and stands at an entry.
func CheckSnapshot(account string, at Head, state []byte) error {
	switch {
	case account == "":
		return &BatchError{account, at.Seq, "snapshot of no account"}
	case at.Seq == 0 || !at.sound():
		return &BatchError{account, at.Seq, "snapshot at no entry"}
	case len(state) == 0:
		return &BatchError{account, at.Seq, "snapshot without bytes"}
	case len(state) > SnapshotBytesMax:
		return &BatchError{account, at.Seq, fmt.Sprintf("snapshot of %d bytes, over %d", len(state), SnapshotBytesMax)}
	}
	return nil
}
