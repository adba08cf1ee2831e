package mcpproxy

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// intent narrows a reading to what the gate judges, and returns with it the reading that
// is sent: a close as the explicit order that it comes to, a change with the terms that it
// keeps. Orders that a call names by the broker's id are named to the gate by its own.
func (s *session) intent(r *profile.Reading) (order.Intent, profile.Reading, *profile.Refusal) {
	switch r.Class {
	case profile.Close:
		return s.closing(r)
	case profile.Replace:
		return s.changing(r)
	}
	in, refusal := r.Intent()
	if refusal == nil && in.Action == order.ActionCancel {
		var o *account.Order
		if o, refusal = s.named(in.Target); o != nil {
			in.Target, in.Symbol = o.ID, o.Symbol
		}
	}
	return in, *r, refusal
}

func unread() *profile.Refusal {
	return &profile.Refusal{Reason: profile.NotJudged, Problem: "depends on what the account holds, and the journal cannot be read"}
}

// named finds an open order by the broker's id; nil if there is none, which the gate
// refuses in its own words.
func (s *session) named(brokerID string) (found *account.Order, refusal *profile.Refusal) {
	err := s.cfg.Gate().View(s.ctx, func(v gate.View) {
		for _, o := range v.State.Orders {
			if o.BrokerID != "" && o.BrokerID == brokerID {
				copied := *o
				found = &copied
				return
			}
		}
	})
	if err != nil {
		return nil, unread()
	}
	return found, nil
}

// closing makes a close an explicit order against what the journal says is held.
func (s *session) closing(r *profile.Reading) (in order.Intent, out profile.Reading, refusal *profile.Refusal) {
	var held money.Quantity
	err := s.cfg.Gate().View(s.ctx, func(v gate.View) {
		if h := v.State.Holding(r.Order.Symbol); h != nil {
			held = h.Position
		}
	})
	if err != nil {
		return in, out, unread()
	}
	o, refusal := r.Held(held)
	if refusal != nil {
		return in, out, refusal
	}
	if out, refusal = s.cfg.Profile.PlaceInstead(&o); refusal != nil {
		return in, out, refusal
	}
	// The tool that it goes out by must be one that may be used.
	if why := s.quarantined(out.Tool); why != "" {
		return in, out, &profile.Refusal{Reason: codeQuarantined, Problem: "the tool that it would be sent by is closed: " + why}
	}
	in, refusal = out.Intent()
	return in, out, refusal
}

// changing completes a replace with the terms of the working order that it names.
func (s *session) changing(r *profile.Reading) (in order.Intent, out profile.Reading, refusal *profile.Refusal) {
	o, refusal := s.named(r.Order.OrderID)
	switch {
	case refusal != nil:
		return in, out, refusal
	case o == nil:
		return in, out, &profile.Refusal{Reason: profile.NotJudged, Problem: "names no open order of this account"}
	}
	base := order.Intent{
		Symbol: o.Symbol, Side: o.Side, Type: o.Type, Quantity: o.Quantity, LimitPrice: o.LimitPrice, StopPrice: o.StopPrice,
		TimeInForce: o.TimeInForce, ExtendedHours: o.ExtendedHours,
	}
	if out, refusal = r.Kept(&base); refusal != nil {
		return in, out, refusal
	}
	if in, refusal = out.Intent(); refusal != nil {
		return in, out, refusal
	}
	if in.Side != o.Side || in.Type != o.Type || in.TimeInForce != o.TimeInForce || in.ExtendedHours != o.ExtendedHours {
		return in, out, &profile.Refusal{Reason: profile.NotJudged, Problem: "changes more of an order than quantity and prices"}
	}
	in.Target = o.ID
	return in, out, nil
}
