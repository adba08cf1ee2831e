package paper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A ledger that is missing or empty is neither opened nor begun anew by who only wants
// the one that was there; a reader changes nothing.
func TestNoLedgerIsInvented(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	for name, open := range map[string]func() (*Ledger, error){
		"to write": func() (*Ledger, error) { return OpenFile(t.Context(), dir, Start{}) },
		"to read":  func() (*Ledger, error) { return OpenReadOnly(t.Context(), dir) },
	} {
		if _, err := open(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, missing: %v", name, err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(); !errors.Is(err, errNoLedger) {
			t.Errorf("%s, empty: %v", name, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 {
			t.Errorf("%s: the file was written to, %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	l, err := OpenFile(t.Context(), dir, start())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if cash, err := r.Cash(t.Context()); err != nil || cash != start().Cash || r.Start() != l.Start() {
		t.Errorf("a reader sees cash %v, %v", cash, err)
	}
	if err := r.store.update(t.Context(), func(k *book) error { k.changed.any = true; return nil }); err == nil {
		t.Error("a reader writes")
	}
}
