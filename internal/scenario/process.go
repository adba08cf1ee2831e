package scenario

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

var errGone = errors.New("the process is gone")

// process is one process's hold on the journal and the broker. When it is gone nothing
// of it reaches either any more; what it had sent before stays sent.
type process struct {
	gate.Store
	broker *outside
	gone   atomic.Bool
	// dies: the process ends when its next message has taken effect.
	dies atomic.Bool
}

// Append implements gate.Store.
func (p *process) Append(ctx context.Context, b *gate.Batch) error {
	if p.gone.Load() {
		return errGone
	}
	return p.Store.Append(ctx, b)
}

// line is a process's connection to the broker.
type line struct {
	*outside
	process *process
}

// Send implements gate.Broker.
func (l line) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	if l.process.gone.Load() {
		return gate.Reply{Reason: errGone.Error()}
	}
	reply := l.outside.Send(ctx, s)
	if l.process.dies.Load() {
		l.process.gone.Store(true)
	}
	return reply
}

// outside is the paper broker, which may show positions that no execution explains: a
// split or a correction that the broker books without telling.
type outside struct {
	gate.Broker
	shown map[string]shownPosition
}

type shownPosition struct {
	position journal.Position // as it is shown
	real     money.Quantity   // in the ledger when that began
}

// Account implements gate.Broker.
func (o *outside) Account(ctx context.Context) (gate.BrokerAccount, error) {
	seen, err := o.Broker.Account(ctx)
	if err != nil || len(o.shown) == 0 {
		return seen, err
	}
	seen.Positions = o.adjusted(seen.Positions)
	return seen, nil
}

// adjusted adds to each position what it was shown to differ by.
func (o *outside) adjusted(in []journal.Position) []journal.Position {
	left := map[string]journal.Position{}
	for _, p := range in {
		left[p.Instrument.Symbol] = p
	}
	for symbol, s := range o.shown {
		p, held := left[symbol]
		if !held {
			p = s.position
			p.Quantity = money.Quantity{}
		}
		by, _ := s.position.Quantity.Sub(s.real)
		p.Quantity, _ = p.Quantity.Add(by)
		left[symbol] = p
	}
	return sortedPositions(left)
}
