package witness

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

const testOrigin = "broker-rails.local/test"

// testLog is a log that signs whatever it is told to, forks too.
type testLog struct {
	tb     testing.TB
	signer note.Signer
	public string
	key    verify.Key
}

func newTestLog(tb testing.TB, origin string) *testLog {
	tb.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		tb.Fatal(err)
	}
	key, err := verify.ParseKey([]byte(public))
	if err != nil {
		tb.Fatal(err)
	}
	return &testLog{tb, signer, public, key}
}

// entries are the first n of a history; histories of two names part at entry at.
func entries(n int, fork string, at int) [][]byte {
	var out [][]byte
	for i := range n {
		text := fmt.Sprintf("entry %d", i)
		if i >= at {
			text += fork
		}
		out = append(out, []byte(text))
	}
	return out
}

func straight(n int) [][]byte { return entries(n, "", n) }

func rootOf(list [][]byte) verify.Hash {
	p := tree.Against()
	for i, e := range list {
		p.Take(uint64(i)+1, e)
	}
	return p.Root()
}

func (l *testLog) sign(body string) []byte {
	l.tb.Helper()
	signed, err := note.Sign(&note.Note{Text: body}, l.signer)
	if err != nil {
		l.tb.Fatal(err)
	}
	return signed
}

func (l *testLog) checkpoint(list [][]byte) verify.Checkpoint {
	l.tb.Helper()
	root := rootOf(list)
	c, err := verify.OpenCheckpoint(l.sign(fmt.Sprintf("%s\n%d\n%s\n", l.key.Name(), len(list), base64.StdEncoding.EncodeToString(root[:]))), l.key)
	if err != nil {
		l.tb.Fatal(err)
	}
	return c
}

// request is an honest one: the proof is that of the history.
func (l *testLog) request(list [][]byte, old int) []byte {
	l.tb.Helper()
	e := &verify.Extension{Old: int64(old), Signed: l.checkpoint(list).Signed}
	if old > 0 && old < len(list) {
		e.Path = proof(l.tb, list, old)
	}
	return tree.FormatExtension(e)
}

