package adversary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/memory"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// sceneFile holds the events of a scene that a server of its own process follows.
const sceneFile = "scene.jsonl"

// site is where installations keep their journal and their ledgers: in memory, or in the
// files of a folder. Several attackers may share one.
type site struct {
	dir   string // empty: in memory
	store gate.Store
	close func() error
}

// newSite makes a place; with files, in a folder of its own that close removes.
func newSite(ctx context.Context, files bool) (*site, error) {
	if !files {
		return &site{store: memory.New(), close: func() error { return nil }}, nil
	}
	dir, err := os.MkdirTemp("", "rails-adversarial-")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Create: true})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &site{dir: dir, store: store, close: func() error { return errors.Join(store.Close(), os.RemoveAll(dir)) }}, nil
}

// folder is where an account's ledger and scene stand; empty in memory. It is where
// rails serve looks for them.
func (s *site) folder(account string) string {
	if s.dir == "" || account == plainAccount {
		return s.dir
	}
	return filepath.Join(s.dir, "accounts", account)
}

// ledger opens the broker's record of an account, and makes it.
func (s *site) ledger(ctx context.Context, account string, start paper.Start) (*paper.Ledger, error) {
	dir := s.folder(account)
	if dir == "" {
		return paper.InMemory(start), nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return paper.OpenFile(ctx, dir, start)
}

// startOf is what a case's ledger begins with.
func startOf(c *Case, wall, market time.Time) paper.Start {
	return paper.Start{Seed: 1, Cash: c.begin.cash, Wall: wall, Market: market}
}
