package gate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// attackLimits are narrow, so that short histories come up against them.
const attackLimits = `
instrument: {order_types: [limit, market, stop], symbols: [AAPL, MSFT]}
size: {max_order_qty: 20}
position: {max_position_qty: 30, max_gross_exposure: "9000", max_open_orders: 5, max_in_doubt: off}
session: {max_orders_per_minute: 8, max_orders_per_day: 30, max_messages_per_minute: off, max_notional_per_minute: off,
  duplicate_window: off, denial_storm: off, repeated_execution: off, max_daily_loss: off}
`

// attack is two processes on one journal and one broker, which would let everything
// through: it has shorts, and fills what the test wants at any time.
type attack struct {
	*desk
	rt      *rapid.T
	gates   [2]*gate.Gate
	permits []held
}

// held is a permit that its process has not used yet.
type held struct {
	gate   *gate.Gate
	permit *gate.Permit
}

func newAttack(t *testing.T, rt *rapid.T) *attack {
	d := newDesk(t, attackLimits)
	var err error
	d.paper, err = paper.OpenMemory(
		paper.Start{Cash: paper.StartingCash(), Wall: start(), Market: start()},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: d.cfg.Calendar, ManualFills: true, AllowShort: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	d.broker = d.paper
	a := &attack{desk: d, rt: rt}
	a.restart(0)
	a.restart(1)
	return a
}

func (a *attack) restart(i int) {
	a.open()
	a.gates[i] = a.gate
}

// some returns one of the ids of the orders that are open in the fold, or one that is not.
func (a *attack) some() string {
	ids := []string{"paper/7"}
	a.view(func(v gate.View) {
		for _, o := range v.State.Orders {
			ids = append(ids, o.ID)
		}
	})
	return rapid.SampledFrom(ids).Draw(a.rt, "order")
}

func (a *attack) arguments(tool string) string {
	quantity := rapid.IntRange(1, 24).Draw(a.rt, "quantity")
	price := fmt.Sprintf("%d.00", rapid.IntRange(196, 204).Draw(a.rt, "price"))
	if tool == "cancel_order" {
		return fmt.Sprintf(`{"order_id":%q}`, a.some())
	}
	if tool == "replace_order" {
		terms := rapid.SampledFrom([]string{
			fmt.Sprintf(`"quantity":"%d"`, quantity), fmt.Sprintf(`"limit_price":%q`, price),
			fmt.Sprintf(`"quantity":"%d","limit_price":%q`, quantity, price),
		}).Draw(a.rt, "terms")
		return fmt.Sprintf(`{"order_id":%q,%s}`, a.some(), terms)
	}
	kind := rapid.SampledFrom([]string{"limit", "limit", "market", "stop"}).Draw(a.rt, "type")
	prices := map[string]string{"limit": fmt.Sprintf(`,"limit_price":%q`, price), "stop": fmt.Sprintf(`,"stop_price":%q`, price)}[kind]
	return fmt.Sprintf(`{"symbol":%q,"side":%q,"order_type":%q,"quantity":"%d","time_in_force":%q%s}`,
		rapid.SampledFrom([]string{"AAPL", "AAPL", "MSFT"}).Draw(a.rt, "symbol"),
		rapid.SampledFrom([]string{"buy", "sell"}).Draw(a.rt, "side"), kind, quantity,
		rapid.SampledFrom([]string{"day", "gtc"}).Draw(a.rt, "tif"), prices)
}

func (a *attack) tool() string {
	return rapid.SampledFrom([]string{"place_order", "place_order", "place_order", "replace_order", "replace_order", "cancel_order"}).Draw(a.rt, "tool")
}

func (a *attack) pick() *gate.Gate { return a.gates[rapid.IntRange(0, 1).Draw(a.rt, "process")] }

func (a *attack) decideOnly() {
	g, tool := a.pick(), a.tool()
	if j := g.Decide(a.t.Context(), a.call(tool, a.arguments(tool))); j.Allowed() {
		a.permits = append(a.permits, held{g, j.Permit})
	}
}

func (a *attack) useAPermit() {
	if len(a.permits) == 0 {
		return
	}
	i := rapid.IntRange(0, len(a.permits)-1).Draw(a.rt, "permit")
	h := a.permits[i]
	a.permits = append(a.permits[:i:i], a.permits[i+1:]...)
	h.gate.Forward(a.t.Context(), h.permit)
}

func (a *attack) callOnce() {
	g, tool := a.pick(), a.tool()
	if j := g.Decide(a.t.Context(), a.desk.call(tool, a.arguments(tool))); j.Allowed() {
		g.Forward(a.t.Context(), j.Permit)
	}
}

// fillSome lets the market take a part of any open order, unseen by the gates.
func (a *attack) fillSome() {
	var open []paper.Order
	all, err := a.paper.Ledger().Orders(a.t.Context())
	must(a.t, err)
	for _, o := range all {
		if o.State == paper.Open {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return
	}
	o := open[rapid.IntRange(0, len(open)-1).Draw(a.rt, "filled")]
	left, _ := o.Quantity.Sub(o.Filled)
	part := money.MinQuantity(left, money.QuantityFromInt(int64(rapid.IntRange(1, 20).Draw(a.rt, "part"))))
	price := money.MustPrice("200.00")
	if o.Type.HasLimit() {
		price = o.LimitPrice
	}
	_, err = a.paper.FillOrder(a.t.Context(), o.BrokerID, part, price, "")
	must(a.t, err)
}

func (a *attack) faults() {
	kind := rapid.SampledFrom([]paper.FaultKind{
		paper.FaultReject, paper.FaultTimeout, paper.FaultTimeoutAfter, paper.FaultPartial, paper.FaultDuplicateFill,
	}).Draw(a.rt, "fault")
	must(a.t, a.paper.Inject(a.t.Context(), paper.Fault{Kind: kind}))
}

func (a *attack) step() {
	switch rapid.IntRange(0, 15).Draw(a.rt, "step") {
	case 0, 1, 2, 3, 4:
		a.callOnce()
	case 5, 6:
		a.decideOnly()
	case 7, 8:
		a.useAPermit()
	case 9, 10, 11:
		a.fillSome()
	case 12:
		a.faults()
	case 13:
		a.advance(rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Second, 31 * time.Second, 61 * time.Second}).Draw(a.rt, "advance"))
	case 14:
		a.restart(rapid.IntRange(0, 1).Draw(a.rt, "restarted"))
	case 15:
		_, err := a.pick().Reconcile(a.t.Context(), nil)
		must(a.t, err)
	}
}

