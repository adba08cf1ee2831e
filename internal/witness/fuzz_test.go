package witness

import (
	"bytes"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

// Whatever arrives, the head stays where the log's key put it, and nothing is signed that
// was not asked for by one honest step.
func FuzzRequest(f *testing.F) {
	l := newTestLog(f, testOrigin)
	first := l.request(straight(5), 0)
	f.Add(first)
	f.Add(l.request(straight(7), 5))
	f.Add(l.request(entries(7, " forked", 3), 5))
	f.Add([]byte("old 0\n\n" + testOrigin + "\n0\n\n\n— x AAAA\n"))
	f.Add([]byte("old 9223372036854775808\n\n"))
	signer := testSigner(f)
	f.Fuzz(func(t *testing.T, request []byte) {
		w := newWitnessWith(t, signer, l)
		if _, err := w.Cosign(first); err != nil {
			t.Fatal(err)
		}
		before, _ := w.Head(testOrigin)
		line, err := w.Cosign(request)
		after, _ := w.Head(testOrigin)
		if err != nil && (after != before || line != nil) {
			t.Fatalf("refused, and the head moved from %+v to %+v", before, after)
		}
		if err == nil && after.Size < before.Size {
			t.Fatalf("the head went back to %d", after.Size)
		}
	})
}

func FuzzHeads(f *testing.F) {
	f.Add(formatHeads(nil))
	f.Add(formatHeads([]Head{{"a", 1, verify.Hash{1}}, {"b", verify.EntriesMax, verify.Hash{2}}}))
	f.Add([]byte(headsHeader))
	f.Fuzz(func(t *testing.T, text []byte) {
		heads, err := parseHeads(text)
		if err == nil && !bytes.Equal(formatHeads(heads), text) {
			t.Fatalf("%q is read as %+v, which is written otherwise", text, heads)
		}
	})
}

func FuzzSigner(f *testing.F) {
	f.Add([]byte(testSigner(f).Secret()))
	f.Add([]byte(secretWord))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSigner(text)
		if err == nil && s.Secret() != string(bytes.TrimSuffix(text, []byte("\n"))) {
			t.Fatalf("%q is read as another key", text)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	l := newTestLog(f, testOrigin)
	w := newWitness(f, &Memory{}, l)
	c := l.checkpoint(straight(5))
	line, err := w.Cosign(l.request(straight(5), 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("5\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if size, err := parseSize(answer); err == nil && (size < 0 || size > verify.EntriesMax) {
			t.Fatalf("a size of %d", size)
		}
		got, at, err := pick(verify.Witness{Name: "w", Key: w.Key()}, c, answer)
		if err != nil {
			return
		}
		if said, err := w.Key().CosignedAt(append(bytes.Clone(c.Signed), got...)); err != nil || !said.Equal(at) || at.Before(time.Unix(0, 0)) {
			t.Fatalf("%q is taken for a cosignature", got)
		}
	})
}
