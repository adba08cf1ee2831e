package tamper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// Bounds of a journal that is forged: it is held in memory.
const (
	EntriesMax   = 200_000
	bookBytesMax = 256 << 20
)

// book is a journal's rows in commit order.
type book []gate.Stored

// ErrUnfit says that a journal has nothing to forge, or is too long to.
var ErrUnfit = errors.New("this journal cannot be used")

func readBook(ctx context.Context, store *sqlite.Store) (b book, err error) {
	total := 0
	err = store.All(ctx, 0, func(s gate.Stored) error {
		if total += len(s.Bytes); len(b) == EntriesMax || total > bookBytesMax {
			return fmt.Errorf("%w: it has more than %d entries or %d bytes", ErrUnfit, EntriesMax, bookBytesMax)
		}
		if s.Damage != "" {
			return fmt.Errorf("%w: row %d is %s", ErrUnfit, s.Index, s.Damage)
		}
		b = append(b, s)
		return nil
	})
	return b, err
}

// write puts the rows in the place of those in the copy of a journal in dir, with the
// heads that go with them, as the owner of the file can: its triggers stop nobody, and
// the folded states are only a cache.
func (b book) write(ctx context.Context, dir string) (err error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for _, text := range []string{
		`DROP TRIGGER IF EXISTS entry_is_final`, `DROP TRIGGER IF EXISTS entry_stays`, `DROP TRIGGER IF EXISTS head_stays`,
		`DELETE FROM snapshot`, `DELETE FROM head`, `DELETE FROM entry`,
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	for i := range b {
		e := &b[i]
		if _, err := tx.ExecContext(ctx, `INSERT INTO entry (idx, account, seq, hash, bytes) VALUES (?, ?, ?, ?, ?)`,
			int64(e.Index), e.Account, int64(e.Seq), e.Hash[:], e.Bytes); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO head (account, seq, hash) VALUES (?1, ?2, ?3)
			ON CONFLICT (account) DO UPDATE SET seq = ?2, hash = ?3`, e.Account, int64(e.Seq), e.Hash[:]); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// resealed gives every entry the prev that follows from the one before it on its chain,
// and every row the hash of its bytes: what recomputes a chain.
func (b book) resealed() (book, error) {
	out := slices.Clone(b)
	heads := map[string]journal.Hash{}
	for i := range out {
		e, err := journal.Envelope(out[i].Bytes)
		if err != nil {
			return nil, err
		}
		e.Prev = heads[out[i].Account]
		if out[i].Bytes, err = journal.Encode(&e); err != nil {
			return nil, err
		}
		out[i].Hash = journal.HashOf(out[i].Bytes)
		heads[out[i].Account] = out[i].Hash
	}
	return out, nil
}
