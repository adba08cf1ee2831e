//go:build unix

package tree

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// exposed reports whether group or others may do anything with the file.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// flushFolder makes a new name in a folder survive a power cut. Some file systems cannot
// flush a folder and say so.
func flushFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
