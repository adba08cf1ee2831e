package verify_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	formatslog "github.com/transparency-dev/formats/log"
	formatsproof "github.com/transparency-dev/formats/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/merkle/testonly"
	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

const origin = "example.com/log"

// random is the same sequence in every run.
type random struct{ *rand.ChaCha8 }

func newRandom() random { return random{rand.NewChaCha8([32]byte{1})} }

// signer is a key that this package's code did not make.
func signer(t testing.TB, r io.Reader, name string) (note.Signer, verify.Key) {
	t.Helper()
	secret, public, err := note.GenerateKey(r, name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	k, err := verify.ParseKey([]byte(public + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s, k
}

func sign(t testing.TB, text string, by ...note.Signer) []byte {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: text}, by...)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// body writes a checkpoint by another implementation.
func body(size uint64, root []byte) string {
	return string(formatslog.Checkpoint{Origin: origin, Size: size, Hash: root}.Marshal())
}

// merkle is a tree of the other implementation over entries that name their place.
func merkle(n int) (*testonly.Tree, [][]byte) {
	t := testonly.New(rfc6962.DefaultHasher)
	var entries [][]byte
	for i := range n {
		entries = append(entries, fmt.Appendf(nil, `{"entry":%d}`, i))
	}
	t.AppendData(entries...)
	return t, entries
}

func hashes(raw [][]byte) []verify.Hash {
	var out []verify.Hash
	for _, h := range raw {
		out = append(out, verify.Hash(h))
	}
	return out
}

func leafOf(t testing.TB, entry []byte) verify.Hash {
	t.Helper()
	h, err := verify.LeafHash(bytes.NewReader(entry))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestProofsOfAnotherImplementation takes every proof of trees that another library made
// and wrote, and refuses each after any change.
func TestProofsOfAnotherImplementation(t *testing.T) {
	s, k := signer(t, newRandom(), origin)
	all, entries := merkle(34)
	for size := 1; size <= 34; size++ {
		signed := sign(t, body(uint64(size), all.HashAt(uint64(size))), s)
		for index := range size {
			path, err := all.InclusionProof(uint64(index), uint64(size))
			if err != nil {
				t.Fatal(err)
			}
			theirs := formatsproof.TLogProof{Index: uint64(index), Checkpoint: signed, ExtraData: entries[index]}
			for _, h := range path {
				theirs.Hashes = append(theirs.Hashes, [32]byte(h))
			}
			text := theirs.Marshal()
			p, err := verify.ParseProof(text)
			if err != nil {
				t.Fatal(err)
			}
			if ours := tree.FormatProof(p); !bytes.Equal(ours, text) {
				t.Fatalf("written again:\n%s\nwas\n%s", ours, text)
			}
			c, err := p.Check(k, leafOf(t, p.Extra))
			if err != nil || c.Size != int64(size) || c.Origin != origin || !bytes.Equal(p.Extra, entries[index]) {
				t.Fatalf("entry %d of %d: %+v, %v", index, size, c, err)
			}
			spoilProof(t, k, *p, entries[(index+1)%len(entries)])
		}
	}
}

// TestEveryByteOfAProofCounts flips each byte of a proof and of an extension.
func TestEveryByteOfAProofCounts(t *testing.T) {
	s, k := signer(t, newRandom(), origin)
	all, entries := merkle(11)
	signed := sign(t, body(11, all.Hash()), s)
	path, err := all.InclusionProof(5, 11)
	if err != nil {
		t.Fatal(err)
	}
	longer, err := all.ConsistencyProof(6, 11)
	if err != nil {
		t.Fatal(err)
	}
	older, err := verify.OpenCheckpoint(sign(t, body(6, all.HashAt(6)), s), k)
	if err != nil {
		t.Fatal(err)
	}
	proof := tree.FormatProof(&verify.Proof{Index: 5, Path: hashes(path), Extra: entries[5], Signed: signed})
	extension := tree.FormatExtension(&verify.Extension{Old: 6, Path: hashes(longer), Signed: signed})
	checkProof := func(text []byte) error {
		p, err := verify.ParseProof(text)
		if err == nil {
			_, err = p.Check(k, leafOf(t, p.Extra))
		}
		return err
	}
	checkExtension := func(text []byte) error {
		e, err := verify.ParseExtension(text)
		if err == nil {
			_, err = e.Check(k, older)
		}
		return err
	}
	for name, c := range map[string]struct {
		text  []byte
		check func([]byte) error
	}{"proof": {proof, checkProof}, "extension": {extension, checkExtension}} {
		if err := c.check(c.text); err != nil {
			t.Fatal(name, err)
		}
		for i := range c.text {
			for _, bit := range []byte{1, 4, 32, 128} {
				changed := bytes.Clone(c.text)
				changed[i] ^= bit
				if c.check(changed) == nil {
					t.Errorf("%s holds with byte %d changed: %q", name, i, changed)
				}
			}
		}
	}
}

// spoilProof changes one thing of a proof after another.
func spoilProof(t *testing.T, k verify.Key, p verify.Proof, other []byte) {
	t.Helper()
	leaf := leafOf(t, p.Extra)
	refuse := func(what string, p verify.Proof, leaf verify.Hash) {
		t.Helper()
		if c, err := p.Check(k, leaf); !errors.Is(err, verify.ErrNotIncluded) || c.Size != 0 {
			t.Fatalf("%s: %+v, %v", what, c, err)
		}
	}
	refuse("another entry", p, leafOf(t, other))
	for _, index := range []int64{p.Index + 1, p.Index + 1<<20, verify.EntriesMax} {
		q := p
		q.Index = index
		refuse("another index", q, leaf)
	}
	q := p
	q.Path = append(append([]verify.Hash{}, p.Path...), verify.Hash{})
	refuse("a hash too many", q, leaf)
	if len(p.Path) == 0 {
		return
	}
	q.Path = nil
	refuse("an empty path", q, leaf)
	q.Path = p.Path[1:]
	refuse("a hash too few", q, leaf)
	for i := range p.Path {
		q.Path = append([]verify.Hash{}, p.Path...)
		q.Path[i][7] ^= 1
		refuse("a bit flipped", q, leaf)
	}
}

func TestExtensionsOfAnotherImplementation(t *testing.T) {
	s, k := signer(t, newRandom(), origin)
	all, _ := merkle(26)
	fork, _ := merkle(26)
	fork.AppendData([]byte("more"))
	opened := func(size int, root []byte) verify.Checkpoint {
		c, err := verify.OpenCheckpoint(sign(t, body(uint64(size), root), s), k)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for size := 1; size <= 26; size++ {
		newer := opened(size, all.HashAt(uint64(size)))
		for old := 1; old <= size; old++ {
			path, err := all.ConsistencyProof(uint64(old), uint64(size))
			if err != nil {
				t.Fatal(err)
			}
			text := tree.FormatExtension(&verify.Extension{Old: int64(old), Path: hashes(path), Signed: newer.Signed})
			e, err := verify.ParseExtension(text)
			if err != nil {
				t.Fatal(err)
			}
			older := opened(old, all.HashAt(uint64(old)))
			if c, err := e.Check(k, older); err != nil || c.Root != newer.Root {
				t.Fatalf("%d to %d: %v", old, size, err)
			}
			forged := opened(old, bytes.Repeat([]byte{byte(old)}, 32))
			for what, check := range map[string]func() (verify.Checkpoint, error){
				"a fork":       func() (verify.Checkpoint, error) { return e.Check(k, forged) },
				"no older one": func() (verify.Checkpoint, error) { return e.Check(k, verify.Checkpoint{}) },
				"another older size": func() (verify.Checkpoint, error) {
					return e.Check(k, opened(old+1, all.HashAt(uint64(min(old+1, 26)))))
				},
				"a hash too many": func() (verify.Checkpoint, error) {
					return (&verify.Extension{Old: e.Old, Path: append(hashes(path), verify.Hash{}), Signed: e.Signed}).Check(k, older)
				},
				"shorter": func() (verify.Checkpoint, error) {
					longer := opened(size+1, bytes.Repeat([]byte{1}, 32))
					return (&verify.Extension{Old: int64(size + 1), Signed: e.Signed}).Check(k, longer)
				},
			} {
				if _, err := check(); !errors.Is(err, verify.ErrNotExtended) {
					t.Fatalf("%d to %d: %s: %v", old, size, what, err)
				}
			}
		}
	}
}

func TestCheckpoints(t *testing.T) {
	r := newRandom()
	s, k := signer(t, r, origin)
	same, _ := signer(t, r, origin) // the name, and another key
	witness, _ := signer(t, r, "witness.example")
	all, _ := merkle(3)
	good := body(3, all.Hash())
	for name, signed := range map[string][]byte{
		"ours": sign(t, good, s), "witnessed": sign(t, good, s, witness), "with an extension line": sign(t, good+"more\n", s),
	} {
		if c, err := verify.OpenCheckpoint(signed, k); err != nil || c.Size != 3 || !bytes.Equal(c.Root[:], all.Hash()) || !bytes.Equal(c.Signed, signed) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	root := base64.StdEncoding.EncodeToString(all.Hash())
	for name, c := range map[string]struct {
		signed []byte
		want   error
	}{
		"another key":          {sign(t, good, same), verify.ErrSignature},
		"a witness alone":      {sign(t, good, witness), verify.ErrSignature},
		"another origin":       {sign(t, "x"+good, s), verify.ErrSignature},
		"text changed":         {bytes.Replace(sign(t, good, s), []byte("\n3\n"), []byte("\n4\n"), 1), verify.ErrSignature},
		"no signature":         {[]byte(good), verify.ErrMalformed},
		"nothing":              {nil, verify.ErrMalformed},
		"size zero":            {sign(t, body(0, rfc6962.DefaultHasher.EmptyRoot()), s), verify.ErrMalformed},
		"a size beyond":        {sign(t, body(1<<63, all.Hash()), s), verify.ErrMalformed},
		"a size that overruns": {sign(t, body(verify.EntriesMax+1, all.Hash()), s), verify.ErrMalformed},
		"a leading zero":       {sign(t, origin+"\n03\n"+root+"\n", s), verify.ErrMalformed},
		"a negative size":      {sign(t, origin+"\n-3\n"+root+"\n", s), verify.ErrMalformed},
		"a short root":         {sign(t, origin+"\n3\n"+root[:40]+"\n", s), verify.ErrMalformed},
		"a loose root":         {sign(t, origin+"\n3\n"+root[:42]+"B=\n", s), verify.ErrMalformed},
		"no root":              {sign(t, origin+"\n3\n", s), verify.ErrMalformed},
		"an empty extension":   {sign(t, good+"\nx\n", s), verify.ErrMalformed},
		"too long":             {bytes.Repeat([]byte("x\n"), verify.CheckpointBytesMax), verify.ErrMalformed},
	} {
		if got, err := verify.OpenCheckpoint(c.signed, k); !errors.Is(err, c.want) || got.Size != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	line := verify.Line(sign(t, good, s))
	if again, err := verify.Signed([]byte(line + "\n")); err != nil || !bytes.Equal(again, sign(t, good, s)) || strings.Contains(line, "\n") {
		t.Errorf("a line is not its checkpoint again: %v", err)
	}
	if _, err := verify.Signed([]byte("no line")); !errors.Is(err, verify.ErrMalformed) {
		t.Errorf("what is no line is taken: %v", err)
	}
}

func TestFailClosed(t *testing.T) {
	s, k := signer(t, newRandom(), origin)
	all, _ := merkle(1)
	signed := sign(t, body(1, all.Hash()), s)
	if _, err := verify.OpenCheckpoint(signed, verify.Key{}); !errors.Is(err, verify.ErrSignature) {
		t.Errorf("no key: %v", err)
	}
	if _, err := (&verify.Proof{Signed: signed}).Check(verify.Key{}, verify.Hash(all.LeafHash(0))); err == nil {
		t.Error("a proof holds without a key")
	}
	if _, err := (&verify.Proof{}).Check(k, verify.Hash{}); err == nil {
		t.Error("an empty proof holds")
	}
	if _, err := (&verify.Extension{}).Check(k, verify.Checkpoint{}); err == nil {
		t.Error("an empty extension holds")
	}
	if n, err := verify.CheckEntries(strings.NewReader("x\n"), nil); err == nil {
		t.Errorf("%d entries hold without a checkpoint", n)
	}
	for _, text := range []string{"", "\n", "x", "a+b+c", strings.Repeat("k", verify.KeyBytesMax+1)} {
		if _, err := verify.ParseKey([]byte(text)); !errors.Is(err, verify.ErrMalformed) {
			t.Errorf("key %.20q: %v", text, err)
		}
	}
}

func TestMalformedProofs(t *testing.T) {
	const head = "c2sp.org/tlog-proof@v1\n"
	hash := base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	for name, text := range map[string]string{
		"nothing": "", "another version": "c2sp.org/tlog-proof@v2\nindex 0\n\nx", "no checkpoint": head + "index 0\n",
		"no index": head + "\n\nx", "a leading zero": head + "index 01\n\nx", "a sign": head + "index +1\n\nx",
		"negative": head + "index -1\n\nx", "huge": head + "index 9223372036854775807\n\nx",
		"extra after index": head + "index 0\nextra eA==\n\nx", "extra twice": head + "extra eA==\nextra eA==\nindex 0\n\nx",
		"empty extra": head + "extra \nindex 0\n\nx", "loose extra": head + "extra eB==\nindex 0\n\nx",
		"short hash": head + "index 0\n" + hash[4:] + "\nx", "a return": head + "index 0\r\n\nx",
		"64 hashes": head + "index 0\n" + strings.Repeat(hash, 64) + "\nx",
		"too long":  head + "extra " + strings.Repeat("A", verify.ProofBytesMax) + "\nindex 0\n\nx",
	} {
		if _, err := verify.ParseProof([]byte(text)); !errors.Is(err, verify.ErrMalformed) {
			t.Errorf("proof, %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no size": "old \n\nx", "no checkpoint": "old 1\n", "a leading zero": "old 01\n\nx", "another word": "new 1\n\nx",
		"64 hashes": "old 1\n" + strings.Repeat(hash, 64) + "\nx", "too long": "old 1\n" + strings.Repeat("x", verify.ProofBytesMax),
	} {
		if _, err := verify.ParseExtension([]byte(text)); !errors.Is(err, verify.ErrMalformed) {
			t.Errorf("extension, %s: %v", name, err)
		}
	}
}

func TestEntries(t *testing.T) {
	s, k := signer(t, newRandom(), origin)
	all, entries := merkle(50)
	var held []verify.Checkpoint
	for _, size := range []uint64{50, 1, 7, 7, 32} { // in no order
		c, err := verify.OpenCheckpoint(sign(t, body(size, all.HashAt(size)), s), k)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	lines := func(list [][]byte) string { return string(bytes.Join(list, []byte("\n"))) + "\n" }
	if n, err := verify.CheckEntries(strings.NewReader(lines(entries)), held); n != 50 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n, err := verify.CheckEntries(strings.NewReader(lines(append(entries, []byte("later")))), held); n != 51 || err != nil {
		t.Fatalf("with a later entry: %d, %v", n, err)
	}
	swapped := append([][]byte{}, entries...)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"shorter": {lines(entries[:49]), verify.ErrNotExtended}, "a gap": {lines(append(append([][]byte{}, entries[:9]...), entries[10:]...)), verify.ErrNotExtended},
		"swapped": {lines(swapped), verify.ErrNotExtended}, "twice": {lines(append(append([][]byte{}, entries[:2]...), entries[1:]...)), verify.ErrNotExtended},
		"nothing": {"", verify.ErrNotExtended}, "cut off": {strings.TrimSuffix(lines(entries), "\n"), verify.ErrMalformed},
		"a fork": {strings.Replace(lines(entries), ":40}", ":41}", 1), verify.ErrNotExtended},
	} {
		if _, err := verify.CheckEntries(strings.NewReader(c.text), held); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless is one line that does not end, of so many bytes.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left)
	e.left -= n
	return n, nil
}

// TestALongLineTakesNoMemory reads a line far longer than what may be held of it.
func TestALongLineTakesNoMemory(t *testing.T) {
	const long = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := verify.CheckEntries(&endless{long}, []verify.Checkpoint{{Size: 1}})
	if !errors.Is(err, verify.ErrMalformed) {
		t.Errorf("a line that does not end: %v", err)
	}
	if _, err := verify.LeafHash(&endless{long / 4}); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("took %d bytes", took)
	}
}
