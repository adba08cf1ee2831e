package tree

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/verify"
)

// originPrefix begins the name of every journal's log. It is a name, not an address.
const originPrefix = "broker-rails.local/"

// idBytes is how much of the first entry's hash names a journal.
const idBytes = 16

// Origin names the log of the journal that begins with this entry. A genesis holds its
// time in nanoseconds, so that no two journals begin the same.
func Origin(first []byte) string {
	leaf, err := verify.LeafHash(strings.NewReader(string(first)))
	if err != nil {
		return "" // memory is read without errors; an empty origin is refused by all
	}
	return originPrefix + hex.EncodeToString(leaf[:idBytes])
}

// Signer is a log's private key. The zero Signer signs nothing.
type Signer struct {
	signer note.Signer
	public string // NAME+ID+KEY
	secret string
}

var errBadKey = errors.New("not a private key as rails audit checkpoint writes it")

// newSigner makes a key for the log of this name, from the system's randomness.
func newSigner(origin string) (Signer, error) {
	secret, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return Signer{}, fmt.Errorf("make a key: %w", err)
	}
	return parseSigner([]byte(secret))
}

// parseSigner reads a private key: PRIVATE+KEY+NAME+ID+SEED, as package note writes it.
func parseSigner(text []byte) (Signer, error) {
	secret := strings.TrimSuffix(string(text), "\n")
	s, err := note.NewSigner(secret)
	if err != nil {
		return Signer{}, errBadKey
	}
	at := strings.LastIndexByte(secret, '+')
	// The seed may hold plus signs itself: it is what follows the fourth.
	if parts := strings.SplitN(secret, "+", 5); len(parts) == 5 {
		at = len(secret) - len(parts[4]) - 1
	}
	seed, err := base64.StdEncoding.DecodeString(secret[at+1:])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return Signer{}, errBadKey
	}
	public, ok := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return Signer{}, errBadKey
	}
	verifier, err := note.NewEd25519VerifierKey(s.Name(), public)
	if err != nil {
		return Signer{}, errBadKey
	}
	return Signer{signer: s, public: verifier, secret: secret}, nil
}

// Origin is the name of the log that the key signs for.
func (s Signer) Origin() string {
	if s.signer == nil {
		return ""
	}
	return s.signer.Name()
}

// Sign signs a checkpoint and opens it again with the public key: what does not verify
// is not handed out. Duty 2 of the package is the caller's.
func (s Signer) Sign(size int64, root verify.Hash) (verify.Checkpoint, error) {
	if s.signer == nil {
		return verify.Checkpoint{}, errBadKey
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", s.Origin(), size, base64.StdEncoding.EncodeToString(root[:]))}, s.signer)
	if err != nil {
		return verify.Checkpoint{}, fmt.Errorf("sign a checkpoint: %w", err)
	}
	key, err := verify.ParseKey([]byte(s.public))
	if err != nil {
		return verify.Checkpoint{}, err
	}
	return verify.OpenCheckpoint(signed, key)
}

// FormatProof writes a proof of one entry as c2sp.org/tlog-proof@v1. The extra line, if
// there is one, holds the entry's own bytes: from them a reader computes the leaf.
func FormatProof(p *verify.Proof) []byte {
	var b strings.Builder
	b.WriteString("c2sp.org/tlog-proof@v1\n")
	if len(p.Extra) > 0 {
		b.WriteString("extra " + base64.StdEncoding.EncodeToString(p.Extra) + "\n")
	}
	fmt.Fprintf(&b, "index %d\n", p.Index)
	return finish(&b, p.Path, p.Signed)
}

// FormatExtension writes a proof between two checkpoints as a request to a witness has
// it (c2sp.org/tlog-witness, add-checkpoint).
func FormatExtension(e *verify.Extension) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", e.Old)
	return finish(&b, e.Path, e.Signed)
}

func finish(b *strings.Builder, path []verify.Hash, signed []byte) []byte {
	for _, h := range path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteString("\n")
	b.Write(signed)
	return []byte(b.String())
}
