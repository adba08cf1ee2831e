package paper

import (
	"context"
	"errors"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
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
	errUsed      = errors.New("the client order id stands in the ledger already")
	errTooMuch   = errors.New("the fill is larger than what is left of the order")
	errState     = errors.New("an order ends as canceled, expired or rejected")
)

// Adopt puts positions and open orders into the ledger that were there before the story
// begins: no event tells of them, the cash stays as it is, and an order may bear a client
// order id. The positions count at their cost in the previous-close equity. It returns
// the broker's ids of the orders.
func (b *Broker) Adopt(ctx context.Context, positions []journal.Position, orders []journal.BrokerOrder) ([]string, error) {
	var ids []string
	_, err := b.change(ctx, func(k *book, now time.Time) error {
		ids = nil
		for _, p := range positions {
			if !instrumentOK(p.Instrument) {
				return errExternal
			}
			if err := k.move(p.Instrument, p.Quantity, p.Cost); err != nil {
				return err
			}
			k.changed.any = true
		}
		b.closeAtCost(k, now)
		for _, shown := range orders {
			if used, err := k.used(shown.ClientOrderID); err != nil || used {
				return errors.Join(err, errUsed)
			}
			o, err := b.outside(k, shown, now)
			if err != nil {
				return err
			}
			ids = append(ids, o.BrokerID)
		}
		return nil
	})
	return ids, err
}

// closeAtCost sets the equity at the previous regular close to cash and cost.
func (b *Broker) closeAtCost(k *book, now time.Time) {
	day, ok := b.options.Calendar.PreviousTradeDate(market.Session(now, b.options.Calendar).TradeDate)
	equity := k.cash
	for _, p := range k.held {
		value, okValue := p.Cost.TimesMultiplied(p.Quantity, p.Instrument.Multiplier, money.Down)
		sum, okSum := equity.Add(value)
		ok = ok && okValue && okSum
		equity = sum
	}
	k.closeDate, k.closeKnown, k.closeEquity = day, ok, equity
}

// outside takes an order in that no message brought. Cash does not have to cover it.
func (b *Broker) outside(k *book, shown journal.BrokerOrder, now time.Time) (*Order, error) {
	if !instrumentOK(shown.Instrument) || shown.Side == order.SideNone || shown.Type == order.TypeNone ||
		!shown.Quantity.IsPositive() || shown.Filled.IsNegative() || shown.Filled.Cmp(shown.Quantity) >= 0 {
		return nil, errExternal
	}
	o := &Order{
		ClientOrderID: shown.ClientOrderID, Instrument: shown.Instrument, Side: shown.Side, Type: shown.Type,
		TimeInForce: shown.TimeInForce, Quantity: shown.Quantity, Filled: shown.Filled, LimitPrice: shown.LimitPrice,
		StopPrice: shown.StopPrice, HoldPrice: money.MaxPrice(shown.LimitPrice, shown.StopPrice), PlacedAt: now, State: Open,
	}
	if shown.Type.HasLimit() {
		o.HoldPrice = shown.LimitPrice
	}
	var ok bool
	if o.ExpireAt, ok = b.expiryOf(o, time.Time{}, now); !ok || o.TimeInForce == order.GTD {
		// The broker shows no expiry, so one that has its own stays until it is canceled.
		o.TimeInForce, o.ExpireAt = order.GTC, time.Time{}
	}
	k.add(o)
	return o, nil
}

// ExternalOrder places an open order that did not come through the gate, and returns
// the broker's id of it. It trades like any other, and cash does not have to cover it.
func (b *Broker) ExternalOrder(ctx context.Context, shown journal.BrokerOrder) (brokerID string, err error) {
	shown.ClientOrderID = ""
	_, err = b.change(ctx, func(k *book, now time.Time) error {
		o, err := b.outside(k, shown, now)
		if err != nil {
			return err
		}
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
	_, err = b.change(ctx, func(k *book, now time.Time) error {
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
	_, err := b.change(ctx, func(k *book, now time.Time) error {
		cash, ok := k.cash.Add(amount)
		if !ok {
			return errFigure
		}
		k.cash = cash
		k.emit(gate.Event{Kind: gate.EventCash, Cash: amount, At: now, Reason: reason})
		return nil
	})
	return err
}

// FillOrder books an execution on an order, named by client order id or broker id, and
// returns its id. It asks neither for cash nor for a quote, and it fills an order that
// has ended, as a late fill does. An execution id that was booked on this order before
// is reported once more and not booked again; an empty one is given a new id.
func (b *Broker) FillOrder(ctx context.Context, id string, quantity money.Quantity, price money.Price, executionID string) (string, error) {
	booked := executionID
	_, err := b.change(ctx, func(k *book, now time.Time) error {
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
	_, err := b.change(ctx, func(k *book, now time.Time) error {
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
	return err
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
