package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite "modernc.org/sqlite"
)

// Options of Open. The zero value opens what exists and creates nothing: a journal
// that went missing must not be replaced by an empty one unnoticed.
type Options struct {
	// Create makes the folder and the file if they do not exist.
	Create bool

	vfs     string        // of SQLite, for tests that make the disk fail
	busyFor time.Duration // zero: BusyFor
}

// Open opens the journal in the folder dir for reading and appending. Errors are
// *UnavailableError.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, &UnavailableError{Op: "open", Path: dir, Reason: ReasonUnreadable, Err: err}
	}
	path := filepath.Join(dir, FileName)
	if opts.Create {
		if err := create(dir, path); err != nil {
			return nil, err
		}
	}
	if err := checkFiles(dir, path, opts.Create); err != nil {
		return nil, err
	}
	// fdatasync flushes the bytes and the file's size, which is all that durability
	// needs; where the system has none, SQLite flushes in its own way.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, &UnavailableError{Op: "open", Path: path, Reason: ReasonUnreadable, Err: err}
	}
	if opts.busyFor == 0 {
		opts.busyFor = BusyFor
	}
	s := newStore(path)
	if err := s.openWriter(ctx, opts); err != nil {
		return nil, opening(path, err)
	}
	if err := s.openReaders(ctx, dsn(path, opts, "mode=ro")); err != nil {
		return nil, opening(path, errors.Join(err, s.writer.close()))
	}
	go s.serve()
	return s, nil
}

// OpenReadOnly opens the journal in dir for reading: Append and SaveSnapshot refuse.
// Permissions are not checked, since a copy made for an auditor may have any.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, &UnavailableError{Op: "open", Path: dir, Reason: ReasonUnreadable, Err: err}
	}
	path := filepath.Join(dir, FileName)
	if err := checkPresent(path); err != nil {
		return nil, err
	}
	s := newStore(path)
	s.readOnly = true
	close(s.stopped)
	err = s.openReaders(ctx, dsn(path, Options{}, "mode=ro"))
	if err != nil && reasonOf(err) == ReasonUnreadable && !present(path+"-wal") {
		// A folder that may not be written to cannot hold the index that readers of a
		// write-ahead log share. Without a log beside it the file is all there is.
		err = s.openReaders(ctx, dsn(path, Options{}, "mode=ro&immutable=1"))
	}
	if err != nil {
		return nil, opening(path, err)
	}
	return s, nil
}

// opening wraps what went wrong while opening.
func opening(path string, err error) error {
	var already *UnavailableError
	if errors.As(err, &already) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	reason := reasonOf(err)
	if reason == ReasonFailed {
		reason = ReasonUnreadable
	}
	return &UnavailableError{Op: "open", Path: path, Reason: reason, Err: err}
}

// dsn names the file to SQLite, every special byte escaped.
func dsn(path string, opts Options, more string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path}
	text := u.String() + "?_defensive=1&_dqs=0&" + more
	if opts.vfs != "" {
		text += "&vfs=" + url.QueryEscape(opts.vfs)
	}
	return text
}

// create makes folder and file with the right permissions from the start. The file
// is opened only if it is new, so that no lock of this process is lost.
func create(dir, path string) error {
	fail := func(err error) error {
		reason := ReasonUnreadable
		if errors.Is(err, fs.ErrPermission) {
			reason = ReasonReadOnly
		}
		return &UnavailableError{Op: "create", Path: path, Reason: reason, Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fail(err)
	}
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		if err := flushFolder(filepath.Dir(dir)); err != nil {
			return fail(err)
		}
	case !errors.Is(err, fs.ErrExist):
		return fail(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	if err := flushFolder(dir); err != nil {
		return fail(err)
	}
	return nil
}

// checkPresent refuses a path under which there is no regular file.
func checkPresent(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonMissing, Err: err}
	case err != nil:
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonUnreadable, Err: err}
	case !info.Mode().IsRegular():
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonUnreadable, Err: errors.New("not a regular file")}
	}
	return nil
}

// checkFiles refuses a journal that others may read or write, and an emptied file: SQLite
// would take that for a new one and throw away the write-ahead log beside it.
func checkFiles(dir, path string, mayBeNew bool) error {
	if err := checkPresent(path); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return &UnavailableError{Op: "open", Path: dir, Reason: ReasonUnreadable, Err: err}
	}
	if err := checkPrivate(dir, dir, info); err != nil {
		return err
	}
	var sizes [3]int64
	for i, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return &UnavailableError{Op: "open", Path: path + suffix, Reason: ReasonUnreadable, Err: err}
		}
		if err := checkPrivate(dir, path+suffix, info); err != nil {
			return err
		}
		sizes[i] = info.Size()
	}
	if sizes[0] == 0 && sizes[1] > 0 {
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonCorrupt,
			Err: errors.New("the file is empty but its write-ahead log is not")}
	}
	if sizes[0] == 0 && !mayBeNew {
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonCorrupt, Err: errors.New("the file is empty")}
	}
	return nil
}

func present(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// quote makes a path safe to paste into a shell.
func quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// openReaders opens the pool that reads, and checks what it opened.
func (s *Store) openReaders(ctx context.Context, name string) (err error) {
	name += "&_pragma=" + url.QueryEscape(fmt.Sprintf("busy_timeout(%d)", BusyFor.Milliseconds()))
	for _, pragma := range []string{"trusted_schema(0)", "cell_size_check(1)"} {
		name += "&_pragma=" + url.QueryEscape(pragma)
	}
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(ReadersMax)
	db.SetMaxIdleConns(ReadersMax)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if err := checkIdentity(s.path, func(query string) (n int64, err error) {
		return n, db.QueryRowContext(ctx, query).Scan(&n)
	}); err != nil {
		return err
	}
	if s.heads, err = db.PrepareContext(ctx, readHeads); err != nil {
		return err
	}
	s.reads = db
	return nil
}

// checkIdentity refuses a file that is not a journal of this product and version.
func checkIdentity(path string, number func(query string) (int64, error)) error {
	for _, want := range []struct {
		query string
		value int64
	}{
		{`PRAGMA application_id`, ApplicationID},
		{`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'entry', 'head', 'snapshot')`, 4},
		// Reading goes by the place, page after page: no two rows may share one.
		{`SELECT count(*) FROM pragma_table_info('entry') WHERE name = 'idx' AND type = 'INTEGER' AND pk = 1`, 1},
		{`SELECT value FROM meta WHERE name = 'application_id'`, ApplicationID},
		{`SELECT value FROM meta WHERE name = 'schema'`, SchemaVersion},
	} {
		have, err := number(want.query)
		if errors.Is(err, sql.ErrNoRows) {
			have, err = 0, nil
		}
		if err != nil {
			return err
		}
		if have != want.value {
			return &UnavailableError{Op: "open", Path: path, Reason: ReasonUnknown,
				Err: fmt.Errorf("%s gives %d, and only %d is known", want.query, have, want.value)}
		}
	}
	return nil
}

// connect opens one connection of the driver.
func connect(ctx context.Context, name string) (driver.Conn, error) {
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	return connector.Connect(ctx)
}
