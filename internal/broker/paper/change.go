package paper

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/order"
)

// target is the open order that a replace or a cancel names, or why there is none.
func (k *book) target(m gate.Message) (*Order, string, error) {
	var o *Order
	var err error
	switch {
	case m.TargetBrokerID != "":
		o, err = k.find(byBrokerID, m.TargetBrokerID)
	case m.TargetClientID != "":
		o, err = k.find(byClientID, m.TargetClientID)
	}
	switch {
	case err != nil:
		return nil, "", err
	case o == nil:
		return nil, reasonUnknown, nil
	case m.TargetClientID != "" && o.ClientOrderID != m.TargetClientID:
		return nil, "broker id and client order id name different orders", nil
	case !o.open():
		return nil, "order is " + string(o.State), nil
	}
	return o, "", nil
}

// cancel takes an order out. With a late fill scripted, what was left of it fills after
// all, a little later.
func (b *Broker) cancel(k *book, m gate.Message, f Fault, now time.Time) (*Order, string, error) {
	o, why, err := k.target(m)
	if err != nil || why != "" {
		return nil, why, err
	}
	if f.Kind == FaultLateFill {
		o.LateAt, o.LatePrice = now.Add(LateFillAfter), o.ownPrice(m.Quote)
	}
	k.end(o, Canceled, now, "")
	return o, "", nil
}

// replace changes an order in one step: it keeps its broker id, its client order id and
// its place, and terms that the message leaves empty stay. A refused replace leaves the
// order as it was.
func (b *Broker) replace(k *book, m gate.Message, f Fault, now time.Time) (*Order, string, error) {
	o, why, err := k.target(m)
	if err != nil || why != "" {
		return nil, why, err
	}
	if m.ClientOrderID != "" && m.ClientOrderID != o.ClientOrderID {
		if used, err := k.used(m.ClientOrderID); err != nil || used {
			return nil, reasonUnique, err
		}
	}
	changed := *o
	if why := b.terms(&changed, m, now); why != "" {
		return nil, why, nil
	}
	was := *o
	*o = changed
	if why := b.covered(k, o, m.Quote); why != "" {
		*o = was
		return nil, why, nil
	}
	o.DuplicateNext = o.DuplicateNext || f.Kind == FaultDuplicateFill
	if o.left().IsZero() {
		o.State = Filled
	}
	k.touch(o)
	e := about(gate.EventReplaced, o, now)
	e.Order = o.shown()
	k.emit(e)
	if !o.open() {
		return o, "", nil
	}
	return o, "", b.meet(k, o, m.Quote, f, now)
}

// terms lays the message's terms over the order's, or says why they cannot be.
func (b *Broker) terms(o *Order, m gate.Message, now time.Time) string {
	switch {
	case m.Instrument.Symbol != "" && m.Instrument.Symbol != o.Instrument.Symbol:
		return "a replace cannot change the symbol"
	case m.Side != order.SideNone && m.Side != o.Side:
		return "a replace cannot change the side"
	case m.Type != order.TypeNone && m.Type != o.Type:
		return "a replace cannot change the order type"
	case !m.Quantity.IsPositive():
		return "quantity must be above zero"
	case m.Quantity.Cmp(o.Filled) < 0:
		return "quantity is below what is filled"
	case m.LimitPrice.IsNegative() || m.StopPrice.IsNegative():
		return "prices must be above zero"
	}
	o.Quantity = m.Quantity
	if o.Type.HasLimit() && !m.LimitPrice.IsZero() {
		o.LimitPrice = m.LimitPrice
	}
	if o.Type.HasStop() && !m.StopPrice.IsZero() && m.StopPrice != o.StopPrice {
		// A stop that was moved waits again: it was judged as one that has not triggered.
		o.StopPrice, o.Triggered = m.StopPrice, false
	}
	if m.TimeInForce == order.TimeInForceNone {
		return ""
	}
	if m.TimeInForce == order.GTD && !m.ExpireAt.After(now) {
		return "the order has expired"
	}
	if m.TimeInForce != o.TimeInForce || m.TimeInForce == order.GTD || m.ExtendedHours != o.ExtendedHours {
		o.TimeInForce, o.ExtendedHours = m.TimeInForce, m.ExtendedHours
		var ok bool
		if o.ExpireAt, ok = b.expiryOf(o, m.ExpireAt, now); !ok {
			return "the calendar does not know this date"
		}
	}
	return ""
}
