package account

import (
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

func (st *step) genesis() error {
	body, err := journal.DecodeBody[journal.Genesis](st.entry)
	if err != nil {
		return err
	}
	g := &body
	if g.Currency == "" || g.Broker == "" {
		return broken("genesis without currency or broker")
	}
	// Built apart, so that a genesis that fails half way leaves nothing behind.
	fresh := State{Account: st.state.Account, side: sidecar{calendar: st.state.side.calendar}}
	for i := range g.Positions {
		p := &g.Positions[i]
		switch {
		case p.Instrument.Symbol == "" || !p.Instrument.Multiplier.IsPositive():
			return broken("position without an instrument")
		case p.Quantity.IsZero() || p.Cost.IsNegative():
			return broken("position without a quantity, or with a negative cost")
		case fresh.Holding(p.Instrument.Symbol) != nil:
			return broken("position told twice")
		}
		h := fresh.holdingFor(p.Instrument)
		h.Position, h.Cost = p.Quantity, p.Cost
	}
	for i := range g.Orders {
		o, err := externalFrom(&g.Orders[i], st)
		switch {
		case err != nil:
			return err
		case fresh.Order(o.ID) != nil:
			return broken("order told twice")
		case o.Remaining().IsZero():
			continue
		}
		buy, sell, err := fresh.planOrder(o)
		if err != nil {
			return err
		}
		fresh.addOrder(o, g.Orders[i].Instrument, buy, sell)
	}
	s := st.state
	if !st.commit() {
		return nil
	}
	s.Holdings, s.Orders, s.side.bySeq = fresh.Holdings, fresh.Orders, fresh.side.bySeq
	s.Started, s.Broker, s.Currency, s.Cash, s.Cursor = true, g.Broker, g.Currency, g.Cash, g.Cursor
	s.Mode, s.ModeBy, s.ModeReason, s.ModeAt = Active, journal.ByOperator, g.Reason, st.at
	return nil
}

func (st *step) limits() error {
	body, err := journal.DecodeBody[journal.Limits](st.entry)
	if err != nil {
		return err
	}
	s := st.state
	if _, err := journal.ParseHash(body.Fingerprint); err != nil || body.Text == "" {
		return broken("limits without a fingerprint or text")
	}
	if in := st.entry.Limits; in != s.Fingerprint && in != body.Fingerprint {
		return broken("fingerprint is neither the old nor the new one")
	}
	if !st.commit() {
		return nil
	}
	s.Fingerprint, s.LimitsText = body.Fingerprint, body.Text
	return nil
}

// sourcePreviousClose is an open whose equity is the broker's at the previous close,
// so that flows since then are still to be taken out.
const sourcePreviousClose = "previous_close"

func (st *step) open() error {
	body, err := journal.DecodeBody[journal.Open](st.entry)
	if err != nil {
		return err
	}
	switch {
	case !st.moveTo(body.TradeDate):
		return broken("open is not of this trade date")
	case st.day.HasOpen:
		return broken("equity at open was captured before")
	}
	st.day.HasOpen, st.day.EquityAtOpen = true, body.Equity
	if body.Source != sourcePreviousClose {
		st.day.Flows = money.Notional{}
	}
	if !st.commit() {
		return nil
	}
	st.state.Peak.raise(body.Equity)
	return nil
}

func (st *step) latch() error {
	body, err := journal.DecodeBody[journal.Latch](st.entry)
	if err != nil {
		return err
	}
	switch {
	case body.Rail != journal.LatchDailyLoss:
		return broken("latch of an unknown rail")
	case !st.moveTo(body.TradeDate):
		return broken("latch is not of this trade date")
	}
	st.day.LossLatched = true
	st.commit()
	return nil
}

func (st *step) refusal() error {
	body, err := journal.DecodeBody[journal.Refusal](st.entry)
	if err != nil {
		return err
	}
	if body.Count < 1 {
		return broken("refusal of nothing")
	}
	s := st.state
	if !st.commit() {
		return nil
	}
	if body.Message {
		s.Messages.add(st.ns, journal.BucketOpen, body.Count, MessagesMax+1)
	}
	if body.Denial {
		s.Denials.add(st.ns, body.Count, money.Notional{}, DenialsMax+1)
	}
	return nil
}

func (st *step) recovery() error {
	if _, err := journal.DecodeBody[journal.Recovery](st.entry); err != nil {
		return err
	}
	st.commit()
	return nil
}
