package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/tree"
	auditor "github.com/broker-rails/broker-rails/verify"
)

// patterns are what a byte is changed by: its lowest bit, a letter's case, its highest
// bit, and all of them.
func patterns() []byte { return []byte{0x01, 0x20, 0x80, 0xff} }

// patternsAt are fewer inside the limits' text, which is most of a small journal: one for
// each byte, in turn.
func patternsAt(entryBytes, at int) []byte {
	if entryBytes > 4_000 {
		return patterns()[at%4 : at%4+1]
	}
	return patterns()
}

// integrity asks the first question alone.
func integrity(t testing.TB, items []audit.Item, ends []audit.Head) *audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{IntegrityOnly: true, Ends: endsOf(ends)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantBroken fails unless integrity fails first at the entry. A changed name makes a
// chain of its own, and then that fails too.
func wantBroken(t testing.TB, r *audit.Report, name string, seq uint64, what string) {
	t.Helper()
	f := reportOf(t, r, name).Failure
	if f == nil || f.Seq != seq || f.Question != audit.Integrity || f.Want == "" || f.Got == "" {
		t.Fatalf("%s: found %v, want integrity at %s/%d", what, f, name, seq)
	}
}

// Every byte of a journal, changed in four ways: the bytes of each entry, the hash beside
// it, the name and the place it stands under, and the heads.
func TestEveryFlippedByteOfAJournalIsFound(t *testing.T) {
	items, ends := placed(t, small(t))
	if r := integrity(t, items, ends); len(r.Failed()) != 0 {
		t.Fatal(r.Failed()[0])
	}
	flips := 0
	for at := range items {
		e := decoded(t, items[at])
		upTo := slices.Clone(items[:at+1]) // what follows cannot take the failure back
		for b := range items[at].Bytes {
			for _, p := range patternsAt(len(items[at].Bytes), b) {
				flips++
				text := bytes.Clone(items[at].Bytes)
				text[b] ^= p
				upTo[at].Bytes = text
				wantBroken(t, integrity(t, upTo, nil), e.Account, e.Seq, "a byte")
			}
		}
		for b := range items[at].Stored {
			for _, p := range patterns() {
				flips++
				upTo[at] = items[at]
				upTo[at].Stored[b] ^= p
				wantBroken(t, integrity(t, upTo, nil), e.Account, e.Seq, "a hash")
			}
		}
		for b := range 8 {
			for _, p := range patterns() {
				flips++
				upTo[at] = items[at]
				upTo[at].Seq ^= uint64(p) << (8 * b)
				wantBroken(t, integrity(t, upTo, nil), e.Account, e.Seq, "a place")
			}
		}
		for b := range e.Account {
			for _, p := range patterns() {
				flips++
				upTo[at] = items[at]
				name := []byte(e.Account)
				name[b] ^= p
				upTo[at].Account = string(name)
				wantBroken(t, integrity(t, upTo, nil), string(name), reportOf(t, integrity(t, upTo, nil), string(name)).Entries, "a name")
			}
		}
	}
	for at := range ends {
		for b := range ends[at].Hash {
			for _, p := range patterns() {
				flips++
				changed := slices.Clone(ends)
				changed[at].Hash[b] ^= p
				wantBroken(t, integrity(t, items, changed), ends[at].Account, ends[at].Seq, "a head's hash")
			}
		}
		for b := range 8 {
			for _, p := range patterns() {
				flips++
				changed := slices.Clone(ends)
				changed[at].Seq ^= uint64(p) << (8 * b)
				if f := reportOf(t, integrity(t, items, changed), ends[at].Account).Failure; f == nil || f.Question != audit.Integrity {
					t.Fatalf("a head at %d: found %v", changed[at].Seq, f)
				}
			}
		}
	}
	t.Logf("%d flips in %d entries", flips, len(items))
}

// Every byte of what stands beside a journal, and of what is handed to an auditor:
// checkpoints, public key, and exported entries.
func TestEveryFlippedByteBesideAJournalIsFound(t *testing.T) {
	items := small(t)
	folder := tree.In(t.TempDir())
	signer, err := folder.Signer(tree.Origin(items[0].Bytes))
	if err != nil {
		t.Fatal(err)
	}
	pass := tree.Against()
	var export bytes.Buffer
	for n, i := range items {
		pass.Take(uint64(n)+1, i.Bytes)
		export.Write(append(bytes.Clone(i.Bytes), '\n'))
	}
	c, err := signer.Sign(pass.Size(), pass.Root())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Keep(c); err != nil {
		t.Fatal(err)
	}
	key, _, err := folder.Public()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{tree.FileName(c.Size), tree.PublicName} {
		path := filepath.Join(folder.Dir(), name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for b := range text {
			for _, p := range patterns() {
				changed := bytes.Clone(text)
				changed[b] ^= p
				if err := os.WriteFile(path, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				if held, err := folder.Held(); err == nil {
					t.Fatalf("%s: byte %d is %q, and %d checkpoints hold", name, b, changed[b], len(held))
				}
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for b := range tree.FileName(c.Size) {
		for _, p := range []byte{0x01, 0x20} {
			name := []byte(tree.FileName(c.Size))
			name[b] ^= p
			if strings.ContainsAny(string(name), "/\x00") || bytes.Equal(name, []byte(tree.FileName(c.Size))) {
				continue
			}
			moveAndBack(t, folder, tree.FileName(c.Size), string(name), func() {
				held, err := folder.Held()
				if err == nil && len(held) > 0 {
					t.Fatalf("a checkpoint holds under the name %q", name)
				}
			})
		}
	}
	if n, err := auditor.CheckEntries(bytes.NewReader(export.Bytes()), []auditor.Checkpoint{c}); err != nil || n != c.Size {
		t.Fatal(n, err)
	}
	if reopened, err := auditor.OpenCheckpoint(c.Signed, key); err != nil || reopened.Root != c.Root {
		t.Fatal(err)
	}
	text := export.Bytes()
	for b := range text {
		for _, p := range patternsAt(len(text), b) {
			text[b] ^= p
			if _, err := auditor.CheckEntries(bytes.NewReader(text), []auditor.Checkpoint{c}); err == nil {
				t.Fatalf("byte %d of the export is %q, and it holds", b, text[b])
			}
			text[b] ^= p
		}
	}
}

func moveAndBack(t *testing.T, folder tree.Folder, from, to string, look func()) {
	t.Helper()
	a, b := filepath.Join(folder.Dir(), from), filepath.Join(folder.Dir(), to)
	if err := os.Rename(a, b); err != nil {
		t.Fatal(err)
	}
	look()
	if err := os.Rename(b, a); err != nil {
		t.Fatal(err)
	}
}
