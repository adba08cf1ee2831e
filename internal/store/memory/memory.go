// Package memory keeps a journal in memory: for the practice door's throwaway
// sessions, for simulation, and as the plain oracle that the durable stores are
// compared with. Nothing in it survives the process.
package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// ReadPage is how many entries a reader takes under the lock at once, so that a slow
// reader does not stop writers.
const ReadPage = 256

// Store is a journal in memory. Make it with New.
type Store struct {
	mu        sync.Mutex // guards all below; never held while a caller's function runs
	entries   []gate.Stored
	chains    map[string][]int // places in entries, by account
	snapshots map[string]snapshot
}

type snapshot struct {
	at     gate.Head
	state  []byte
	digest [sha256.Size]byte
}

// New returns an empty journal.
func New() *Store {
	return &Store{chains: map[string][]int{}, snapshots: map[string]snapshot{}}
}

// Append implements gate.Store.
func (s *Store) Append(ctx context.Context, b *gate.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Control != nil {
		if have := s.head(journal.ControlAccount); have != *b.Control {
			return &gate.ConflictError{Account: journal.ControlAccount, Have: have}
		}
	}
	if have := s.head(b.Account); have != b.Expect {
		return &gate.ConflictError{Account: b.Account, Have: have}
	}
	for _, e := range b.Entries {
		e.Bytes = bytes.Clone(e.Bytes)
		e.Index = uint64(len(s.entries)) + 1
		s.chains[b.Account] = append(s.chains[b.Account], len(s.entries))
		s.entries = append(s.entries, e)
	}
	return nil
}

// head returns an account's head; the caller holds mu.
func (s *Store) head(account string) gate.Head {
	chain := s.chains[account]
	if len(chain) == 0 {
		return gate.Head{}
	}
	last := &s.entries[chain[len(chain)-1]]
	return gate.Head{Seq: last.Seq, Hash: last.Hash}
}

// Heads implements gate.Store.
func (s *Store) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	if err := ctx.Err(); err != nil {
		return gate.Head{}, gate.Head{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head(account), s.head(journal.ControlAccount), nil
}

// Read implements gate.Store.
func (s *Store) Read(ctx context.Context, account string, after uint64, each func(gate.Stored) error) error {
	return s.pages(ctx, each, func() []gate.Stored {
		chain := s.chains[account]
		if after >= uint64(len(chain)) {
			return nil
		}
		chain = chain[after:]
		page := make([]gate.Stored, 0, min(len(chain), ReadPage))
		for _, place := range chain[:cap(page)] {
			page = append(page, s.entries[place])
		}
		after += uint64(len(page))
		return page
	})
}

// All calls each with the entries of all accounts after index, in commit order,
// until each fails.
func (s *Store) All(ctx context.Context, after uint64, each func(gate.Stored) error) error {
	return s.pages(ctx, each, func() []gate.Stored {
		if after >= uint64(len(s.entries)) {
			return nil
		}
		rest := s.entries[after:]
		page := slices.Clone(rest[:min(len(rest), ReadPage)])
		after += uint64(len(page))
		return page
	})
}

// pages hands each the entries of page after page, taken under the lock.
func (s *Store) pages(ctx context.Context, each func(gate.Stored) error, next func() []gate.Stored) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		page := next()
		s.mu.Unlock()
		if len(page) == 0 {
			return nil
		}
		for _, e := range page {
			e.Bytes = bytes.Clone(e.Bytes)
			if err := each(e); err != nil {
				return err
			}
		}
	}
}

// Accounts returns every account that has an entry, the control chain included,
// sorted.
func (s *Store) Accounts(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.chains))
	for name := range s.chains {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Snapshots implements gate.Store.
func (s *Store) Snapshots() gate.Snapshots { return s }

// LoadSnapshot implements gate.Snapshots.
func (s *Store) LoadSnapshot(ctx context.Context, account string) (state []byte, at gate.Head, err error) {
	if err := ctx.Err(); err != nil {
		return nil, gate.Head{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.snapshots[account]
	if !ok || kept.digest != sha256.Sum256(kept.state) {
		return nil, gate.Head{}, nil
	}
	return bytes.Clone(kept.state), kept.at, nil
}

// SaveSnapshot implements gate.Snapshots. One that is older than what is kept is
// dropped without an error; one at a head that the chain never had is refused.
func (s *Store) SaveSnapshot(ctx context.Context, account string, at gate.Head, state []byte) error {
	if err := gate.CheckSnapshot(account, at, state); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chain := s.chains[account]
	if at.Seq > uint64(len(chain)) || s.entries[chain[at.Seq-1]].Hash != at.Hash {
		return &gate.BatchError{Account: account, Seq: at.Seq, Problem: "snapshot at a head that the chain never had"}
	}
	if kept, ok := s.snapshots[account]; ok && kept.at.Seq > at.Seq {
		return nil
	}
	s.snapshots[account] = snapshot{at: at, state: bytes.Clone(state), digest: sha256.Sum256(state)}
	return nil
}
