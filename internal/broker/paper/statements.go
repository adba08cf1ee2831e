package paper

import (
	"context"
	"database/sql"
	"sync"
)

// statementsMax bounds how many statements a ledger keeps prepared; it has about twenty.
const statementsMax = 64

// statements are a ledger's prepared statements, by their text. SQLite takes longer to
// read a statement than to run it. They are made between transactions: the one connection
// is then free. One that is not there yet is read from its text.
type statements struct {
	mu      sync.Mutex // guards all below
	ready   map[string]*sql.Stmt
	missing []string
}

// find returns the statement with this text, and notes it as missing if there is none.
func (s *statements) find(text string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, asked := s.ready[text]
	if asked || len(s.ready) == statementsMax {
		return known
	}
	if s.ready == nil {
		s.ready = make(map[string]*sql.Stmt)
	}
	s.ready[text] = nil
	s.missing = append(s.missing, text)
	return nil
}

// prepare makes what was missing. One that fails is missing again: whoever runs its text
// is told what is wrong. They end with the connection.
func (s *statements) prepare(ctx context.Context, db *sql.DB) {
	s.mu.Lock()
	missing := s.missing
	s.missing = nil
	s.mu.Unlock()
	for _, text := range missing {
		made, err := db.PrepareContext(ctx, text)
		s.mu.Lock()
		if s.ready[text] = made; err != nil {
			delete(s.ready, text)
		}
		s.mu.Unlock()
	}
}

func (t table) exec(text string, args ...any) (sql.Result, error) {
	if known := t.known.find(text); known != nil {
		return t.tx.StmtContext(t.ctx, known).ExecContext(t.ctx, args...)
	}
	return t.tx.ExecContext(t.ctx, text, args...)
}

func (t table) query(text string, args ...any) (*sql.Rows, error) {
	if known := t.known.find(text); known != nil {
		return t.tx.StmtContext(t.ctx, known).QueryContext(t.ctx, args...)
	}
	return t.tx.QueryContext(t.ctx, text, args...)
}

func (t table) row(text string, args ...any) *sql.Row {
	if known := t.known.find(text); known != nil {
		return t.tx.StmtContext(t.ctx, known).QueryRowContext(t.ctx, args...)
	}
	return t.tx.QueryRowContext(t.ctx, text, args...)
}