// worst is what a symbol could come to at the broker, long and short.
type worst struct{ long, short int64 }

func whole(q money.Quantity) (n int64) {
	_, err := fmt.Sscan(q.String(), &n)
	if err != nil {
		panic(err)
	}
	return n
}

// look holds the broker's ledger against the limits, and the fold against the ledger.
func (a *attack) look() {
	ctx := a.t.Context()
	at := map[string]*worst{"AAPL": {}, "MSFT": {}}
	positions, err := a.paper.Ledger().Positions(ctx)
	must(a.t, err)
	for _, p := range positions {
		w := at[p.Instrument.Symbol]
		w.long, w.short = whole(p.Quantity), -whole(p.Quantity)
	}
	orders, err := a.paper.Ledger().Orders(ctx)
	must(a.t, err)
	open, buys := 0, 0
	for _, o := range orders {
		if whole(o.Quantity) > 20 {
			a.rt.Fatalf("an order of %s, over max_order_qty", o.Quantity)
		}
		if o.Side == order.Buy {
			buys++
		}
		if o.State != paper.Open {
			continue
		}
		open++
		left := whole(o.Quantity) - whole(o.Filled)
		if o.Side == order.Buy {
			at[o.Instrument.Symbol].long += left
		} else {
			at[o.Instrument.Symbol].short += left
		}
	}
	if open > 10 || buys > 30 {
		a.rt.Fatalf("%d orders open, %d buys today", open, buys)
	}
	for symbol, w := range at {
		if w.long > 30 || w.short > 0 {
			a.rt.Fatalf("%s could come to long %d or short %d", symbol, w.long, w.short)
		}
		for _, g := range a.gates {
			a.counts(g, symbol, w)
		}
	}
	a.rates()
}

// counts says that no process believes in less than the broker holds.
func (a *attack) counts(g *gate.Gate, symbol string, w *worst) {
	must(a.t, g.View(a.t.Context(), func(v gate.View) {
		var long, short int64
		if h := v.State.Holding(symbol); h != nil {
			long = whole(h.Position) + whole(h.OpenBuy)
			short = whole(h.OpenSell) - whole(h.Position)
		}
		if long < w.long || short < w.short {
			a.rt.Fatalf("%s: the fold has long %d short %d, the broker %d and %d", symbol, long, short, w.long, w.short)
		}
	}))
}

// rates counts what the broker was sent within a minute: both buckets of 8.
func (a *attack) rates() {
	messages, err := a.paper.Ledger().Messages(a.t.Context())
	must(a.t, err)
	for i, m := range messages {
		n := 0
		for _, other := range messages[:i+1] {
			if other.Action != order.ActionCancel && other.DecidedAt.After(m.DecidedAt.Add(-time.Minute)) && !other.DecidedAt.After(m.DecidedAt) {
				n++
			}
		}
		if n > 16 {
			a.rt.Fatalf("%d orders within a minute", n)
		}
	}
}

// No history of two processes, with lost and late replies, restarts, fills that nobody
// has seen yet and permits that are used late, takes the broker beyond the limits, or
// leaves a process with less in its books than the broker holds.
func TestNoHistoryPassesTheLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAttack(t, rt)
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			a.step()
			a.look()
		}
	})
}
