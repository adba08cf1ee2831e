package paper

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// InMemory returns a new ledger that lives as long as the process.
func InMemory(start Start) *Ledger {
	start = start.cleaned()
	m := &memory{
		byBroker: map[string]int64{}, byClient: map[string]int64{}, executed: map[string]bool{},
		sent: map[string][]int{},
	}
	m.row = meta{start: start, cash: start.Cash, evaluated: start.Market.Unix()}
	return &Ledger{store: m, start: start}
}

// cleaned drops what a file would not keep: zones and monotonic readings.
func (s Start) cleaned() Start {
	s.Wall, s.Market = s.Wall.Round(0).UTC(), s.Market.Round(0).UTC()
	return s
}

// memory is a store without a file. Orders are kept by number, less one.
type memory struct {
	mu       sync.Mutex // guards all below
	row      meta
	all      []Order
	live     []int64 // numbers of orders that are live, ascending
	byBroker map[string]int64
	byClient map[string]int64
	done     []Execution
	executed map[string]bool
	held     []journal.Position
	stream   []gate.Event
	log      []Message
	sent     map[string][]int // places in log, by client order id
	faults   []queued
}

func (m *memory) close() error { return nil }

func (m *memory) update(ctx context.Context, change func(*book) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := &book{meta: m.row, rows: unlocked{m}, held: slices.Clone(m.held), faults: slices.Clone(m.faults)}
	for _, n := range m.live {
		o := m.all[n-1]
		k.live = append(k.live, &o)
	}
	if err := change(k); err != nil {
		return err
	}
	if k.changed.any {
		m.keep(k)
	}
	return nil
}

// keep takes over what a book changed. It cannot fail.
func (m *memory) keep(k *book) {
	m.row = k.meta
	sort.Slice(k.changed.orders, func(i, j int) bool { return k.changed.orders[i].N < k.changed.orders[j].N })
	for _, o := range k.changed.orders {
		if o.N > int64(len(m.all)) {
			m.all = append(m.all, *o)
			m.byBroker[o.BrokerID] = o.N
			if o.ClientOrderID != "" {
				m.byClient[o.ClientOrderID] = o.N
			}
		}
		m.all[o.N-1] = *o
	}
	m.live = m.live[:0]
	for _, o := range k.live {
		if o.live() {
			m.live = append(m.live, o.N)
		}
	}
	for _, x := range k.changed.executions {
		m.executed[x.ID] = true
	}
	m.done = append(m.done, k.changed.executions...)
	m.held = slices.DeleteFunc(k.held, func(p journal.Position) bool { return p.Quantity.IsZero() })
	m.stream = append(m.stream, k.changed.events...)
	for i := range k.changed.messages {
		id := k.changed.messages[i].ClientOrderID
		m.sent[id] = append(m.sent[id], len(m.log)+i)
	}
	m.log = append(m.log, k.changed.messages...)
	m.faults = slices.DeleteFunc(append(k.faults, k.changed.queued...), func(q queued) bool {
		return slices.Contains(k.changed.spent, q.N)
	})
}

func (m *memory) view(ctx context.Context, read func(rows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return read(unlocked{m})
}

// unlocked reads a memory whose lock the caller holds.
type unlocked struct{ m *memory }

func (u unlocked) meta() (meta, error) { return u.m.row, nil }

func (u unlocked) orderBy(field orderField, id string) (Order, bool, error) {
	n := u.m.byBroker[id]
	if field == byClientID {
		n = u.m.byClient[id]
	}
	if n == 0 {
		return Order{}, false, nil
	}
	return u.m.all[n-1], true, nil
}

func (u unlocked) orders(liveOnly bool) ([]Order, error) {
	if !liveOnly {
		return slices.Clone(u.m.all), nil
	}
	out := make([]Order, 0, len(u.m.live))
	for _, n := range u.m.live {
		out = append(out, u.m.all[n-1])
	}
	return out, nil
}

func (u unlocked) executions(brokerID string) ([]Execution, error) {
	if brokerID == "" {
		return slices.Clone(u.m.done), nil
	}
	var out []Execution
	for _, x := range u.m.done {
		if x.BrokerID == brokerID {
			out = append(out, x)
		}
	}
	return out, nil
}

func (u unlocked) executionKnown(id string) (bool, error) { return u.m.executed[id], nil }

func (u unlocked) positions() ([]journal.Position, error) { return slices.Clone(u.m.held), nil }

func (u unlocked) events(after int64, most int) ([]gate.Event, error) {
	from := min(max(after, 0), int64(len(u.m.stream)))
	to := min(from+int64(most), int64(len(u.m.stream)))
	return slices.Clone(u.m.stream[from:to]), nil
}

func (u unlocked) messages(clientOrderID string) ([]Message, error) {
	if clientOrderID == "" {
		return slices.Clone(u.m.log), nil
	}
	var out []Message
	for _, i := range u.m.sent[clientOrderID] {
		out = append(out, u.m.log[i])
	}
	return out, nil
}
