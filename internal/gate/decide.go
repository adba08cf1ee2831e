package gate

import (
	"context"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Call is one normalized tool call to judge.
type Call struct {
	Intent    order.Intent
	Door      string // mcp, cli, scenario, …
	Agent     string // the principal as the door knows it
	CallID    string
	RawDigest string // SHA-256 of the raw call, hex
	Note      string // the agent's free text; kept as data
}

// Judgement is what a call came to. The zero judgement is a denial.
type Judgement struct {
	Decision risk.Decision
	// ID is account/seq of the entry: the decision's, or that of a refused or counted call.
	// It is empty when no entry was written for this call.
	ID string
	At time.Time
	// Fault is set when the contract itself could not be kept: journal_unavailable,
	// account_unavailable, limits_invalid or internal_fault. Nothing is sent.
	Fault string
	// Permit lets Forward send the order once. Nil unless the decision is allowed.
	Permit *Permit
	// Replayed is the first outcome of the same order under the same client order id:
	// nothing is judged again and nothing is sent.
	Replayed *Outcome
	// OrderID is the order that the call made or named.
	OrderID       string
	ClientOrderID string // sent to the broker
}

// Allowed reports whether the call may be forwarded.
func (j *Judgement) Allowed() bool { return j.Fault == "" && j.Permit != nil && j.Decision.Allowed() }

// Codes of faults that end a call before or beside its rails.
const (
	CodeJournalUnavailable = "journal_unavailable"
	CodeAccountUnavailable = "account_unavailable"
	CodeLimitsInvalid      = "limits_invalid"
	CodeInternalFault      = "internal_fault"
	codeReplayed           = "replayed"
	codeMessagesSpent      = "max_messages_per_minute"
)

// Decide judges a call and makes the decision durable, steps 2 and 3 of the contract.
// It never panics and never returns an allowance that is not durable.
func (g *Gate) Decide(ctx context.Context, c Call) (j Judgement) {
	defer g.recovered(ctx, func() { j = Judgement{Fault: CodeInternalFault, At: j.At} })
	if g.cfg.Store == nil || g.cfg.Broker == nil || g.cfg.Quotes == nil {
		return Judgement{Fault: CodeAccountUnavailable}
	}
	ctx, cancel := context.WithTimeout(ctx, AskWithin)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	c.Intent.Account = g.cfg.Account
	if err := g.prepare(ctx); err != nil {
		return g.faulted(ctx, &c, err)
	}
	if id, ok := g.replayOf(&c); ok {
		return g.replay(ctx, &c, id)
	}
	g.judge(ctx, &c, &j)
	return j
}

// Check judges a call and changes nothing by it: no entry of the call, no counter, no
// order. What the broker or an operator has to tell is journaled first, as for any call.
func (g *Gate) Check(ctx context.Context, c Call) (j Judgement) {
	defer g.recovered(ctx, func() { j = Judgement{Fault: CodeInternalFault} })
	if g.cfg.Store == nil || g.cfg.Broker == nil || g.cfg.Quotes == nil {
		return Judgement{Fault: CodeAccountUnavailable}
	}
	ctx, cancel := context.WithTimeout(ctx, AskWithin)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	c.Intent.Account = g.cfg.Account
	err := g.catchUp(ctx)
	if err == nil {
		err = g.prepare(ctx)
	}
	if err != nil {
		return Judgement{Fault: faultCode(err)}
	}
	m := g.now()
	req := g.request(ctx, &c, m)
	return Judgement{Decision: risk.Decide(g.state, g.doc, &req, g.cfg.Calendar), At: m.at}
}

// prepare brings the state up to now: the broker's events, the trade date's opening
// equity. What other processes have written is not looked for here: whoever writes on
// an old state loses the compare-and-swap, catches up and judges again. The caller
// holds mu.
func (g *Gate) prepare(ctx context.Context) error {
	if g.state == nil || g.broken != nil {
		if err := g.catchUp(ctx); err != nil {
			return err
		}
	}
	if err := g.heedStop(ctx); err != nil {
		return err
	}
	if err := g.takeEvents(ctx); err != nil {
		return err
	}
	return g.open(ctx)
}

// heedStop turns a halt that was asked for without the journal into a mode entry. When
// it cannot be written the call ends here, and nothing is sent either way.
func (g *Gate) heedStop(ctx context.Context) error {
	if g.cfg.Stop == nil {
		return nil
	}
	if _, requested := g.cfg.Stop.Requested(); !requested {
		return nil
	}
	reason, requested, done := g.cfg.Stop.Take()
	if !requested {
		return nil
	}
	// The file is taken away below: by a state that lags behind a resume the account is
	// halted already, and no entry would tell of this halt.
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	if g.state.Mode != account.Halted {
		err := g.setMode(ctx, journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: reason, Who: "halt file"})
		if err != nil {
			return err
		}
	}
	if err := done(); err != nil {
		g.log.Warn("the halt file could not be taken away", "account", g.cfg.Account, "error", err)
	}
	return nil
}

