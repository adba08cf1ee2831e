package paper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileName is the ledger's file in the data folder.
const FileName = "paper.db"

// schemaVersion stands in the file's user_version.
const schemaVersion = 1

const (
	// busyFor is how long a process waits for another one's transaction.
	busyFor = 5 * time.Second
	// openEvery is the pause between tries to open a file that others are creating.
	openEvery = 20 * time.Millisecond
)

// SchemaError says that the file is not a ledger that this version reads.
type SchemaError struct {
	Path    string
	Version int // as the file says; 0 with tables of someone else's
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: paper ledger of version %d, this version reads %d", e.Path, e.Version, schemaVersion)
}

// file is a store in SQLite.
type file struct {
	db    *sql.DB
	known statements
}

// errNoLedger says that there is no ledger where one was to be opened.
var errNoLedger = errors.New("the file holds no ledger")

// OpenFile opens the ledger in a folder, and creates both if need be, for their owner
// alone. The first to come writes start down. Every change is flushed before it counts.
// With a zero start nothing is created: a ledger that went missing or was emptied must
// not be replaced by one without a history.
func OpenFile(ctx context.Context, dir string, start Start) (*Ledger, error) {
	mode := os.O_RDWR
	if start != (Start{}) {
		mode |= os.O_CREATE
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("paper ledger: %w", err)
		}
	}
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	// SQLite gives its side files the mode of the file itself.
	f, err := os.OpenFile(path, mode, 0o600)
	if err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 && start == (Start{}) {
		err = errNoLedger
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, busyFor)
	defer cancel()
	for {
		l, err := openOnce(ctx, path, start.cleaned())
		if err == nil {
			return l, nil
		}
		// Turning a new file to WAL needs it alone, and SQLite does not wait for that.
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return nil, fmt.Errorf("paper ledger: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("paper ledger: %w", err)
		case <-time.After(openEvery):
		}
	}
}

// OpenReadOnly opens a ledger for reading: an audit changes nothing, and needs no leave to
// write. A broker that is made of it takes nothing.
func OpenReadOnly(ctx context.Context, dir string) (*Ledger, error) {
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 {
		err = errNoLedger
	}
	if err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds()), "trusted_schema(OFF)", "cell_size_check(ON)",
	}}
	l, err := readOnce(ctx, path, query)
	var failed *sqlite.Error
	if errors.As(err, &failed) && failed.Code()&0xff == sqlite3.SQLITE_CANTOPEN {
		// A folder that may not be written to cannot hold the index that readers of a
		// write-ahead log share. Without a log beside it the file is all there is.
		if log, none := os.Stat(path + "-wal"); none != nil || log.Size() == 0 {
			query.Set("immutable", "1")
			l, err = readOnce(ctx, path, query)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("paper ledger: %w", err)
	}
	return l, nil
}

func readOnce(ctx context.Context, path string, query url.Values) (*Ledger, error) {
	db, err := sql.Open("sqlite", named(path, query))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &file{db: db}
	var version int
	var m meta
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version != schemaVersion {
		err = &SchemaError{Path: path, Version: version}
	}
	if err == nil {
		err = s.view(ctx, func(r rows) (err error) { m, err = r.meta(); return err })
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{store: s, start: m.start}, nil
}

// source is the data source name of a file to write to.
func source(path string) string {
	return named(path, url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
		"foreign_keys(ON)", "trusted_schema(OFF)", "cell_size_check(ON)",
	}})
}

func named(path string, query url.Values) string {
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' {
		slashed = "/" + slashed // a drive letter
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + query.Encode()
}

func openOnce(ctx context.Context, path string, start Start) (*Ledger, error) {
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, err
	}
	// One connection: writers queue here rather than poll for SQLite's lock.
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxLifetime(0)
	if err := assured(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &file{db: db}
	m, err := s.begin(ctx, path, start)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{store: s, start: m.start}, nil
}

var errDurability = errors.New("SQLite does not run with WAL and synchronous=FULL")

// assured checks that what was asked for is in force: a ledger that may forget a trade
// is no oracle.
func assured(ctx context.Context, db *sql.DB) error {
	var mode string
	var level int
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil {
		return err
	}
	if mode != "wal" || level != 2 {
		return errDurability
	}
	return nil
}

// begin creates the tables of a new file, and reads what the ledger began with.
func (s *file) begin(ctx context.Context, path string, start Start) (meta, error) {
	var m meta
	err := s.inTx(ctx, func(t table) error {
		var version, tables int
		if err := t.tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if err := t.tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if version == 0 && tables == 0 {
			if start == (Start{}) {
				return errNoLedger
			}
			if _, err := t.tx.ExecContext(ctx, schema); err != nil {
				return err
			}
			if _, err := t.tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
				return err
			}
			if err := t.create(meta{start: start, cash: start.Cash, evaluated: start.Market.Unix()}); err != nil {
				return err
			}
		} else if version != schemaVersion {
			return &SchemaError{Path: path, Version: version}
		}
		var err error
		m, err = t.meta()
		return err
	})
	return m, err
}

func (s *file) close() error { return s.db.Close() }

// inTx runs a transaction that holds SQLite's write lock from its start.
func (s *file) inTx(ctx context.Context, run func(table) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(table{ctx, tx, &s.known}); err != nil {
		return errors.Join(err, rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.known.prepare(ctx, s.db)
	return nil
}

// rollback ends a transaction; that its context has done so already is no error.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

func (s *file) update(ctx context.Context, change func(*book) error) error {
	return s.inTx(ctx, func(t table) error {
		k, err := t.book()
		if err != nil {
			return err
		}
		if err := change(k); err != nil {
			return err
		}
		if !k.changed.any {
			return nil // a commit without a write flushes nothing
		}
		return t.keep(k)
	})
}

func (s *file) view(ctx context.Context, read func(rows) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	err = errors.Join(read(table{ctx, tx, &s.known}), rollback(tx))
	s.known.prepare(ctx, s.db)
	return err
}
