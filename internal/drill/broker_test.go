package drill

import (
	"context"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// transit is a message on its way.
type transit struct {
	sealed  gate.Sealed
	message gate.Message
	until   time.Time // by the broker's clock: it arrives by then or never, but at the paper broker
	awake   time.Time // when it was sent, by the clock that its sender waits by
}

// lost reports whether a message does not arrive any more: its time is over by the broker's
// clock, which the paper broker judges by itself, or its sender has given up.
func (w *world) lost(x *transit) bool {
	if w.shape.paper {
		return time.Since(x.awake) >= gate.ReplyWithin
	}
	return w.truth.Now().After(x.until)
}

// line is the broker as one process reaches it.
type line struct {
	w *world
	p *process
}

// Send implements gate.Broker. The gate's lock is not held meanwhile.
func (l *line) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	w, t := l.w, l.w.current
	m, err := s.Open()
	if err != nil {
		w.fail("what is sent was released", "%v", err)
		return gate.Reply{}
	}
	w.oracle.released(t, &m)
	t.phase = phaseOutcome
	t.sending = &transit{s, m, w.truth.Now().Add(gate.ReplyWithin), time.Now()}
	w.park(false)
	kind := w.fault("send", l.kinds()...)
	switch kind {
	case "lost":
		w.note("%s: %s never arrives", t, m.ClientOrderID)
		t.sending = nil
		w.park(false)
		return gate.Reply{Reason: "timeout"}
	case "delayed":
		w.delayed = append(w.delayed, t.sending)
		t.sending = nil
		w.park(false)
		return gate.Reply{Reason: "timeout"}
	case "died before":
		w.die()
	case "panicked before":
		t.sending = nil
		panic("drill: a fault in the broker's adapter")
	}
	l.script(&m, kind)
	reply := w.arrives(ctx, t.sending)
	t.sending = nil
	switch kind {
	case "died after":
		w.die()
	case "panicked after":
		panic("drill: a fault in the broker's adapter")
	}
	w.park(false)
	t.foreign = reply.Result == gate.ReplyAccepted && m.Action != order.ActionCancel &&
		slices.Contains([]string{"other symbol", "other side", "other quantity", "no broker id"}, kind)
	return changed(reply, kind)
}

// kinds of faults of a message. One that arrives after its reply was given up is not the
// paper broker's: it is in this process's memory, or a file beside the journal.
func (l *line) kinds() []string {
	kinds := []string{
		"lost", "unanswered", "other symbol", "other side", "other quantity", "no broker id", "empty reply", "rejected",
		"died before", "died after", "panicked before", "panicked after", "fills told twice", "late fill", "partial fill", "duplicate fill",
	}
	if !l.w.shape.paper {
		kinds = append(kinds, "delayed", "delayed")
	}
	return kinds
}

// script tells the paper broker what to do with the message.
func (l *line) script(m *gate.Message, kind string) {
	faults := map[string]paper.FaultKind{
		"rejected": paper.FaultReject, "late fill": paper.FaultLateFill, "partial fill": paper.FaultPartial, "duplicate fill": paper.FaultDuplicateFill,
	}
	scripted := faults[kind]
	if scripted == paper.FaultNone {
		return
	}
	if scripted == paper.FaultLateFill {
		units := whole(m.Quantity)
		if m.Action == order.ActionCancel {
			found, err := l.w.broker.Find(context.Background(), m.TargetClientID)
			must(l.w.t, err)
			units = whole(found.Order.Quantity)
		}
		l.w.oracle.excuse(m.Instrument.Symbol, units)
	}
	must(l.w.t, l.w.broker.Inject(context.Background(), paper.Fault{Kind: scripted}))
}

// changed is the reply as it reaches the gate.
func changed(r gate.Reply, kind string) gate.Reply {
	switch kind {
	case "unanswered":
		return gate.Reply{Reason: "timeout"}
	case "empty reply":
		return gate.Reply{}
	case "other symbol":
		r.Symbol = "NVDA"
	case "other side":
		r.Side = order.Buy + order.Sell - r.Side
	case "other quantity":
		r.Quantity, _ = r.Quantity.Add(quantity(1))
	case "no broker id":
		r.BrokerID = ""
	case "fills told twice":
		r.Fills = slices.Concat(r.Fills, r.Fills)
	}
	return r
}

// arrives hands a message to the broker.
func (w *world) arrives(ctx context.Context, x *transit) gate.Reply {
	if w.lost(x) {
		return gate.Reply{Reason: "timeout"}
	}
	reply := w.broker.Send(ctx, x.sealed)
	w.note("the broker has %s %s: %v %s", x.message.Action, x.message.ClientOrderID, reply.Result, reply.Reason)
	if reply.Result == gate.ReplyAccepted {
		w.oracle.took(&x.message)
	}
	return reply
}

