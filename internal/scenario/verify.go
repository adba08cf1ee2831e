package scenario

import (
	"context"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// verify asks of every story what is asked of every journal: is it intact, does it
// fold, is each verdict given again, and does the account agree with the broker.
func (w *world) verify(ctx context.Context, r *Result) error {
	source := func(ctx context.Context, each func(audit.Item) error) error {
		return w.store.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
	report, err := audit.Verify(ctx, source, audit.Options{Calendar: w.options.Calendar})
	if err != nil {
		return err
	}
	for _, f := range report.Failed() {
		r.fail(-1, 0, "the journal does not verify: %v", f)
	}
	for _, a := range report.Accounts {
		r.Decided += a.Rederived
		if a.NotRederived > 0 {
			r.fail(-1, 0, "%d decisions were not derived again", a.NotRederived)
		}
		if a.Account == w.doc.Account && a.State != nil {
			if err := w.agree(ctx, a.State, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// agree holds the fold against what the broker shows. Symbols whose position the
// scenario has the broker show otherwise, and cash after a fill by hand, are told apart
// by a reconciliation and not here.
func (w *world) agree(ctx context.Context, s *account.State, r *Result) error {
	ledger := w.paper.Ledger()
	held, err := ledger.Positions(ctx)
	if err != nil {
		return err
	}
	broker := map[string]money.Quantity{}
	for _, p := range held {
		broker[p.Instrument.Symbol] = p.Quantity
	}
	for i := range s.Holdings {
		h := &s.Holdings[i]
		symbol := h.Instrument.Symbol
		have := broker[symbol]
		delete(broker, symbol)
		if _, otherwise := w.broker.shown[symbol]; have != h.Position && !otherwise && !w.byHand {
			r.fail(-1, 0, "%s: the journal comes to %s, the broker holds %s", symbol, h.Position, have)
		}
	}
	for symbol, have := range broker {
		if _, otherwise := w.broker.shown[symbol]; !otherwise && !w.byHand {
			r.fail(-1, 0, "%s: the journal comes to 0, the broker holds %s", symbol, have)
		}
	}
	cash, err := ledger.Cash(ctx)
	if err == nil && cash != s.Cash && !w.byHand {
		r.fail(-1, 0, "cash: the journal comes to %s, the broker holds %s", s.Cash, cash)
	}
	return w.onceEach(ctx, s, r, err)
}

// onceEach holds every message at the broker against the decisions: none without one,
// none twice.
func (w *world) onceEach(ctx context.Context, s *account.State, r *Result, err error) error {
	if err != nil {
		return err
	}
	sent, err := w.paper.Ledger().Messages(ctx)
	if err != nil {
		return err
	}
	allowed := map[string]bool{}
	err = w.store.Read(ctx, s.Account, 0, func(e gate.Stored) error {
		entry, err := journal.Decode(e.Bytes)
		if err != nil || entry.Kind != journal.KindDecision {
			return err
		}
		body, err := journal.DecodeBody[journal.Decision](&entry)
		if err == nil && body.Verdict == journal.VerdictAllowed {
			allowed[journal.ClientOrderID(e.Account, e.Seq, e.Hash)] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range sent {
		if !allowed[m.ClientOrderID] {
			r.fail(-1, 0, "message %d went to the broker without a decision, or twice", m.N)
		}
		delete(allowed, m.ClientOrderID)
	}
	return nil
}