func proof(tb testing.TB, list [][]byte, old int) []verify.Hash {
	tb.Helper()
	p := tree.Against()
	if err := p.WantTree(int64(len(list)), int64(old)); err != nil {
		tb.Fatal(err)
	}
	for i, e := range list {
		p.Take(uint64(i)+1, e)
	}
	path, err := p.ProveTree(int64(len(list)), int64(old))
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func testSigner(tb testing.TB) Signer {
	tb.Helper()
	s, err := NewSigner("")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func newWitness(tb testing.TB, heads Heads, logs ...*testLog) *Witness {
	tb.Helper()
	o := Options{Signer: testSigner(tb), Heads: heads, Now: time.Now}
	for _, l := range logs {
		o.Logs = append(o.Logs, l.key)
	}
	w, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// cosigned asserts that a request is answered with a cosignature that verifies.
func cosigned(tb testing.TB, w *Witness, request []byte) {
	tb.Helper()
	line, err := w.Cosign(request)
	if err != nil {
		tb.Fatal(err)
	}
	_, signed, _ := bytes.Cut(request, []byte("\n\n"))
	at, err := w.Key().CosignedAt(append(bytes.Clone(signed), line...))
	if err != nil || time.Since(at) > time.Minute {
		tb.Fatalf("at %v: %v", at, err)
	}
}

// refused asserts the status, and that the head is still of this size.
func refused(tb testing.TB, w *Witness, request []byte, status int, head int64) *Refusal {
	tb.Helper()
	line, err := w.Cosign(request)
	var r *Refusal
	if !errors.As(err, &r) || r.Status != status || line != nil {
		tb.Fatalf("got %q and %v, want %d", line, err, status)
	}
	if h, _ := w.Head(testOrigin); h.Size != head {
		tb.Fatalf("the head is of %d, want %d", h.Size, head)
	}
	return r
}

func TestALogGrows(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	old := 0
	for _, size := range []int{1, 2, 3, 3, 7, 8, 64, 65, 1000} {
		cosigned(t, w, l.request(straight(size), old))
		old = size
	}
	if h, _ := w.Head(testOrigin); h.Size != 1000 || h.Root != rootOf(straight(1000)) {
		t.Errorf("head %+v", h)
	}
}

func TestFailClosedWithoutParts(t *testing.T) {
	l := newTestLog(t, testOrigin)
	whole := Options{Signer: testSigner(t), Logs: []verify.Key{l.key}, Heads: &Memory{}, Now: time.Now}
	for name, spoil := range map[string]func(*Options){
		"no key":         func(o *Options) { o.Signer = Signer{} },
		"no logs":        func(o *Options) { o.Logs = nil },
		"a log less":     func(o *Options) { o.Logs = []verify.Key{{}} },
		"too many logs":  func(o *Options) { o.Logs = make([]verify.Key, LogsMax+1) },
		"no heads":       func(o *Options) { o.Heads = nil },
		"no clock":       func(o *Options) { o.Now = nil },
		"heads twice":    func(o *Options) { o.Heads = &Memory{[]Head{{"a", 1, verify.Hash{}}, {"a", 2, verify.Hash{}}}} },
		"an empty head":  func(o *Options) { o.Heads = &Memory{[]Head{{"a", 0, verify.Hash{}}}} },
		"heads unloaded": func(o *Options) { o.Heads = failing{} },
	} {
		o := whole
		spoil(&o)
		if w, err := New(o); err == nil || w != nil {
			t.Errorf("%s: a witness", name)
		}
	}
	w := newWitness(t, &Memory{}, l)
	w.now = func() time.Time { return time.Time{} }
	if line, err := w.Cosign(l.request(straight(1), 0)); err == nil {
		t.Errorf("cosigned without a time: %s", line)
	}
}

type failing struct{}

func (failing) Load() ([]Head, error) { return nil, ErrDamaged }
func (failing) Save([]Head) error     { return ErrDamaged }

// Every request that is not one honest step on is refused with the status that the
// specification gives it, and changes nothing.
func TestBadRequests(t *testing.T) {
	l, stranger := newTestLog(t, testOrigin), newTestLog(t, "elsewhere.example/log")
	impostor := newTestLog(t, testOrigin)
	five := straight(5)
	root := base64.StdEncoding.EncodeToString(make([]byte, 32))
	body := func(lines ...string) []byte { return l.sign(strings.Join(lines, "\n") + "\n") }
	ask := func(old string, signed []byte) []byte { return append([]byte("old "+old+"\n\n"), signed...) }
	for _, c := range []struct {
		name    string
		request []byte
		status  int
	}{
		{"nothing", nil, 400},
		{"no empty line", []byte("old 0\n"), 400},
		{"no old size", append([]byte("\n\n"), l.checkpoint(five).Signed...), 400},
		{"a leading zero", ask("05", l.checkpoint(straight(6)).Signed), 400},
		{"a negative old size", ask("-1", l.checkpoint(straight(6)).Signed), 400},
		{"an old size of 2^63", ask("9223372036854775808", l.checkpoint(straight(6)).Signed), 400},
		{"a size of 2^63", ask("5", body(testOrigin, "9223372036854775808", root)), 400},
		{"a size of 2^63-1", ask("5", body(testOrigin, "9223372036854775807", root)), 400},
		{"size zero", ask("0", body(testOrigin, "0", base64.StdEncoding.EncodeToString(make([]byte, 32)))), 400},
		{"a root that is no hash", ask("5", body(testOrigin, "6", "AAAA")), 400},
		{"a root in bad base64", ask("5", body(testOrigin, "6", strings.Repeat("*", 44))), 400},
		{"two lines only", ask("5", body(testOrigin, "6")), 400},
		{"a hash in bad base64", bytes.Replace(l.request(straight(6), 5), []byte("\n"), []byte("\n!!"), 1), 400},
		{"64 hashes", append([]byte("old 5\n"+strings.Repeat(root+"\n", 64)+"\n"), l.checkpoint(straight(6)).Signed...), 400},
		{"carriage returns", bytes.ReplaceAll(l.request(straight(6), 5), []byte("\n"), []byte("\r\n")), 400},
		{"an old size above the new", l.request(straight(4), 5), 400},
		{"another log", stranger.request(straight(6), 5), 404},
		{"another key", impostor.request(straight(6), 5), 403},
		{"another key beside", ask("5", bytes.Replace(l.checkpoint(straight(6)).Signed, []byte("\n6\n"), []byte("\n7\n"), 1)), 403},
		{"a shorter log", l.request(straight(4), 4), 409},
		{"from nothing again", l.request(straight(6), 0), 409},
		{"a replay of the first step", l.request(straight(5), 0), 409},
		{"an older head", l.request(straight(6), 3), 409},
		{"another tree of the same size", l.request(entries(5, " forked", 4), 5), 409},
		{"an empty path", ask("5", l.checkpoint(straight(6)).Signed), 422},
		{"a fork", l.request(entries(6, " forked", 4), 5), 422},
		{"a whole rewrite", l.request(entries(8, " rewritten", 0), 5), 422},
		{"a hash too many", append([]byte("old 5\n"+root+"\n"), l.request(straight(6), 5)[len("old 5\n"):]...), 422},
		{"a proof to the same size", append([]byte("old 5\n"+root+"\n\n"), l.checkpoint(five).Signed...), 422},
		{"over the limit", bytes.Repeat([]byte("a"), RequestBytesMax+1), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept := &Memory{}
			w := newWitness(t, kept, l)
			cosigned(t, w, l.request(five, 0))
			before := kept.heads[0]
			r := refused(t, w, c.request, c.status, 5)
			sameSize := c.name == "another tree of the same size"
			if stale := c.status == http.StatusConflict && !sameSize; r.Stale != stale || stale && r.Size != 5 {
				t.Errorf("stale %v, told of %d", r.Stale, r.Size)
			}
			if len(kept.heads) != 1 || kept.heads[0] != before {
				t.Errorf("kept %+v", kept.heads)
			}
			cosigned(t, w, l.request(straight(6), 5))
		})
	}
	w := newWitness(t, &Memory{}, l)
	refused(t, w, append([]byte("old 0\n"+root+"\n\n"), l.checkpoint(five).Signed...), 422, 0)
}

func TestTwoKeysOfOneLog(t *testing.T) {
	a, b := newTestLog(t, testOrigin), newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, a, b)
	cosigned(t, w, a.request(straight(3), 0))
	cosigned(t, w, b.request(straight(5), 3))
	refused(t, w, a.request(entries(5, " forked", 4), 5), 409, 5)
}

// At no moment may two forks both get a cosignature, whoever comes first.
func TestForksAtOnce(t *testing.T) {
	l := newTestLog(t, testOrigin)
	for range 20 {
		w := newWitness(t, &Memory{}, l)
		cosigned(t, w, l.request(straight(4), 0))
		var all sync.WaitGroup
		var mu sync.Mutex
		signed := map[verify.Hash]bool{}
		for i := range 8 {
			list := entries(6, fmt.Sprint(" fork ", i%4), 4)
			request, root := l.request(list, 4), rootOf(list)
			all.Go(func() {
				if _, err := w.Cosign(request); err == nil {
					mu.Lock()
					signed[root] = true
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if len(signed) != 1 {
			t.Fatalf("%d histories of one log were cosigned", len(signed))
		}
	}
}

// journalled sees in which order heads are kept and signatures leave.
type journalled struct {
	Memory
	during func()
	err    error
	took   bool // the save took effect although it failed
}

func (j *journalled) Save(heads []Head) error {
	if j.during != nil {
		j.during()
	}
	if j.err != nil {
		if j.took {
			_ = j.Memory.Save(heads)
		}
		return j.err
	}
	return j.Memory.Save(heads)
}

// A head that could not be kept is not signed for, and nothing is after it: both when the
// flush failed and when it failed but took effect.
func TestNothingIsSignedBeforeItsHeadIsDurable(t *testing.T) {
	l := newTestLog(t, testOrigin)
	for _, took := range []bool{false, true} {
		kept := &journalled{}
		w := newWitness(t, kept, l)
		cosigned(t, w, l.request(straight(4), 0))
		kept.err, kept.took = errors.New("disk full"), took
		refused(t, w, l.request(straight(5), 4), 500, 4)
		kept.err = nil
		refused(t, w, l.request(straight(5), 4), 500, 4)
		refused(t, w, l.request(straight(4), 4), 500, 4)
		// After a start the disk says how far it came.
		again := newWitness(t, &kept.Memory, l)
		old := 4
		if took {
			old = 5
		}
		cosigned(t, again, l.request(straight(6), old))
	}
}

// A client whose answer was lost after the head was kept gets its cosignature by asking
// again, as the conflict tells it to.
func TestAnAnswerThatWasLostIsGivenAgain(t *testing.T) {
	l := newTestLog(t, testOrigin)
	kept := &Memory{}
	w := newWitness(t, kept, l)
	cosigned(t, w, l.request(straight(4), 0))
	if _, err := w.Cosign(l.request(straight(9), 4)); err != nil { // and lost
		t.Fatal(err)
	}
	again := newWitness(t, kept, l)
	r := refused(t, again, l.request(straight(9), 4), 409, 9)
	cosigned(t, again, l.request(straight(9), int(r.Size)))
}

func TestAKeyIsReadAsItIsWritten(t *testing.T) {
	s, err := NewSigner("witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseSigner([]byte(s.Secret() + "\n"))
	if err != nil || back.Key().String() != s.Key().String() || back.Key().Name() != "witness.example/w1" {
		t.Fatalf("%v, %v", back.Key(), err)
	}
	for _, name := range []string{"two words", "a+b", "\xff"} {
		if _, err := NewSigner(name); err == nil {
			t.Errorf("a key is named %q", name)
		}
	}
	secret := s.Secret()
	for i := range len(secret) {
		changed := secret[:i] + string(secret[i]^1) + secret[i+1:]
		if back, err := ParseSigner([]byte(changed)); err == nil && back.Key().String() == s.Key().String() {
			t.Errorf("byte %d changed, and the same key", i)
		}
	}
	if _, err := (Signer{}).cosign([]byte("a\n1\nb\n"), time.Now()); err == nil {
		t.Error("the zero Signer signs")
	}
}
