package verify_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// What is taken has one form: it is written again byte for byte.

func FuzzProof(f *testing.F) {
	for _, text := range []string{
		"", "c2sp.org/tlog-proof@v1\nindex 0\n\nx",
		"c2sp.org/tlog-proof@v1\nextra eA==\nindex 281474976710656\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\nlog\n1\n\n",
	} {
		f.Add([]byte(text))
	}
	_, k := signer(f, newRandom(), origin)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := verify.ParseProof(text)
		if err != nil {
			return
		}
		if again := tree.FormatProof(p); !bytes.Equal(again, text) {
			t.Errorf("%q is written %q", text, again)
		}
		if _, err := p.Check(k, verify.Hash{}); err == nil {
			t.Error("nobody signed this")
		}
	})
}

func FuzzExtension(f *testing.F) {
	for _, text := range []string{"", "old 1\n\nx", "old 3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\nlog\n4\n\n"} {
		f.Add([]byte(text))
	}
	_, k := signer(f, newRandom(), origin)
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := verify.ParseExtension(text)
		if err != nil {
			return
		}
		if again := tree.FormatExtension(e); !bytes.Equal(again, text) {
			t.Errorf("%q is written %q", text, again)
		}
		if _, err := e.Check(k, verify.Checkpoint{Origin: origin, Size: e.Old}); err == nil {
			t.Error("nobody signed this")
		}
	})
}

// FuzzCheckpoint signs any text: what is opened then must be a checkpoint's.
func FuzzCheckpoint(f *testing.F) {
	for _, text := range []string{"", origin + "\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", origin + "\n9223372036854775807\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nmore\n"} {
		f.Add(text, int64(0), []byte{})
	}
	s, k := signer(f, newRandom(), origin)
	f.Fuzz(func(t *testing.T, text string, index int64, hash []byte) {
		signed, err := note.Sign(&note.Note{Text: text}, s)
		if err != nil {
			return
		}
		c, err := verify.OpenCheckpoint(signed, k)
		if err != nil {
			if !errors.Is(err, verify.ErrMalformed) && !errors.Is(err, verify.ErrSignature) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if want := fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root); !strings.HasPrefix(text, want) || c.Size < 1 || c.Size > verify.EntriesMax {
			t.Errorf("%q is read as %q", text, want)
		}
		// Whatever a size is claimed to be, a check of any proof against it ends.
		var path []verify.Hash
		for len(hash) > 0 && len(path) < 70 {
			var h verify.Hash
			hash = hash[copy(h[:], hash):]
			path = append(path, h)
		}
		if index >= 0 {
			_, _ = (&verify.Proof{Index: index, Path: path, Signed: signed}).Check(k, verify.Hash{})
			_, _ = (&verify.Extension{Old: index, Path: path, Signed: signed}).Check(k, verify.Checkpoint{Origin: origin, Size: index})
		}
	})
}

func FuzzKeyAndLine(f *testing.F) {
	f.Add([]byte("example.com/log+00000000+AQ=="))
	f.Add([]byte("eA==\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := verify.ParseKey(text); err == nil && k.Name() == "" {
			t.Errorf("%q is a key without a name", text)
		}
		if signed, err := verify.Signed(text); err == nil && !bytes.Equal(signed, text) &&
			verify.Line(signed) != strings.TrimRight(string(text), "\r\n") {
			t.Errorf("%q is a line for %q", text, signed)
		}
	})
}
