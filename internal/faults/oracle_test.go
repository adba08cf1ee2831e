//go:build unix

package faults

import (
	"context"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// truth is what the broker's ledger and the journal say after a history.
type truth struct {
	placed  int // new orders that took effect at the broker
	allowed int // decisions
	state   *account.State
}

// oracle holds the broker's ledger against the journal: no order without an earlier
// durable decision with the same digest, none twice, chain intact, every verdict
// derived again, and the fold equal to the broker once all doubts are resolved.
func oracle(t *testing.T, dir string, later time.Duration) truth {
	t.Helper()
	ctx := t.Context()
	d, err := newDesk(ctx, dir, later, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := d.gate.Start(ctx); err != nil {
		t.Fatal(err)
	}
	decided := map[string]time.Time{}
	source := func(ctx context.Context, each func(audit.Item) error) error {
		return d.store.All(ctx, 0, func(s gate.Stored) error {
			noteDecision(t, decided, s)
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
	report, err := audit.Verify(ctx, source, audit.Options{Calendar: d.config.Calendar})
	if err != nil {
		t.Fatal(err)
	}
	out := truth{}
	for _, f := range report.Failed() {
		t.Errorf("audit: %v", f)
	}
	for _, a := range report.Accounts {
		if a.Rederived != a.Decisions {
			t.Errorf("%s: %d of %d decisions derived again", a.Account, a.Rederived, a.Decisions)
		}
		if a.Account == "paper" {
			out.state, out.allowed = a.State, a.Allowed
			t.Logf("%d decisions, %d allowed, %d errors, denied by %v", a.Decisions, a.Allowed, a.Errors, a.DeniedBy)
		}
	}
	out.placed = holdMessages(t, d.paper, decided)
	holdAccount(t, d.paper, out.state)
	return out
}

func noteDecision(t *testing.T, decided map[string]time.Time, s gate.Stored) {
	e, err := journal.Decode(s.Bytes)
	if err != nil || e.Kind != journal.KindDecision {
		return
	}
	body, err := journal.DecodeBody[journal.Decision](&e)
	if err != nil {
		t.Error(err)
		return
	}
	if body.Verdict == journal.VerdictAllowed {
		decided[journal.ClientOrderID(s.Account, s.Seq, s.Hash)] = e.At.Time
	}
}

func holdMessages(t *testing.T, broker *paper.Broker, decided map[string]time.Time) (placed int) {
	t.Helper()
	messages, err := broker.Ledger().Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range messages {
		at, ok := decided[m.ClientOrderID]
		switch {
		case !ok:
			t.Errorf("message %d at the broker has no allowed decision in the journal", m.N)
		case !at.Equal(m.DecidedAt):
			t.Errorf("message %d was decided at %v, its entry says %v", m.N, m.DecidedAt, at)
		case seen[m.ClientOrderID]:
			t.Errorf("message %d was sent twice", m.N)
		}
		seen[m.ClientOrderID] = true
	}
	orders, err := broker.Ledger().Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		if o.State != paper.Rejected {
			placed++
		}
	}
	return placed
}

func holdAccount(t *testing.T, broker *paper.Broker, s *account.State) {
	t.Helper()
	if s == nil {
		t.Error("the journal does not fold")
		return
	}
	seen, err := broker.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Cash != seen.Cash {
		t.Errorf("the fold has cash %s, the broker %s", s.Cash, seen.Cash)
	}
	for _, p := range seen.Positions {
		if h := s.Holding(p.Instrument.Symbol); h == nil || h.Position != p.Quantity {
			t.Errorf("fold and broker differ in %s", p.Instrument.Symbol)
		}
	}
	if len(s.Orders) != len(seen.Orders) {
		t.Errorf("the fold has %d open orders, the broker %d", len(s.Orders), len(seen.Orders))
	}
	for _, o := range s.Orders {
		if o.Side == order.SideNone {
			t.Errorf("order %s has no side", o.ID)
		}
	}
}
