package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// Heads implements gate.Store. A broken store refuses: what it says must not release
// an order.
func (s *Store) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	const op = "read heads"
	if err := s.refuseBroken(op); err != nil {
		return own, control, err
	}
	rows, err := s.heads.QueryContext(ctx, account, journal.ControlAccount)
	if err != nil {
		return own, control, s.unreadable(ctx, op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var seq, hash any
		if err := rows.Scan(&name, &seq, &hash); err != nil {
			return gate.Head{}, gate.Head{}, s.unreadable(ctx, op, err)
		}
		head, err := headOf(seq, hash)
		if err != nil {
			return gate.Head{}, gate.Head{}, s.unreadable(ctx, op, err)
		}
		if name == account {
			own = head
		}
		if name == journal.ControlAccount {
			control = head
		}
	}
	if err := rows.Err(); err != nil {
		return gate.Head{}, gate.Head{}, s.unreadable(ctx, op, err)
	}
	return own, control, nil
}

// Read implements gate.Store. The bytes are as they are stored: whether they agree
// with their hash and chain is the reader's to check. Each may append.
func (s *Store) Read(ctx context.Context, account string, after uint64, each func(gate.Stored) error) error {
	const op = "read account"
	return s.pages(ctx, op, func(e gate.Stored) error {
		if e.Damage != "" {
			return s.unreadable(ctx, op, fmt.Errorf("entry %d: %s", e.Index, e.Damage))
		}
		return each(e)
	}, func(last *gate.Stored) (string, []driver.NamedValue) {
		if last != nil {
			after = last.Seq
		}
		return readAccount, bound(account, int64(after), int64(ReadEntriesMax))
	})
}

// All calls each with the entries of all accounts after index, in commit order, until
// each fails. As with Read, the bytes are as they are stored; a row that cannot be handed
// over whole is told by its Damage, and those behind it follow.
func (s *Store) All(ctx context.Context, after uint64, each func(gate.Stored) error) error {
	from := int64(after)
	if after == 0 {
		from = math.MinInt64 // a row that stands before the first place is no secret
	}
	return s.pages(ctx, "read all", each, func(last *gate.Stored) (string, []driver.NamedValue) {
		if last != nil {
			from = int64(last.Index)
		}
		return readAll, bound(from, int64(ReadEntriesMax))
	})
}

func bound(values ...driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(values))
	for i, v := range values {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// pages reads page after page, each in its own short transaction: a long one would
// keep the log from being moved into the file, and each may take its time.
func (s *Store) pages(ctx context.Context, op string, each func(gate.Stored) error, query func(last *gate.Stored) (string, []driver.NamedValue)) error {
	var last *gate.Stored
	page := make([]gate.Stored, 0, ReadEntriesMax)
	for {
		text, args := query(last)
		var err error
		if page, err = s.readPage(ctx, text, args, page[:0]); err != nil {
			return s.unreadable(ctx, op, err)
		}
		if len(page) == 0 {
			return nil
		}
		for i := range page {
			if err := each(page[i]); err != nil {
				return err
			}
		}
		last = &gate.Stored{Seq: page[len(page)-1].Seq, Index: page[len(page)-1].Index}
		clear(page)
	}
}

// readPage reads entries until there are no more or ReadBytesMax is reached. It asks the
// driver itself: package sql would copy every value once more.
func (s *Store) readPage(ctx context.Context, query string, args []driver.NamedValue, page []gate.Stored) ([]gate.Stored, error) {
	conn, err := s.reads.Conn(ctx)
	if err != nil {
		return nil, err
	}
	err = conn.Raw(func(c any) (err error) {
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, args)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		var row [5]driver.Value
		for bytes := 0; bytes < ReadBytesMax; {
			switch err := rows.Next(row[:]); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			e := storedFrom(&row)
			bytes += len(e.Bytes)
			page = append(page, e)
		}
		return nil
	})
	return page, errors.Join(err, conn.Close())
}