// faulted names the fault that an error of the contract's own steps is, and records the
// refused call where the journal still takes it. The caller holds mu.
func (g *Gate) faulted(ctx context.Context, c *Call, err error) Judgement {
	code := faultCode(err)
	g.log.Error("call refused: the contract could not be kept", "account", g.cfg.Account, "fault", code, "error", err)
	if code == CodeJournalUnavailable || g.broken != nil || g.state == nil {
		return Judgement{Fault: code}
	}
	id, err := g.refuse(ctx, journal.Refusal{
		Agent: c.Agent, CallID: c.CallID, Code: code, Count: 1, Door: c.Door, Message: true,
		RawDigest: c.RawDigest, Text: "the call could not be judged",
	})
	if err != nil {
		g.log.Error("refusal not journaled", "account", g.cfg.Account, "error", err)
	}
	return Judgement{Fault: code, ID: id}
}

// replayOf finds an allowed decision with the same client order id and the same order.
func (g *Gate) replayOf(c *Call) (id string, ok bool) {
	if c.Intent.Action != order.ActionNew || c.Intent.ClientOrderID == "" {
		return "", false
	}
	id, digest, known := g.state.ClientID(c.Intent.ClientOrderID)
	return id, known && digest == account.IntentDigest(&c.Intent)
}

// replay answers with the first outcome of an order: nothing is judged again and nothing
// is sent. The caller holds mu.
func (g *Gate) replay(ctx context.Context, c *Call, id string) Judgement {
	_, err := g.refuse(ctx, journal.Refusal{
		Agent: c.Agent, CallID: c.CallID, Code: codeReplayed, Count: 1, Door: c.Door, Message: true,
		RawDigest: c.RawDigest, Text: "same client order id and same order as " + id,
	})
	if err != nil {
		return g.faulted(ctx, c, err)
	}
	out := g.standing(id)
	return Judgement{Replayed: &out, OrderID: id, ID: id, At: g.state.At}
}

// judge decides and commits, again for as long as other processes are faster. The
// caller holds mu. A judgement is large, and calls come on goroutines whose stacks are
// small: it is filled in and not handed round.
func (g *Gate) judge(ctx context.Context, c *Call, j *Judgement) {
	var req rail.Request
	counted, replayed := false, ""
	entries, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		m := g.now()
		// Another process may have been faster with this very order.
		if id, ok := g.replayOf(c); ok {
			replayed = id
			return nil, m.at, nil
		}
		req = g.request(ctx, c, m)
		*j = Judgement{At: m.at}
		d := &j.Decision
		*d = risk.Decide(g.state, g.doc, &req, g.cfg.Calendar)
		if g.messagesSpent(d, c.Intent.Action, m.at) {
			counted = true
			return nil, m.at, nil
		}
		return append([]draft{{journal.KindDecision, g.recorded(c, &req, d, &m)}}, g.effects(d, m.at)...), m.at, nil
	})
	switch {
	case err != nil:
		*j = g.faulted(ctx, c, err)
		return
	case replayed != "":
		*j = g.replay(ctx, c, replayed)
		return
	case counted:
		id, err := g.countSpent(ctx, c)
		if err != nil {
			*j = g.faulted(ctx, c, err)
			return
		}
		j.ID = id
		return
	}
	first, last := &entries[0], &entries[len(entries)-1]
	j.ID = g.entryID(first)
	if j.Decision.Allowed() {
		g.allow(j, &req, first, last)
	}
}

