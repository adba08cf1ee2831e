package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// manyEntries is over what a store reads at once.
const manyEntries = 700

func readOrder(t *testing.T, s gate.Store) {
	batch := Batch("a", gate.Head{}, manyEntries, "x")
	mustAppend(t, s, batch)
	mustAppend(t, s, Batch("b", gate.Head{}, 3, "x"))
	wantEntries(t, s, "a", batch.Entries...)
	for _, after := range []uint64{1, 255, 256, 257, manyEntries - 1, manyEntries, manyEntries + 1, 1 << 62} {
		var seqs []uint64
		if err := s.Read(t.Context(), "a", after, func(e gate.Stored) error {
			seqs = append(seqs, e.Seq)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := sequential(manyEntries)[min(after, manyEntries):]
		if !slices.Equal(want, seqs) {
			t.Errorf("after %d: %d entries, want %d", after, len(seqs), len(want))
		}
	}
}

func readStops(t *testing.T, s gate.Store) {
	mustAppend(t, s, Batch("a", gate.Head{}, 5, "x"))
	enough := errors.New("enough")
	calls := 0
	stop := func(gate.Stored) error {
		if calls++; calls == 2 {
			return enough
		}
		return nil
	}
	if err := s.Read(t.Context(), "a", 0, stop); !errors.Is(err, enough) || calls != 2 {
		t.Errorf("read gave %v after %d calls", err, calls)
	}
	calls = 0
	if err := s.(whole).All(t.Context(), 0, stop); !errors.Is(err, enough) || calls != 2 {
		t.Errorf("all gave %v after %d calls", err, calls)
	}
}

// readerAppends writes from inside a read, which must neither hang nor fail. What it
// appends is read as well.
func readerAppends(t *testing.T, s gate.Store) {
	head := mustAppend(t, s, Batch("a", gate.Head{}, 2, "x"))
	seen := 0
	if err := s.Read(t.Context(), "a", 0, func(e gate.Stored) error {
		seen++
		if e.Seq != 1 {
			return nil
		}
		head = mustAppend(t, s, Batch("a", head, 1, "y"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if seen != 3 {
		t.Errorf("%d entries seen, want 3", seen)
	}
}

func commitOrder(t *testing.T, s gate.Store) {
	heads := map[string]gate.Head{}
	var want []gate.Stored
	for i := range 40 {
		account := []string{"b", "a", control, "c"}[i%4]
		b := Batch(account, heads[account], 1+i%3, "x")
		heads[account] = mustAppend(t, s, b)
		want = append(want, b.Entries...)
	}
	for i := range want {
		want[i].Index = uint64(i) + 1 // from 1, without gaps
	}
	// A lost race takes no place.
	mustLose(t, s, Batch("a", gate.Head{}, 1, "lost"), "a", heads["a"])
	for _, after := range []uint64{0, 1, 17, uint64(len(want)), 1 << 62} {
		var have []gate.Stored
		if err := s.(whole).All(t.Context(), after, func(e gate.Stored) error {
			have = append(have, e)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[min(after, uint64(len(want))):], have, cmp.Transformer("len", func(e []gate.Stored) []string {
			lines := make([]string, len(e))
			for i := range e {
				lines[i] = fmt.Sprintf("%d %s %d %x %s", e[i].Index, e[i].Account, e[i].Seq, e[i].Hash, e[i].Bytes)
			}
			return lines
		})); diff != "" {
			t.Errorf("all after %d (-want +got):\n%s", after, diff)
		}
	}
	accounts, err := s.(whole).Accounts(t.Context())
	if err != nil || !slices.Equal(accounts, []string{control, "a", "b", "c"}) {
		t.Errorf("accounts %q, %v", accounts, err)
	}
}

// accountsApart uses names that a careless query would confuse.
func accountsApart(t *testing.T, s gate.Store) {
	names := []string{"a", "A", "a ", " a", "a%", "a_", "a'", `a"`, "a;--", "ä", "a\x00b", "a\x00", "1", "01", "null", "*a"}
	for i, name := range names {
		mustAppend(t, s, Batch(name, gate.Head{}, i+1, "x"))
	}
	for i, name := range names {
		if n := len(Contents(t, s, name)); n != i+1 {
			t.Errorf("%q has %d entries, want %d", name, n, i+1)
		}
	}
	wantHeads(t, s, control, gate.Head{}, gate.Head{})
}

func ownBytes(t *testing.T, s gate.Store) {
	b := Batch("a", gate.Head{}, 1, "x")
	want := bytes.Clone(b.Entries[0].Bytes)
	mustAppend(t, s, b)
	clear(b.Entries[0].Bytes)
	clear(Contents(t, s, "a")[0].Bytes)
	if have := Contents(t, s, "a")[0].Bytes; !bytes.Equal(want, have) {
		t.Errorf("a caller changed the journal to %q", have)
	}
}

func newestSnapshot(t *testing.T, s gate.Store) {
	snaps := s.Snapshots()
	if snaps == nil {
		t.Skip("keeps no snapshots")
	}
	b := Batch("a", gate.Head{}, 3, "x")
	mustAppend(t, s, b)
	at := func(i int) gate.Head { return gate.Head{Seq: b.Entries[i].Seq, Hash: b.Entries[i].Hash} }
	check := func(want string, head gate.Head) {
		t.Helper()
		state, have, err := snaps.LoadSnapshot(t.Context(), "a")
		if err != nil || string(state) != want || have != head {
			t.Errorf("snapshot %q at %d, %v; want %q at %d", state, have.Seq, err, want, head.Seq)
		}
	}
	for _, step := range []struct {
		save string
		at   int
		want string
		kept int
	}{
		{"one", 0, "one", 0},
		{"three", 2, "three", 2},
		{"two, late", 1, "three", 2},
		{"three again", 2, "three again", 2},
	} {
		if err := snaps.SaveSnapshot(t.Context(), "a", at(step.at), []byte(step.save)); err != nil {
			t.Fatal(err)
		}
		check(step.want, at(step.kept))
	}
	state, _, err := snaps.LoadSnapshot(t.Context(), "b")
	if state != nil || err != nil {
		t.Errorf("another account's snapshot: %q, %v", state, err)
	}
	// It takes nothing from the journal.
	wantEntries(t, s, "a", b.Entries...)
}

func strangeSnapshots(t *testing.T, s gate.Store) {
	snaps := s.Snapshots()
	if snaps == nil {
		t.Skip("keeps no snapshots")
	}
	head := mustAppend(t, s, Batch("a", gate.Head{}, 2, "x"))
	other := head
	other.Hash[0] ^= 1
	for name, tt := range map[string]struct {
		account string
		at      gate.Head
		state   []byte
	}{
		"another entry":   {"a", other, []byte("s")},
		"not yet written": {"a", gate.Head{Seq: 3, Hash: head.Hash}, []byte("s")},
		"another account": {"b", head, []byte("s")},
		"no entry":        {"a", gate.Head{}, []byte("s")},
		"no account":      {"", head, []byte("s")},
		"no state":        {"a", head, nil},
	} {
		var unsound *gate.BatchError
		if err := snaps.SaveSnapshot(t.Context(), tt.account, tt.at, tt.state); !errors.As(err, &unsound) {
			t.Errorf("%s: save gave %v", name, err)
		}
	}
	if state, _, err := snaps.LoadSnapshot(t.Context(), "a"); state != nil || err != nil {
		t.Errorf("snapshot %q, %v", state, err)
	}
}
