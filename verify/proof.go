package verify

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// First words of the two kinds of proof.
const (
	proofHeader     = "c2sp.org/tlog-proof@v1\n"
	extraWord       = "extra "
	indexWord       = "index "
	extensionHeader = "old "
)

// Proof says that one entry is in the tree of a checkpoint (c2sp.org/tlog-proof@v1).
type Proof struct {
	Index  int64  // from 0, in commit order
	Path   []Hash // from the leaf's sibling up
	Extra  []byte // the entry's bytes where the log wrote them; nobody vouches for them
	Signed []byte // the checkpoint, not verified yet
}

// ParseProof reads a proof. It verifies nothing.
func ParseProof(text []byte) (*Proof, error) {
	if len(text) > ProofBytesMax {
		return nil, fmt.Errorf("proof: %w: over %d bytes", ErrMalformed, ProofBytesMax)
	}
	rest, ok := bytes.CutPrefix(text, []byte(proofHeader))
	if !ok {
		return nil, fmt.Errorf("proof: %w: the first line must be %s", ErrMalformed, strings.TrimSpace(proofHeader))
	}
	head, signed, ok := bytes.Cut(rest, []byte("\n\n"))
	if !ok {
		return nil, fmt.Errorf("proof: %w: no empty line before the checkpoint", ErrMalformed)
	}
	p := &Proof{Signed: bytes.Clone(signed)}
	lines := strings.Split(string(head), "\n")
	var err error
	if extra, has := strings.CutPrefix(lines[0], extraWord); has {
		if p.Extra, err = parseBase64(extra); err != nil {
			return nil, fmt.Errorf("proof: extra: %w", err)
		}
		if len(p.Extra) == 0 {
			return nil, fmt.Errorf("proof: %w: an extra line with nothing in it", ErrMalformed)
		}
		lines = lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], indexWord) {
		return nil, fmt.Errorf("proof: %w: no index", ErrMalformed)
	}
	if p.Index, err = parseNumber(strings.TrimPrefix(lines[0], indexWord)); err != nil {
		return nil, fmt.Errorf("proof: index: %w", err)
	}
	if p.Path, err = parsePath(lines[1:]); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	return p, nil
}

func parsePath(lines []string) ([]Hash, error) {
	if len(lines) > pathMax {
		return nil, fmt.Errorf("%w: over %d hashes", ErrMalformed, pathMax)
	}
	var path []Hash
	for _, line := range lines {
		h, err := parseHash(line)
		if err != nil {
			return nil, err
		}
		path = append(path, h)
	}
	return path, nil
}

// Check verifies the checkpoint's signature, and that the leaf stands at the proof's
// index in its tree. It returns the checkpoint.
func (p *Proof) Check(k Key, leaf Hash) (Checkpoint, error) {
	c, err := OpenCheckpoint(p.Signed, k)
	if err != nil {
		return Checkpoint{}, err
	}
	if p.Index >= c.Size {
		return Checkpoint{}, fmt.Errorf("%w: index %d of a tree of %d", ErrNotIncluded, p.Index, c.Size)
	}
	if err := tlog.CheckRecord(p.Path, c.Size, c.Root, p.Index, leaf); err != nil {
		return Checkpoint{}, fmt.Errorf("%w: no such leaf at index %d of %d", ErrNotIncluded, p.Index, c.Size)
	}
	return c, nil
}

// Extension says that the tree of a checkpoint begins with the tree of an older one. Its
// form is that of a request to a witness (c2sp.org/tlog-witness, add-checkpoint).
type Extension struct {
	Old    int64 // size of the older tree
	Path   []Hash
	Signed []byte // the newer checkpoint, not verified yet
}

// IsExtension reports whether a file begins as a proof between two checkpoints does.
func IsExtension(text []byte) bool { return bytes.HasPrefix(text, []byte(extensionHeader)) }

// ParseExtension reads a proof between two checkpoints. It verifies nothing.
func ParseExtension(text []byte) (*Extension, error) {
	if len(text) > ProofBytesMax {
		return nil, fmt.Errorf("extension: %w: over %d bytes", ErrMalformed, ProofBytesMax)
	}
	head, signed, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok || !IsExtension(text) {
		return nil, fmt.Errorf("extension: %w: it is %sSIZE, hashes, an empty line and a checkpoint", ErrMalformed, extensionHeader)
	}
	lines := strings.Split(string(head), "\n")
	e := &Extension{Signed: bytes.Clone(signed)}
	var err error
	if e.Old, err = parseNumber(strings.TrimPrefix(lines[0], extensionHeader)); err != nil {
		return nil, fmt.Errorf("extension: old size: %w", err)
	}
	if e.Path, err = parsePath(lines[1:]); err != nil {
		return nil, fmt.Errorf("extension: %w", err)
	}
	return e, nil
}

// Check verifies the newer checkpoint's signature, and that its tree extends that of the
// older one, which the caller holds and has opened. It returns the newer one.
func (e *Extension) Check(k Key, older Checkpoint) (Checkpoint, error) {
	newer, err := OpenCheckpoint(e.Signed, k)
	if err != nil {
		return Checkpoint{}, err
	}
	switch {
	case older.Size < 1:
		return Checkpoint{}, fmt.Errorf("%w: no older checkpoint", ErrNotExtended)
	case newer.Origin != older.Origin:
		return Checkpoint{}, fmt.Errorf("%w: %q is another log than %q", ErrNotExtended, newer.Origin, older.Origin)
	case e.Old != older.Size:
		return Checkpoint{}, fmt.Errorf("%w: the proof is from size %d, the checkpoint's is %d", ErrNotExtended, e.Old, older.Size)
	case newer.Size < older.Size:
		return Checkpoint{}, fmt.Errorf("%w: a log of %d is shorter than %d", ErrNotExtended, newer.Size, older.Size)
	}
	if err := tlog.CheckTree(e.Path, newer.Size, newer.Root, older.Size, older.Root); err != nil {
		return Checkpoint{}, fmt.Errorf("%w of size %d: the tree of %d does not begin with it", ErrNotExtended, older.Size, newer.Size)
	}
	return newer, nil
}
