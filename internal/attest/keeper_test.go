package attest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

// book is a journal that a test writes, cuts and spoils.
type book struct {
	mu      sync.Mutex
	entries [][]byte
	damage  int // index from 1 of an entry that cannot be read whole
	err     error
	read    int // entries handed over
}

func (b *book) All(_ context.Context, after uint64, each func(gate.Stored) error) error {
	b.mu.Lock()
	entries, damage, err := b.entries, b.damage, b.err
	b.mu.Unlock()
	if err != nil {
		return err
	}
	for i := int(after); i < len(entries); i++ {
		s := gate.Stored{Index: uint64(i) + 1, Bytes: entries[i]}
		if damage == i+1 {
			s.Damage = "longer than an entry may be"
		}
		b.mu.Lock()
		b.read++
		b.mu.Unlock()
		if err := each(s); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) write(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.entries = append(b.entries, fmt.Appendf(nil, "entry %d", len(b.entries)))
	}
}

// desk is a keeper with everything round it.
type desk struct {
	t       *testing.T
	data    string
	folder  tree.Folder
	book    *book
	wall    time.Time
	session string
}

func newDesk(t *testing.T) *desk {
	data := t.TempDir()
	return &desk{t: t, data: data, folder: tree.In(data), book: &book{}, wall: time.Unix(1_800_000_000, 0), session: "1 pre"}
}

func (d *desk) keeper(witnesses ...verify.Witness) *Keeper {
	k := New(Options{
		Folder: d.folder, Journal: d.book, Witnesses: witnesses, EntriesEvery: 10, SignEvery: time.Minute,
		Session: func() string { return d.session }, Wall: func() time.Time { return d.wall },
	})
	k.signedAt, k.session = d.wall, d.session
	return k
}

// newest asserts the size of the newest checkpoint that is held, 0 for none.
func (d *desk) newest(want int64) {
	d.t.Helper()
	c, _, err := d.folder.Newest()
	if err != nil || c.Size != want {
		d.t.Fatalf("the newest checkpoint is of %d, want %d (%v)", c.Size, want, err)
	}
}

func (d *desk) health() Health {
	d.t.Helper()
	text, err := d.folder.Health()
	if err != nil {
		d.t.Fatal(err)
	}
	h, _ := ReadHealth(text)
	return h
}

func TestWhenACheckpointIsDue(t *testing.T) {
	d := newDesk(t)
	d.book.write(3)
	k := d.keeper()
	step := func(want int64) {
		t.Helper()
		k.step(t.Context())
		d.newest(want)
	}
	step(0)
	d.wall = d.wall.Add(59 * time.Second)
	step(0)
	d.wall = d.wall.Add(time.Second) // a minute
	step(3)
	d.book.write(9)
	step(3)
	d.book.write(1) // the tenth
	step(13)
	d.wall = d.wall.Add(time.Hour) // nothing new
	d.session = "1 regular"
	step(13)
	d.book.write(1) // the time is over already
	step(14)
	d.book.write(1)
	step(14)
	d.session = "1 post"
	step(15)
	d.book.write(1)
	step(15)
	d.session = "2 closed"
	step(16)
	d.wall = d.wall.Add(-time.Hour) // the clock is set back
	d.book.write(1)
	step(16)
	d.wall = d.wall.Add(time.Minute)
	step(17)
	held, err := d.folder.Held()
	if err != nil || len(held) != 6 {
		t.Fatalf("%d held, %v", len(held), err)
	}
	// Each entry was read once, but for the first, from which the journal has its name.
	if d.book.read > 17+1 {
		t.Errorf("%d entries were read for %d", d.book.read, len(d.book.entries))
	}
}

// What a clean end leaves behind is signed to the last entry.
func TestACleanEndSigns(t *testing.T) {
	d := newDesk(t)
	d.book.write(4)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	k := d.keeper()
	go func() {
		k.Run(ctx)
		close(ended)
	}()
	d.book.write(2)
	stop()
	<-ended
	d.newest(6)
	if h := d.health(); h.Failure != "" {
		t.Error(h.Failure)
	}
	// An end without anything new leaves everything as it is.
	ctx, stop = context.WithCancel(t.Context())
	stop()
	d.keeper().Run(ctx)
	d.newest(6)
}

