package alpaca

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// newOrder is the body of a new order, and with the members that it has of a replace.
type newOrder struct {
	Symbol        string `json:"symbol,omitzero"`
	Qty           string `json:"qty"`
	Side          string `json:"side,omitzero"`
	Type          string `json:"type,omitzero"`
	TimeInForce   string `json:"time_in_force,omitzero"`
	LimitPrice    string `json:"limit_price,omitzero"`
	StopPrice     string `json:"stop_price,omitzero"`
	ExtendedHours bool   `json:"extended_hours,omitzero"`
	ClientOrderID string `json:"client_order_id"`
}

// Send transmits one message, at most once. What it does not send it says is rejected,
// with the reason; what was sent without a proof of what became of it is in doubt.
func (b *Broker) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	m, err := s.Open()
	if err != nil {
		return gate.Reply{Reason: err.Error()}
	}
	if err := b.verified(ctx); err != nil {
		return unsent("the broker has not shown that the keys are of the account: " + err.Error())
	}
	if why := b.unsendable(&m); why != "" {
		return unsent(why)
	}
	defer b.ring()
	switch m.Action {
	case order.ActionNew:
		return b.place(ctx, &m)
	case order.ActionReplace:
		return b.replace(ctx, &m)
	case order.ActionCancel:
		return b.cancel(ctx, &m)
	}
	return unsent("the action is not known")
}

func unsent(why string) gate.Reply {
	return gate.Reply{Result: gate.ReplyRejected, Reason: "not sent: " + why}
}

func doubtful(err error, r *reply) gate.Reply {
	out := gate.Reply{Result: gate.ReplyInDoubt, Reason: journal.BoundText(err.Error(), TextBytesMax)}
	if r != nil {
		out.Digest = r.digest
	}
	return out
}

// unsendable says why a message must not leave; empty if it may.
func (b *Broker) unsendable(m *gate.Message) string {
	if until, paused := b.c.pausedUntil(); paused {
		return "the broker takes no more calls until " + until.UTC().Format(time.TimeOnly)
	}
	if m.Action == order.ActionCancel {
		return ""
	}
	switch {
	case m.Instrument.Class != order.USEquity || m.Instrument.Currency != currency:
		return "only shares in dollars are traded here"
	case m.TimeInForce == order.GTD || m.TimeInForce == order.TimeInForceNone || !m.ExpireAt.IsZero():
		return "this broker has no such time in force"
	case !m.Quantity.IsPositive() || m.Side == order.SideNone || m.Type == order.TypeNone || m.ClientOrderID == "":
		return "the order is not whole"
	case !m.SendBy.IsZero() && b.o.Clock.Read().Market.After(m.SendBy):
		return "it is too late"
	}
	return ""
}

// body encodes the judged terms: nothing in it comes from the agent's own bytes.
func body(m *gate.Message) ([]byte, error) {
	o := newOrder{Qty: m.Quantity.String(), ClientOrderID: m.ClientOrderID}
	if m.Type.HasLimit() {
		o.LimitPrice = m.LimitPrice.String()
	}
	if m.Type.HasStop() {
		o.StopPrice = m.StopPrice.String()
	}
	if m.Action == order.ActionNew {
		o.Symbol, o.Side, o.Type = m.Instrument.Symbol, m.Side.String(), m.Type.String()
		o.TimeInForce, o.ExtendedHours = m.TimeInForce.String(), m.ExtendedHours
	}
	return json.Marshal(&o)
}

func (b *Broker) place(ctx context.Context, m *gate.Message) gate.Reply {
	text, err := body(m)
	if err != nil {
		return unsent(err.Error())
	}
	r, err := b.c.do(ctx, b.c.trading, http.MethodPost, "/v2/orders", nil, text)
	if err != nil {
		return doubtful(err, nil)
	}
	if r.status != http.StatusOK {
		return b.refused(ctx, m, &r)
	}
	o, err := echo(m, &r)
	if err != nil {
		return doubtful(err, &r)
	}
	return b.accepted(m, o, r.digest)
}

// echo reads a reply as the order that was sent, or says why it is not.
func echo(m *gate.Message, r *reply) (*shownOrder, error) {
	var o shownOrder
	if err := json.Unmarshal(r.body, &o); err != nil {
		return nil, errUnreadable
	}
	if err := o.echoes(m); err != nil {
		return nil, err
	}
	return &o, nil
}

var errEcho = errors.New("the reply shows another order than was sent")

func (o *shownOrder) echoes(m *gate.Message) error {
	shown, err := o.asBroker(o.ClientOrderID)
	if err != nil {
		return err
	}
	if o.ClientOrderID != m.ClientOrderID || shown.Instrument.Symbol != m.Instrument.Symbol || shown.Side != m.Side ||
		shown.Quantity != m.Quantity || shown.Type != m.Type || shown.LimitPrice != m.LimitPrice || shown.StopPrice != m.StopPrice {
		return errEcho
	}
	return nil
}

// accepted is the reply of an order that the broker holds, unless it shows it as rejected.
func (b *Broker) accepted(m *gate.Message, o *shownOrder, digest string) gate.Reply {
	out := gate.Reply{
		Result: gate.ReplyAccepted, BrokerID: o.ID, Symbol: o.Symbol, Side: m.Side, Quantity: m.Quantity, Digest: digest,
	}
	if o.Status == journal.ResultRejected {
		out.Result, out.Reason = gate.ReplyRejected, "the broker rejected the order"
		return out
	}
	b.mu.Lock()
	b.sent = append(b.sent, o.ID)
	b.mu.Unlock()
	return out
}