// storedFrom makes an entry of a row.
func storedFrom(row *[5]driver.Value) (e gate.Stored) {
	name, named := row[1].(string)
	e.Account = name
	index, ok := row[0].(int64)
	if !ok || index <= 0 {
		e.Damage = "without a place in commit order"
		return e
	}
	e.Index = uint64(index)
	seq, ok := row[2].(int64)
	if !named || !ok || seq <= 0 {
		e.Damage = "without account and seq that an entry can have"
		return e
	}
	e.Seq = uint64(seq)
	hash, isHash := row[3].([]byte)
	text, isText := row[4].([]byte)
	switch {
	case !isHash || len(hash) != len(e.Hash):
		e.Damage = "without a hash of 32 bytes"
	case !isText:
		e.Damage = fmt.Sprintf("longer than %d bytes, or none", journal.EntryBytesMax)
	default:
		e.Hash, e.Bytes = journal.Hash(hash), text
	}
	return e
}

// Accounts returns every account that has an entry, the control chain included,
// sorted by bytes.
func (s *Store) Accounts(ctx context.Context) (names []string, err error) {
	const op = "read accounts"
	rows, err := s.reads.QueryContext(ctx, readAccounts)
	if err != nil {
		return nil, s.unreadable(ctx, op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.unreadable(ctx, op, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, s.unreadable(ctx, op, err)
	}
	return names, nil
}

// EachHead calls each with the newest entry of every chain, sorted by the bytes of the
// account. As with Read, what is stored is not checked against the entries.
func (s *Store) EachHead(ctx context.Context, each func(account string, head gate.Head)) error {
	const op = "read all heads"
	rows, err := s.reads.QueryContext(ctx, readAllHeads)
	if err != nil {
		return s.unreadable(ctx, op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var seq, hash any
		if err := rows.Scan(&name, &seq, &hash); err != nil {
			return s.unreadable(ctx, op, err)
		}
		head, err := headOf(seq, hash)
		if err != nil {
			return s.unreadable(ctx, op, err)
		}
		each(name, head)
	}
	if err := rows.Err(); err != nil {
		return s.unreadable(ctx, op, err)
	}
	return nil
}

// Snapshots implements gate.Store.
func (s *Store) Snapshots() gate.Snapshots { return s }

// LoadSnapshot implements gate.Snapshots. A snapshot whose digest does not match its
// bytes, or whose head is not on the chain, is no snapshot.
func (s *Store) LoadSnapshot(ctx context.Context, account string) (state []byte, at gate.Head, err error) {
	var seq, hash any
	var digest []byte
	switch err := s.reads.QueryRowContext(ctx, readSnapshot, account).Scan(&seq, &hash, &state, &digest); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, gate.Head{}, nil
	case err != nil:
		return nil, gate.Head{}, s.unreadable(ctx, "load snapshot", err)
	}
	at, err = headOf(seq, hash)
	sum := sha256.Sum256(state)
	if err != nil || string(digest) != string(sum[:]) || len(state) == 0 {
		return nil, gate.Head{}, nil
	}
	return state, at, nil
}

// SaveSnapshot implements gate.Snapshots. One that is older than what is kept is
// dropped without an error; one at a head that the chain never had is refused.
func (s *Store) SaveSnapshot(ctx context.Context, account string, at gate.Head, state []byte) error {
	if err := gate.CheckSnapshot(account, at, state); err != nil {
		return err
	}
	return s.submit(ctx, "save snapshot", nil, &snapshot{account: account, at: at, state: state})
}

// unreadable types an error of reading. Reading never breaks the store.
func (s *Store) unreadable(ctx context.Context, op string, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	reason := reasonOf(err)
	if reason == ReasonFailed {
		reason = ReasonUnreadable
	}
	if s.isClosed() {
		reason = ReasonClosed
	}
	return &UnavailableError{Op: op, Path: s.path, Reason: reason, Err: err}
}
