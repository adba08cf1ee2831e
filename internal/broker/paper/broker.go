package paper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// EventsMax is how many events one call of Events returns; the caller reads on from the
// last one's cursor until there are none.
const EventsMax = 10_000

// Options are what a broker trades by.
type Options struct {
	Clock    gate.Clock      // required; its Market time is the broker's
	Quotes   gate.Quotes     // required; resting orders fill by them
	Calendar market.Calendar // required
	// AccountID is what the broker calls the account; empty means paper.
	AccountID string
	// AllowShort lets sells go beyond the position. There is no margin on shorts.
	AllowShort bool
	// PartialFills bounds the fills of marketable orders by the displayed size as well.
	PartialFills bool
	// ManualFills: orders fill by FillOrder and FaultPartial only. Ioc orders are canceled
	// at once.
	ManualFills bool
}

// Broker is one paper account. It may be used from many goroutines. The zero Broker
// holds nothing and takes nothing.
type Broker struct {
	ledger  *Ledger
	options Options
}

var (
	errOptions  = errors.New("a paper broker needs a ledger, a clock, quotes and a calendar")
	errUnopened = errors.New("the paper broker was not opened")
	errCursor   = errors.New("not a cursor of the paper broker")
)

// New returns the broker that keeps this ledger.
func New(l *Ledger, o Options) (*Broker, error) {
	if l == nil || o.Clock == nil || o.Quotes == nil || o.Calendar.MIC() == "" {
		return nil, errOptions
	}
	if o.AccountID == "" {
		o.AccountID = "paper"
	}
	return &Broker{ledger: l, options: o}, nil
}

// OpenMemory returns a broker with a new ledger in memory.
func OpenMemory(s Start, o Options) (*Broker, error) { return New(InMemory(s), o) }

// Ledger is the broker's record.
func (b *Broker) Ledger() *Ledger { return b.ledger }

// Close releases the ledger.
func (b *Broker) Close() error {
	if b.ledger == nil {
		return nil
	}
	return b.ledger.Close()
}

// Send transmits one message. It is called by the gate only: nothing else can make a
// message that opens. A value that the gate did not make sends nothing.
func (b *Broker) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	m, err := s.Open()
	if err != nil {
		return doubt(err)
	}
	return b.accept(ctx, m)
}

// Events returns what happened after the cursor, in order, EventsMax at most. An event's
// cursor is its number, in decimal.
func (b *Broker) Events(ctx context.Context, cursor string) (out []gate.Event, err error) {
	after := int64(0)
	if cursor != "" {
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil || after < 0 {
			return nil, errCursor
		}
	}
	if _, err := b.catchUp(ctx); err != nil {
		return nil, err
	}
	err = b.ledger.store.view(ctx, func(r rows) error {
		out, err = r.events(after, EventsMax)
		return err
	})
	return out, err
}

// Account returns the whole account at one instant.
func (b *Broker) Account(ctx context.Context) (gate.BrokerAccount, error) {
	now, err := b.catchUp(ctx)
	if err != nil {
		return gate.BrokerAccount{}, err
	}
	out := gate.BrokerAccount{At: now, AccountID: b.options.AccountID}
	err = b.ledger.store.view(ctx, func(r rows) error {
		m, err := r.meta()
		if err != nil {
			return err
		}
		live, err := r.orders(true)
		if err != nil {
			return err
		}
		k := book{meta: m}
		for i := range live {
			k.live = append(k.live, &live[i])
			if live[i].open() {
				out.Orders = append(out.Orders, live[i].shown())
			}
		}
		out.Cash = m.cash
		free, ok := k.freeCash(nil)
		if !ok {
			return errFigure
		}
		out.BuyingPower = money.MaxNotional(free, money.Notional{})
		out.PreviousCloseEquity = b.previousClose(&m, now)
		out.Positions, err = r.positions()
		return err
	})
	if err != nil {
		return gate.BrokerAccount{}, err
	}
	return out, nil
}

