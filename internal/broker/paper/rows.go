package paper

import (
	"context"
	"database/sql"
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// table reads and writes the tables within one transaction.
type table struct {
	ctx   context.Context
	tx    *sql.Tx
	known *statements
}

// text scans a column into a type that reads its own text.
type text struct{ to encoding.TextUnmarshaler }

// Scan implements sql.Scanner.
func (t text) Scan(value any) error {
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("column holds %T, not text", value)
	}
	return t.to.UnmarshalText([]byte(s))
}

// instant scans nanoseconds since 1970; 0 is no instant.
type instant struct{ to *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("column holds %T, not an instant", value)
	}
	*i.to = time.Time{}
	if n != 0 {
		*i.to = time.Unix(0, n).UTC()
	}
	return nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// instrumentText scans an instrument's JSON.
type instrumentText struct{ to *order.Instrument }

// Scan implements sql.Scanner.
func (i instrumentText) Scan(value any) error {
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("column holds %T, not an instrument", value)
	}
	return json.Unmarshal([]byte(s), i.to)
}

// each runs a query and scans every row.
func (t table) each(scan func(func(...any) error) error, query string, args ...any) (err error) {
	r, err := t.query(query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		if err := scan(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}

func (t table) meta() (meta, error) {
	var m meta
	var seed string
	var closeDate int64
	var equity sql.NullString
	err := t.row("SELECT "+metaColumns+" FROM meta").Scan(&seed, text{&m.start.Cash}, instant{&m.start.Wall},
		instant{&m.start.Market}, text{&m.cash}, &m.evaluated, &m.orderCount, &m.executionCount, &m.eventCount,
		&m.messageCount, &m.faultCount, &closeDate, &equity)
	if err != nil {
		return meta{}, err
	}
	if m.start.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return meta{}, err
	}
	m.closeDate, m.closeKnown = market.TradeDate(closeDate), equity.Valid
	if equity.Valid {
		err = m.closeEquity.UnmarshalText([]byte(equity.String))
	}
	return m, err
}

// book loads what a change may need.
func (t table) book() (*book, error) {
	m, err := t.meta()
	if err != nil {
		return nil, err
	}
	k := &book{meta: m, rows: t}
	live, err := t.orders(true)
	if err != nil {
		return nil, err
	}
	for i := range live {
		k.live = append(k.live, &live[i])
	}
	if k.held, err = t.positions(); err != nil {
		return nil, err
	}
	err = t.each(func(scan func(...any) error) error {
		var q queued
		var delay int64
		if err := scan(&q.N, &q.Kind, &q.Action, &delay); err != nil {
			return err
		}
		q.Delay = time.Duration(delay)
		k.faults = append(k.faults, q)
		return nil
	}, "SELECT n, kind, action, delay_ns FROM faults ORDER BY n")
	return k, err
}

func scanOrder(scan func(...any) error) (Order, error) {
	var o Order
	var client sql.NullString
	err := scan(&o.N, &o.BrokerID, &client, instrumentText{&o.Instrument}, text{&o.Side}, text{&o.Type}, text{&o.TimeInForce},
		text{&o.Quantity}, text{&o.Filled}, text{&o.LimitPrice}, text{&o.StopPrice}, text{&o.HoldPrice}, &o.ExtendedHours,
		&o.Triggered, instant{&o.ExpireAt}, instant{&o.PlacedAt}, &o.State, &o.DuplicateNext, instant{&o.LateAt}, text{&o.LatePrice})
	o.ClientOrderID = client.String
	return o, err
}

func (t table) orderBy(field orderField, id string) (Order, bool, error) {
	if id == "" {
		return Order{}, false, nil
	}
	o, err := scanOrder(t.row("SELECT "+orderColumns+" FROM orders WHERE "+string(field)+" = ?", id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Order{}, false, nil
	}
	return o, err == nil, err
}

func (t table) orders(liveOnly bool) ([]Order, error) {
	query := "SELECT " + orderColumns + " FROM orders "
	if liveOnly {
		query += "WHERE live = 1 "
	}
	var out []Order
	err := t.each(func(scan func(...any) error) error {
		o, err := scanOrder(scan)
		out = append(out, o)
		return err
	}, query+"ORDER BY n")
	return out, err
}

func (t table) executions(brokerID string) ([]Execution, error) {
	if brokerID != "" {
		return t.executionsWhere("WHERE broker_id = ? ", brokerID)
	}
	return t.executionsWhere("")
}

func (t table) executionsWhere(where string, args ...any) ([]Execution, error) {
	query := "SELECT " + executionColumns + " FROM executions " + where
	var out []Execution
	err := t.each(func(scan func(...any) error) error {
		var x Execution
		err := scan(&x.N, &x.ID, &x.BrokerID, &x.ClientOrderID, &x.Symbol, text{&x.Side}, text{&x.Quantity}, text{&x.Price},
			text{&x.Cash}, instant{&x.At})
		out = append(out, x)
		return err
	}, query+"ORDER BY n", args...)
	return out, err
}

func (t table) executionKnown(id string) (known bool, err error) {
	err = t.row("SELECT EXISTS (SELECT 1 FROM executions WHERE id = ?)", id).Scan(&known)
	return known, err
}

func (t table) positions() ([]journal.Position, error) {
	var out []journal.Position
	err := t.each(func(scan func(...any) error) error {
		var p journal.Position
		err := scan(instrumentText{&p.Instrument}, text{&p.Quantity}, text{&p.Cost})
		out = append(out, p)
		return err
	}, "SELECT instrument, quantity, cost FROM positions ORDER BY symbol")
	return out, err
}

func (t table) events(after int64, most int) ([]gate.Event, error) {
	var out []gate.Event
	err := t.each(func(scan func(...any) error) error {
		var body string
		if err := scan(&body); err != nil {
			return err
		}
		var e gate.Event
		err := json.Unmarshal([]byte(body), &e)
		out = append(out, e)
		return err
	}, "SELECT body FROM events WHERE n > ? ORDER BY n LIMIT ?", after, most)
	return out, err
}

func (t table) messages(clientOrderID string) ([]Message, error) {
	if clientOrderID != "" {
		return t.messagesWhere("WHERE client_order_id = ? ", clientOrderID)
	}
	return t.messagesWhere("")
}

func (t table) messagesWhere(where string, args ...any) ([]Message, error) {
	query := "SELECT " + messageColumns + " FROM messages " + where
	var out []Message
	err := t.each(func(scan func(...any) error) error {
		var m Message
		var action string
		err := scan(&m.N, instant{&m.At}, instant{&m.DecidedAt}, &action, &m.ClientOrderID, &m.BrokerID, &m.Symbol, text{&m.Side},
			text{&m.Quantity}, text{&m.LimitPrice}, &m.Effect, &m.Reason)
		if err == nil && action != "" {
			m.Action, err = order.ParseAction(action)
		}
		out = append(out, m)
		return err
	}, query+"ORDER BY n", args...)
	return out, err
}
