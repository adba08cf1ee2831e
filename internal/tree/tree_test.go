package tree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	formatslog "github.com/transparency-dev/formats/log"
	formatsproof "github.com/transparency-dev/formats/proof"
	merkleproof "github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/merkle/testonly"
	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/verify"
)

func raw(path []verify.Hash) [][]byte {
	var out [][]byte
	for _, h := range path {
		out = append(out, h[:])
	}
	return out
}

// TestAgainstAnotherImplementation holds roots and proofs of random trees against a
// library that shares no code with this one.
func TestAgainstAnotherImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 1, 300).Draw(t, "entries")
		size := rapid.IntRange(1, len(entries)).Draw(t, "size")
		index := rapid.IntRange(0, size-1).Draw(t, "index")
		old := rapid.IntRange(1, size).Draw(t, "old")
		theirs := testonly.New(rfc6962.DefaultHasher)
		theirs.AppendData(entries...)

		var p Pass
		if err := errors.Join(p.WantRecord(int64(size), int64(index)), p.WantTree(int64(size), int64(old))); err != nil {
			t.Fatal(err)
		}
		for i, e := range entries {
			p.Take(uint64(i)+1, e)
			if root := p.Root(); !bytes.Equal(root[:], theirs.HashAt(uint64(i)+1)) {
				t.Fatalf("root over %d entries is %v", i+1, root)
			}
		}
		record, err := p.ProveRecord(int64(size), int64(index))
		if err != nil {
			t.Fatal(err)
		}
		wantRecord, err := theirs.InclusionProof(uint64(index), uint64(size))
		if err != nil {
			t.Fatal(err)
		}
		extension, err := p.ProveTree(int64(size), int64(old))
		if err != nil {
			t.Fatal(err)
		}
		wantExtension, err := theirs.ConsistencyProof(uint64(old), uint64(size))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(raw(record)) != fmt.Sprint(wantRecord) || fmt.Sprint(raw(extension)) != fmt.Sprint(wantExtension) {
			t.Fatalf("proofs of %d and %d in %d differ", index, old, size)
		}
		root := theirs.HashAt(uint64(size))
		if err := errors.Join(
			merkleproof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), theirs.LeafHash(uint64(index)), raw(record), root),
			merkleproof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(size), raw(extension), theirs.HashAt(uint64(old)), root),
		); err != nil {
			t.Fatal(err)
		}
	})
	var none Pass
	if root := none.Root(); !bytes.Equal(root[:], rfc6962.DefaultHasher.EmptyRoot()) {
		t.Errorf("the root of nothing is %v", root)
	}
}

// entry is the i-th entry of a journal, from 1.
func entry(i int) []byte { return fmt.Appendf(nil, `{"seq":%d}`, i) }

// take gives a pass so many entries.
func take(p *Pass, n int) *Pass {
	for i := 1; i <= n; i++ {
		p.Take(uint64(i), entry(i))
	}
	return p
}

