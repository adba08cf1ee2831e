package drill

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// lowestAsk is the lowest ask of any history, in cents.
const lowestAsk = 19902

// tell gives a symbol a new quote, moved by so many dollars and aged.
func (w *world) tell(symbol string, dollars int, age time.Duration) {
	w.market.Tell(market.Quote{
		Symbol: symbol, Currency: "USD", Present: true, HasBid: true, HasAsk: true,
		Bid: money.MustPrice(fmt.Sprintf("%d.98", 199+dollars)), Ask: money.MustPrice(fmt.Sprintf("%d.02", 200+dollars)),
	}, w.clock.Now(), age)
}

// advance lets time pass: on all clocks, or during sleep, when the clock that permits are
// held by stands still.
func (w *world) advance(by time.Duration, asleep bool) {
	if !asleep {
		time.Sleep(by)
	}
	w.clock.Advance(by)
	if w.truth != w.clock {
		w.truth.Advance(by)
	}
	for _, symbol := range symbols() {
		w.tell(symbol, 0, 0)
	}
}

func (w *world) timeStep(r *roll) {
	by := pick(r, 200*time.Millisecond, time.Second, time.Second, 3*time.Second, 5*time.Second, 12*time.Second, 31*time.Second, 61*time.Second)
	asleep := r.in(200)
	w.note("%s pass, asleep %v", by, asleep)
	for _, t := range w.parked {
		if (t.phase == phaseForward || t.phase == phaseDecide) && by > 2*time.Second {
			kind := "paused"
			if asleep {
				kind = "slept"
			}
			w.hit("process", kind, t.phase)
		}
	}
	w.advance(by, asleep)
}

func (w *world) clockStep(r *roll) {
	by := pick(r, time.Second, 4*time.Second, 20*time.Second, time.Hour)
	kind := "forward"
	if r.in(500) {
		by, kind = -by, "back"
	}
	w.hit("clock", kind, "at any time")
	w.note("the wall's clock is set %s", by)
	w.clock.StepWall(by)
}

func (w *world) quoteStep(r *roll) {
	symbol := pick(r, symbols()...)
	switch r.n(4) {
	case 0:
		w.tell(symbol, r.n(3)-1, 0)
	case 1:
		w.tell(symbol, 0, time.Minute)
		w.hit("market", "quote stale", "at any time")
	case 2:
		w.market.Silence(symbol)
		w.hit("market", "quote gone", "at any time")
	case 3:
		w.market.Tell(market.Quote{
			Symbol: symbol, Currency: "USD", Present: true, HasBid: true, HasAsk: true,
			Bid: money.MustPrice("200.50"), Ask: money.MustPrice("200.10"),
		}, w.clock.Now(), 0)
		w.hit("market", "quote crossed", "at any time")
	}
}

// atBroker is where a reconciliation stands while something happens at the broker.
func (w *world) atBroker(kind string) {
	phase := "at any time"
	for _, t := range w.parked {
		if t.phase == phaseReconcile {
			phase = phaseReconcile
		}
	}
	w.hit("broker", kind, phase)
}

// fillStep lets something happen at the broker that no gate asked for.
func (w *world) fillStep(r *roll) {
	ctx := context.Background()
	all, err := w.broker.Ledger().Orders(ctx)
	must(w.t, err)
	var open, over []paper.Order
	for _, o := range all {
		switch {
		case o.State == paper.Open:
			open = append(open, o)
		case o.State == paper.Canceled && o.Filled.Cmp(o.Quantity) < 0:
			over = append(over, o)
		}
	}
	switch n := r.n(100); {
	case n < 75 && len(open) > 0:
		w.trade(r, pick(r, open...), "fill")
	case n < 80 && len(open) > 0:
		o := pick(r, open...)
		if w.broker.EndOrder(ctx, o.BrokerID, pick(r, paper.Canceled, paper.Expired, paper.Rejected), "the broker's own") != nil {
			return // it has expired meanwhile
		}
		w.note("the broker ends %s", o.ClientOrderID)
		w.atBroker("order ended")
	case n < 86 && len(over) > 0 && w.shape.late:
		o := pick(r, over...)
		w.oracle.excuse(o.Instrument.Symbol, whole(o.Quantity))
		w.trade(r, o, "late fill")
	case n < 92 || !w.shape.bystanders:
		w.repeat(r)
	default:
		w.outside(r)
	}
}

func (w *world) trade(r *roll, o paper.Order, kind string) {
	left := int(whole(o.Quantity) - whole(o.Filled))
	price := money.MustPrice("200.00")
	if o.Type.HasLimit() {
		price = o.LimitPrice
	}
	part := 1 + r.n(left)
	if _, err := w.broker.FillOrder(context.Background(), o.BrokerID, quantity(part), price, ""); err != nil {
		return // a late fill that was to come anyway came first
	}
	w.note("the broker fills %d of %s: %s", part, o.ClientOrderID, kind)
	w.atBroker(kind)
}

// repeat tells of an old execution once more.
func (w *world) repeat(r *roll) {
	done, err := w.broker.Ledger().Executions(context.Background())
	must(w.t, err)
	if len(done) == 0 {
		return
	}
	x := pick(r, done...)
	if x.BrokerID == "" {
		return
	}
	_, err = w.broker.FillOrder(context.Background(), x.BrokerID, x.Quantity, x.Price, x.ID)
	must(w.t, err)
	w.note("the broker tells again of %s", x.ID)
	w.atBroker("fill told again")
}

// outside is what a person does at the broker without the gate.
func (w *world) outside(r *roll) {
	ctx := context.Background()
	symbol, units, which := pick(r, symbols()...), 1+r.n(4), pick(r, order.Buy, order.Sell)
	in, _, err := w.market.Instrument(ctx, symbol)
	must(w.t, err)
	switch r.n(4) {
	case 3:
		// A split, a gift: no event tells of it, and only a person can say that it is right.
		_, err = w.broker.Adopt(ctx, []journal.Position{{Instrument: in, Quantity: quantity(units), Cost: money.MustPrice("200.00")}}, nil)
		w.silent = true
		w.atBroker("position changed in silence")
		w.oracle.excuse(symbol, int64(units))
	case 0:
		must(w.t, w.broker.Cash(ctx, money.NotionalFromInt(int64(r.n(2000)-1000)), "a transfer"))
		w.atBroker("cash moved")
	case 1:
		_, err = w.broker.ExternalFill(ctx, journal.ExternalFill{Instrument: in, Side: which, Quantity: quantity(units), Price: money.MustPrice("200.00")})
		w.atBroker("trade from outside")
		w.oracle.excuse(symbol, int64(units))
	case 2:
		_, err = w.broker.ExternalOrder(ctx, journal.BrokerOrder{
			Instrument: in, Side: which, Type: order.Limit, TimeInForce: order.Day, Quantity: quantity(units), LimitPrice: money.MustPrice("200.00"),
		})
		w.atBroker("order from outside")
		w.oracle.excuse(symbol, int64(units))
	}
	must(w.t, err)
	w.note("outside: %s %s %d", symbol, which, units)
}

// deliverStep lets a message arrive whose reply was lost.
func (w *world) deliverStep() {
	if len(w.delayed) == 0 {
		return
	}
	x := w.delayed[0]
	w.delayed = w.delayed[1:]
	w.hit("send", "arrived after its reply was given up", "at any time")
	w.arrives(context.Background(), x)
}
