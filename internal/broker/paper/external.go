package paper

import (
	"context"
	"errors"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// What follows happens at the broker without a message of the gate: for scenarios and
// tests, and to play what a person does by the broker's own means.

var (
	errNoOrder   = errors.New("no such order at the paper broker")
	errNotOpen   = errors.New("the order is not open")
	errExecution = errors.New("this execution id is another order's")
	errExternal  = errors.New("an external order or trade needs an instrument, a side and a quantity above zero")
	errTooMuch   = errors.New("the fill is larger than what is left of the order")
	errState     = errors.New("an order ends as canceled, expired or rejected")
)

// outside runs one change that no message asked for, at the ledger's time.
func (b *Broker) outside(ctx context.Context, change func(k *book, now time.Time) error) error {
	now, err := b.catchUp(ctx)
	if err != nil {
		return err
	}
	return b.ledger.store.update(ctx, func(k *book) error {
		if seen := time.Unix(k.evaluated, 0).UTC(); now.Before(seen) {
			now = seen
		}
		return change(k, now)
	})
}

// ExternalOrder places an open order that did not come through the gate, and returns
// the broker's id of it. It trades like any other, and cash does not have to cover it.
func (b *Broker) ExternalOrder(ctx context.Context, shown journal.BrokerOrder) (brokerID string, err error) {
	if !instrumentOK(shown.Instrument) || shown.Side == order.SideNone || !shown.Quantity.IsPositive() || shown.Filled.IsNegative() || shown.Filled.Cmp(shown.Quantity) >= 0 {
		return "", errExternal
	}
	err = b.outside(ctx, func(k *book, now time.Time) error {
		o := &Order{
			Instrument: shown.Instrument, Side: shown.Side, Type: shown.Type, TimeInForce: shown.TimeInForce,
			Quantity: shown.Quantity, Filled: shown.Filled, LimitPrice: shown.LimitPrice, StopPrice: shown.StopPrice,
			HoldPrice: money.MaxPrice(shown.LimitPrice, shown.StopPrice), PlacedAt: now, State: Open,
		}
		var ok bool
		if o.ExpireAt, ok = b.expiryOf(o, time.Time{}, now); !ok || o.TimeInForce == order.GTD {
			o.TimeInForce, o.ExpireAt = order.GTC, time.Time{}
		}
		k.add(o)
		brokerID = o.BrokerID
		e := about(gate.EventOrder, o, now)
		e.Order = o.shown()
		k.emit(e)
		return nil
	})
	return brokerID, err
}

// ExternalFill books a trade that did not come through the gate. With a BrokerID it is a
// fill of that order.
func (b *Broker) ExternalFill(ctx context.Context, f journal.ExternalFill) (executionID string, err error) {
	if f.BrokerID != "" {
		return b.FillOrder(ctx, f.BrokerID, f.Quantity, f.Price, "")
	}
	if !instrumentOK(f.Instrument) || f.Side == order.SideNone || !f.Quantity.IsPositive() {
		return "", errExternal
	}
	err = b.outside(ctx, func(k *book, now time.Time) error {
		x, err := k.settle(f.Instrument, f.Side, f.Quantity, f.Price, now, "")
		if err != nil {
			return err
		}
		executionID = x.ID
		k.changed.executions = append(k.changed.executions, x)
		k.emit(gate.Event{Kind: gate.EventFill, Instrument: f.Instrument, Side: f.Side, Fill: x.reported(), At: now})
		return nil
	})
	return executionID, err
}

// Cash moves cash in (positive) or out of the account.
func (b *Broker) Cash(ctx context.Context, amount money.Notional, reason string) error {
	return b.outside(ctx, func(k *book, now time.Time) error {
		cash, ok := k.cash.Add(amount)
		if !ok {
			return errFigure
		}
		k.cash = cash
		k.emit(gate.Event{Kind: gate.EventCash, Cash: amount, At: now, Reason: reason})
		return nil
	})
}

// FillOrder books an execution on an order, named by client order id or broker id, and
// returns its id. It asks neither for cash nor for a quote, and it fills an order that
// has ended, as a late fill does. An execution id that was booked on this order before
// is reported once more and not booked again; an empty one is given a new id.
func (b *Broker) FillOrder(ctx context.Context, id string, quantity money.Quantity, price money.Price, executionID string) (string, error) {
	booked := executionID
	err := b.outside(ctx, func(k *book, now time.Time) error {
		o, err := k.either(id)
		if err != nil {
			return err
		}
		if executionID != "" {
			known, err := k.rows.executionKnown(executionID)
			if err != nil {
				return err
			}
			if known {
				return k.repeat(o, executionID)
			}
		}
		if quantity.Cmp(o.left()) > 0 {
			return errTooMuch
		}
		x, err := k.trade(o, quantity, price, now, executionID)
		booked = x.ID
		return err
	})
	if err != nil {
		return "", err
	}
	return booked, nil
}

// repeat reports an execution of an order once more.
func (k *book) repeat(o *Order, executionID string) error {
	done, err := k.rows.executions(o.BrokerID)
	if err != nil {
		return err
	}
	for _, x := range done {
		if x.ID == executionID {
			k.report(o, x)
			return nil
		}
	}
	return errExecution
}

// EndOrder ends an open order by the broker's own decision: canceled, expired or rejected.
func (b *Broker) EndOrder(ctx context.Context, id string, as State, reason string) error {
	if as != Canceled && as != Expired && as != Rejected {
		return errState
	}
	return b.outside(ctx, func(k *book, now time.Time) error {
		o, err := k.either(id)
		if err != nil {
			return err
		}
		if !o.open() {
			return errNotOpen
		}
		k.end(o, as, now, reason)
		return nil
	})
}

// either finds an order by its client order id or the broker's.
func (k *book) either(id string) (*Order, error) {
	o, err := k.find(byClientID, id)
	if err == nil && o == nil {
		o, err = k.find(byBrokerID, id)
	}
	if err == nil && o == nil {
		err = errNoOrder
	}
	return o, err
}