// refused reads an answer that is not 200: a refusal that the broker wrote, an order that
// it has already, or nothing that proves anything.
func (b *Broker) refused(ctx context.Context, m *gate.Message, r *reply) gate.Reply {
	refusal := r.refusal()
	switch {
	case refusal == nil || refusal.Code == 0: // without the broker's own code it may be of something before it
		return doubtful(errors.New(http.StatusText(r.status)+" from the broker or something before it"), r)
	case strings.Contains(refusal.Message, "must be unique"):
		return b.adopt(ctx, m, r)
	}
	return gate.Reply{Result: gate.ReplyRejected, Reason: journal.BoundText(refusal.Message, TextBytesMax), Digest: r.digest}
}

// adopt takes an order that was there before its message for the message's own, if it is.
func (b *Broker) adopt(ctx context.Context, m *gate.Message, r *reply) gate.Reply {
	var o shownOrder
	err := b.c.read(ctx, "/v2/orders:by_client_order_id", query("client_order_id", m.ClientOrderID), &o)
	if err == nil {
		err = o.echoes(m)
	}
	if err != nil || o.ended() != "" {
		return doubtful(errors.Join(errors.New("the client order id was used before"), err), r)
	}
	return b.accepted(m, &o, r.digest)
}

// Looks at an order after a replace, each after a longer wait.
const (
	replaceLooks = 5
	replaceWait  = 50 * time.Millisecond
)

// replace changes an order that has not filled. A 200 proves only that the change was
// asked for: it is accepted once the old order shows that the new one took its place.
func (b *Broker) replace(ctx context.Context, m *gate.Message) gate.Reply {
	if m.TargetBrokerID == "" {
		return unsent("the broker's id of the order is not known")
	}
	path := "/v2/orders/" + m.TargetBrokerID
	var old shownOrder
	if err := b.c.read(ctx, path, nil, &old); err != nil {
		return unsent(err.Error())
	}
	filled, err := old.filled()
	switch {
	case err != nil || old.ID != m.TargetBrokerID:
		return unsent(errUnreadable.Error())
	case old.over():
		return unsent("the order is " + journal.BoundText(old.Status, 32))
	case !filled.IsZero():
		// Whether the new total counts what has filled is not documented: cancel and order anew.
		return unsent("the order has filled in part; cancel it and place the rest anew")
	}
	text, err := body(m)
	if err != nil {
		return unsent(err.Error())
	}
	r, err := b.c.do(ctx, b.c.trading, http.MethodPatch, path, nil, text)
	if err != nil {
		return doubtful(err, nil)
	}
	if r.status != http.StatusOK {
		if refusal := r.refusal(); refusal != nil && !strings.Contains(refusal.Message, "must be unique") {
			return gate.Reply{Result: gate.ReplyRejected, Reason: refusal.Message, Digest: r.digest}
		}
		return doubtful(errUnreadable, &r)
	}
	next, err := echo(m, &r)
	if err != nil || next.Replaces != m.TargetBrokerID {
		return doubtful(errors.Join(errEcho, err), &r)
	}
	if err := b.tookPlace(ctx, path, next.ID); err != nil {
		return doubtful(err, &r)
	}
	return b.accepted(m, next, r.digest)
}

// tookPlace waits until the old order shows that the new one replaced it.
func (b *Broker) tookPlace(ctx context.Context, path, next string) error {
	for try := range replaceLooks {
		var old shownOrder
		if err := b.c.read(ctx, path, nil, &old); err != nil {
			return err
		}
		if old.Status == statusReplaced && old.ReplacedBy == next {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(replaceWait << try):
		}
	}
	return errPending
}

// cancel asks for an order's end. 204 proves that it was asked for; the end itself is an event.
func (b *Broker) cancel(ctx context.Context, m *gate.Message) gate.Reply {
	id := m.TargetBrokerID
	if id == "" {
		var o shownOrder
		err := b.c.read(ctx, "/v2/orders:by_client_order_id", query("client_order_id", m.TargetClientID), &o)
		switch {
		case err != nil:
			return unsent("the order was not found at the broker: " + err.Error())
		case m.TargetClientID == "" || o.ClientOrderID != m.TargetClientID || o.ID == "":
			return unsent(errEcho.Error())
		}
		id = o.ID
	}
	r, err := b.c.do(ctx, b.c.trading, http.MethodDelete, "/v2/orders/"+id, nil, nil)
	switch {
	case err != nil:
		return doubtful(err, nil)
	case r.status == http.StatusNoContent:
		b.mu.Lock()
		b.sent = append(b.sent, id)
		b.mu.Unlock()
		return gate.Reply{Result: gate.ReplyAccepted, BrokerID: id, Symbol: m.Instrument.Symbol, Digest: r.digest}
	}
	if refusal := r.refusal(); refusal != nil {
		return gate.Reply{Result: gate.ReplyRejected, BrokerID: id, Reason: refusal.Message, Digest: r.digest}
	}
	return doubtful(errUnreadable, &r)
}
