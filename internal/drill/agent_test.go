package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// intent is what the agent asks for next: often within the limits, often not.
func (w *world) intent(r *roll) order.Intent {
	open := len(w.oracle.state.Orders)
	switch n := r.n(100); {
	case n < 60, open == 0 && n < 96:
		return w.newOrder(r)
	case n < 82:
		in := order.Intent{Action: order.ActionReplace, Target: w.someOrder(r)}
		if r.in(700) {
			in.Quantity = quantity(1 + r.n(26))
		}
		if in.Quantity.IsZero() || r.in(400) {
			in.LimitPrice = dollars(197 + r.n(7))
		}
		return in
	}
	return order.Intent{Action: order.ActionCancel, Target: w.someOrder(r)}
}

func (w *world) newOrder(r *roll) order.Intent {
	in := order.Intent{
		Action: order.ActionNew, Symbol: pick(r, "AAPL", "AAPL", "MSFT"), Side: pick(r, order.Buy, order.Buy, order.Sell),
		Type: pick(r, order.Limit, order.Limit, order.Limit, order.Market, order.Stop), Quantity: quantity(1 + r.n(pick(r, 6, 12, 24))),
		TimeInForce: pick(r, order.Day, order.GTC, order.Day, order.IOC),
	}
	h := w.oracle.state.Holding(in.Symbol)
	if in.Side == order.Sell && (h == nil || !h.Position.IsPositive()) && r.in(850) {
		in.Side = order.Buy // most agents know that there is nothing to sell
	}
	if r.in(40) {
		in.Quantity = quantity(1000)
	}
	switch price := 198 + r.n(5); {
	case in.Type == order.Limit:
		in.LimitPrice = dollars(price)
	case in.Type == order.Stop && in.Side == order.Sell:
		in.StopPrice, in.TimeInForce = dollars(price-3), order.Day
	case in.Type == order.Stop:
		in.StopPrice, in.TimeInForce = dollars(price+2), order.Day
	}
	if r.in(300) {
		w.orders++
		in.ClientOrderID = fmt.Sprint("mine-", r.n(12))
	}
	return in
}

func dollars(n int) money.Price { return money.PriceFromInt(int64(n)) }

// someOrder is an open order, as the journal has it, or one that is not.
func (w *world) someOrder(r *roll) string {
	ids := []string{accountName + "/7"}
	for _, o := range w.oracle.state.Orders {
		ids = append(ids, o.ID, o.ID, o.ID, o.ID)
	}
	return pick(r, ids...)
}

func (w *world) call(r *roll) gate.Call {
	if len(w.seen) > 0 && r.in(90) {
		return pick(r, w.seen...) // a host asks again, with the same id
	}
	w.calls++
	c := gate.Call{Intent: w.intent(r), Door: "drill", Agent: "agent", CallID: fmt.Sprint("c", w.calls)}
	w.seen = append(w.seen, c)
	return c
}

// decide judges a call; forward follows at once, later, or never.
func (w *world) decide(ctx context.Context, p *process, c gate.Call) *held {
	w.note("    asks for %s %s %s %s %s at %s%s %s", c.Intent.Action, c.Intent.Target, c.Intent.Symbol, c.Intent.Side, c.Intent.Quantity,
		c.Intent.LimitPrice, c.Intent.StopPrice, c.Intent.Type)
	j := p.gate.Decide(ctx, c)
	if !j.Allowed() {
		w.note("    refused: %v %v %s", j.Decision.Refusing(), j.Decision.Faults(), j.Fault)
		return nil
	}
	w.note("    allowed as %s", j.ClientOrderID)
	d := w.oracle.decided[j.ClientOrderID]
	if d == nil {
		w.fail("an allowance is durable", "%s was allowed and is not stored", j.ClientOrderID)
	}
	return &held{of: p, permit: j.Permit, client: j.ClientOrderID, boot: w.clock.Read().Boot, minted: time.Now()}
}

func (w *world) forward(ctx context.Context, p *process, h *held) {
	t := w.current
	t.phase, t.permit, t.headsAt, t.foreign = phaseForward, h, w.oracle.entries, false
	t.stopSeen = w.haltFile != ""
	out := p.gate.Forward(ctx, h.permit)
	if t.foreign && out.Result == journal.ResultAccepted {
		w.fail("an answer proves no more than it says", "%s is accepted, by an answer about another order", h.client)
	}
	w.note("    outcome of %s: %s %s %s", h.client, out.Result, out.Status, out.Reason)
}

// agentSteps begins one or more calls of the agent.
func (w *world) agentStep(p *process, id int, r *roll) {
	n := 1
	if r.in(60) {
		n = 3
	}
	for i := range n {
		c := w.call(r)
		if !p.up || !w.free(p) {
			return
		}
		w.spawn(p, id*8+i, "call", phaseDecide, func(ctx context.Context) {
			if h := w.decide(ctx, p, c); h != nil {
				w.forward(ctx, p, h)
			}
		})
	}
}