// begun is a folder with its signer, and checkpoints of these sizes.
func begun(t testing.TB, sizes ...int) (Folder, Signer, []verify.Checkpoint) {
	t.Helper()
	f := In(t.TempDir())
	s, err := f.Signer(Origin(entry(1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		c, err := s.Sign(int64(n), take(&Pass{}, n).Root())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Keep(c); err != nil {
			t.Fatal(err)
		}
	}
	held, err := f.Held()
	if err != nil || len(held) != len(sizes) {
		t.Fatalf("%d held, %v", len(held), err)
	}
	return f, s, held
}

func TestAJournalThatIsNotTheOneSigned(t *testing.T) {
	_, _, held := begun(t, 9, 3, 7)
	for name, c := range map[string]struct {
		want int64 // size of the checkpoint named; -1: none
		read func(p *Pass)
	}{
		"the same":        {-1, func(p *Pass) { take(p, 9) }},
		"longer":          {-1, func(p *Pass) { take(p, 20) }},
		"shorter":         {9, func(p *Pass) { take(p, 8) }},
		"empty":           {9, func(*Pass) {}},
		"a fork at 5":     {7, func(p *Pass) { take(p, 4); p.Take(5, []byte("x")); p.Take(6, entry(6)); p.Take(7, entry(7)) }},
		"a fork at 1":     {3, func(p *Pass) { p.Take(1, []byte("x")); p.Take(2, entry(2)); p.Take(3, entry(3)) }},
		"a gap":           {0, func(p *Pass) { take(p, 4); p.Take(6, entry(6)) }},
		"an index twice":  {0, func(p *Pass) { take(p, 4); p.Take(4, entry(4)) }},
		"not from 1":      {0, func(p *Pass) { p.Take(0, entry(1)) }},
		"gap, then right": {0, func(p *Pass) { p.Take(2, entry(2)); take(p, 9) }},
	} {
		p := Against(held...)
		c.read(p)
		err := p.Failed()
		var broken *BrokenError
		switch {
		case c.want < 0 && err != nil, c.want >= 0 && (!errors.As(err, &broken) || broken.Checkpoint != c.want):
			t.Errorf("%s: %v, want checkpoint %d", name, err, c.want)
		}
	}
}

func TestAnotherImplementationReadsWhatIsWritten(t *testing.T) {
	f, s, held := begun(t, 5)
	verifier, err := note.NewVerifier(s.public)
	if err != nil {
		t.Fatal(err)
	}
	c, rest, _, err := formatslog.ParseCheckpoint(held[0].Signed, s.Origin(), verifier)
	if err != nil || c.Size != 5 || len(rest) > 0 || !bytes.Equal(c.Hash, held[0].Root[:]) {
		t.Fatalf("checkpoint: %+v %q %v", c, rest, err)
	}
	p := Against(held...)
	if err := p.WantRecord(5, 3); err != nil {
		t.Fatal(err)
	}
	path, err := take(p, 5).ProveRecord(5, 3)
	if err != nil {
		t.Fatal(err)
	}
	var read formatsproof.TLogProof
	if err := read.Unmarshal(FormatProof(&verify.Proof{Index: 3, Path: path, Extra: entry(4), Signed: held[0].Signed})); err != nil {
		t.Fatal(err)
	}
	var hashes [][]byte
	for _, h := range read.Hashes {
		hashes = append(hashes, h[:])
	}
	if err := merkleproof.VerifyInclusion(rfc6962.DefaultHasher, read.Index, c.Size, rfc6962.DefaultHasher.HashLeaf(read.ExtraData), hashes, c.Hash); err != nil {
		t.Error(err)
	}
	if key, _, err := f.Public(); err != nil || key.Name() != Origin(entry(1)) {
		t.Errorf("public key of %q: %v", key.Name(), err)
	}
}

func TestTheKeyIsMadeOnceAndKeptPrivate(t *testing.T) {
	f, s, _ := begun(t, 2)
	again, err := f.Signer(Origin(entry(1)))
	if err != nil || again.secret != s.secret {
		t.Fatalf("another key: %v", err)
	}
	var broken *BrokenError
	if _, err := f.Signer(Origin(entry(2))); !errors.As(err, &broken) {
		t.Errorf("a key signs for another journal: %v", err)
	}
	secret := filepath.Join(f.Dir(), secretName)
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info.Mode(), err)
		}
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601} {
			if err := os.Chmod(secret, mode); err != nil {
				t.Fatal(err)
			}
			var exposed *ExposedError
			if _, err := f.Signer(Origin(entry(1))); !errors.As(err, &exposed) || exposed.Mode != mode {
				t.Errorf("mode %o: %v", mode, err)
			}
		}
	}
	// A lost public key comes from the private one; a strange one is not overwritten.
	public := filepath.Join(f.Dir(), PublicName)
	if err := errors.Join(os.Chmod(secret, 0o600), os.Remove(public)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Held(); err == nil {
		t.Error("checkpoints are taken without the key that they must be signed by")
	}
	if _, err := f.Signer(Origin(entry(1))); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(public, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Signer(Origin(entry(1))); err == nil {
		t.Error("a public key that is not ours passes")
	}
	// A lost private key is not replaced while checkpoints are held.
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Signer(Origin(entry(1))); err == nil {
		t.Error("a new key signs on for a lost one")
	}
	for _, text := range []string{"", "PRIVATE+KEY+x", s.secret + "x", strings.Repeat("k", verify.KeyBytesMax+1)} {
		if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Signer(Origin(entry(1))); err == nil {
			t.Errorf("%.30q is a key", text)
		}
	}
	if _, err := (Signer{}).Sign(1, verify.Hash{}); err == nil {
		t.Error("no key signs")
	}
}

func TestHeldCheckpoints(t *testing.T) {
	f, s, held := begun(t, 12, 2)
	if held[0].Size != 2 || held[1].Size != 12 {
		t.Fatalf("not by size: %v", held)
	}
	if c, has, err := f.Newest(); err != nil || !has || c.Size != 12 {
		t.Errorf("newest %d %v %v", c.Size, has, err)
	}
	if c, has, err := In(t.TempDir()).Newest(); err != nil || has || c.Size != 0 {
		t.Errorf("of no folder: %d %v %v", c.Size, has, err)
	}
	if _, err := f.Keep(held[0]); err != nil {
		t.Errorf("kept again: %v", err)
	}
	fork, err := s.Sign(12, verify.Hash{1})
	if err != nil {
		t.Fatal(err)
	}
	var broken *BrokenError
	if _, err := f.Keep(fork); !errors.As(err, &broken) || broken.Checkpoint != 12 {
		t.Errorf("two of one size are kept: %v", err)
	}
	path := filepath.Join(f.Dir(), FileName(12))
	for name, text := range map[string][]byte{
		"of another size": held[0].Signed, "empty": nil, "flipped": bytes.Replace(held[1].Signed, []byte("12"), []byte("13"), 1),
		"too long": bytes.Repeat([]byte("x\n"), verify.CheckpointBytesMax),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Held(); !errors.Is(err, verify.ErrMalformed) && !errors.Is(err, verify.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := f.Newest(); err == nil {
			t.Errorf("%s is the newest", name)
		}
	}
}

// TestManyKeepTheSame has processes that sign at the same instant all succeed.
func TestManyKeepTheSame(t *testing.T) {
	f, s, _ := begun(t)
	c, err := s.Sign(4, take(&Pass{}, 4).Root())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := f.Keep(c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if held, err := f.Held(); err != nil || len(held) != 1 {
		t.Errorf("%d held, %v", len(held), err)
	}
	if list, err := os.ReadDir(f.Dir()); err != nil || len(list) != 3 {
		t.Errorf("files are left over: %v %v", list, err)
	}
}

// BenchmarkPass proves one entry of a million, and reports entries a second.
func BenchmarkPass(b *testing.B) {
	text := bytes.Repeat([]byte("x"), 768)
	const entries = 1_000_000
	b.ReportAllocs()
	for b.Loop() {
		var p Pass
		if err := p.WantRecord(entries, 123_456); err != nil {
			b.Fatal(err)
		}
		for i := range entries {
			p.Take(uint64(i)+1, text)
		}
		if _, err := p.ProveRecord(entries, 123_456); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(entries*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
