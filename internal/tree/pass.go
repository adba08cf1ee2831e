package tree

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/broker-rails/broker-rails/verify"
)

// BrokenError says that a journal is not the one that a checkpoint vouches for, or that
// its entries are not in order.
type BrokenError struct {
	Checkpoint int64 // size of the checkpoint that does not hold; 0: an entry is out of order
	Want, Got  string
}

func (e *BrokenError) Error() string {
	if e.Checkpoint == 0 {
		return fmt.Sprintf("the journal is not in order: want %s, got %s", e.Want, e.Got)
	}
	return fmt.Sprintf("the journal does not extend the checkpoint of size %d: want %s, got %s", e.Checkpoint, e.Want, e.Got)
}

// Pass is one reading of a journal. The zero Pass is ready, and holds nothing against
// the entries.
type Pass struct {
	size   int64
	peaks  []verify.Hash       // roots of the perfect trees so far, the largest first
	held   []verify.Checkpoint // not reached yet, by size
	marked bool                // every hash from the mark on is kept
	wanted map[int64]bool      // by tlog.StoredHashIndex
	found  map[int64]verify.Hash
	failed *BrokenError
}

// Against makes a pass that holds the entries against checkpoints, which the caller has
// opened.
func Against(held ...verify.Checkpoint) *Pass {
	p := &Pass{held: slices.Clone(held)}
	slices.SortStableFunc(p.held, func(a, b verify.Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	return p
}

// Size is how many entries were taken.
func (p *Pass) Size() int64 { return p.size }

// Take adds the next entry; index is its place in the commit order, from 1. After a gap
// nothing more is taken.
func (p *Pass) Take(index uint64, entry []byte) {
	if p.failed != nil && p.failed.Checkpoint == 0 {
		return
	}
	if want := uint64(p.size) + 1; index != want {
		p.failed = &BrokenError{Want: fmt.Sprintf("entry %d in commit order", want), Got: fmt.Sprint(index)}
		return
	}
	p.add(tlog.RecordHash(entry))
	for len(p.held) > 0 && p.held[0].Size <= p.size {
		if root := p.Root(); p.failed == nil && root != p.held[0].Root {
			p.failed = &BrokenError{Checkpoint: p.size, Want: "root " + p.held[0].Root.String(), Got: root.String()}
		}
		p.held = p.held[1:]
	}
}

// add joins the leaf with the perfect trees before it, and keeps each hash that some
// proof needs. A node of level l is the n-th of its level when its last leaf is the
// (n+1)<<l-th.
func (p *Pass) add(leaf verify.Hash) {
	n, level := p.size, 0
	p.keep(level, n, leaf)
	for ; n&1 == 1; n >>= 1 {
		last := len(p.peaks) - 1
		leaf = tlog.NodeHash(p.peaks[last], leaf)
		p.peaks = p.peaks[:last]
		level++
		p.keep(level, n>>1, leaf)
	}
	p.peaks = append(p.peaks, leaf)
	p.size++
}

func (p *Pass) keep(level int, n int64, h verify.Hash) {
	if p.marked {
		p.keepMarked(level, n, h)
		return
	}
	if len(p.wanted) == 0 {
		return
	}
	if at := tlog.StoredHashIndex(level, n); p.wanted[at] {
		p.found[at] = h
	}
}

// Root is the root over the entries taken so far; without one, the hash of nothing
// (RFC 6962, section 2.1).
func (p *Pass) Root() verify.Hash {
	if len(p.peaks) == 0 {
		return sha256.Sum256(nil)
	}
	root := p.peaks[len(p.peaks)-1]
	for i := len(p.peaks) - 2; i >= 0; i-- {
		root = tlog.NodeHash(p.peaks[i], root)
	}
	return root
}

// Failed returns the first thing that does not hold, once all entries were taken.
func (p *Pass) Failed() error {
	switch {
	case p.failed != nil:
		return p.failed
	case len(p.held) > 0:
		newest := p.held[len(p.held)-1]
		return &BrokenError{
			Checkpoint: newest.Size, Want: fmt.Sprintf("%d entries", newest.Size), Got: fmt.Sprintf("only %d", p.size),
		}
	}
	return nil
}

// WantRecord has the pass keep what proves the entry at index, from 0, in the tree of
// size entries.
func (p *Pass) WantRecord(size, index int64) error {
	_, err := tlog.ProveRecord(size, index, tlog.HashReaderFunc(p.want))
	return err
}

// WantTree has the pass keep what proves that the tree of size entries begins with that
// of older ones.
func (p *Pass) WantTree(size, older int64) error {
	_, err := tlog.ProveTree(size, older, tlog.HashReaderFunc(p.want))
	return err
}

// want notes what a proof would read; what it makes of the empty hashes is thrown away.
func (p *Pass) want(indexes []int64) ([]tlog.Hash, error) {
	if p.wanted == nil {
		p.wanted, p.found = map[int64]bool{}, map[int64]verify.Hash{}
	}
	for _, at := range indexes {
		p.wanted[at] = true
	}
	return make([]tlog.Hash, len(indexes)), nil
}

// ProveRecord is the path that WantRecord asked for, from the leaf's sibling up.
func (p *Pass) ProveRecord(size, index int64) ([]verify.Hash, error) {
	return tlog.ProveRecord(size, index, tlog.HashReaderFunc(p.read))
}

// ProveTree is the proof that WantTree asked for.
func (p *Pass) ProveTree(size, older int64) ([]verify.Hash, error) {
	return tlog.ProveTree(size, older, tlog.HashReaderFunc(p.read))
}

func (p *Pass) read(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, 0, len(indexes))
	for _, at := range indexes {
		h, ok := p.found[at]
		if !ok {
			return nil, fmt.Errorf("hash %d was not met in a pass over %d entries", at, p.size)
		}
		out = append(out, h)
	}
	return out, nil
}