// previousClose is the equity at the previous regular close: as it was evaluated then,
// or on the ledger's first trade date the cash that it started with.
func (b *Broker) previousClose(m *meta, now time.Time) *money.Notional {
	today := market.Session(now, b.options.Calendar).TradeDate
	start := b.ledger.start
	if m.closeDate == 0 && market.Session(start.Market, b.options.Calendar).TradeDate == today {
		return &start.Cash
	}
	day, ok := b.options.Calendar.PreviousTradeDate(today)
	if !ok || !m.closeKnown || m.closeDate != day {
		return nil
	}
	equity := m.closeEquity
	return &equity
}

// Find looks up the order with this client order id. The id of a replace or a cancel
// that took effect finds the order that it changed; Known is false for one that did not.
func (b *Broker) Find(ctx context.Context, clientOrderID string) (gate.Standing, error) {
	var out gate.Standing
	if _, err := b.catchUp(ctx); err != nil {
		return out, err
	}
	err := b.ledger.store.view(ctx, func(r rows) error {
		o, ok, err := lookUp(r, clientOrderID)
		if err != nil || !ok {
			return err
		}
		done, err := r.executions(o.BrokerID)
		if err != nil {
			return err
		}
		out = gate.Standing{Known: true, Open: o.open(), BrokerID: o.BrokerID, Order: o.shown(), Ended: o.ended()}
		for _, x := range done {
			out.Fills = append(out.Fills, x.reported())
		}
		return nil
	})
	if err != nil {
		return gate.Standing{}, err
	}
	return out, nil
}

// lookUp finds an order by its own client order id, or by that of a message that
// changed it.
func lookUp(r rows, clientOrderID string) (Order, bool, error) {
	if clientOrderID == "" {
		return Order{}, false, nil
	}
	o, ok, err := r.orderBy(byClientID, clientOrderID)
	if err != nil || ok {
		return o, ok, err
	}
	sent, err := r.messages(clientOrderID)
	if err != nil {
		return Order{}, false, err
	}
	for _, m := range sent {
		if m.Effect == EffectTook && m.Action != order.ActionNew {
			return r.orderBy(byBrokerID, m.BrokerID)
		}
	}
	return Order{}, false, nil
}

// catchUp looks at the resting orders up to now, and returns now. A ledger in which
// nothing can have happened is only read: readers do not queue for its lock then.
func (b *Broker) catchUp(ctx context.Context) (time.Time, error) {
	if b.ledger == nil {
		return time.Time{}, errUnopened
	}
	now, still := b.now(), false
	err := b.ledger.store.view(ctx, func(r rows) error {
		m, err := r.meta()
		if err != nil {
			return err
		}
		live, err := r.orders(true)
		still = len(live) == 0 && b.sameSession(m.evaluated, now)
		return err
	})
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("paper ledger: %w", err)
	case still:
		return now, nil
	}
	return b.change(ctx, func(*book, time.Time) error { return nil })
}

// sameSession reports whether no regular close lies between a second and a later now.
func (b *Broker) sameSession(second int64, now time.Time) bool {
	from := market.Session(time.Unix(second, 0).UTC(), b.options.Calendar)
	to := market.Session(now, b.options.Calendar)
	return from.Kind == market.Regular && to.Kind == market.Regular && from.TradeDate == to.TradeDate && now.Unix() >= second
}

// change runs do on a book whose resting orders were looked at up to now, and keeps what
// was changed. A long absence is caught up with in several transactions before it.
func (b *Broker) change(ctx context.Context, do func(k *book, now time.Time) error) (time.Time, error) {
	if b.ledger == nil {
		return time.Time{}, errUnopened
	}
	now := b.now()
	for done := false; !done; {
		err := b.ledger.store.update(ctx, func(k *book) (err error) {
			if done, err = b.evaluate(ctx, k, now); err != nil || !done {
				return err
			}
			// Time does not go back in a ledger that another process has seen go on.
			if seen := time.Unix(k.evaluated, 0).UTC(); now.Before(seen) {
				now = seen
			}
			return do(k, now)
		})
		if err != nil {
			return time.Time{}, fmt.Errorf("paper ledger: %w", err)
		}
	}
	return now, nil
}

func (b *Broker) now() time.Time { return b.options.Clock.Read().Market.Round(0).UTC() }

var _ gate.Broker = (*Broker)(nil)

// instrumentOK reports whether trades in the instrument can be booked.
func instrumentOK(in order.Instrument) bool { return in.Symbol != "" && in.Multiplier.IsPositive() }
