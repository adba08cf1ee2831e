package upstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

var (
	errCursor     = errors.New("not a cursor of this broker")
	errEventsLong = errors.New("more has happened in one run than is kept; start the process anew")
)

// Events returns what happened after the cursor. One of another run is read by its time:
// what lies before it is passed over, and the journal knows what is told twice.
func (b *Broker) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	at, place, err := b.place(cursor)
	if err != nil {
		return nil, err
	}
	if err := b.poll(ctx, at); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if place > len(b.events) {
		return nil, errCursor
	}
	return append([]gate.Event(nil), b.events[place:]...), nil
}

// A cursor is the time of the newest fill that was told, the run, and the place in it.
func (b *Broker) cursor(newest time.Time, place int) string {
	return newest.UTC().Format(time.RFC3339Nano) + " " + b.run + " " + strconv.Itoa(place)
}

func (b *Broker) place(cursor string) (at time.Time, place int, err error) {
	if cursor == "" {
		return b.o.Since, 0, nil
	}
	parts := strings.Split(cursor, " ")
	if len(parts) != 3 {
		return at, 0, errCursor
	}
	if at, err = time.Parse(time.RFC3339Nano, parts[0]); err != nil {
		return at, 0, errCursor
	}
	if place, err = strconv.Atoi(parts[2]); err != nil || place < 0 {
		return at, 0, errCursor
	}
	if parts[1] != b.run {
		place = 0
	}
	return at, place, nil
}

// Begin is the cursor of an account that begins now.
func (b *Broker) Begin(at time.Time) string { return b.cursor(at, 0) }

// poll asks for fills and orders, unless what is known is fresh.
func (b *Broker) poll(ctx context.Context, newest time.Time) error {
	b.polling.Lock()
	defer b.polling.Unlock()
	b.mu.Lock()
	fresh := !b.stale && time.Since(b.polled) < PollEvery
	b.stale = false // what is sent from here on makes it stale again
	b.mu.Unlock()
	if fresh {
		return nil
	}
	asked := time.Now()
	if err := b.look(ctx, newest); err != nil {
		b.outdate()
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.polled = asked
	return nil
}

// look reads fills first and orders second, so that every fill's order is in the list.
func (b *Broker) look(ctx context.Context, newest time.Time) error {
	floor := newest.Add(-OverlapFor)
	if floor.Before(b.o.Since) {
		floor = b.o.Since
	}
	fills, err := b.fills(ctx, floor)
	if err != nil {
		return err
	}
	list, err := b.listed(ctx)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events)+len(fills)+len(list.orders) > EventsMax {
		return errEventsLong
	}
	told := map[string]money.Quantity{}
	for i := len(fills) - 1; i >= 0; i-- { // newest first in the list
		f := &fills[i]
		at, ok := list.places[f.orderID]
		if !ok {
			return fmt.Errorf("fill %s: %w", bounded(f.ID), errStrangeFill)
		}
		o := &list.orders[at]
		told[o.BrokerID], _ = told[o.BrokerID].Add(f.Quantity)
		b.tell(gate.Event{
			Kind: gate.EventFill, ID: "fill/" + f.ID, ClientOrderID: o.ClientOrderID, BrokerID: o.BrokerID, Instrument: o.Instrument,
			Side: o.Side, Fill: f.Execution, At: f.ExecutedAt,
		}, f.ExecutedAt)
	}
	for i := len(list.orders) - 1; i >= 0; i-- {
		b.standing(&list.orders[i], told, newest)
	}
	return nil
}

// standing tells of an order that ended, or that is new and not known to be ours.
func (b *Broker) standing(o *shownOrder, told map[string]money.Quantity, newest time.Time) {
	switch o.status {
	case "canceled", "expired", "rejected":
		// Executions may be listed later than the end that they came before.
		if o.Filled.Cmp(told[o.BrokerID]) > 0 && o.at.After(b.o.Since) && !b.told["ended/"+o.BrokerID] {
			b.stale = true
			return
		}
		b.tell(gate.Event{
			Kind: gate.EventEnded, ID: "ended/" + o.BrokerID, ClientOrderID: o.ClientOrderID, BrokerID: o.BrokerID,
			Instrument: o.Instrument, Side: o.Side, Ended: o.status, At: o.at,
		}, newest)
	case "filled", "replaced":
	default:
		if o.at.After(b.o.Since) {
			b.tell(gate.Event{
				Kind: gate.EventOrder, ID: "order/" + o.BrokerID, ClientOrderID: o.ClientOrderID, BrokerID: o.BrokerID,
				Instrument: o.Instrument, Side: o.Side, Order: o.BrokerOrder, At: o.at,
			}, newest)
		}
	}
}

// tell adds an event once. mu is held.
func (b *Broker) tell(e gate.Event, newest time.Time) {
	if b.told[e.ID] {
		return
	}
	b.told[e.ID] = true
	if n := len(b.events); n > 0 {
		if at, _, err := b.place(b.events[n-1].Cursor); err == nil && at.After(newest) {
			newest = at
		}
	}
	e.Cursor = b.cursor(newest, len(b.events)+1)
	b.events = append(b.events, e)
}

type fill struct {
	gate.Execution
	orderID string
}

// fills reads the executions after floor, newest first.
func (b *Broker) fills(ctx context.Context, floor time.Time) ([]fill, error) {
	var out []fill
	var failed error
	_, err := b.rows(ctx, profile.FillFigures, "", func(page []profile.Row) bool {
		for _, row := range page {
			f, err := b.fill(row)
			if err != nil {
				failed = err
				return true
			}
			if !f.ExecutedAt.After(floor) {
				return true
			}
			out = append(out, f)
		}
		return false
	})
	if err == nil {
		err = failed
	}
	return out, err
}

func (b *Broker) fill(row profile.Row) (f fill, err error) {
	f.ID, f.orderID = row.Get("id"), row.Get("order_id")
	if f.Quantity, err = money.ParseQuantity(row.Get("quantity")); err != nil {
		return f, err
	}
	if f.Price, err = money.ParsePrice(row.Get("price")); err != nil {
		return f, err
	}
	if t := row.Get("fees"); t != "" {
		if f.Fees, err = money.ParseNotional(t); err != nil {
			return f, err
		}
	}
	if _, err = order.ParseSide(row.Get("side")); err != nil {
		return f, err
	}
	f.ExecutedAt, err = time.Parse(time.RFC3339Nano, row.Get("at"))
	return f, err
}
