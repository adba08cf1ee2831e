package upstream

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// Errand is an order on its way: the reading that was judged, and the session that it
// came by.
type Errand struct {
	Session Caller
	Reading profile.Reading
}

type errandKey struct{}

// With carries an errand to Send through the gate, which knows nothing of it.
func With(ctx context.Context, e *Errand) context.Context {
	return context.WithValue(ctx, errandKey{}, e)
}

// Send calls the tool that the order was read from, once, with the arguments as they were
// read. It is refused, and nothing is sent, when the message is not that reading's order.
func (b *Broker) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	m, err := s.Open()
	if err != nil {
		return gate.Reply{Result: gate.ReplyRejected, Reason: err.Error()}
	}
	e, ok := ctx.Value(errandKey{}).(*Errand)
	if !ok || e == nil || e.Session == nil {
		return gate.Reply{Result: gate.ReplyRejected, Reason: "not sent: no agent's session stands behind the order"}
	}
	if !says(&e.Reading, &m) {
		return gate.Reply{Result: gate.ReplyRejected, Reason: "not sent: the order that was judged is not the one that was read"}
	}
	id := m.ClientOrderID
	if m.Action == order.ActionCancel {
		id = ""
	}
	b.keep(m.ClientOrderID, &e.Reading)
	defer b.outdate()
	reply, digest, err := e.Session.Call(ctx, e.Reading.Tool, e.Reading.Forward(id))
	switch {
	case errors.Is(err, ErrNotSent):
		return gate.Reply{Result: gate.ReplyRejected, Reason: "not sent: the session with the broker's server had ended, or its tools had changed"}
	case err != nil:
		return gate.Reply{Result: gate.ReplyInDoubt, Reason: "no reply: " + bounded(err.Error())}
	}
	return b.read(&m, &e.Reading, reply, digest)
}

// says reports whether a reading, as it would be forwarded, is the message.
func says(r *profile.Reading, m *gate.Message) bool {
	switch m.Action {
	case order.ActionCancel:
		return r.Class == profile.Cancel && m.TargetBrokerID != "" && r.Order.OrderID == m.TargetBrokerID
	case order.ActionReplace:
		if m.TargetBrokerID == "" || r.Order.OrderID != m.TargetBrokerID {
			return false
		}
	case order.ActionNew:
	default:
		return false
	}
	in, refusal := r.Intent()
	return refusal == nil && in.Action == m.Action && in.Symbol == m.Instrument.Symbol && in.Side == m.Side &&
		in.Type == m.Type && in.Quantity == m.Quantity && in.LimitPrice == m.LimitPrice && in.StopPrice == m.StopPrice &&
		in.TimeInForce == m.TimeInForce && in.ExtendedHours == m.ExtendedHours
}

// keep remembers how an order is looked up.
func (b *Broker) keep(id string, r *profile.Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.keptIDs) >= KeptMax {
		old := b.kept[b.keptIDs[0]]
		delete(b.ids, old.Injected(b.keptIDs[0]))
		delete(b.kept, b.keptIDs[0])
		b.keptIDs = b.keptIDs[1:]
	}
	b.kept[id], b.keptIDs = *r, append(b.keptIDs, id)
	if own := r.Injected(id); own != "" {
		b.ids[own] = id
	}
}

// read says what a reply proves of the message.
func (b *Broker) read(m *gate.Message, r *profile.Reading, reply profile.Reply, digest string) gate.Reply {
	p := r.Answer(m.ClientOrderID, reply)
	out := gate.Reply{Result: gate.ReplyInDoubt, BrokerID: p.OrderID, Digest: digest, Reason: "the reply proves nothing"}
	switch p.Outcome {
	case profile.Rejected:
		out.Result, out.Reason = gate.ReplyRejected, "the broker's answer: "+bounded(reply.Excerpt())
	case profile.CancelRequested:
		if m.Action == order.ActionCancel {
			out.Result, out.BrokerID, out.Reason = gate.ReplyAccepted, m.TargetBrokerID, ""
		}
	case profile.Accepted:
		if m.Action == order.ActionCancel {
			return out // an order, where none was asked for
		}
		if want := r.Injected(m.ClientOrderID); want != "" && p.ClientID != want {
			out.BrokerID, out.Reason = "", "the reply is about another order"
			return out
		}
		return echoed(out, m, &p)
	}
	return out
}

// echoed fills in what the broker says that it holds; what cannot be read proves nothing.
// Answer has compared symbol, side and quantity, as far as they are there.
func echoed(out gate.Reply, m *gate.Message, p *profile.Proof) gate.Reply {
	side, err := order.ParseSide(strings.ToLower(p.Side))
	quantity, err2 := money.ParseQuantity(p.Quantity)
	if err != nil || err2 != nil || p.Symbol == "" {
		out.Reason = "the reply does not say what the broker holds"
		return out
	}
	out.Result, out.Symbol, out.Side, out.Quantity, out.Reason = gate.ReplyAccepted, m.Instrument.Symbol, side, quantity, ""
	return out
}

// Find looks an order up: in the broker's list, then by its id.
func (b *Broker) Find(ctx context.Context, clientOrderID string) (gate.Standing, error) {
	b.outdate()
	list, err := b.listed(ctx)
	if err != nil {
		return gate.Standing{}, err
	}
	for i := len(list.orders) - 1; i >= 0; i-- {
		o := &list.orders[i]
		if o.ClientOrderID == clientOrderID && o.status != "replaced" {
			return b.found(ctx, o)
		}
	}
	if err := b.absent(ctx, clientOrderID); err != nil {
		return gate.Standing{}, err
	}
	return gate.Standing{}, nil
}

func (b *Broker) found(ctx context.Context, o *shownOrder) (gate.Standing, error) {
	s := gate.Standing{Known: true, Open: o.open(), BrokerID: o.BrokerID, Order: o.BrokerOrder}
	fills, err := b.fills(ctx, maxTime(b.o.Since, o.at.Add(-time.Second)))
	if err != nil {
		return gate.Standing{}, err
	}
	for i := len(fills) - 1; i >= 0; i-- {
		if fills[i].orderID == o.BrokerID {
			s.Fills = append(s.Fills, fills[i].Execution)
		}
	}
	switch o.status {
	case "canceled", "expired", "rejected":
		s.Ended = o.status
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.missing, s.Order.ClientOrderID)
	return s, nil
}

var errNotSure = errors.New("the broker shows no such order yet")

// absent returns nil once the server has said often enough, and for long enough, that it
// has no order under the id.
func (b *Broker) absent(ctx context.Context, id string) error {
	l, ok := b.lookup(id)
	if !ok {
		return errNotSure
	}
	reply, err := b.ask(ctx, l.Tool, l.Arguments)
	if err != nil {
		return err
	}
	proof, _ := l.Found(reply)
	b.mu.Lock()
	defer b.mu.Unlock()
	if proof.Outcome != profile.Rejected || proof.OrderID != "" {
		delete(b.missing, id)
		return errNotSure
	}
	m := b.missing[id]
	if m == nil {
		m = &missing{since: time.Now()}
		b.missing[id] = m
	}
	if m.times++; m.times < MissesMin || time.Since(m.since) < MissingFor {
		return errNotSure
	}
	delete(b.missing, id)
	return nil
}

// lookup is the profile's way to ask for an order by our id, of this process or not.
func (b *Broker) lookup(id string) (profile.Lookup, bool) {
	b.mu.Lock()
	r, ok := b.kept[id]
	b.mu.Unlock()
	if ok {
		return r.Lookup(id)
	}
	return b.o.Profile.LookupByID(id)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

var _ gate.Broker = (*Broker)(nil)
