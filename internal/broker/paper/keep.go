package paper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// marks returns n question marks for a statement.
func marks(n int) string { return "(" + strings.Repeat("?, ", n-1) + "?)" }

// create writes the single row of a new ledger.
func (t table) create(m meta) error {
	_, err := t.exec("INSERT INTO meta (id, "+metaColumns+") VALUES (1, "+marks(13)[1:],
		strconv.FormatUint(m.start.Seed, 10), m.start.Cash.String(), nanos(m.start.Wall), nanos(m.start.Market), m.cash.String(),
		m.evaluated, 0, 0, 0, 0, 0, 0, nil)
	return err
}

// keep writes what a book changed.
func (t table) keep(k *book) error {
	if err := t.keepMeta(k.meta); err != nil {
		return err
	}
	for _, o := range k.changed.orders {
		if err := t.keepOrder(o); err != nil {
			return err
		}
	}
	for _, x := range k.changed.executions {
		_, err := t.exec("INSERT INTO executions ("+executionColumns+") VALUES "+marks(10),
			x.N, x.ID, x.BrokerID, x.ClientOrderID, x.Symbol, x.Side.String(), x.Quantity.String(), x.Price.String(),
			x.Cash.String(), nanos(x.At))
		if err != nil {
			return err
		}
	}
	if err := t.keepPositions(k); err != nil {
		return err
	}
	for i, e := range k.changed.events {
		body, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
		n := k.eventCount - int64(len(k.changed.events)-1-i)
		if _, err := t.exec("INSERT INTO events (n, body) VALUES (?, ?)", n, string(body)); err != nil {
			return err
		}
	}
	for _, m := range k.changed.messages {
		_, err := t.exec("INSERT INTO messages ("+messageColumns+") VALUES "+marks(12),
			m.N, nanos(m.At), nanos(m.DecidedAt), m.Action.String(), m.ClientOrderID, m.BrokerID, m.Symbol, m.Side.String(),
			m.Quantity.String(), m.LimitPrice.String(), m.Effect, m.Reason)
		if err != nil {
			return err
		}
	}
	return t.keepFaults(k)
}

func (t table) keepMeta(m meta) error {
	var equity any
	if m.closeKnown {
		equity = m.closeEquity.String()
	}
	_, err := t.exec(`UPDATE meta SET cash = ?, evaluated = ?, order_count = ?, execution_count = ?,
  event_count = ?, message_count = ?, fault_count = ?, close_date = ?, close_equity = ?`,
		m.cash.String(), m.evaluated, m.orderCount, m.executionCount, m.eventCount, m.messageCount, m.faultCount,
		int64(m.closeDate), equity)
	return err
}

func (t table) keepOrder(o *Order) error {
	instrument, err := json.Marshal(o.Instrument)
	if err != nil {
		return err
	}
	var client any
	if o.ClientOrderID != "" {
		client = o.ClientOrderID
	}
	_, err = t.exec("INSERT INTO orders ("+orderColumns+", live) VALUES "+marks(21)+`
  ON CONFLICT (n) DO UPDATE SET time_in_force = excluded.time_in_force, quantity = excluded.quantity, filled = excluded.filled,
  limit_price = excluded.limit_price, stop_price = excluded.stop_price, hold_price = excluded.hold_price,
  extended_hours = excluded.extended_hours, triggered = excluded.triggered, expire_at = excluded.expire_at,
  state = excluded.state, duplicate_next = excluded.duplicate_next, late_at = excluded.late_at,
  late_price = excluded.late_price, live = excluded.live`,
		o.N, o.BrokerID, client, string(instrument), o.Side.String(), o.Type.String(), o.TimeInForce.String(),
		o.Quantity.String(), o.Filled.String(), o.LimitPrice.String(), o.StopPrice.String(), o.HoldPrice.String(),
		o.ExtendedHours, o.Triggered, nanos(o.ExpireAt), nanos(o.PlacedAt), string(o.State), o.DuplicateNext,
		nanos(o.LateAt), o.LatePrice.String(), o.live())
	return err
}

func (t table) keepPositions(k *book) error {
	for _, p := range k.held {
		if !slices.Contains(k.changed.positions, p.Instrument.Symbol) {
			continue
		}
		if p.Quantity.IsZero() {
			if _, err := t.exec("DELETE FROM positions WHERE symbol = ?", p.Instrument.Symbol); err != nil {
				return err
			}
			continue
		}
		instrument, err := json.Marshal(p.Instrument)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO positions (symbol, instrument, quantity, cost) VALUES (?, ?, ?, ?)
  ON CONFLICT (symbol) DO UPDATE SET quantity = excluded.quantity, cost = excluded.cost`,
			p.Instrument.Symbol, string(instrument), p.Quantity.String(), p.Cost.String())
		if err != nil {
			return err
		}
	}
	return nil
}

func (t table) keepFaults(k *book) error {
	for _, q := range k.changed.queued {
		_, err := t.exec("INSERT INTO faults (n, kind, action, delay_ns) VALUES (?, ?, ?, ?)",
			q.N, int64(q.Kind), int64(q.Action), int64(q.Delay))
		if err != nil {
			return err
		}
	}
	for _, n := range k.changed.spent {
		if _, err := t.exec("DELETE FROM faults WHERE n = ?", n); err != nil {
			return err
		}
	}
	return nil
}
