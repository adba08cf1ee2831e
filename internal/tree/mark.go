package tree

import (
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/broker-rails/broker-rails/verify"
)

// markedMax bounds the hashes that a mark keeps: two for each entry, about 100 bytes each.
const markedMax = 1 << 17

// Mark has the pass keep every hash from here on, for who goes on with one pass while the
// journal grows: RootAt and ProveTree then answer for any size from here to the newest.
// It takes the place of an earlier mark, and of what WantRecord and WantTree asked for.
// Past markedMax hashes the mark is dropped, and a new pass is needed.
func (p *Pass) Mark() {
	p.marked, p.wanted, p.found = true, nil, map[int64]verify.Hash{}
	// A node that is read for a size from here on is one of these, or comes later: its
	// parent is not whole at that size, and so it is not now.
	at := int64(0)
	for _, peak := range p.peaks {
		level := bits.Len64(uint64(p.size-at)) - 1
		p.found[tlog.StoredHashIndex(level, at>>level)] = peak
		at += 1 << level
	}
}

func (p *Pass) keepMarked(level int, n int64, h verify.Hash) {
	if len(p.found) >= markedMax {
		p.marked, p.found = false, nil
		return
	}
	p.found[tlog.StoredHashIndex(level, n)] = h
}

// RootAt is the root over the first entries, as many as size says: from the mark to the
// newest. For any other size it is an error.
func (p *Pass) RootAt(size int64) (verify.Hash, error) {
	if size == p.size {
		return p.Root(), nil
	}
	return tlog.TreeHash(size, tlog.HashReaderFunc(p.read))
}
