package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

const (
	secretWord = "PRIVATE+KEY+"
	// algCosignature marks a key for cosignatures with a time (c2sp.org/tlog-cosignature).
	algCosignature = 4
	idBytes        = 4
	// namePrefix begins the name of a witness that was given none.
	namePrefix  = "rails-witness.local/"
	nameIDBytes = 8
)

var errBadKey = errors.New("not a private key as rails witness writes it")

// Signer is a witness's private key. The zero Signer signs nothing.
type Signer struct {
	key    ed25519.PrivateKey
	public verify.WitnessKey
	id     [idBytes]byte
}

// NewSigner makes a key from the system's randomness. An empty name is made up.
func NewSigner(name string) (Signer, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return Signer{}, fmt.Errorf("make a key: %w", err)
	}
	if name == "" {
		id := make([]byte, nameIDBytes)
		if _, err := rand.Read(id); err != nil {
			return Signer{}, fmt.Errorf("make a name: %w", err)
		}
		name = namePrefix + hex.EncodeToString(id)
	}
	return signerFrom(name, seed)
}

func signerFrom(name string, seed []byte) (Signer, error) {
	s := Signer{key: ed25519.NewKeyFromSeed(seed)}
	public, ok := s.key.Public().(ed25519.PublicKey)
	if !ok {
		return Signer{}, errBadKey
	}
	material := append([]byte{algCosignature}, public...)
	s.id = keyID(name, material)
	text := fmt.Sprintf("%s+%x+%s", name, s.id, base64.StdEncoding.EncodeToString(material))
	var err error
	// Who reads cosignatures parses the key in this way: a name that it does not take is
	// refused here.
	s.public, err = verify.ParseWitnessKey([]byte(text))
	return s, err
}

// ParseSigner reads what Secret writes, with or without a line feed behind it.
func ParseSigner(text []byte) (Signer, error) {
	if len(text) > verify.KeyBytesMax {
		return Signer{}, errBadKey
	}
	rest, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), secretWord)
	name, rest, _ := strings.Cut(rest, "+")
	id, seed64, _ := strings.Cut(rest, "+")
	seed, err := base64.StdEncoding.Strict().DecodeString(seed64)
	if !ok || err != nil || len(seed) != 1+ed25519.SeedSize || seed[0] != algCosignature {
		return Signer{}, errBadKey
	}
	s, err := signerFrom(name, seed[1:])
	if err != nil || id != hex.EncodeToString(s.id[:]) {
		return Signer{}, errBadKey
	}
	return s, nil
}

// Secret is the private key: PRIVATE+KEY+NAME+ID+SEED, as other witnesses keep theirs.
func (s Signer) Secret() string {
	if s.key == nil {
		return ""
	}
	material := append([]byte{algCosignature}, s.key.Seed()...)
	return fmt.Sprintf("%s%s+%x+%s", secretWord, s.public.Name(), s.id, base64.StdEncoding.EncodeToString(material))
}

// Key is the public key.
func (s Signer) Key() verify.WitnessKey { return s.public }

// cosign writes the signature line for the body of a checkpoint.
func (s Signer) cosign(body []byte, at time.Time) ([]byte, error) {
	stamp := at.Unix()
	if s.key == nil || stamp <= 0 {
		return nil, fmt.Errorf("%w, or no time", errBadKey)
	}
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", stamp, body)
	sig := binary.BigEndian.AppendUint64(append([]byte(nil), s.id[:]...), uint64(stamp))
	sig = append(sig, ed25519.Sign(s.key, message)...)
	return fmt.Appendf(nil, "— %s %s\n", s.public.Name(), base64.StdEncoding.EncodeToString(sig)), nil
}

// keyID is the first bytes of the hash of name and key (c2sp.org/signed-note).
func keyID(name string, material []byte) (id [idBytes]byte) {
	sum := sha256.Sum256(append([]byte(name+"\n"), material...))
	copy(id[:], sum[:])
	return id
}
