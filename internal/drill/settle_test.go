package drill

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
)

// settle ends the faults, lets everything arrive that still can, starts what is down, and
// reconciles. Then nothing may be open: broker, journal and every process say the same.
func (w *world) settle() {
	w.note("quiet")
	w.calm, w.full = true, false
	for len(w.parked) > 0 && w.failed == nil {
		w.turn(w.waiting(0))
	}
	for len(w.delayed) > 0 {
		w.deliverStep()
	}
	// Nobody judges by a time before the newest entry's: a clock that was set back holds
	// everything up, so someone sets it right.
	if behind := w.oracle.state.At.Sub(w.clock.Now()); behind > 0 {
		w.clock.StepWall(behind)
	}
	w.advance(45*time.Second, false) // what is in flight comes into doubt
	for _, p := range w.processes {
		if p.up && p.broken == "" {
			continue
		}
		w.crash(p)
		w.openStep(p, 1_000_000+p.n)
	}
	for round := range 3 {
		for _, p := range w.processes {
			w.settleOne(p, 2_000_000+10*round+p.n)
		}
		w.advance(31*time.Second, false)
	}
	if w.failed == nil {
		w.oracle.look()
		w.oracle.agree()
		w.oracle.audit()
	}
}

func (w *world) settleOne(p *process, id int) {
	if w.failed != nil {
		return
	}
	var err error
	var adopt *gate.Adopt
	if w.silent {
		adopt = &gate.Adopt{Who: "operator", Reason: "the broker is right"}
	}
	w.spawn(p, id, "reconcile", phaseReconcile, func(ctx context.Context) { _, err = p.gate.Reconcile(ctx, adopt) })
	if err != nil {
		// A process that cannot trust its journal any more has to be started anew.
		w.note("process %d starts anew: %v", p.n, err)
		w.crash(p)
		w.openStep(p, id+100_000)
		if w.failed == nil && !p.up {
			w.fail("a process starts again", "process %d does not", p.n)
		}
	}
}

// agree holds the fold of what is stored, and every process's, against the broker.
func (o *oracle) agree() {
	w, ctx := o.w, context.Background()
	seen, err := w.broker.Account(ctx)
	must(w.t, err)
	if o.state.Cash != seen.Cash {
		w.fail("the fold is the broker's account", "cash %s, the broker has %s", o.state.Cash, seen.Cash)
	}
	held := map[string]bool{}
	for _, p := range seen.Positions {
		held[p.Instrument.Symbol] = true
		if h := o.state.Holding(p.Instrument.Symbol); h == nil || h.Position != p.Quantity {
			w.fail("the fold is the broker's account", "the broker holds %s of %s", p.Quantity, p.Instrument.Symbol)
		}
	}
	for i := range o.state.Holdings {
		if h := &o.state.Holdings[i]; !h.Position.IsZero() && !held[h.Instrument.Symbol] {
			w.fail("the fold is the broker's account", "%s of %s, the broker has none", h.Position, h.Instrument.Symbol)
		}
	}
	o.agreeOrders(seen.Orders)
	for _, p := range w.processes {
		must(w.t, p.gate.View(ctx, func(v gate.View) {
			if v.State.Digest() != o.state.Digest() {
				w.fail("every process folds to the same", "process %d does not", p.n)
			}
		}))
	}
}

// agreeOrders holds the open orders against the broker's, both ways.
func (o *oracle) agreeOrders(open []journal.BrokerOrder) {
	w := o.w
	byID := map[string]*journal.BrokerOrder{}
	for i := range open {
		byID[nameOf(open[i].ClientOrderID, open[i].BrokerID)] = &open[i]
	}
	now := w.clock.Now()
	if o.state.At.After(now) {
		now = o.state.At
	}
	for _, x := range o.state.Orders {
		at := byID[nameOf(x.ClientOrderID, x.BrokerID)]
		delete(byID, nameOf(x.ClientOrderID, x.BrokerID))
		switch {
		case x.InDoubt(now) || x.Stage != account.Working || x.Pending != nil:
			w.fail("doubt ends", "%s is %s after a reconciliation, pending %v", x.ID, x.Status(now), x.Pending)
		case at == nil:
			w.fail("the fold is the broker's account", "%s is open, and not at the broker", x.ID)
		case at.Quantity != x.Quantity || at.Filled != x.Filled || at.LimitPrice != x.LimitPrice:
			w.fail("the fold is the broker's account", "%s is %s of %s at %s, at the broker %s of %s at %s", x.ID,
				x.Filled, x.Quantity, x.LimitPrice, at.Filled, at.Quantity, at.LimitPrice)
		}
	}
	for i := range open {
		if x := &open[i]; byID[nameOf(x.ClientOrderID, x.BrokerID)] != nil {
			w.fail("the fold is the broker's account", "the broker has %s %s open, the fold has not", x.BrokerID, x.ClientOrderID)
		}
	}
	if d := o.state.Reconciled.Differences; len(d) > 0 {
		w.fail("differences end", "%v", d)
	}
}

// nameOf is what both sides know an order by: a fill may prove an order of ours to be at the
// broker before anything tells the broker's own id of it.
func nameOf(clientOrderID, brokerID string) string {
	if clientOrderID != "" {
		return clientOrderID
	}
	return brokerID
}

// audit asks the audit's three questions.
func (o *oracle) audit() {
	w := o.w
	source := func(ctx context.Context, each func(audit.Item) error) error {
		return w.store.all(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
	report, err := audit.Verify(context.Background(), source, audit.Options{Calendar: market.XNYS()})
	must(w.t, err)
	for _, f := range report.Failed() {
		w.fail("the journal verifies", "%v", f)
	}
	for _, a := range report.Accounts {
		if a.Rederived != a.Decisions {
			w.fail("every verdict is derived again", "%d of %d", a.Rederived, a.Decisions)
		}
		if a.Account == accountName && a.State != nil && a.State.Digest() != o.state.Digest() {
			w.fail("the audit folds to the same", "it does not")
		}
	}
	o.once()
}

// once asks the broker's own record, at the end, for what came twice.
func (o *oracle) once() {
	messages, err := o.w.broker.Ledger().Messages(context.Background())
	must(o.w.t, err)
	seen := map[string]paper.Message{}
	for _, m := range messages {
		if first, twice := seen[m.ClientOrderID]; twice {
			o.w.fail("nothing is sent twice", "%s is message %d and message %d", m.ClientOrderID, first.N, m.N)
		}
		seen[m.ClientOrderID] = m
	}
}