// Events implements gate.Broker. What is told again, or in another order, is what a stream
// does after a lost connection.
func (l *line) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	w := l.w
	w.park(true)
	kind := w.fault("events", "failed", "panicked", "told twice", "reordered", "withheld")
	switch kind {
	case "failed":
		return nil, errInjected
	case "panicked":
		w.panics(l.p)
	}
	events, err := w.broker.Events(ctx, cursor)
	if err != nil || len(events) == 0 {
		return events, err
	}
	n := w.current.draw("events", w.seed)
	switch kind {
	case "told twice":
		again := events[n%len(events)]
		again.Cursor = events[len(events)-1].Cursor
		events = append(events, again)
		w.hit("events", "an event told twice", w.current.phase)
	case "reordered":
		reorder(w, events, n)
	case "withheld":
		events = events[:n%len(events)]
		w.hit("events", "late", w.current.phase)
	}
	w.park(true)
	return events, nil
}

func (t *task) draw(name string, seed uint64) int { return at(seed, name, t.id, t.calls).n(1 << 16) }

// reorder exchanges two neighbours that are fills or ends of orders of ours. The cursors
// stay where they were.
func reorder(w *world, events []gate.Event, n int) {
	for i := range len(events) - 1 {
		a, b := (n+i)%(len(events)-1), (n+i)%(len(events)-1)+1
		ours := func(e *gate.Event) bool {
			return e.ClientOrderID != "" && (e.Kind == gate.EventFill || e.Kind == gate.EventEnded)
		}
		if ours(&events[a]) && ours(&events[b]) {
			events[a], events[b] = events[b], events[a]
			events[a].Cursor, events[b].Cursor = events[b].Cursor, events[a].Cursor
			w.hit("events", "two reordered", w.current.phase)
			return
		}
	}
}

// Account implements gate.Broker.
func (l *line) Account(ctx context.Context) (gate.BrokerAccount, error) {
	w := l.w
	w.park(w.locks())
	kinds := []string{"failed", "panicked"}
	if w.locks() && w.picture != nil {
		kinds = append(kinds, "stale") // figures may be; a picture to reconcile by is of one instant
	}
	switch w.fault("account", kinds...) {
	case "failed":
		return gate.BrokerAccount{}, errInjected
	case "panicked":
		w.panics(l.p)
	case "stale":
		return *w.picture, nil
	}
	seen, err := w.broker.Account(ctx)
	if err == nil {
		w.picture = &seen
	}
	w.park(w.locks())
	return seen, err
}

// locks reports whether the running task holds its gate's lock while it asks the broker
// for the account or an order: a reconciliation does not.
func (w *world) locks() bool { return w.current != nil && w.current.name != "reconcile" }

// Find implements gate.Broker.
func (l *line) Find(ctx context.Context, clientOrderID string) (gate.Standing, error) {
	w := l.w
	w.park(w.locks())
	switch w.fault("find", "failed", "panicked") {
	case "failed":
		return gate.Standing{}, errInjected
	case "panicked":
		w.panics(l.p)
	}
	found, err := w.broker.Find(ctx, clientOrderID)
	w.park(w.locks())
	return found, err
}

// feed is the source of quotes as one process reaches it.
type feed struct {
	w *world
	p *process
}

// Instrument implements gate.Quotes.
func (f *feed) Instrument(ctx context.Context, symbol string) (order.Instrument, bool, error) {
	switch f.w.fault("instrument", "failed", "unknown", "panicked") {
	case "failed":
		return order.Instrument{}, false, errInjected
	case "unknown":
		return order.Instrument{}, false, nil
	case "panicked":
		f.w.panics(f.p)
	}
	return f.w.market.Instrument(ctx, symbol)
}

// Quote implements gate.Quotes.
func (f *feed) Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	q, err := f.w.market.Quote(ctx, symbol, now)
	switch f.w.fault("quote", "failed", "absent", "stale", "crossed", "other symbol", "one-sided", "panicked") {
	case "failed":
		return market.Quote{}, errInjected
	case "absent":
		return market.Quote{}, nil
	case "stale":
		q.At = q.At.Add(-time.Minute)
	case "crossed":
		q.Bid, q.Ask = q.Ask, q.Bid
	case "other symbol":
		q.Symbol = "NVDA"
	case "one-sided":
		q.HasAsk = false
	case "panicked":
		f.w.panics(f.p)
	}
	return q, err
}

// LastValid implements gate.Quotes.
func (f *feed) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	switch f.w.fault("last valid quote", "failed", "absent") {
	case "failed":
		return market.Quote{}, errInjected
	case "absent":
		return market.Quote{}, nil
	}
	return f.w.market.LastValid(ctx, symbol, now, since)
}

// PreviousClose implements gate.Quotes.
func (f *feed) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	if f.w.fault("previous close", "failed") != "" {
		return market.Quote{}, errInjected
	}
	return f.w.market.PreviousClose(ctx, symbol, now)
}
