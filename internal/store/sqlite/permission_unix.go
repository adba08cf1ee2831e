//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// othersMask is every permission of group and others: the journal tells what an
// account holds, and whoever may write it may rewrite history.
const othersMask fs.FileMode = 0o077

// checkPrivate refuses a folder or file of a journal that others may read or write. The
// command that mends it mends folder and files alike: SQLite gives what it puts beside
// the journal the journal's own mode, also after this was said.
func checkPrivate(dir, path string, info fs.FileInfo) error {
	if info.Mode().Perm()&othersMask == 0 {
		return nil
	}
	return &UnavailableError{
		Op: "check permissions", Path: path, Reason: ReasonExposed,
		Mend: "chmod 700 " + quote(dir) + " && chmod 600 " + quote(filepath.Join(dir, FileName)) + "*",
		Err:  fmt.Errorf("mode %04o lets others in", info.Mode().Perm()),
	}
}

// flushFolder makes a new name in a folder survive a power cut.
func flushFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some file systems cannot flush a folder and say so; the name is then theirs to keep.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// identity tells one file from another under the same path.
type identity struct {
	dev, ino uint64
}

// identify reads which file stands under path; it opens nothing and allocates nothing
// of note, so that it can run in every transaction.
func identify(path string) (identity, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return identity{}, err
	}
	return identity{dev: uint64(st.Dev), ino: uint64(st.Ino)}, nil
}
