//go:build unix

package witness

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

// takeLock holds a file until it is closed or the process ends: two witnesses with one
// key and each its own heads would cosign a fork.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
