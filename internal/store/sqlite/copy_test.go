package sqlite

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// TestCopyIsWholeAndApart copies an open journal and appends to both: they part there.
func TestCopyIsWholeAndApart(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	b := storetest.Batch("a", gate.Head{}, 300, "x")
	if err := errors.Join(s.Append(t.Context(), b), s.Append(t.Context(), storetest.Batch("b", gate.Head{}, 2, "x")),
		s.SaveSnapshot(t.Context(), "a", b.After(), []byte("state"))); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "it's a copy")
	if err := s.Copy(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	all := func(s *Store) (entries []gate.Stored) {
		t.Helper()
		if err := s.All(t.Context(), 0, func(e gate.Stored) error { entries = append(entries, e); return nil }); err != nil {
			t.Fatal(err)
		}
		return entries
	}
	want := all(s)
	twin := openAt(t, dir, Options{})
	if diff := cmp.Diff(want, all(twin)); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
	if state, at, err := twin.LoadSnapshot(t.Context(), "a"); string(state) != "state" || at != b.After() || err != nil {
		t.Errorf("snapshot %q at %d, %v", state, at.Seq, err)
	}
	for _, next := range []*Store{s, twin} {
		if err := next.Append(t.Context(), storetest.Batch("a", b.After(), 1, next.path)); err != nil {
			t.Fatal(err)
		}
		storetest.CheckChain(t, storetest.Contents(t, next, "a"))
	}
	// A journal is not written over.
	if err := s.Copy(t.Context(), dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("copied over a journal: %v", err)
	}
}
