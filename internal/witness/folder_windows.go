package witness

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// exposed knows nothing of access control lists.
func exposed(fs.FileInfo) bool { return false }

// flushFolder has nothing to do where folders cannot be flushed.
func flushFolder(string) error { return nil }

// takeLock holds a file until it is closed or the process ends: two witnesses with one
// key and each its own heads would cosign a fork.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{}); err != nil {
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrBusy
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
