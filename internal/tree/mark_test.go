package tree

import (
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// A pass that goes on from a mark gives the roots and proofs that a pass made for them
// gives.
func TestAMarkAnswersForEverySizeSince(t *testing.T) {
	const most = 40
	entry := func(i int) []byte { return fmt.Appendf(nil, "entry %d", i) }
	for base := range most {
		p := Against()
		for i := range base {
			p.Take(uint64(i)+1, entry(i))
		}
		p.Mark()
		for i := base; i < most; i++ {
			p.Take(uint64(i)+1, entry(i))
		}
		for size := max(base, 1); size <= most; size++ {
			fresh := Against()
			if base > 0 && base < size {
				if err := fresh.WantTree(int64(size), int64(base)); err != nil {
					t.Fatal(err)
				}
			}
			old := fresh.Root()
			for i := range size {
				fresh.Take(uint64(i)+1, entry(i))
				if i+1 == base {
					old = fresh.Root()
				}
			}
			root, err := p.RootAt(int64(size))
			if err != nil || root != fresh.Root() {
				t.Fatalf("root at %d since %d: %v", size, base, err)
			}
			if base == 0 || base == size {
				continue
			}
			path, err := p.ProveTree(int64(size), int64(base))
			if err != nil {
				t.Fatalf("from %d to %d: %v", base, size, err)
			}
			if err := tlog.CheckTree(path, int64(size), root, int64(base), old); err != nil {
				t.Fatalf("from %d to %d: %v", base, size, err)
			}
		}
	}
}

func TestAMarkIsDroppedPastItsLimit(t *testing.T) {
	p := Against()
	p.Take(1, []byte("a"))
	p.Mark()
	for i := range uint64(markedMax/2 + 10) {
		p.Take(i+2, []byte("b"))
	}
	if len(p.found) != 0 || p.marked {
		t.Errorf("%d hashes are kept", len(p.found))
	}
	if _, err := p.ProveTree(p.Size(), 1); err == nil {
		t.Error("a proof from nothing")
	}
	if root, err := p.RootAt(p.Size()); err != nil || root != p.Root() {
		t.Error("no root without a mark")
	}
}
