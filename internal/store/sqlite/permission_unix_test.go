//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	noLeaks(t)
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "outer", "journal")
	s := openAt(t, dir, Options{Create: true})
	if err := s.Append(t.Context(), storetest.Batch("a", gate.Head{}, 1, "x")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{
		filepath.Dir(dir): 0o700, dir: 0o700, s.path: 0o600, s.path + "-wal": 0o600, s.path + "-shm": 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

// TestExposedFilesAreRefusedUntilMended runs the command that the error names.
func TestExposedFilesAreRefusedUntilMended(t *testing.T) {
	noLeaks(t)
	base := filepath.Join(t.TempDir(), "it's here")
	for _, tt := range []struct {
		suffix string
		mode   fs.FileMode
	}{{"/", 0o755}, {"/", 0o701}, {"/", 0o720}, {"/journal.db", 0o644}, {"/journal.db", 0o620}, {"/journal.db-wal", 0o604}} {
		if err := os.RemoveAll(base); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), base, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		other := openAt(t, base, Options{}) // keeps the log in place
		if err := errors.Join(s.Append(t.Context(), storetest.Batch("a", gate.Head{}, 1, "x")), s.Close()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Clean(base + tt.suffix)
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), base, Options{Create: true})
		exposed := wantReason(t, err, ReasonExposed)
		if exposed.Path != path {
			t.Errorf("%s %o: names %s", tt.suffix, tt.mode, exposed.Path)
		}
		if !strings.Contains(err.Error(), exposed.Mend) {
			t.Errorf("%v does not name %s", err, exposed.Mend)
		}
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", exposed.Mend).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", exposed.Mend, err, out)
		}
		openAt(t, base, Options{})
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneMendIsEnough: looking at an exposed journal puts exposed files beside it. The
// command that was named before must still be enough.
func TestOneMendIsEnough(t *testing.T) {
	noLeaks(t)
	defer syscall.Umask(syscall.Umask(0))
	dir, _ := closedJournal(t, 1)
	path := filepath.Join(dir, FileName)
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, Options{})
	exposed := wantReason(t, err, ReasonExposed)
	looking, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := looking.Heads(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := looking.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Mode().Perm()&othersMask == 0 {
		t.Fatalf("nothing exposed was left beside the journal: %v %v", info, err)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", exposed.Mend).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", exposed.Mend, err, out)
	}
	openAt(t, dir, Options{})
}

// TestReplacedFilesBreakTheStore takes the files away under an open store. Appends to
// them would be gone with the process, so none may be reported as durable.
func TestReplacedFilesBreakTheStore(t *testing.T) {
	noLeaks(t)
	for name, act := range map[string]func(dir string) error{
		"folder removed": os.RemoveAll,
		"file removed":   func(dir string) error { return os.Remove(filepath.Join(dir, FileName)) },
		"log removed":    func(dir string) error { return os.Remove(filepath.Join(dir, FileName+"-wal")) },
		"folder renamed": func(dir string) error { return os.Rename(dir, dir+"-old") },
		"file replaced by a copy": func(dir string) error {
			path := filepath.Join(dir, FileName)
			if err := os.Rename(path, path+"-old"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t, Options{})
			b := storetest.Batch("a", gate.Head{}, 1, "x")
			if err := s.Append(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if err := act(filepath.Dir(s.path)); err != nil {
				t.Fatal(err)
			}
			next := storetest.Batch("a", b.After(), 1, "y")
			wantReason(t, s.Append(t.Context(), next), ReasonReplaced)
			wantReason(t, s.Append(t.Context(), next), ReasonBroken)
			_, _, err := s.Heads(t.Context(), "a")
			wantReason(t, err, ReasonBroken)
		})
	}
}

func TestPathThatIsNoFileIsRefused(t *testing.T) {
	noLeaks(t)
	dir, _ := closedJournal(t, 1)
	path := filepath.Join(dir, FileName)
	if err := errors.Join(os.Rename(path, path+"-real"), os.Symlink(path+"-real", path)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, Options{Create: true})
	wantReason(t, err, ReasonUnreadable)
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir, Options{Create: true})
	wantReason(t, err, ReasonUnreadable)
}
