package upstream

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// listed is the broker's list of orders at one instant.
type listed struct {
	orders []shownOrder
	places map[string]int // by the broker's id
}

type shownOrder struct {
	journal.BrokerOrder
	status   string // filled, canceled, expired, rejected, replaced; any other is open
	replaces string
	at       time.Time
}

func (o *shownOrder) open() bool {
	switch o.status {
	case "filled", "canceled", "expired", "rejected", "replaced":
		return false
	}
	return true
}

// listed reads the newest orders, open and ended. An order that replaced another one goes
// by the first one's client order id: the gate knows it under that.
func (b *Broker) listed(ctx context.Context) (*listed, error) {
	rows, err := b.rows(ctx, profile.OrderFigures, "", nil)
	if err != nil {
		return nil, err
	}
	out := &listed{places: make(map[string]int, len(rows))}
	for _, row := range rows {
		o, err := b.order(row)
		if err != nil {
			return nil, err
		}
		out.places[o.BrokerID] = len(out.orders)
		out.orders = append(out.orders, o)
	}
	for i := range out.orders {
		o := &out.orders[i]
		o.ClientOrderID = b.ours(out.first(o).ClientOrderID)
	}
	return out, nil
}

// first follows what an order replaced. A chain longer than the list is a circle.
func (l *listed) first(o *shownOrder) *shownOrder {
	for range l.orders {
		i, ok := l.places[o.replaces]
		if o.replaces == "" || !ok {
			break
		}
		o = &l.orders[i]
	}
	return o
}

// ours turns the id that stands at the server back into the gate's.
func (b *Broker) ours(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own, ok := b.ids[id]; ok {
		return own
	}
	return id
}

func (b *Broker) order(row profile.Row) (o shownOrder, err error) {
	o.BrokerID, o.ClientOrderID, o.replaces, o.status = row.Get("id"), row.Get("client_id"), row.Get("replaces"), row.Get("status")
	if o.Instrument, err = b.instrument(row); err != nil {
		return o, err
	}
	if o.Side, err = order.ParseSide(row.Get("side")); err != nil {
		return o, err
	}
	if o.Quantity, err = money.ParseQuantity(row.Get("quantity")); err != nil {
		return o, err
	}
	if o.Filled, err = money.ParseQuantity(row.Get("filled")); err != nil {
		return o, err
	}
	if o.LimitPrice, err = priceOr(row.Get("limit_price")); err != nil {
		return o, err
	}
	if o.StopPrice, err = priceOr(row.Get("stop_price")); err != nil {
		return o, err
	}
	// Kinds that are not offered here exist at the broker: they count as market orders, which
	// can cost anything, and as good till canceled.
	if o.Type, err = order.ParseType(row.Get("type")); err != nil {
		o.Type = order.Market
	}
	if o.TimeInForce, err = order.ParseTimeInForce(row.Get("time_in_force")); err != nil || o.TimeInForce == order.GTD {
		o.TimeInForce = order.GTC
	}
	o.at, _ = time.Parse(time.RFC3339Nano, row.Get("at")) // absent: an old one
	return o, nil
}

func priceOr(t string) (money.Price, error) {
	if t == "" {
		return money.Price{}, nil
	}
	return money.ParsePrice(t)
}
