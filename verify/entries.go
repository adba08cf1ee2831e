package verify

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// chunkBytes is how much of an entry is held in memory at once.
const chunkBytes = 64 << 10

// CheckEntries reads exported entries, one a line, and holds their tree against each
// checkpoint. It returns how many entries there were. The checkpoints must have been
// opened. Memory does not grow with the entries nor with the length of a line.
func CheckEntries(r io.Reader, checkpoints []Checkpoint) (int64, error) {
	if len(checkpoints) == 0 {
		return 0, fmt.Errorf("%w: no checkpoint to hold the entries against", ErrNotExtended)
	}
	held := slices.Clone(checkpoints)
	slices.SortStableFunc(held, func(a, b Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	in := bufio.NewReaderSize(r, chunkBytes)
	var t peaks
	for {
		leaf, err := readLeaf(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t.size, err
		}
		t.add(leaf)
		for len(held) > 0 && held[0].Size == t.size {
			if root := t.root(); root != held[0].Root {
				return t.size, fmt.Errorf("%w of size %d: its root is %v, that of the entries %v", ErrNotExtended, t.size, held[0].Root, root)
			}
			held = held[1:]
		}
	}
	if len(held) > 0 {
		return t.size, fmt.Errorf("%w of size %d: there are only %d entries", ErrNotExtended, held[len(held)-1].Size, t.size)
	}
	return t.size, nil
}

// readLeaf hashes one line without its line feed. A last line without one is cut off.
func readLeaf(in *bufio.Reader) (h Hash, err error) {
	sum := sha256.New()
	sum.Write([]byte{leafPrefix})
	empty := true
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			sum.Write(part[:len(part)-1])
			return Hash(sum.Sum(nil)), nil
		case errors.Is(err, bufio.ErrBufferFull):
			sum.Write(part)
			empty = false
		case errors.Is(err, io.EOF) && empty && len(part) == 0:
			return h, io.EOF
		case errors.Is(err, io.EOF):
			return h, fmt.Errorf("entries: %w: the last line has no line feed", ErrMalformed)
		default:
			return h, fmt.Errorf("entries: %w", err)
		}
	}
}

// peaks are the roots of the perfect trees that the leaves so far make, the largest
// first: as many as the size has bits set.
type peaks struct {
	size   int64
	hashes []Hash
}

func (t *peaks) add(leaf Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.hashes) - 1
		leaf = tlog.NodeHash(t.hashes[last], leaf)
		t.hashes = t.hashes[:last]
	}
	t.hashes = append(t.hashes, leaf)
	t.size++
}

// root joins the peaks from the smallest up. There must be a leaf.
func (t *peaks) root() Hash {
	root := t.hashes[len(t.hashes)-1]
	for i := len(t.hashes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.hashes[i], root)
	}
	return root
}
