package gate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Outcome is what became of a forwarded decision, as far as it is known.
type Outcome struct {
	Result   string // a journal.Result…, or working/filled/gone for a replayed order
	OrderID  string
	BrokerID string
	Quantity money.Quantity
	Filled   money.Quantity
	Status   string // one of account's statuses, the result that ended it, or "ended"
	Reason   string // ours
	// Unrecorded is set when the broker answered and the answer could not be journaled:
	// the order is in flight to every reader of the journal, and in doubt after its time.
	Unrecorded bool
}

// Forward sends what the permit's decision allowed, steps 4 and 5 of the contract. It
// is the only function that hands anything to a broker. It sends nothing, and records
// not_sent, unless the permit is fresh and no mode, latch or limits entry came after
// the decision.
func (g *Gate) Forward(ctx context.Context, p *Permit) (out Outcome) {
	defer g.recovered(ctx, func() {
		out = Outcome{Result: journal.ResultInDoubt, Reason: "a fault inside the gate"}
		if p != nil {
			out.OrderID = p.orderID
		}
	})
	if reason, ok := p.burn(g); !ok {
		if reason == permitForeign || reason == permitUsed {
			return Outcome{Result: journal.ResultNotSent, Reason: reason}
		}
		return g.notSent(ctx, p, reason)
	}
	if reason, ok := g.stillPermitted(ctx, p); !ok {
		return g.notSent(ctx, p, reason)
	}
	reply := g.send(ctx, p)
	return g.settle(ctx, p, reply)
}

// stillPermitted reads the heads again: whatever was written after the decision is
// folded before anything is sent.
func (g *Gate) stillPermitted(ctx context.Context, p *Permit) (reason string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// First the halt file, then the heads: another process may be turning the one into an
	// entry, and takes it away only when the entry is durable. The other way round both could
	// be missed.
	if g.cfg.Stop != nil && p.message.Action != order.ActionCancel {
		if _, requested := g.cfg.Stop.Requested(); requested {
			return "a halt was asked for", false
		}
	}
	if err := g.catchUp(ctx); err != nil {
		return "the journal could not be read before sending", false
	}
	switch {
	case g.ctl.Seq != p.control.Seq || g.ctl.Head != p.control.Hash:
		return "a mode for all accounts changed after the decision", false
	case g.stopSeq > p.through:
		return "mode, latch or limits changed after the decision", false
	case account.Effective(g.state.Mode, g.ctl.Mode) == account.Halted && p.message.Action != order.ActionCancel:
		return "halted", false
	case p.expired(g.cfg.Clock.Read()):
		return permitExpired, false
	case p.message.Action != order.ActionCancel && !g.sameSession(p.message.At):
		return "the session ended after the decision", false
	}
	return "", true
}

// sameSession reports whether now lies in the session that an order was judged in: one
// that comes after the close would wait for the next open, and trade at its prices. The
// caller holds mu.
func (g *Gate) sameSession(decided time.Time) bool {
	was, is := market.Session(decided, g.cfg.Calendar), market.Session(g.now().at, g.cfg.Calendar)
	return was.Kind == is.Kind && was.TradeDate == is.TradeDate
}

// send transmits, bounded in time and whatever the caller's context says: once sent,
// an order is not unsent by a client that gives up.
func (g *Gate) send(ctx context.Context, p *Permit) (reply Reply) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReplyWithin)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			g.log.Error("panic in the broker's adapter", "account", g.cfg.Account, "panic", r, "stack", string(debug.Stack()))
			reply = Reply{Result: ReplyInDoubt, Reason: "a fault in the broker's adapter"}
		}
	}()
	reply = g.cfg.Broker.Send(ctx, Sealed{message: &p.message})
	if reply.Result == ReplyAccepted && !echoes(&reply, &p.message) {
		reply.Result, reply.Reason = ReplyInDoubt, "the broker's reply does not match the order"
	}
	return reply
}

// echoes reports whether an accepting reply names what was sent.
func echoes(r *Reply, m *Message) bool {
	if m.Action == order.ActionCancel {
		return r.Symbol == "" || r.Symbol == m.Instrument.Symbol || m.Instrument.Symbol == ""
	}
	return r.Symbol == m.Instrument.Symbol && r.Side == m.Side && r.Quantity == m.Quantity && r.BrokerID != ""
}

