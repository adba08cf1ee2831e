package gate

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// Every how often Run looks after an account.
const (
	TickEvery      = time.Second
	ReconcileEvery = 30 * time.Second
)

// Start reconciles once, and records the orders that the journal leaves in doubt.
// The process that owns the broker calls it before it serves.
func (g *Gate) Start(ctx context.Context) (err error) {
	defer g.recovered(ctx, func() { err = errClosed })
	found, err := g.Reconcile(ctx, nil)
	if err != nil {
		return err
	}
	if len(found.StillDoubt) == 0 && len(found.Resolved) == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := journal.Recovery{InDoubt: found.StillDoubt, Version: g.cfg.Version}
	for _, r := range found.Resolved {
		body.Note += r.OrderID + " " + r.Result + "; "
	}
	body.Note = journal.BoundText(body.Note, ReasonBytesMax)
	_, err = g.commit(ctx, func() ([]draft, time.Time, error) {
		return []draft{{journal.KindRecovery, body}}, g.now().at, nil
	})
	return err
}

// Run looks after the account until ctx ends: other processes' entries, the broker's
// events, the opening equity, counted refusals, reconciliation.
func (g *Gate) Run(ctx context.Context) {
	tick := time.NewTicker(TickEvery)
	defer tick.Stop()
	reconciled := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(reconciled) >= ReconcileEvery {
			reconciled = time.Now()
			if _, err := g.Reconcile(ctx, nil); err != nil && ctx.Err() == nil {
				g.log.Warn("not reconciled", "account", g.cfg.Account, "error", err)
			}
			continue
		}
		if err := g.Tick(ctx); err != nil && ctx.Err() == nil {
			g.log.Warn("tick", "account", g.cfg.Account, "error", err)
		}
	}
}

// Tick does once what Run does every TickEvery, without reconciling.
func (g *Gate) Tick(ctx context.Context) (err error) {
	defer g.recovered(ctx, func() { err = errClosed })
	ctx, cancel := context.WithTimeout(ctx, AskWithin)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	if err := g.prepare(ctx); err != nil {
		return err
	}
	_, err = g.flushSpent(ctx, false)
	return err
}