// laterStep decides and keeps the permit.
func (w *world) laterStep(p *process, id int, r *roll) {
	c := w.call(r)
	w.spawn(p, id*8, "decision", phaseDecide, func(ctx context.Context) {
		if h := w.decide(ctx, p, c); h != nil {
			p.held = append(p.held, h)
		}
	})
}

// permitStep uses a permit that was kept: once, twice, or at another process's gate.
func (w *world) permitStep(p *process, id int, r *roll) {
	if len(p.held) == 0 {
		w.agentStep(p, id, r)
		return
	}
	i := r.n(len(p.held))
	h := p.held[i]
	again := r.in(150)
	if !again {
		p.held = append(p.held[:i:i], p.held[i+1:]...)
	}
	other := w.processes[r.n(len(w.processes))]
	foreign := r.in(120) && other != p && other.up && w.free(other)
	if w.clock.Read().Boot-h.boot > gate.PermitFor {
		w.hit("permit", "used too late", phaseForward)
	}
	w.spawn(p, id*8, "permit", phaseForward, func(ctx context.Context) {
		if foreign {
			w.hit("permit", "another gate's", phaseForward)
			other.gate.Forward(ctx, h.permit)
		}
		w.forward(ctx, p, h)
		if again {
			w.hit("permit", "used twice", phaseForward)
			w.forward(ctx, p, h)
		}
	})
}

// tendStep does what a server does beside orders.
func (w *world) tendStep(p *process, id int, r *roll) {
	what := r.n(3)
	c := w.call(r)
	w.spawn(p, id*8, "tend", phaseTend, func(ctx context.Context) {
		switch what {
		case 0:
			w.note("    tick: %v", p.gate.Tick(ctx))
		case 1:
			p.gate.Check(ctx, c)
		case 2:
			_, err := p.gate.Refuse(ctx, journal.Refusal{
				Agent: "agent", CallID: "x", Code: "malformed_call", Count: 1, Denial: true, Door: "drill", Message: true, Text: "not a call",
			})
			w.note("    refusal: %v", err)
		}
	})
}

// operatorStep is a person at the command line.
func (w *world) operatorStep(p *process, id int, r *roll) {
	what, wanted := r.n(100), r.n(len(w.oracle.docs.texts))
	modes := []string{journal.ModeHalted, journal.ModeReduceOnly, journal.ModeActive}
	m := journal.Mode{By: journal.ByOperator, Mode: pick(r, modes...), Reason: "a drill", Who: "operator"}
	if w.mode() != account.Active && r.in(850) {
		what, m.Mode = 0, journal.ModeActive // most who find an account halted want it to go on
	}
	forAll := r.in(250) || w.oracle.control.Mode < w.oracle.state.Mode
	doubt, finding := w.doubtful(r)
	w.spawn(p, id*8, "operator", phaseOperate, func(ctx context.Context) {
		var err error
		switch {
		case what < 50 && forAll:
			err = gate.SetModeForAll(ctx, &disk{w, p}, w.clock, m)
			w.note("    %s for all: %v", m.Mode, err)
		case what < 50:
			err = p.gate.SetMode(ctx, m)
			w.note("    %s: %v", m.Mode, err)
		case what < 60:
			_, err = p.gate.LoadLimits(ctx, "limits", []byte("version: 1\n"), "operator")
			if err == nil {
				err = errors.New("a document of one line was loaded")
				w.fail("limits that are not whole do not load", "%v", err)
			}
		case what < 80 || doubt == "":
			_, err = p.gate.LoadLimits(ctx, "limits", w.oracle.docs.texts[wanted], "operator")
			w.note("    limits %d: %v", wanted, err)
		default:
			err = p.gate.ResolveByHand(ctx, "operator", journal.Resolution{OrderID: doubt, Result: finding, Reason: "looked at the broker's page"})
			w.note("    %s is %s: %v", doubt, finding, err)
			w.hit("operator", "resolved by hand", phaseOperate)
		}
	})
}

// doubtful is an order in doubt and what a person sees of it at the broker, if it can be
// seen: not while its message may still arrive.
func (w *world) doubtful(r *roll) (id, finding string) {
	now := w.clock.Now()
	for _, o := range w.oracle.state.Orders {
		if o.External || o.Pending != nil || !o.InDoubt(now) || r.in(300) {
			continue
		}
		if w.onTheWay(o.ClientOrderID) {
			continue
		}
		found, err := w.broker.Find(context.Background(), o.ClientOrderID)
		must(w.t, err)
		if found.Known {
			return o.ID, journal.ResolvedPlaced
		}
		return o.ID, journal.ResolvedNotPlaced
	}
	return "", ""
}

// onTheWay reports whether a message may still arrive.
func (w *world) onTheWay(clientOrderID string) bool {
	for _, x := range w.delayed {
		if x.message.ClientOrderID == clientOrderID {
			return true
		}
	}
	for _, t := range w.parked {
		if t.sending != nil && t.sending.message.ClientOrderID == clientOrderID {
			return true
		}
		if t.permit != nil && t.permit.client == clientOrderID && t.phase == phaseForward {
			return true
		}
	}
	for _, p := range w.processes {
		for _, h := range p.held {
			if h.client == clientOrderID {
				return true
			}
		}
	}
	return false
}
