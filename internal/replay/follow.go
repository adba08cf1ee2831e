package replay

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// follow takes one recorded entry into both counts and into the followed history.
func (p *play) follow(e *journal.Entry, before *account.State, date market.TradeDate) error {
	p.report.Entries++
	if p.other != nil {
		p.other.forget(before, date)
		p.settleGuesses(e, date)
	}
	switch e.Kind {
	case journal.KindDecision:
		body, err := journal.DecodeBody[journal.Decision](e)
		if err != nil {
			return err
		}
		return p.decision(e, before, &body, date)
	case journal.KindRefusal:
		return p.refusal(e)
	case journal.KindFill:
		return p.fill(e, before)
	case journal.KindOutcome:
		return p.outcome(e)
	case journal.KindOpen:
		return p.open(e, before)
	case journal.KindMode:
		return p.mode(e)
	case journal.KindReconcile:
		return p.reconcile(e)
	case journal.KindExternal:
		body, err := journal.DecodeBody[journal.External](e)
		if err != nil {
			return err
		}
		p.carry(e, body)
	}
	// A latch is a rail's, and recoveries change nothing.
	return nil
}

// carry takes an entry over, and says whether it could. One that does not fold in a
// history that has parted is counted as not followed.
func (p *play) carry(e *journal.Entry, body any) bool {
	if p.other == nil {
		return false
	}
	ok := p.other.put(e.At.Time, e.Kind, body) == nil
	if !ok {
		p.report.Followed.Unfollowed++
	}
	return ok
}

func (p *play) refusal(e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Refusal](e)
	if err != nil {
		return err
	}
	p.report.refused(&body)
	p.carry(e, body)
	if p.other != nil && body.Denial && p.other.storm(p, e) {
		return p.other.put(e.At.Time, journal.KindMode, reducedBy(rail.DenialStorm))
	}
	return nil
}

// storm reports whether the denials, the newest in, are more than the other limits let
// pass, while the account is active.
func (o *other) storm(p *play, e *journal.Entry) bool {
	s := p.doc.Session.DenialStorm
	return s.On && o.state.Mode == account.Active && o.state.Denials.Count(e.At.Time, s.Value.Window) > s.Value.Denials
}

func reducedBy(id rail.ID) journal.Mode {
	return journal.Mode{By: string(id), Mode: journal.ModeReduceOnly, Reason: "tripped by " + string(id), Who: "replay"}
}

func (p *play) outcome(e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Outcome](e)
	if err != nil || p.other == nil {
		return err
	}
	o := p.other
	recorded := body.OrderID
	if recorded == "" {
		recorded = o.id(body.Decision)
	}
	here, ours, ok := o.orderFor(recorded)
	decision, known := o.decisionFor(body.Decision)
	if !ok || !known || o.guessed(here) != nil {
		return nil // it never came to be, or has left its record
	}
	body.Decision = decision
	if ours && body.OrderID != "" {
		body.OrderID = here
	}
	p.carry(e, body)
	return nil
}

func (p *play) fill(e *journal.Entry, before *account.State) error {
	body, err := journal.DecodeBody[journal.Fill](e)
	if err != nil {
		return err
	}
	worth := p.worthOf(before, &body)
	p.report.filled(&p.report.Recorded.Trade, worth)
	if p.other == nil {
		p.report.filled(&p.report.Followed.Trade, worth)
		return nil
	}
	here, _, ok := p.other.orderFor(body.OrderID)
	if !ok || p.other.guessed(here) != nil {
		p.report.Followed.FillsGone++
		p.other.parted = true
		return nil
	}
	body.OrderID = here
	if p.carry(e, body) {
		p.report.filled(&p.report.Followed.Trade, worth)
	}
	return nil
}

// open captures the equity at the open, moved by what the other history is worth more.
func (p *play) open(e *journal.Entry, before *account.State) error {
	body, err := journal.DecodeBody[journal.Open](e)
	if err != nil || p.other == nil {
		return err
	}
	if p.other.parted {
		was, ok1 := p.prices.equity(before)
		is, ok2 := p.prices.equity(p.other.state)
		more, ok3 := is.Sub(was)
		moved, ok4 := body.Equity.Add(more)
		if ok1 && ok2 && ok3 && ok4 {
			body.Equity = moved
		} else {
			p.report.Followed.Unfollowed++
		}
	}
	p.carry(e, body)
	return nil
}

// mode takes over what a person, or a fault, set; what a rail set is each history's own.
func (p *play) mode(e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Mode](e)
	if err != nil || isRail(body.By) {
		return err
	}
	p.carry(e, body)
	return nil
}

func isRail(id string) bool {
	for _, r := range rail.All() {
		if string(r.ID) == id {
			return true
		}
	}
	return false
}

// reconcile takes a reconciliation over. In a history that has parted the broker's
// positions are not those that it would show, so none is adopted.
func (p *play) reconcile(e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Reconcile](e)
	if err != nil || p.other == nil {
		return err
	}
	if r := body.Order; r != nil {
		here, _, ok := p.other.orderFor(r.OrderID)
		if !ok || p.other.guessed(here) != nil {
			body.Order = nil
		} else {
			resolved := *r
			resolved.OrderID = here
			body.Order = &resolved
		}
	}
	if p.other.parted && len(body.Adopted) > 0 {
		body.Adopted = nil
		p.report.Followed.Unfollowed++
	}
	p.carry(e, body)
	return nil
}
