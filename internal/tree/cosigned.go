package tree

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

const (
	healthName     = "health.json"
	healthBytesMax = 64 << 10
	cosignedSuffix = ".cosigned"
	signaturesMax  = 64 // on one checkpoint; package note reads 100
)

// CosignedName is the name of the file of a checkpoint with its cosignatures.
func CosignedName(size int64) string {
	return strings.TrimSuffix(FileName(size), suffix) + cosignedSuffix
}

// Cosigned returns every checkpoint that witnesses have cosigned, by size, each with all
// its signatures. The log's own signature is verified, and that the checkpoint is the
// held one of its size; cosignatures are for a policy to judge.
func (f Folder) Cosigned() ([]verify.Checkpoint, error) {
	names, err := f.named(cosignedSuffix)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return f.open(names, CosignedName)
}

// Everything returns the checkpoints held with and without cosignatures, by size: a
// journal must extend them all.
func (f Folder) Everything() ([]verify.Checkpoint, error) {
	held, err := f.Held()
	if err != nil {
		return nil, err
	}
	cosigned, err := f.Cosigned()
	if err != nil {
		return nil, err
	}
	all := append(held, cosigned...)
	slices.SortStableFunc(all, func(a, b verify.Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	return all, nil
}

// EachCosigned calls each with the cosigned checkpoints, the largest first, until it
// returns false.
func (f Folder) EachCosigned(each func(verify.Checkpoint) bool) error {
	names, err := f.named(cosignedSuffix)
	if err != nil {
		return err
	}
	for i := len(names) - 1; i >= 0; i-- {
		list, err := f.open(names[i:i+1], CosignedName)
		if err != nil {
			return err
		}
		if !each(list[0]) {
			return nil
		}
	}
	return nil
}

// NewestCosigned returns the largest checkpoint with cosignatures, if there is any.
func (f Folder) NewestCosigned() (c verify.Checkpoint, held bool, err error) {
	err = f.EachCosigned(func(newest verify.Checkpoint) bool {
		c, held = newest, true
		return false
	})
	return c, held, err
}

// WithCosignatures returns a held checkpoint with the cosignatures that it has, if any.
func (f Folder) WithCosignatures(c verify.Checkpoint) (verify.Checkpoint, error) {
	list, err := f.open([]string{CosignedName(c.Size)}, CosignedName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	case !sameBody(list[0].Signed, c.Signed):
		return c, &BrokenError{Checkpoint: c.Size, Want: "the checkpoint that is held", Got: "another one of its size with cosignatures"}
	}
	return list[0], nil
}

// KeepCosigned adds signature lines to a checkpoint that is held, durably. A line takes
// the place of an older one of the same key. The caller has verified the lines.
func (f Folder) KeepCosigned(c verify.Checkpoint, lines ...[]byte) (path string, err error) {
	name := CosignedName(c.Size)
	path = filepath.Join(f.dir, name)
	text, err := readUpTo(path, verify.CheckpointBytesMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = c.Signed
	case err != nil:
		return path, err
	case !sameBody(text, c.Signed):
		return path, &BrokenError{Checkpoint: c.Size, Want: "the checkpoint that is held", Got: "another one of its size with cosignatures"}
	}
	for _, line := range lines {
		if text, err = addSignature(text, line); err != nil {
			return path, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(text) > verify.CheckpointBytesMax {
		return path, fmt.Errorf("%s: %w: over %d bytes", path, verify.ErrMalformed, verify.CheckpointBytesMax)
	}
	return path, f.replace(name, text)
}

// KeepHealth writes what came of the last attempts to sign and to have cosigned, for
// another process to show. It vouches for nothing.
func (f Folder) KeepHealth(text []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.replace(healthName, text)
}

// Health reads what KeepHealth wrote. Nothing is no error.
func (f Folder) Health() ([]byte, error) {
	text, err := readUpTo(filepath.Join(f.dir, healthName), healthBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// WrittenAt is when a file of the folder was written, by the file system.
func (f Folder) WrittenAt(name string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(f.dir, name))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// sameBody reports whether two notes sign the same text.
func sameBody(a, b []byte) bool {
	at := bytes.LastIndex(a, []byte("\n\n"))
	return at >= 0 && at == bytes.LastIndex(b, []byte("\n\n")) && bytes.Equal(a[:at], b[:at])
}

// addSignature puts a line behind the others, or in the place of one of the same key.
func addSignature(signed, line []byte) ([]byte, error) {
	key, err := signatureKey(line)
	if err != nil {
		return nil, err
	}
	at := bytes.LastIndex(signed, []byte("\n\n")) + 2
	if at < 2 {
		return nil, fmt.Errorf("%w: not a signed note", verify.ErrMalformed)
	}
	out := bytes.Clone(signed[:at])
	placed, count := false, 0
	for old := range bytes.Lines(signed[at:]) {
		if have, err := signatureKey(old); err == nil && have == key {
			old, placed = line, true
		}
		out = append(out, old...)
		count++
	}
	if !placed {
		out = append(out, line...)
		count++
	}
	if count > signaturesMax {
		return nil, fmt.Errorf("%w: over %d signatures", verify.ErrMalformed, signaturesMax)
	}
	return out, nil
}

// signatureKey is name and id of the key that a line claims to be of.
func signatureKey(line []byte) (string, error) {
	name, sig, ok := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(string(line), "\n"), "— "), " ")
	raw, err := base64.StdEncoding.Strict().DecodeString(sig)
	if !ok || err != nil || len(raw) < 4 || !bytes.HasPrefix(line, []byte("— ")) || bytes.Count(line, []byte("\n")) != 1 {
		return "", fmt.Errorf("%w: not a signature line", verify.ErrMalformed)
	}
	return name + " " + string(raw[:4]), nil
}

// replace puts a file in the place of another, whole or not at all, and flushes it.
func (f Folder) replace(name string, text []byte) error {
	tmp, err := os.CreateTemp(f.dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone once it is renamed
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), filepath.Join(f.dir, name)); err != nil {
		return err
	}
	return flushFolder(f.dir)
}
