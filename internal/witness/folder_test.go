package witness

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/broker-rails/broker-rails/verify"
)

func openFolder(tb testing.TB, dir string) *Folder {
	tb.Helper()
	f, err := OpenFolder(dir, "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

// A witness goes on from what it kept, with its key and its name.
func TestAFolderKeepsHeadsAndKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "witness")
	l := newTestLog(t, testOrigin)
	f := openFolder(t, dir)
	w, err := New(Options{Signer: f.Signer(), Logs: []verify.Key{l.key}, Heads: f, Now: wallClock})
	if err != nil {
		t.Fatal(err)
	}
	cosigned(t, w, l.request(straight(3), 0))
	cosigned(t, w, l.request(straight(6), 3))
	if _, err := OpenFolder(dir, ""); !errors.Is(err, ErrBusy) {
		t.Fatalf("a second witness has the folder: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := openFolder(t, dir)
	if again.Signer().Key().String() != f.Signer().Key().String() {
		t.Error("another key")
	}
	w, err = New(Options{Signer: again.Signer(), Logs: []verify.Key{l.key}, Heads: again, Now: wallClock})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, w, l.request(entries(8, " forked", 5), 6), 422, 6)
	refused(t, w, l.request(entries(6, " forked", 5), 6), 409, 6)
	cosigned(t, w, l.request(straight(8), 6))
	for _, name := range []string{keyFile, headsFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || exposed(info) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A log that is not watched any more keeps its head: it may be watched again.
func TestAHeadOutlivesItsLogsKey(t *testing.T) {
	kept := &Memory{}
	a, b := newTestLog(t, testOrigin), newTestLog(t, "elsewhere.example/log")
	cosigned(t, newWitness(t, kept, a), a.request(straight(5), 0))
	cosigned(t, newWitness(t, kept, b), b.request(straight(2), 0))
	refused(t, newWitness(t, kept, a), a.request(entries(7, " forked", 2), 5), 422, 5)
}

// prepared is a folder with one head, closed.
func prepared(t *testing.T) (dir string, l *testLog) {
	t.Helper()
	dir, l = t.TempDir(), newTestLog(t, testOrigin)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := openFolder(t, dir)
	w, err := New(Options{Signer: f.Signer(), Logs: []verify.Key{l.key}, Heads: f, Now: wallClock})
	if err != nil {
		t.Fatal(err)
	}
	cosigned(t, w, l.request(straight(5), 0))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, l
}

func TestMissingHeadsOrKeyAreRefused(t *testing.T) {
	dir, _ := prepared(t)
	heads, key := filepath.Join(dir, headsFile), filepath.Join(dir, keyFile)
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(heads, aside); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir, ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("without heads: %v", err)
	}
	if err := os.Rename(aside, heads); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(key, aside); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir, ""); err == nil {
		t.Error("a new key for old heads")
	}
	if err := os.Rename(aside, key); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir, "another.example/name"); err == nil {
		t.Error("a key took another name")
	}
	// What a crash left behind is no heads and no key.
	if err := os.WriteFile(filepath.Join(dir, ".new-1"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	openFolder(t, dir)
}

// A first start that ended between heads and key begins again.
func TestAFirstStartThatEndedEarly(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := openFolder(t, dir)
	if err := errors.Join(f.Close(), os.Remove(filepath.Join(dir, keyFile))); err != nil {
		t.Fatal(err)
	}
	if openFolder(t, dir).Signer().Key().Name() == "" {
		t.Error("no key")
	}
}

// Heads that are cut anywhere, or of which any byte is another, are not read.
func TestTornAndChangedHeadsAreRefused(t *testing.T) {
	dir, _ := prepared(t)
	path := filepath.Join(dir, headsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := OpenFolder(dir, ""); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s at %d: %v", what, at, err)
			if err == nil {
				_ = f.Close()
			}
		}
	}
	for i := range whole {
		try("cut", i, whole[:i])
		changed := append([]byte(nil), whole...)
		changed[i] ^= 1
		try("changed", i, changed)
	}
	try("longer", len(whole), append(append([]byte(nil), whole...), '\n'))
	twice := formatHeads([]Head{{testOrigin, 1, verify.Hash{}}, {testOrigin, 2, verify.Hash{}}})
	try("twice", 0, twice)
	try("a size of 2^63-1", 0, formatHeads([]Head{{testOrigin, 1<<63 - 1, verify.Hash{}}}))
	try("a size of zero", 0, formatHeads([]Head{{testOrigin, 0, verify.Hash{}}}))
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	openFolder(t, dir)
}

func TestExposedFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for _, name := range []string{"", keyFile, headsFile} {
		dir, _ := prepared(t)
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, info.Mode().Perm()|0o040); err != nil {
			t.Fatal(err)
		}
		var exposed *ExposedError
		if _, err := OpenFolder(dir, ""); !errors.As(err, &exposed) {
			t.Errorf("%q can be read by others: %v", name, err)
		}
	}
}

// A folder in which nothing can be written takes no head, and the witness stops.
func TestAFolderThatCannotBeWritten(t *testing.T) {
	dir, l := prepared(t)
	f := openFolder(t, dir)
	w, err := New(Options{Signer: f.Signer(), Logs: []verify.Key{l.key}, Heads: f, Now: wallClock})
	if err != nil {
		t.Fatal(err)
	}
	f.dir = filepath.Join(dir, "gone")
	refused(t, w, l.request(straight(6), 5), 500, 5)
	f.dir = dir
	refused(t, w, l.request(straight(6), 5), 500, 5)
}