// A file that a crash left half written is none: the older checkpoint still holds, and
// the next one is signed.
func TestACrashWhileACheckpointIsWritten(t *testing.T) {
	d := newDesk(t)
	d.book.write(10)
	d.keeper().step(t.Context())
	d.newest(10)
	if err := os.WriteFile(filepath.Join(d.folder.Dir(), ".new-123"), []byte("broker-rails.local/"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.newest(10)
	d.book.write(10)
	d.keeper().step(t.Context())
	d.newest(20)
}

// A journal that is not the one that was signed is not signed again, and it is told.
func TestWhatDoesNotExtendIsNotSigned(t *testing.T) {
	for name, spoil := range map[string]func(b *book){
		"cut":       func(b *book) { b.entries = b.entries[:15] },
		"rewritten": func(b *book) { b.entries[3] = []byte("another"); b.entries = append(b.entries, make([][]byte, 30)...) },
		"damaged":   func(b *book) { b.entries = append(b.entries, make([][]byte, 30)...); b.damage = 45 },
		"gone":      func(b *book) { b.err = errors.New("the disk is gone") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.book.write(20)
			d.keeper().step(t.Context())
			d.newest(20)
			spoil(d.book)
			k := d.keeper() // after a start
			for range 3 {
				k.step(t.Context())
				d.wall = d.wall.Add(retryEvery)
			}
			d.newest(20)
			if d.health().Failure == "" {
				t.Error("nothing was told")
			}
			k.last(t.Context())
			d.newest(20)
		})
	}
}

// While it runs, too: the pass is held against what it has taken.
func TestADamagedEntryIsNotSigned(t *testing.T) {
	d := newDesk(t)
	d.book.write(20)
	k := d.keeper()
	k.step(t.Context())
	d.book.write(20)
	d.book.damage = 33
	k.step(t.Context())
	d.newest(20)
	read := d.book.read
	k.step(t.Context())
	if d.book.read != read {
		t.Error("what failed is tried again at once")
	}
	d.book.damage = 0
	d.wall = d.wall.Add(retryEvery)
	k.step(t.Context())
	d.newest(40)
	if h := d.health(); h.Failure != "" {
		t.Errorf("still told: %s", h.Failure)
	}
}

// Two processes may sign one journal: each goes on from what the other has signed.
func TestTwoKeepersOfOneJournal(t *testing.T) {
	d := newDesk(t)
	d.book.write(10)
	a, b := d.keeper(), d.keeper()
	size := int64(10)
	for i := range 12 {
		k := a
		if i%2 == 1 {
			k = b
		}
		k.step(t.Context())
		d.newest(size)
		a.step(t.Context())
		b.step(t.Context())
		d.book.write(11)
		size += 11
	}
	if h := d.health(); h.Failure != "" {
		t.Error(h.Failure)
	}
}

// A checkpoint of another history, signed with the key, stops the signing.
func TestAnotherHistoryWithTheKey(t *testing.T) {
	d := newDesk(t)
	d.book.write(10)
	k := d.keeper()
	k.step(t.Context())
	signer, err := d.folder.Signer(tree.Origin(d.book.entries[0]))
	if err != nil {
		t.Fatal(err)
	}
	c, err := signer.Sign(15, verify.Hash{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.folder.Keep(c); err != nil {
		t.Fatal(err)
	}
	d.book.write(20)
	for range 3 {
		k.step(t.Context())
		d.wall = d.wall.Add(retryEvery)
	}
	d.newest(15)
	if !strings.Contains(d.health().Failure, "does not extend the checkpoint of size 15") {
		t.Error(d.health().Failure)
	}
}

// serve runs a witness that knows the journal of the desk, behind a handler that may fail.
func (d *desk) serve(name string, wrap func(http.Handler) http.Handler) verify.Witness {
	d.t.Helper()
	if _, err := d.folder.Signer(tree.Origin(d.book.entries[0])); err != nil {
		d.t.Fatal(err)
	}
	key, _, err := d.folder.Public()
	if err != nil {
		d.t.Fatal(err)
	}
	signer, err := witness.NewSigner(name)
	if err != nil {
		d.t.Fatal(err)
	}
	w, err := witness.New(witness.Options{Signer: signer, Logs: []verify.Key{key}, Heads: &witness.Memory{}, Now: time.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	server := httptest.NewServer(wrap(w.Handler()))
	d.t.Cleanup(server.Close)
	return verify.Witness{Name: name, Key: w.Key(), URL: server.URL}
}

func plain(h http.Handler) http.Handler { return h }

// cosigned are the sizes that a witness has cosigned, of those held.
func (d *desk) cosigned(w verify.Witness) (sizes []int64) {
	d.t.Helper()
	list, err := d.folder.Cosigned()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range list {
		if _, err := w.Key.CosignedAt(c.Signed); err == nil {
			sizes = append(sizes, c.Size)
		}
	}
	return sizes
}

// A witness that hangs holds up neither the signing nor the other one.
func TestAWitnessThatHangs(t *testing.T) {
	d := newDesk(t)
	d.book.write(10)
	release := make(chan struct{})
	defer close(release)
	good := d.serve("good", plain)
	hangs := d.serve("hangs", func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	})
	ctx, stop := context.WithCancel(t.Context())
	k := d.keeper(hangs, good)
	k.o.Wall = time.Now
	ended := make(chan struct{})
	go func() {
		k.Run(ctx)
		close(ended)
	}()
	begun := time.Now()
	for range 200 {
		if len(d.cosigned(good)) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.book.write(10) // signed while the first question still hangs
	for range 300 {
		if c, _, err := d.folder.Newest(); err == nil && c.Size == 20 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
	d.newest(20)
	stop()
	select {
	case <-ended:
	case <-time.After(witness.AskWithin + lastWithin + 2*time.Second):
		t.Fatal("the end waits for a witness")
	}
	if sizes := d.cosigned(good); len(sizes) != 2 {
		t.Errorf("cosigned %v", sizes)
	}
	h := d.health()
	if len(h.Witnesses) != 2 || h.Witnesses[0].Failure == "" || h.Witnesses[1].Failure != "" || h.Witnesses[1].Size != 20 {
		t.Errorf("told %+v", h)
	}
}

// A witness that was away is asked from where it was, and a broken promise is told.
func TestAsk(t *testing.T) {
	d := newDesk(t)
	d.book.write(10)
	away := true
	one := d.serve("one", plain)
	two := d.serve("two", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if away {
				http.Error(out, "away", http.StatusServiceUnavailable)
				return
			}
			h.ServeHTTP(out, r)
		})
	})
	both := []verify.Witness{one, two}
	now := func() time.Time { return d.wall }
	ask := func() []Answer {
		t.Helper()
		k := d.keeper()
		k.step(t.Context())
		c, _, err := d.folder.Newest()
		if err != nil {
			t.Fatal(err)
		}
		answers, err := Ask(t.Context(), d.folder, d.book, c, both, now, nil)
		if err != nil || len(answers) != 2 || answers[0].Witness != "one" || answers[1].Witness != "two" {
			t.Fatalf("%+v, %v", answers, err)
		}
		return answers
	}
	a := ask()
	if a[0].Err != nil || !errors.Is(a[1].Err, witness.ErrUnanswered) || Broken(a) != nil {
		t.Errorf("%+v", a)
	}
	d.book.write(25)
	away = false
	a = ask()
	if a[0].Err != nil || a[1].Err != nil || a[0].Cosigned.IsZero() {
		t.Errorf("%+v", a)
	}
	a = ask() // once more: a newer cosignature takes the place of the older
	if a[0].Err != nil || a[1].Err != nil {
		t.Errorf("%+v", a)
	}
	if got := fmt.Sprint(d.cosigned(one), d.cosigned(two)); got != "[10 35] [35]" {
		t.Errorf("cosigned %s", got)
	}
	c, _, err := d.folder.NewestCosigned()
	if err != nil || bytes.Count(c.Signed, []byte("— ")) != 3 {
		t.Errorf("%s, %v", c.Signed, err)
	}
	// The key's holder writes the journal anew: neither witness cosigns it.
	d.book.entries[4] = []byte("another")
	if err := os.RemoveAll(filepath.Join(d.folder.Dir(), tree.FileName(35))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{tree.FileName(10), tree.CosignedName(10), tree.CosignedName(35)} {
		if err := os.Remove(filepath.Join(d.folder.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	d.book.write(10)
	a = ask()
	if !errors.Is(Broken(a), witness.ErrFork) || d.cosigned(one) != nil || d.cosigned(two) != nil {
		t.Errorf("a rewrite: %+v", a)
	}
}

func TestHealthIsReadStrictly(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"schema":"rails.checkpoints/v2"}`, "\x00"} {
		if _, known := ReadHealth([]byte(text)); known {
			t.Errorf("%q is known", text)
		}
	}
}

func FuzzHealth(f *testing.F) {
	f.Add([]byte(`{"schema":"rails.checkpoints/v1","at":"2026-03-18T15:00:00Z","witnesses":[{"witness":"a","size":3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if h, known := ReadHealth(text); known != (h.Schema != "") {
			t.Fatalf("%q: %v", text, known)
		}
	})
}
