package scenario

import (
	"context"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// happen plays a step that is not a call.
func (w *world) happen(ctx context.Context, s *step, out *StepResult) error {
	switch s.kind {
	case kindAdvance:
		return w.advance(ctx, s.duration)
	case kindWallClock:
		w.clock.StepWall(s.duration)
	case kindQuote:
		w.tell(s.quotes)
	case kindBroker:
		if err := w.paper.ClearFaults(ctx); err != nil {
			return err
		}
		return w.paper.Inject(ctx, paper.Fault{Kind: brokerFault(s.word)})
	case kindFill:
		_, err := w.paper.FillOrder(ctx, w.find(s.target).brokerID, s.fill.quantity, s.fill.price, s.fill.id)
		return err
	case kindExternal:
		return w.external(ctx, &s.external)
	case kindReconcile:
		return w.reconcile(ctx, s, out)
	case kindMode:
		return w.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: s.word, Reason: "scenario", Who: "operator"})
	case kindLimits:
		return w.reload(ctx, s)
	case kindRestart:
		if err := w.gate.Close(ctx); err != nil {
			return err
		}
		w.process.gone.Store(true)
		return w.open(ctx)
	case kindCrash:
		w.crash = s.word
	}
	return nil
}

// external plays what happens at the broker without a message of the gate.
func (w *world) external(ctx context.Context, x *externalPart) error {
	switch x.what {
	case "cash":
		return w.paper.Cash(ctx, x.cash, "scenario")
	case "ended":
		return w.paper.EndOrder(ctx, w.find(x.id).brokerID, paper.State(x.ended), "scenario")
	case "order":
		in, err := w.instrument(ctx, x.intent.Symbol)
		if err != nil {
			return err
		}
		id, err := w.paper.ExternalOrder(ctx, journal.BrokerOrder{
			Instrument: in, Side: x.intent.Side, Type: x.intent.Type, Quantity: x.intent.Quantity,
			LimitPrice: x.intent.LimitPrice, StopPrice: x.intent.StopPrice, TimeInForce: x.intent.TimeInForce,
		})
		if err == nil && x.id != "" {
			w.orders[x.id] = known{orderID: "ext/" + id, brokerID: id}
		}
		return err
	case "position":
		return w.show(ctx, x)
	}
	if x.id != "" {
		_, err := w.paper.FillOrder(ctx, w.find(x.id).brokerID, x.quantity, x.price, "")
		return err
	}
	in, err := w.instrument(ctx, x.symbol)
	if err != nil {
		return err
	}
	_, err = w.paper.ExternalFill(ctx, journal.ExternalFill{Instrument: in, Price: x.price, Quantity: x.quantity, Side: x.intent.Side})
	return err
}

// show has the broker show another position than its executions come to.
func (w *world) show(ctx context.Context, x *externalPart) error {
	in, err := w.instrument(ctx, x.symbol)
	if err != nil {
		return err
	}
	held, err := w.paper.Ledger().Positions(ctx)
	if err != nil {
		return err
	}
	s := shownPosition{position: journal.Position{Instrument: in, Quantity: x.quantity}}
	for _, p := range held {
		if p.Instrument.Symbol == x.symbol {
			s.real, s.position.Cost = p.Quantity, p.Cost
		}
	}
	if w.broker.shown == nil {
		w.broker.shown = map[string]shownPosition{}
	}
	w.broker.shown[x.symbol] = s
	return nil
}

func (w *world) reconcile(ctx context.Context, s *step, out *StepResult) error {
	f := &s.finding
	if f.result != "" {
		w.byHand = w.byHand || f.result == "filled"
		out.Outcome = f.result
		return w.gate.ResolveByHand(ctx, "operator", journal.Resolution{
			OrderID: w.find(s.target).orderID, Result: f.result, Quantity: f.quantity, Price: f.price, Reason: "scenario",
		})
	}
	var adopt *gate.Adopt
	if f.adopt {
		adopt = &gate.Adopt{Who: "operator", Reason: "scenario"}
	}
	found, err := w.gate.Reconcile(ctx, adopt)
	if err != nil {
		return err
	}
	switch {
	case len(found.Differences) > 0:
		out.Outcome = "differs"
	case len(found.StillDoubt) > 0:
		out.Outcome = journal.ResultInDoubt
	case len(found.Adopted) > 0:
		out.Outcome = "adopted"
	case len(found.Resolved) == 1:
		out.Outcome = found.Resolved[0].Result
	default:
		out.Outcome = "matches"
	}
	return nil
}

// reload lays keys over the limits in force and loads the result, as an operator who
// edits the file. One that is not valid stays out of force and fails the step only if
// nothing else was expected.
func (w *world) reload(ctx context.Context, s *step) error {
	doc, err := limits.OverTree(w.doc, w.s.File, s.limits)
	if err != nil {
		w.gate.InvalidateLimits()
		if s.expect != nil {
			return nil
		}
		return err
	}
	w.doc, w.text = doc, doc.Canonical
	_, err = w.gate.LoadLimits(ctx, "scenario", w.text, "operator")
	return err
}

// withOrderID puts the order's id in front of a replace's or a cancel's arguments.
func withOrderID(raw []byte, id string) []byte {
	var o object
	o.text("order_id", id)
	if len(raw) <= len("{}") {
		return o.closed()
	}
	return append(append(o.b, ','), raw[1:]...)
}

// named replaces the order_id of a call by the gate's, where it is a name of the
// scenario.
func (w *world) named(s *step) []byte {
	if s.arguments == nil || (s.tool != normalize.CancelOrder && s.tool != normalize.ReplaceOrder && s.tool != normalize.GetOrders) {
		return s.raw
	}
	var o object
	for i, k := range s.arguments.Keys {
		v := s.arguments.Values[i]
		if known, ok := w.orders[v.Text]; ok && k.Text == "order_id" && v.Shape == strict.Scalar {
			o.text(k.Text, known.orderID)
			continue
		}
		o.member(k.Text, v)
	}
	return o.closed()
}
