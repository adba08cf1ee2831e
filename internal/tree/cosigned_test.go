package tree

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/verify"
)

func line(name string, id byte, rest string) []byte {
	return []byte("— " + name + " " + base64.StdEncoding.EncodeToString(append([]byte{id, 0, 0, 1}, rest...)) + "\n")
}

// signedIn keeps a checkpoint of some entries in a folder of its own.
func signedIn(t *testing.T, folder Folder, size int64) verify.Checkpoint {
	t.Helper()
	signer, err := folder.Signer("broker-rails.local/test")
	if err != nil {
		t.Fatal(err)
	}
	c, err := signer.Sign(size, verify.Hash{byte(size)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Keep(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCosignaturesAreAddedAndReplaced(t *testing.T) {
	folder := In(t.TempDir())
	c := signedIn(t, folder, 7)
	if got, err := folder.WithCosignatures(c); err != nil || !bytes.Equal(got.Signed, c.Signed) {
		t.Fatalf("without any: %v", err)
	}
	for _, lines := range [][][]byte{
		{line("a", 1, "old")}, {line("b", 1, "old"), line("a", 2, "another key")}, {line("a", 1, "new")},
	} {
		if _, err := folder.KeepCosigned(c, lines...); err != nil {
			t.Fatal(err)
		}
	}
	want := string(c.Signed) + string(line("a", 1, "new")) + string(line("b", 1, "old")) + string(line("a", 2, "another key"))
	got, err := folder.WithCosignatures(c)
	if err != nil || string(got.Signed) != want || got.Size != 7 {
		t.Errorf("%s, %v", got.Signed, err)
	}
	// The checkpoint itself stays as it was signed.
	if held, err := folder.Held(); err != nil || len(held) != 1 || !bytes.Equal(held[0].Signed, c.Signed) {
		t.Errorf("%v, %v", held, err)
	}
	signedIn(t, folder, 9)
	if newest, held, err := folder.NewestCosigned(); err != nil || !held || newest.Size != 7 {
		t.Errorf("%v, %v", newest, err)
	}
	if list, err := folder.Cosigned(); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestWhatIsNoCosignatureIsNotKept(t *testing.T) {
	folder := In(t.TempDir())
	c := signedIn(t, folder, 7)
	for name, text := range map[string]string{
		"nothing": "", "no dash": "a AAAAAAAA\n", "no line feed": strings.TrimSuffix(string(line("a", 1, "x")), "\n"),
		"two lines": string(line("a", 1, "x")) + string(line("b", 1, "x")), "bad base64": "— a AAA!\n", "no key id": "— a AAAA\n",
		"no name": "— AAAAAAAA\n", "an empty line": "\n",
	} {
		if _, err := folder.KeepCosigned(c, []byte(text)); !errors.Is(err, verify.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range signaturesMax {
		_, err := folder.KeepCosigned(c, line("a", byte(i), "x"))
		if full := i == signaturesMax-1; full != (err != nil) { // the log's own is one
			t.Fatalf("signature %d: %v", i, err)
		}
	}
	if _, err := folder.WithCosignatures(c); err != nil {
		t.Error(err)
	}
}

// A cosigned file that is not the held checkpoint of its size is not taken.
func TestAForgedCosignedFile(t *testing.T) {
	folder, other := In(t.TempDir()), In(t.TempDir())
	c, fork := signedIn(t, folder, 7), signedIn(t, other, 7)
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder.Dir(), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(CosignedName(7), fork.Signed)
	if _, err := folder.Cosigned(); !errors.Is(err, verify.ErrSignature) {
		t.Errorf("another key: %v", err)
	}
	signer, err := folder.Signer("broker-rails.local/test")
	if err != nil {
		t.Fatal(err)
	}
	second, err := signer.Sign(7, verify.Hash{99})
	if err != nil {
		t.Fatal(err)
	}
	write(CosignedName(7), second.Signed)
	var broken *BrokenError
	if _, err := folder.WithCosignatures(c); !errors.As(err, &broken) {
		t.Errorf("another history: %v", err)
	}
	if _, err := folder.KeepCosigned(c, line("a", 1, "x")); !errors.As(err, &broken) {
		t.Errorf("a cosignature beside another history: %v", err)
	}
	write(CosignedName(7), bytes.Repeat([]byte("a"), verify.CheckpointBytesMax+1))
	if _, err := folder.Cosigned(); !errors.Is(err, verify.ErrMalformed) {
		t.Errorf("too long: %v", err)
	}
	write(CosignedName(7), nil)
	write(CosignedName(8), c.Signed)
	if _, err := folder.Cosigned(); !errors.Is(err, verify.ErrMalformed) {
		t.Errorf("under another size: %v", err)
	}
}

func FuzzAddSignature(f *testing.F) {
	signed := []byte("a\n1\nb\n\n— a AAAAAAAA\n")
	f.Add(signed, line("a", 1, "x"))
	f.Add(signed, []byte("— a AAAAAAAA\n"))
	f.Fuzz(func(t *testing.T, signed, line []byte) {
		out, err := addSignature(signed, line)
		if err != nil {
			return
		}
		if !sameBody(out, signed) && bytes.Count(line, []byte("\n\n")) == 0 && !bytes.HasSuffix(signed, []byte("\n\n")) {
			t.Fatalf("%q with %q is another text: %q", signed, line, out)
		}
		if !bytes.Contains(out, line) {
			t.Fatalf("%q is not in %q", line, out)
		}
	})
}
