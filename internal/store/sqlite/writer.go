package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"
)

// writer owns the one connection that writes. It talks to the driver itself: the
// pool of database/sql would cost more than the statements. Not safe for concurrent use.
type writer struct {
	conn  driver.Conn
	stmts struct {
		begin, commit, rollback      driver.Stmt
		head, advance, start, entry  driver.Stmt
		snapshot, hashAt, checkpoint driver.Stmt
	}
	files [2]struct { // the file and its write-ahead log, as they were opened
		path string
		id   identity
	}
	args  [5]driver.NamedValue
	dest  [3]driver.Value
	dirty int64 // bytes written to the log since the last checkpoint, about
}

// openWriter opens the connection that writes and asserts what durability rests on.
func (s *Store) openWriter(ctx context.Context, opts Options) (err error) {
	w := &s.writer
	if w.conn, err = connect(ctx, dsn(s.path, opts, "mode=rw")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for _, pragma := range []string{
		fmt.Sprintf(`PRAGMA busy_timeout = %d`, opts.busyFor.Milliseconds()),
		`PRAGMA trusted_schema = OFF`,
		`PRAGMA cell_size_check = ON`,
		`PRAGMA foreign_keys = ON`,
		`PRAGMA fullfsync = ON`, // macOS: fsync alone stops at the drive's cache
		`PRAGMA checkpoint_fullfsync = ON`,
		fmt.Sprintf(`PRAGMA wal_autocheckpoint = %d`, WALPagesMax),
	} {
		if err := w.run(ctx, pragma); err != nil {
			return err
		}
	}
	fresh, err := w.fresh(ctx)
	if err != nil {
		return err
	}
	// Nothing was written so far: a file that is not ours is left as it is.
	if fresh && !opts.Create {
		return &UnavailableError{Op: "open", Path: s.path, Reason: ReasonCorrupt, Err: errors.New("the file holds no tables")}
	}
	if !fresh {
		if err := w.checkIdentity(ctx, s.path); err != nil {
			return err
		}
	}
	if err := w.makeDurable(ctx, s.path, opts.busyFor); err != nil {
		return err
	}
	if fresh {
		if err := w.createSchema(ctx); err != nil {
			return err
		}
		if err := w.checkIdentity(ctx, s.path); err != nil {
			return err
		}
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	return w.remember(ctx, s.path)
}

func (w *writer) checkIdentity(ctx context.Context, path string) error {
	return checkIdentity(path, func(query string) (int64, error) { return w.number(ctx, query) })
}

// fresh reports whether the file has neither tables nor an owner yet.
func (w *writer) fresh(ctx context.Context) (bool, error) {
	for _, query := range []string{`PRAGMA application_id`, `PRAGMA user_version`, `SELECT count(*) FROM sqlite_schema`} {
		n, err := w.number(ctx, query)
		if err != nil || n != 0 {
			return false, err
		}
	}
	return true, nil
}

// makeDurable sets WAL and FULL and reads both back: a build or file system that
// grants less is refused. SQLite does not wait for other processes when it changes
// the mode, so this does.
func (w *writer) makeDurable(ctx context.Context, path string, wait time.Duration) error {
	refuse := func(what string, have any) error {
		return &UnavailableError{Op: "open", Path: path, Reason: ReasonUnreadable, Err: fmt.Errorf("%s stays %v", what, have)}
	}
	const pause = 5 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		mode, err := w.value(ctx, `PRAGMA journal_mode = WAL`)
		if err != nil && reasonOf(err) == ReasonLocked && waited < wait {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
			continue
		}
		if err != nil {
			return err
		}
		if mode != "wal" {
			return refuse("journal_mode", mode)
		}
		break
	}
	if err := w.run(ctx, `PRAGMA synchronous = FULL`); err != nil {
		return err
	}
	const full = 2
	have, err := w.number(ctx, `PRAGMA synchronous`)
	if err != nil {
		return err
	}
	if have != full {
		return refuse("synchronous", have)
	}
	return nil
}

// createSchema makes the tables, unless another process did since.
func (w *writer) createSchema(ctx context.Context) error {
	if err := w.run(ctx, sqlBegin); err != nil {
		return err
	}
	fresh, err := w.fresh(ctx)
	if err == nil && fresh {
		for _, text := range []string{
			schema,
			fmt.Sprintf(`PRAGMA application_id = %d`, ApplicationID),
			fmt.Sprintf(`PRAGMA user_version = %d`, SchemaVersion),
			fmt.Sprintf(`INSERT INTO meta (name, value) VALUES ('schema', %d), ('application_id', %d)`, SchemaVersion, ApplicationID),
		} {
			if err = w.run(ctx, text); err != nil {
				break
			}
		}
	}
	if err != nil {
		return errors.Join(err, w.run(context.WithoutCancel(ctx), sqlRollback))
	}
	return w.run(context.WithoutCancel(ctx), sqlCommit)
}

func (w *writer) prepare(ctx context.Context) error {
	for _, p := range []struct {
		to   *driver.Stmt
		text string
	}{
		{&w.stmts.begin, sqlBegin}, {&w.stmts.commit, sqlCommit}, {&w.stmts.rollback, sqlRollback},
		{&w.stmts.head, sqlHead}, {&w.stmts.advance, sqlAdvance}, {&w.stmts.start, sqlStart},
		{&w.stmts.entry, sqlEntry}, {&w.stmts.snapshot, sqlSnapshot}, {&w.stmts.hashAt, sqlHashAt},
		{&w.stmts.checkpoint, sqlCheckpoint},
	} {
		stmt, err := w.conn.(driver.ConnPrepareContext).PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.to = stmt
	}
	return nil
}

// remember notes which files stand under the paths. An empty transaction comes first,
// so that the log exists.
func (w *writer) remember(ctx context.Context, path string) error {
	for _, text := range []string{sqlBegin, sqlRollback} {
		if err := w.run(ctx, text); err != nil {
			return err
		}
	}
	for i, suffix := range []string{"", "-wal"} {
		id, err := identify(path + suffix)
		if err != nil {
			return err
		}
		w.files[i].path, w.files[i].id = path+suffix, id
	}
	return nil
}

// sameFiles fails if the files were removed or replaced since they were opened. An
// append to them would succeed and be gone with the process.
func (w *writer) sameFiles() error {
	for i := range w.files {
		id, err := identify(w.files[i].path)
		if err != nil {
			return fmt.Errorf("%w: %w", errReplaced, err)
		}
		if id != w.files[i].id {
			return errReplaced
		}
	}
	return nil
}

// close finalizes the statements and closes the connection.
func (w *writer) close() error {
	if w.conn == nil {
		return nil
	}
	var errs []error
	for _, stmt := range []driver.Stmt{
		w.stmts.begin, w.stmts.commit, w.stmts.rollback, w.stmts.head, w.stmts.advance,
		w.stmts.start, w.stmts.entry, w.stmts.snapshot, w.stmts.hashAt, w.stmts.checkpoint,
	} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	errs = append(errs, w.conn.Close())
	w.conn = nil
	return errors.Join(errs...)
}

// run executes text without arguments.
func (w *writer) run(ctx context.Context, text string) error {
	_, err := w.conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
	return err
}

// value returns the first column of a query's first row; nil if there is no row.
func (w *writer) value(ctx context.Context, query string) (value any, err error) {
	rows, err := w.conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(row); {
	case errors.Is(err, io.EOF) || len(row) == 0:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return row[0], nil
}

// number is value for an integer; zero if there is no row.
func (w *writer) number(ctx context.Context, query string) (int64, error) {
	value, err := w.value(ctx, query)
	if err != nil || value == nil {
		return 0, err
	}
	n, ok := value.(int64)
	if !ok {
		return 0, fmt.Errorf("%s gives %T", query, value)
	}
	return n, nil
}

// exec runs a prepared statement and returns how many rows it changed.
func (w *writer) exec(stmt driver.Stmt, values ...driver.Value) (int64, error) {
	result, err := stmt.(driver.StmtExecContext).ExecContext(context.Background(), w.bind(values))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row runs a prepared query and returns its only row; nil if there is none.
func (w *writer) row(stmt driver.Stmt, values ...driver.Value) (row []driver.Value, err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), w.bind(values))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row = w.dest[:len(rows.Columns())]
	switch err := rows.Next(row); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return row, nil
}

func (w *writer) bind(values []driver.Value) []driver.NamedValue {
	for i, value := range values {
		w.args[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return w.args[:len(values)]
}
