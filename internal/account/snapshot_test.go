package account_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
)

// FuzzRestore reads parts that have the right sum but not the right form: it never
// panics, and whatever it takes is written again byte for byte.
func FuzzRestore(f *testing.F) {
	c := ordinary(f, 40)
	whole := snapshot(f, c.s)
	f.Add(whole[:len(whole)-sha256.Size])
	empty := snapshot(f, account.New("paper"))
	f.Add(empty[:len(empty)-sha256.Size])
	f.Fuzz(func(t *testing.T, parts []byte) {
		sum := sha256.Sum256(parts)
		b := append(bytes.Clone(parts), sum[:]...)
		s, err := account.Restore(b)
		if err != nil {
			return
		}
		s.Digest()
		if again := snapshot(t, s); !bytes.Equal(again, b) {
			t.Fatalf("taken, but written again as %x, was %x", again, b)
		}
	})
}
