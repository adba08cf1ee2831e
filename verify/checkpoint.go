package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Limits of what is read.
const (
	// KeyBytesMax bounds a key file: a name and 33 bytes in base64 take about 100.
	KeyBytesMax = 1 << 10
	// CheckpointBytesMax bounds a signed checkpoint. The largest signatures in use take
	// 5 kB, and sixteen of them must be accepted (c2sp.org/signed-note).
	CheckpointBytesMax = 128 << 10
	// ProofBytesMax bounds a proof: an entry of a megabyte in base64, the hashes and the
	// checkpoint.
	ProofBytesMax = 2 << 20
	// EntriesMax bounds the size of a tree, far below where 64 bits would overflow.
	EntriesMax = 1 << 48
	// pathMax bounds the hashes of a proof (c2sp.org/tlog-witness: at most 63).
	pathMax = 63
)

// Errors say which check failed; each is wrapped with what was found.
var (
	ErrMalformed   = errors.New("malformed")
	ErrSignature   = errors.New("not signed by this key")
	ErrNotIncluded = errors.New("the entry is not in the tree")
	ErrNotExtended = errors.New("not an extension of the checkpoint")
)

// Hash is the hash of a leaf, of a node, or of a tree (SHA-256).
type Hash = tlog.Hash

// Key is a log's public key with its name. The zero Key verifies nothing.
type Key struct {
	verifier note.Verifier
	text     string // NAME+ID+KEY
}

// ParseKey reads a key of the form NAME+ID+KEY (c2sp.org/signed-note), with or without
// a line feed behind it.
func ParseKey(text []byte) (Key, error) {
	if len(text) > KeyBytesMax {
		return Key{}, fmt.Errorf("key: %w: over %d bytes", ErrMalformed, KeyBytesMax)
	}
	line := strings.TrimSuffix(string(text), "\n")
	v, err := note.NewVerifier(line)
	if err != nil || !oneForm(line) {
		return Key{}, fmt.Errorf("key: %w: it must be NAME+ID+KEY on one line", ErrMalformed)
	}
	return Key{v, line}, nil
}

// oneForm reports whether a key is as an encoder writes it: package note reads capital hex
// digits and loose base64 too.
func oneForm(line string) bool {
	parts := strings.SplitN(line, "+", 3)
	if len(parts) != 3 || parts[1] != strings.ToLower(parts[1]) {
		return false
	}
	_, err := parseBase64(parts[2])
	return err == nil
}

// Name is the key's name, which is the origin of what it signs.
func (k Key) Name() string {
	if k.verifier == nil {
		return ""
	}
	return k.verifier.Name()
}

// Checkpoint is what a log's key says of its first Size entries.
type Checkpoint struct {
	Origin string
	Size   int64 // at least 1
	Root   Hash
	Signed []byte // the whole note, as it was read
}

// OpenCheckpoint verifies a signed checkpoint. The origin must be the key's name.
// Signatures of other keys, such as witnesses', are passed over. A checkpoint of size
// zero is refused: it vouches for nothing.
func OpenCheckpoint(signed []byte, k Key) (Checkpoint, error) {
	switch {
	case k.verifier == nil:
		return Checkpoint{}, fmt.Errorf("checkpoint: %w: no key", ErrSignature)
	case len(signed) > CheckpointBytesMax:
		return Checkpoint{}, fmt.Errorf("checkpoint: %w: over %d bytes", ErrMalformed, CheckpointBytesMax)
	}
	opened, err := note.Open(signed, note.VerifierList(k.verifier))
	var unsigned *note.UnverifiedNoteError
	var forged *note.InvalidSignatureError
	switch {
	case errors.As(err, &unsigned), errors.As(err, &forged):
		return Checkpoint{}, fmt.Errorf("checkpoint: %w: %s", ErrSignature, k.Name())
	case err != nil:
		return Checkpoint{}, fmt.Errorf("checkpoint: %w: not a signed note", ErrMalformed)
	}
	// Package note reads base64 that an encoder does not write; a file has one form here.
	for _, sig := range append(opened.Sigs, opened.UnverifiedSigs...) {
		if _, err := parseBase64(sig.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("checkpoint: signature: %w", err)
		}
	}
	c, err := parseBody(opened.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != k.Name() {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w: it is of %q", ErrSignature, c.Origin)
	}
	c.Signed = bytes.Clone(signed)
	return c, nil
}

// parseBody reads origin, size and root. Extension lines are allowed and say nothing.
func parseBody(text string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[0] == "" {
		return c, fmt.Errorf("checkpoint: %w: origin, size and root are three lines", ErrMalformed)
	}
	for _, extension := range lines[3 : len(lines)-1] {
		if extension == "" {
			return c, fmt.Errorf("checkpoint: %w: an empty line", ErrMalformed)
		}
	}
	c.Origin = lines[0]
	if c.Size, err = parseNumber(lines[1]); err != nil {
		return c, fmt.Errorf("checkpoint: size: %w", err)
	}
	if c.Size == 0 {
		return c, fmt.Errorf("checkpoint: %w: size 0 vouches for nothing", ErrMalformed)
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return c, fmt.Errorf("checkpoint: root: %w", err)
	}
	return c, nil
}

// parseNumber reads a decimal from 0 to EntriesMax without leading zeros.
func parseNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > EntriesMax || text != strconv.FormatInt(n, 10) {
		return 0, fmt.Errorf("%w: %.40q is not a number up to %d", ErrMalformed, text, int64(EntriesMax))
	}
	return n, nil
}

func parseHash(text string) (h Hash, err error) {
	if len(text) != base64.StdEncoding.EncodedLen(len(h)) {
		return h, fmt.Errorf("%w: %.60q is not a hash in base64", ErrMalformed, text)
	}
	b, err := parseBase64(text)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("%w: %.60q is not a hash in base64", ErrMalformed, text)
	}
	return Hash(b), nil
}

// parseBase64 takes only what the encoder writes: the decoder alone skips line ends.
func parseBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, fmt.Errorf("%w: a line end inside base64", ErrMalformed)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64", ErrMalformed)
	}
	return b, nil
}

// LeafHash is the hash of an entry's bytes as a leaf (RFC 6962, section 2.1). It streams:
// an entry of any length takes the same memory.
func LeafHash(entry io.Reader) (h Hash, err error) {
	sum := sha256.New()
	sum.Write([]byte{leafPrefix})
	if _, err := io.Copy(sum, entry); err != nil {
		return h, fmt.Errorf("entry: %w", err)
	}
	return Hash(sum.Sum(nil)), nil
}

// leafPrefix tells leaves from nodes (RFC 6962, section 2.1).
const leafPrefix = 0

// Line writes a signed checkpoint as one line, for e-mail and print.
func Line(signed []byte) string { return base64.StdEncoding.EncodeToString(signed) }

// Signed returns the checkpoint that a file holds, as a note or as a line. It verifies
// nothing.
func Signed(file []byte) ([]byte, error) {
	line := strings.TrimRight(string(file), "\r\n")
	if strings.Contains(line, "\n") {
		return file, nil
	}
	signed, err := parseBase64(line)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return signed, nil
}

// FileBytesMax bounds the file of a checkpoint: a note written as a line is longer.
const FileBytesMax = CheckpointBytesMax/3*4 + 8
