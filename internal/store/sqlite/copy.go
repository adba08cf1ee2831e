package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Copy writes the journal as it stands at one moment to a folder that holds none yet,
// flushed to the disk: for backups and for demonstrations that damage a journal. The
// file must not be copied in another way while it is open: the log beside it belongs
// to it, and closing a second descriptor drops this process's locks.
func (s *Store) Copy(ctx context.Context, dir string) error {
	const op = "copy"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return &UnavailableError{Op: op, Path: dir, Reason: ReasonUnreadable, Err: err}
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return &UnavailableError{Op: op, Path: path, Reason: ReasonUnreadable, Err: errors.Join(fs.ErrExist, err)}
	}
	// SQLite fills the empty file, and so keeps its permissions.
	if err := create(dir, path); err != nil {
		return err
	}
	if _, err := s.reads.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return errors.Join(s.unreadable(ctx, op, err), os.Remove(path))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return &UnavailableError{Op: op, Path: path, Reason: ReasonFailed, Err: err}
	}
	return nil
}
