package replay

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// replyWithin is the contract's time for a reply: what a decision that was not allowed
// when it was recorded does not hold.
const replyWithin = 30 * time.Second

// Verdicts of the followed history that no journal has.
const (
	Moot     = "moot"     // it names an order that never came to be there
	Replayed = "replayed" // the same order under the same id was allowed there before: told again, not sent
)

// decision judges one recorded decision in both ways.
func (p *play) decision(e *journal.Entry, before *account.State, body *journal.Decision, date market.TradeDate) error {
	if !p.rejudged(body) {
		p.report.NotJudged++
		return p.asItStands(e, body, date)
	}
	req, err := record.Request(e, body)
	if err != nil {
		return err
	}
	was := req
	p.prices.complete(&was, before, req.Intent.Symbol)
	still := risk.Decide(before, p.doc, &was, p.calendar)

	depends := p.other.assumed // by now; what this one brings is for those that follow
	followed, here, err := p.judge(e, before, body, req, date)
	if err != nil {
		return err
	}
	p.report.judged(&judged{
		entry: e, body: body, date: date, still: &still, followed: followed, here: here, depends: depends,
		figures: p.report.figures,
	})
	return nil
}

// judge takes a decision into the followed history: its verdict there, and the decision
// where one was made.
func (p *play) judge(e *journal.Entry, before *account.State, body *journal.Decision, req rail.Request, date market.TradeDate) (string, *risk.Decision, error) {
	o := p.other
	in := &req.Intent
	if in.Action != order.ActionNew {
		target, _, ok := o.orderFor(in.Target)
		if before.Order(in.Target) != nil && (!ok || o.state.Order(target) == nil) {
			o.fates[e.Seq] = fate{date: date}
			o.parted = true
			return Moot, nil, nil
		}
		if ok {
			in.Target = target
		}
	} else if _, digest, known := o.state.ClientID(in.ClientOrderID); known && digest == account.IntentDigest(in) {
		o.fates[e.Seq] = fate{date: date}
		return Replayed, nil, o.put(e.At.Time, journal.KindRefusal, journal.Refusal{
			Code: Replayed, Count: 1, Door: body.Door, Message: true,
		})
	}
	p.prices.complete(&req, o.state, in.Symbol)
	req.Broker = moved(req.Broker, before, o.state)
	d := risk.Decide(o.state, p.doc, &req, p.calendar)
	o.fates[e.Seq] = fate{date: date}
	if err := p.write(e, body, &req, &d); err != nil {
		return "", nil, err
	}
	if d.Allowed() {
		o.fates[e.Seq] = fate{seq: o.state.Seq, date: date}
	}
	allowed := o.state.Seq
	if err := p.effects(e, &d); err != nil {
		return "", nil, err
	}
	return d.Verdict.String(), &d, p.part(e, body, &req, &d, allowed)
}

// write puts the decision into the followed chain.
func (p *play) write(e *journal.Entry, body *journal.Decision, req *rail.Request, d *risk.Decision) error {
	again := record.Decision(req, d, record.Origin{
		Door: body.Door, Agent: body.Agent, CallID: body.CallID, RawDigest: body.RawDigest,
		Clock: body.Clock, Calendar: body.Calendar, Control: body.Control, State: body.StateDigest,
	})
	if d.Allowed() {
		again.ReplyBy = body.ReplyBy
		if again.ReplyBy.IsZero() {
			again.ReplyBy = journal.Time{Time: e.At.Add(replyWithin)}
		}
	}
	return p.other.put(e.At.Time, journal.KindDecision, again)
}

// effects are the latch and the modes that the decision brings there, as the gate writes
// them.
func (p *play) effects(e *journal.Entry, d *risk.Decision) error {
	s := p.other.state
	reduced := s.Mode != account.Active
	for _, effect := range d.Effects {
		switch effect.Kind {
		case rail.EffectLatch:
			if s.Day.LossLatched && s.Day.Date == d.Session.TradeDate {
				continue
			}
			latch := journal.Latch{Rail: string(effect.Rail), TradeDate: d.Session.TradeDate.String()}
			if err := p.other.put(e.At.Time, journal.KindLatch, latch); err != nil {
				return err
			}
		case rail.EffectReduceOnly:
			if reduced {
				continue
			}
			reduced = true
			if err := p.other.put(e.At.Time, journal.KindMode, reducedBy(effect.Rail)); err != nil {
				return err
			}
		}
	}
	if d.Verdict == risk.Denied && !reduced && p.other.storm(p, e) {
		return p.other.put(e.At.Time, journal.KindMode, reducedBy(rail.DenialStorm))
	}
	return nil
}

// asItStands takes a decision over that cannot be judged here.
func (p *play) asItStands(e *journal.Entry, body *journal.Decision, date market.TradeDate) error {
	o, again := p.other, *body
	o.fates[e.Seq] = fate{date: date}
	if again.Intent.Action != order.ActionNew {
		target, _, ok := o.orderFor(again.Intent.Target)
		if !ok {
			return nil
		}
		again.Intent.Target = target
	}
	if p.carry(e, again) && body.Verdict == journal.VerdictAllowed {
		o.fates[e.Seq] = fate{seq: o.state.Seq, date: date}
	}
	return nil
}

// part sees whether an order leaves its record by this decision, and answers in the
// broker's place where it has.
func (p *play) part(e *journal.Entry, body *journal.Decision, req *rail.Request, d *risk.Decision, seq uint64) error {
	o, in := p.other, &req.Intent
	recorded := body.Verdict == journal.VerdictAllowed
	switch {
	case recorded == d.Allowed() && (in.Action == order.ActionNew || o.guessed(in.Target) == nil):
		return nil // it goes on by its record
	case !recorded && !d.Allowed():
		return nil
	}
	o.parted = true
	if !d.Allowed() {
		if in.Action != order.ActionNew {
			p.leave(in.Target, e) // it stands as it was, whatever the record says of it
		}
		return nil
	}
	switch in.Action {
	case order.ActionNew:
		if err := p.answer(e, seq, journal.ResultAccepted, ""); err != nil {
			return err
		}
		p.leave(o.id(seq), e)
	case order.ActionReplace:
		if err := p.answer(e, seq, journal.ResultAccepted, in.Target); err != nil {
			return err
		}
		p.leave(in.Target, e)
	case order.ActionCancel:
		target, ours := o.seqOf(in.Target)
		if !ours { // what someone placed outside ends by its own record
			return p.answer(e, seq, journal.ResultRejected, in.Target)
		}
		delete(o.guesses, target)
		return p.answer(e, target, journal.ResultCanceled, "")
	}
	return p.tryFill(e, req)
}

// answer is the assumed reply to a decision, or the assumed end of an order.
func (p *play) answer(e *journal.Entry, decision uint64, result, orderID string) error {
	return p.other.put(e.At.Time, journal.KindOutcome, journal.Outcome{
		BrokerID: "assumed", Decision: decision, OrderID: orderID, Result: result,
	})
}