// settle journals the reply and whatever else the broker has to tell, in one batch.
func (g *Gate) settle(ctx context.Context, p *Permit, r Reply) Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.journalReply(ctx, p, &r)
	if err == nil && g.state == nil {
		err = g.catchUp(ctx) // what came after the answer failed
	}
	if err != nil {
		g.log.Error("outcome not journaled", "account", g.cfg.Account, "order", p.orderID, "error", err)
		return Outcome{Result: journal.ResultInDoubt, OrderID: p.orderID, BrokerID: r.BrokerID, Unrecorded: true,
			Reason: "the broker's answer could not be recorded"}
	}
	out := g.standing(p.orderID)
	out.Result, out.Reason = resultOf(r.Result), r.Reason
	if out.BrokerID == "" {
		out.BrokerID = r.BrokerID
	}
	if out.Quantity.IsZero() {
		out.Quantity = p.message.Quantity
	}
	return out
}

// journalReply writes the answer, and with an acceptance the events that came of it, in
// one batch.
func (g *Gate) journalReply(ctx context.Context, p *Permit, r *Reply) error {
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	body := journal.Outcome{
		BrokerID: r.BrokerID, Decision: p.decision, Reason: journal.BoundText(r.Reason, ReasonBytesMax),
		ReplyDigest: r.Digest, Result: resultOf(r.Result),
	}
	if p.message.Action != order.ActionNew {
		body.OrderID = p.orderID
	}
	page, heard := eventPage{cursor: g.cursor}, false
	_, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		drafts := []draft{{journal.KindOutcome, body}}
		if r.Result == ReplyAccepted {
			events, reached, err := g.eventDrafts(ctx)
			if err != nil {
				g.log.Warn("events not read after a reply", "account", g.cfg.Account, "error", err)
			}
			drafts, page, heard = append(drafts, events...), reached, err == nil
		}
		return drafts, g.now().at, nil
	})
	if err != nil || r.Result != ReplyAccepted {
		return err
	}
	g.cursor = page.cursor
	if page.more {
		if err := g.takeEvents(ctx); err != nil {
			g.log.Warn("events not taken after a reply", "account", g.cfg.Account, "error", err)
			heard = false
		}
	}
	if !heard {
		// What filled before the order ended is not known: the events tell of both.
		r.Ended = ""
	}
	return g.takeReply(ctx, p, r)
}

// ReasonBytesMax bounds a broker's text in an entry.
const ReasonBytesMax = 512

func resultOf(r ReplyResult) string {
	switch r {
	case ReplyAccepted:
		return journal.ResultAccepted
	case ReplyRejected:
		return journal.ResultRejected
	}
	return journal.ResultInDoubt
}

// notSent records that a permit ended unused. When even that cannot be recorded the
// reservation stays, which is the safe side.
func (g *Gate) notSent(ctx context.Context, p *Permit, reason string) Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := Outcome{Result: journal.ResultNotSent, OrderID: p.orderID, Reason: reason}
	err := g.catchUp(ctx)
	if err == nil {
		_, err = g.commit(ctx, func() ([]draft, time.Time, error) {
			body := journal.Outcome{Decision: p.decision, Reason: reason, Result: journal.ResultNotSent}
			if p.message.Action != order.ActionNew {
				body.OrderID = p.orderID
			}
			return []draft{{journal.KindOutcome, body}}, g.now().at, nil
		})
	}
	if err != nil {
		g.log.Error("not_sent not journaled", "account", g.cfg.Account, "order", p.orderID, "error", err)
		out.Unrecorded = true
	}
	return out
}

// standing is what the journal knows of one order. The caller holds mu.
func (g *Gate) standing(id string) Outcome {
	out := Outcome{OrderID: id, Status: "ended"}
	o := g.state.Order(id)
	if o == nil {
		if e, ok := g.state.Ended(id); ok {
			out.BrokerID, out.Quantity, out.Filled, out.Status = e.BrokerID, e.Quantity, e.Filled, e.Status
		}
		return out
	}
	out.BrokerID, out.Quantity, out.Filled, out.Status = o.BrokerID, o.Quantity, o.Filled, o.Status(g.state.At)
	return out
}

// faultCode names the fault that an error is.
func faultCode(err error) string {
	var unfoldable *UnfoldableError
	switch {
	case errors.As(err, &unfoldable):
		return CodeInternalFault
	case errors.Is(err, ErrNotTrading), errors.Is(err, errBrokerUnread):
		return CodeAccountUnavailable
	default:
		return CodeJournalUnavailable
	}
}

var errBrokerUnread = errors.New("the broker could not be read")

func brokerUnread(err error) error { return fmt.Errorf("%w: %w", errBrokerUnread, err) }
