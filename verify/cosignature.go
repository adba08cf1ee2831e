package verify

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

const (
	// algCosignature marks a witness's key: Ed25519 over a text with a time
	// (c2sp.org/tlog-cosignature). A log's own key is of algorithm 1.
	algCosignature = 4
	stampBytes     = 8
	idBytes        = 4
	// stampMax is the last second of the year 9999: later times have no text.
	stampMax = 253402300799
)

// ErrQuorum says that fewer witnesses have cosigned than a policy asks for.
var ErrQuorum = errors.New("too few witnesses have cosigned")

// WitnessKey is a witness's public key with its name. The zero WitnessKey verifies
// nothing.
type WitnessKey struct {
	name   string
	id     uint32
	public ed25519.PublicKey
}

// ParseWitnessKey reads a key of the form NAME+ID+KEY (c2sp.org/signed-note), with or
// without a line feed behind it. It must be one for cosignatures: the key of a log is
// refused, since what a log signs says nothing of what a witness saw.
func ParseWitnessKey(text []byte) (WitnessKey, error) {
	malformed := func(why string) (WitnessKey, error) {
		return WitnessKey{}, fmt.Errorf("witness key: %w: %s", ErrMalformed, why)
	}
	if len(text) > KeyBytesMax {
		return malformed(fmt.Sprintf("over %d bytes", KeyBytesMax))
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "+")
	id, key64, ok := strings.Cut(rest, "+")
	if !ok || !validName(name) || len(id) != 2*idBytes {
		return malformed("it must be NAME+ID+KEY on one line")
	}
	key, err := parseBase64(key64)
	switch {
	case err != nil || len(key) == 0:
		return malformed("the key is not base64")
	case key[0] != algCosignature:
		return malformed(fmt.Sprintf("it is of algorithm %d, and cosignatures are made with %d", key[0], algCosignature))
	case len(key) != 1+ed25519.PublicKeySize:
		return malformed("the key has a wrong length")
	}
	k := WitnessKey{name: name, id: witnessKeyID(name, key), public: key[1:]}
	if id != fmt.Sprintf("%08x", k.id) {
		return malformed("the id is not that of name and key")
	}
	return k, nil
}

func witnessKeyID(name string, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return binary.BigEndian.Uint32(sum[:])
}

// validName is what package note takes for the name of a key.
func validName(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.Contains(name, "+") && !strings.ContainsFunc(name, unicode.IsSpace)
}

// Name is the witness's own name, which stands before its cosignatures.
func (k WitnessKey) Name() string { return k.name }

// String is the key as ParseWitnessKey reads it.
func (k WitnessKey) String() string {
	if k.public == nil {
		return ""
	}
	return fmt.Sprintf("%s+%08x+%s", k.name, k.id, base64.StdEncoding.EncodeToString(append([]byte{algCosignature}, k.public...)))
}

// CosignedAt verifies the witness's cosignature on a signed checkpoint and returns the
// second at which the witness says that it knew of no larger one. The log's own
// signature is not looked at: OpenCheckpoint does that.
func (k WitnessKey) CosignedAt(signed []byte) (at time.Time, err error) {
	switch {
	case k.public == nil:
		return at, fmt.Errorf("cosignature: %w: no key", ErrSignature)
	case len(signed) > CheckpointBytesMax:
		return at, fmt.Errorf("cosignature: %w: over %d bytes", ErrMalformed, CheckpointBytesMax)
	}
	opened, err := note.Open(signed, note.VerifierList(cosignatureVerifier(k)))
	var unsigned *note.UnverifiedNoteError
	var forged *note.InvalidSignatureError
	switch {
	case errors.As(err, &unsigned), errors.As(err, &forged):
		return at, fmt.Errorf("cosignature: %w: %s", ErrSignature, k.name)
	case err != nil:
		return at, fmt.Errorf("cosignature: %w: not a signed note", ErrMalformed)
	}
	sig, err := base64.StdEncoding.DecodeString(opened.Sigs[0].Base64)
	if err != nil || len(sig) < idBytes+stampBytes {
		return at, fmt.Errorf("cosignature: %w: %s", ErrSignature, k.name)
	}
	return time.Unix(int64(binary.BigEndian.Uint64(sig[idBytes:])), 0).UTC(), nil
}

// cosignatureVerifier lets package note find and check the line of a witness.
type cosignatureVerifier WitnessKey

func (v cosignatureVerifier) Name() string    { return v.name }
func (v cosignatureVerifier) KeyHash() uint32 { return v.id }

func (v cosignatureVerifier) Verify(body, sig []byte) bool {
	if len(sig) != stampBytes+ed25519.SignatureSize {
		return false
	}
	stamp := binary.BigEndian.Uint64(sig)
	if stamp > stampMax {
		return false
	}
	message := "cosignature/v1\ntime " + strconv.FormatUint(stamp, 10) + "\n" + string(body)
	return ed25519.Verify(v.public, []byte(message), sig[stampBytes:])
}