// recorded is the body of a decision's entry.
func (g *Gate) recorded(c *Call, req *rail.Request, d *risk.Decision, m *moment) *journal.Decision {
	state := g.state.Digest()
	body := new(journal.Decision)
	*body = record.Decision(req, d, record.Origin{
		Door: c.Door, Agent: c.Agent, CallID: c.CallID, Note: journal.BoundText(c.Note, NoteBytesMax),
		RawDigest: c.RawDigest, Clock: m.clock, Calendar: g.cfg.Calendar.Digest(), Control: g.ctl.Seq,
		State: hex.EncodeToString(state[:]),
	})
	if d.Allowed() {
		body.ReplyBy = journal.Time{Time: m.at.Add(ReplyWithin)}
	}
	return body
}

// NoteBytesMax bounds an agent's free text in an entry.
const NoteBytesMax = 1024

// effects are the entries that a decision brings with it. An effect that is in force
// already is not written again.
func (g *Gate) effects(d *risk.Decision, at time.Time) []draft {
	var out []draft
	reduced := g.state.Mode != account.Active
	for _, e := range d.Effects {
		switch e.Kind {
		case rail.EffectLatch:
			if day := &g.state.Day; !day.LossLatched || day.Date != d.Session.TradeDate {
				out = append(out, draft{journal.KindLatch, journal.Latch{Rail: string(e.Rail), TradeDate: d.Session.TradeDate.String()}})
			}
		case rail.EffectReduceOnly:
			if !reduced {
				reduced = true
				out = append(out, reducedBy(e.Rail))
			}
		}
	}
	// What was refused before the rails has no effects, and is a denial as well.
	if d.Verdict == risk.Denied && !reduced && g.stormAfter(1, at) {
		out = append(out, reducedBy(rail.DenialStorm))
	}
	return out
}

// reducedBy is the mode that a rail trips.
func reducedBy(id rail.ID) draft {
	return draft{journal.KindMode, journal.Mode{
		By: string(id), Mode: journal.ModeReduceOnly, Reason: "tripped by " + string(id), Who: "gate",
	}}
}

// allow mints the permit of a durable, allowed decision.
func (g *Gate) allow(j *Judgement, req *rail.Request, first, last *Stored) {
	in := &req.Intent
	m := Message{
		Action: in.Action, Instrument: req.Instrument, Quote: req.Quote, ExtendedHours: in.ExtendedHours,
		Side: in.Side, Type: in.Type, Quantity: in.Quantity, LimitPrice: in.LimitPrice,
		StopPrice: in.StopPrice, TimeInForce: in.TimeInForce, ExpireAt: in.ExpireAt,
		At: j.At, SendBy: j.At.Add(ReplyWithin),
		ClientOrderID: journal.ClientOrderID(g.cfg.Account, first.Seq, first.Hash),
	}
	j.OrderID = j.ID
	if in.Action != order.ActionNew {
		j.OrderID = in.Target
		if o := g.state.Order(in.Target); o != nil {
			m.TargetBrokerID, m.TargetClientID = o.BrokerID, o.ClientOrderID
			if h := g.state.Holding(o.Symbol); h != nil {
				m.Instrument = h.Instrument
			}
		}
	}
	if !m.Quote.Present {
		m.Quote = req.LastValid
	}
	j.ClientOrderID = m.ClientOrderID
	j.Permit = &Permit{
		gate: g, decision: first.Seq, orderID: j.OrderID, through: last.Seq,
		control: Head{Seq: g.ctl.Seq, Hash: g.ctl.Head}, minted: time.Now(), boot: g.cfg.Clock.Read().Boot, message: m,
	}
}

// recovered is the top of every step: a panic refuses, and latches the account halted,
// since what the step had done is not known.
func (g *Gate) recovered(ctx context.Context, refuse func()) {
	p := recover()
	if p == nil {
		return
	}
	g.log.Error("panic in the gate; account halted", "account", g.cfg.Account, "panic", p, "stack", string(debug.Stack()))
	refuse()
	if g.cfg.Store == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("panic while halting", "account", g.cfg.Account, "panic", p)
			g.broken = fmt.Errorf("a fault inside the gate, and another while halting: %v", p)
		}
	}()
	g.state = nil // half-changed, perhaps: fold again
	if err := g.catchUp(ctx); err != nil {
		g.broken = err
		return
	}
	if err := g.setMode(ctx, journal.Mode{
		By: CodeInternalFault, Mode: journal.ModeHalted, Reason: "a fault inside the gate; see the diagnostic log", Who: "gate",
	}); err != nil {
		g.broken = err
	}
}
