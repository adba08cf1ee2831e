package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
)

// Create writes an account's genesis. It fails if the account exists. With adopt, the
// broker's cash, positions and open orders are taken over, and OldHead and Reason of
// the genesis say what the new journal replaces.
func Create(ctx context.Context, cfg Config, body journal.Genesis) error {
	if cfg.Store == nil || cfg.Clock == nil {
		return errClosed
	}
	own, control, err := cfg.Store.Heads(ctx, cfg.Account)
	if err != nil {
		return err
	}
	if own.Seq != 0 {
		return fmt.Errorf("account %s exists already, with %d entries", cfg.Account, own.Seq)
	}
	body.Version = cfg.Version
	at := cfg.Clock.Read().Market.UTC()
	text, hash, err := journal.Seal(cfg.Account, 1, journal.Hash{}, at, "", journal.KindGenesis, body)
	if err != nil {
		return err
	}
	if err := account.New(cfg.Account).Apply(text, hash); err != nil {
		return fmt.Errorf("genesis of %s: %w", cfg.Account, err)
	}
	return cfg.Store.Append(ctx, &Batch{
		Account: cfg.Account, Control: &control,
		Entries: []Stored{{Account: cfg.Account, Seq: 1, Hash: hash, Bytes: text}},
	})
}

// LimitsMismatchError says that a valid document is not for this account.
type LimitsMismatchError struct{ Field, Document, Gate string }

func (e *LimitsMismatchError) Error() string {
	return fmt.Sprintf("the document's %s is %q, this is %q", e.Field, e.Document, e.Gate)
}

// LoadLimits puts a document in force by appending it, with what it tightens and
// loosens. The same figures again append nothing. A document that is not valid, or
// not for this account, appends nothing: the old figures stay, and until a valid load
// this gate passes only reducing orders.
func (g *Gate) LoadLimits(ctx context.Context, name string, text []byte, who string) (changes []limits.Change, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	doc, err := limits.Load(name, text)
	if err == nil {
		err = g.fits(doc)
	}
	if err != nil {
		g.invalidate()
		return nil, err
	}
	if err := g.catchUp(ctx); err != nil {
		return nil, err
	}
	_, err = g.commit(ctx, func() ([]draft, time.Time, error) {
		changes = nil
		if g.state.Fingerprint == doc.Fingerprint {
			return nil, time.Time{}, nil
		}
		changes = limits.Diff(g.doc, doc)
		body := journal.Limits{Fingerprint: doc.Fingerprint, Text: string(text), Who: who}
		for _, c := range changes {
			switch c.Effect {
			case limits.Tightens:
				body.Tightens = append(body.Tightens, c.Key)
			case limits.Loosens:
				body.Loosens = append(body.Loosens, c.Key)
			}
		}
		return []draft{{journal.KindLimits, body}}, g.now().at, nil
	})
	if err != nil {
		return changes, err
	}
	g.limitsInvalid = false
	if g.cfg.BadLimits != nil {
		err = g.cfg.BadLimits.Done()
	}
	return changes, err
}

// InvalidateLimits records that the document could not even be read: until a valid
// load this gate passes only reducing orders.
func (g *Gate) InvalidateLimits() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.invalidate()
}

// invalidate notes a failed load, for this process and for all others. The caller holds
// mu.
func (g *Gate) invalidate() {
	g.limitsInvalid, g.markedInvalid = true, false
	if g.cfg.BadLimits == nil {
		return
	}
	err := g.cfg.BadLimits.Request("the newest limits did not load")
	g.markedInvalid = err == nil
	if err != nil {
		g.log.Error("other processes were not told that the limits did not load", "account", g.cfg.Account, "error", err)
	}
}

// badLimits reports whether the newest load failed, here or in another process. A mark
// that this process made and that is gone was ended by a valid load elsewhere.
func (g *Gate) badLimits() bool {
	if g.cfg.BadLimits != nil {
		if _, bad := g.cfg.BadLimits.Requested(); bad {
			return true
		}
		return g.limitsInvalid && !g.markedInvalid
	}
	return g.limitsInvalid
}

// fits says whether a document is for this gate's account.
func (g *Gate) fits(doc *limits.Document) error {
	mode, want := "paper", limits.Paper
	if g.cfg.Live {
		mode, want = "live", limits.Live
	}
	switch {
	case doc.Account != g.cfg.Account:
		return &LimitsMismatchError{"account", doc.Account, g.cfg.Account}
	case doc.Mode != want:
		other := "paper"
		if doc.Mode == limits.Live {
			other = "live"
		}
		return &LimitsMismatchError{"mode", other, mode}
	case doc.Calendar != g.cfg.Calendar.MIC():
		return &LimitsMismatchError{"calendar", doc.Calendar, g.cfg.Calendar.MIC()}
	case g.state != nil && g.state.Started && doc.Currency != g.state.Currency:
		return &LimitsMismatchError{"currency", doc.Currency, g.state.Currency}
	}
	return nil
}

// SetMode changes the account's mode. Only an operator's call may lower it.
func (g *Gate) SetMode(ctx context.Context, m journal.Mode) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	return g.setMode(ctx, m)
}

func (g *Gate) setMode(ctx context.Context, m journal.Mode) error {
	if m.Reason == "" || m.Who == "" || m.By == "" {
		return errors.New("a mode needs a reason, and who set it")
	}
	m.Reason = journal.BoundText(m.Reason, ReasonBytesMax)
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		return []draft{{journal.KindMode, m}}, g.now().at, nil
	})
	return err
}

// SetModeForAll changes the mode that binds every account of a journal. It needs no
// account, so that it works when an account's own chain cannot be folded.
func SetModeForAll(ctx context.Context, store Store, clock Clock, m journal.Mode) error {
	if store == nil || clock == nil {
		return errClosed
	}
	if m.Reason == "" || m.Who == "" || m.By == "" {
		return errors.New("a mode needs a reason, and who set it")
	}
	m.Reason = journal.BoundText(m.Reason, ReasonBytesMax)
	ctx, cancel := context.WithTimeout(ctx, AppendWithin)
	defer cancel()
	for try := 0; ; try++ {
		control := account.NewControl()
		err := store.Read(ctx, journal.ControlAccount, 0, func(s Stored) error { return control.Apply(s.Bytes, s.Hash) })
		if err != nil {
			return err
		}
		at := clock.Read().Market.UTC()
		if at.Before(control.At) {
			at = control.At
		}
		text, hash, err := journal.Seal(journal.ControlAccount, control.Seq+1, control.Head, at, "", journal.KindMode, m)
		if err != nil {
			return err
		}
		err = store.Append(ctx, &Batch{
			Account: journal.ControlAccount, Expect: Head{Seq: control.Seq, Hash: control.Head},
			Entries: []Stored{{Account: journal.ControlAccount, Seq: control.Seq + 1, Hash: hash, Bytes: text}},
		})
		var conflict *ConflictError
		if !errors.As(err, &conflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}
