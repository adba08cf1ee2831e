package gate

import (
	"context"
	"errors"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// EventsPerBatchMax bounds how many broker events one batch takes.
const EventsPerBatchMax = 256

// EventPagesMax bounds how many batches of events are taken at once: more than an account
// sees in years. A broker that goes on telling is not believed.
const EventPagesMax = 1024

var errEventsEndless = errors.New("the broker's events do not come to an end")

// takeEvents journals what happened at the broker since the cursor. The caller holds mu.
func (g *Gate) takeEvents(ctx context.Context) error {
	if g.cfg.Broker == nil {
		return nil
	}
	for range EventPagesMax {
		var page eventPage
		_, err := g.commit(ctx, func() (drafts []draft, at time.Time, err error) {
			drafts, page, err = g.eventDrafts(ctx)
			return drafts, g.now().at, err
		})
		if err != nil {
			return err
		}
		g.cursor = page.cursor
		if !page.more {
			return nil
		}
	}
	return brokerUnread(errEventsEndless)
}

// eventPage says how far a page of events reaches. Whoever made its entries durable
// moves the gate's cursor to it, and nobody before.
type eventPage struct {
	cursor string
	more   bool
}

// eventDrafts reads one page of events and turns what is new into entries. Events that
// the journal knows already make none.
func (g *Gate) eventDrafts(ctx context.Context) (drafts []draft, page eventPage, err error) {
	page.cursor = g.cursor
	if page.cursor == "" {
		page.cursor = g.state.Cursor
	}
	from := page.cursor
	events, err := g.cfg.Broker.Events(ctx, from)
	if err != nil {
		return nil, page, brokerUnread(err)
	}
	// What another process decided stands in the journal before anything of it happens at the
	// broker. Without that decision the end of its order would be taken for a stranger's, and
	// passed over for good: no entry is written then, so no lost race would tell.
	if len(events) > 0 {
		if err := g.catchUp(ctx); err != nil {
			return nil, page, err
		}
	}
	if len(events) > EventsPerBatchMax {
		events, page.more = events[:EventsPerBatchMax], true
	}
	if page.more && events[len(events)-1].Cursor == from {
		return nil, page, brokerUnread(errEventsEndless)
	}
	b := eventBatch{gate: g, filled: map[string]money.Quantity{}, ended: map[string]bool{}, seen: map[string]bool{}}
	for i := range events {
		b.add(&events[i])
	}
	if len(events) > 0 {
		page.cursor = events[len(events)-1].Cursor
	}
	return b.drafts, page, nil
}

// eventBatch turns events into entries that will be folded together, and so keeps
// track of what its own earlier entries do.
type eventBatch struct {
	gate   *Gate
	drafts []draft
	filled map[string]money.Quantity // by order id, in this batch
	ended  map[string]bool           // by order id, in this batch
	seen   map[string]bool           // ids of this batch
	behind bool                      // an earlier entry of this batch halts the account (byForgotten)
}

func (b *eventBatch) add(e *Event) {
	id, open, ours := b.gate.ours(e.ClientOrderID)
	switch e.Kind {
	case EventFill:
		b.fill(e, id, open, ours)
	case EventEnded:
		b.end(e, id, open, ours)
	case EventOrder:
		if !ours && b.new(e.ID) {
			o := e.Order
			b.behindBy(e)
			b.external(journal.External{Cursor: e.Cursor, ID: e.ID, Order: &o})
		}
	case EventReplaced:
		if ours && open != nil && e.proves(open.Pending) && b.new(e.ID) {
			b.put(journal.KindOutcome, journal.Outcome{
				Cursor: e.Cursor, Decision: open.Pending.Seq, OrderID: id, Result: journal.ResultAccepted, BrokerID: e.BrokerID,
			})
		}
	case EventCash:
		if b.new(e.ID) {
			b.external(journal.External{Cursor: e.Cursor, ID: e.ID, Cash: &journal.CashFlow{
				Amount: e.Cash, Reason: journal.BoundText(e.Reason, ReasonBytesMax),
			}})
		}
	}
}

// proves reports whether the event is of the replace that is in doubt. An earlier one of
// the same order may be read again, by a process that starts or lags: it came before the
// decision, or shows other terms.
func (e *Event) proves(p *account.Pending) bool {
	if p == nil || !p.Doubtful || e.At.Before(p.ReplyBy.Add(-ReplyWithin)) {
		return false
	}
	s := Standing{Order: e.Order}
	return s.shows(&p.Terms)
}

// ours finds the order that was sent under a client order id; open is nil once it ended.
// An order that was taken over is not ours, whatever id it bears. The caller holds mu.
func (g *Gate) ours(clientOrderID string) (id string, open *account.Order, ok bool) {
	id, ok = g.state.OrderIDFor(clientOrderID)
	if !ok {
		return "", nil, false
	}
	if open = g.state.Order(id); open != nil && open.External {
		return "", nil, false
	}
	return id, open, true
}

func (b *eventBatch) fill(e *Event, id string, open *account.Order, ours bool) {
	x := &e.Fill
	if b.seen[x.ID] || (ours && b.gate.state.SeenExecution(x.ID)) || (!ours && b.gate.state.SeenEvent(x.ID)) {
		return
	}
	b.seen[x.ID] = true
	if x.ID == "" || !x.Quantity.IsPositive() || x.Price.IsNegative() {
		b.setAside(e, id)
		return
	}
	if !ours {
		b.behindBy(e)
		b.external(journal.External{Cursor: e.Cursor, ID: x.ID, Fill: &journal.ExternalFill{
			BrokerID: e.BrokerID, Fees: x.Fees, Instrument: e.Instrument, Price: x.Price, Quantity: x.Quantity, Side: e.Side,
		}})
		return
	}
	b.put(journal.KindFill, fillBody(id, x, e.Cursor))
	if sum, ok := b.filled[id].Add(x.Quantity); ok && open != nil {
		b.filled[id] = sum
		if total, ok := open.Filled.Add(sum); ok && total.Cmp(open.Quantity) >= 0 && open.Pending == nil {
			b.ended[id] = true
		}
	}
}

// setAside records a fill that cannot be booked, so that it does not stop what comes
// after it. What it did to the position the next reconciliation finds out.
func (b *eventBatch) setAside(e *Event, id string) {
	if id == "" {
		id = "ext/" + journal.BoundText(e.BrokerID, order.ClientOrderIDBytesMax)
	}
	b.gate.log.Warn("a fill without a usable quantity or price was set aside", "account", b.gate.cfg.Account, "order", id)
	b.put(journal.KindRecovery, journal.Recovery{
		InDoubt: []string{id}, Note: "the broker told of a fill that cannot be booked; it was set aside", Version: b.gate.cfg.Version,
	})
}

func fillBody(id string, x *Execution, cursor string) journal.Fill {
	return journal.Fill{
		Cursor: cursor, ExecutedAt: journal.Time{Time: x.ExecutedAt.UTC()}, ExecutionID: x.ID, Fees: x.Fees,
		OrderID: id, Price: x.Price, Quantity: x.Quantity,
	}
}

func (b *eventBatch) end(e *Event, id string, open *account.Order, ours bool) {
	if ours {
		if open == nil || b.ended[id] {
			return
		}
		b.ended[id] = true
		b.put(journal.KindOutcome, journal.Outcome{
			BrokerID: e.BrokerID, Cursor: e.Cursor, Decision: open.Seq, OrderID: id,
			Reason: journal.BoundText(e.Reason, ReasonBytesMax), Result: endResult(e.Ended),
		})
		return
	}
	external := "ext/" + e.BrokerID
	if b.gate.state.Order(external) == nil || b.ended[external] || !b.new(e.ID) {
		return
	}
	b.ended[external] = true
	b.external(journal.External{Cursor: e.Cursor, ID: e.ID, Ended: &journal.ExternalEnd{
		BrokerID: e.BrokerID, Result: endResult(e.Ended),
	}})
}

func endResult(word string) string {
	if word == journal.ResultExpired {
		return journal.ResultExpired
	}
	return journal.ResultCanceled
}

// new reports whether an event from outside has not been applied yet, and remembers it.
func (b *eventBatch) new(id string) bool {
	if b.seen[id] || b.gate.state.SeenEvent(id) {
		return false
	}
	b.seen[id] = true
	return true
}

func (b *eventBatch) put(kind journal.Kind, body any) {
	b.drafts = append(b.drafts, draft{kind, body})
}

func (b *eventBatch) external(body journal.External) {
	b.gate.log.Warn("something did not come through the gate", "account", b.gate.cfg.Account, "event", body.ID)
	b.put(journal.KindExternal, body)
}

// byForgotten is the By of the halt that an order brings which was sent by a journal and
// stands in none of this one's entries.
const byForgotten = "journal_behind"

// forgotten reports whether an order at the broker was sent by a journal, and neither
// decided by this one nor adopted. The journal then lost its end, is an older copy, or is
// one of two: what it forgot does not count against any limit.
func forgotten(s *account.State, clientOrderID, brokerID string) bool {
	_, known := s.OrderIDFor(clientOrderID)
	return !known && journal.HasOrderIDForm(clientOrderID) && s.Order("ext/"+brokerID) == nil
}

// behindBy halts the account for an event of an order that the journal forgot. Once it is
// booked as one from outside, nothing tells it from a stranger's any more.
func (b *eventBatch) behindBy(e *Event) {
	if !b.behind && forgotten(b.gate.state, e.ClientOrderID, e.BrokerID) {
		b.behind = true
		b.drafts = append(b.drafts, b.gate.forgottenDrafts()...)
	}
}

// forgottenDrafts halt the account, unless it is.
func (g *Gate) forgottenDrafts() []draft {
	g.log.Error("the broker has an order that was sent by a journal, and is not in this one", "account", g.cfg.Account)
	if g.state.Mode == account.Halted {
		return nil
	}
	return []draft{{journal.KindMode, journal.Mode{
		By: byForgotten, Mode: journal.ModeHalted, Who: "gate",
		Reason: "the broker has an order of ours that the journal does not hold: it lost its end or is an older copy; begin anew with rails init --adopt",
	}}}
}

// takeReply journals executions that came with a reply and not as events, and then the
// order's end, if the reply tells of it and the executions have not come to it.
func (g *Gate) takeReply(ctx context.Context, p *Permit, r *Reply) error {
	if len(r.Fills) > 0 {
		if _, err := g.commit(ctx, func() ([]draft, time.Time, error) {
			var drafts []draft
			for i := range r.Fills {
				if !g.state.SeenExecution(r.Fills[i].ID) {
					drafts = append(drafts, draft{journal.KindFill, fillBody(p.orderID, &r.Fills[i], "")})
				}
			}
			return drafts, g.now().at, nil
		}); err != nil {
			return err
		}
	}
	if r.Ended == "" {
		return nil
	}
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		o := g.state.Order(p.orderID)
		if o == nil {
			return nil, time.Time{}, nil
		}
		return []draft{{journal.KindOutcome, journal.Outcome{
			BrokerID: r.BrokerID, Decision: o.Seq, OrderID: p.orderID, Result: endResult(r.Ended),
		}}}, g.now().at, nil
	})
	return err
}
