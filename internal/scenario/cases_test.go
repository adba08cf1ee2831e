package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Cases that a scenario file cannot say, each named by its id.

const casesFolder = "../../testdata/cases"

// head begins a scenario under the limits of the cases, with lines of its own.
func head(name, lines string) string {
	return "name: " + name + "\n" + lines + "\n" + `quotes:
  AAPL: {bid: "199.98", ask: "200.02", age: 1s}
  MSFT: {bid: "199.98", ask: "200.02", age: 1s}
`
}

const baseLimits = "limits: base.yaml"

// begin builds a scenario's world, and leaves the playing to the test.
func begin(t *testing.T, text string) *world {
	t.Helper()
	all, err := Load(casesFolder+"/test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(t.Context(), &all[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run plays a whole text, which must pass.
func run(t *testing.T, text string) Result {
	t.Helper()
	all, err := Load(casesFolder+"/test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), all[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Errorf("step %d, line %d: %s", f.Step, f.Line, f.Text)
	}
	return r
}

// verified finishes a world that a test has played in.
func verified(t *testing.T, w *world) State {
	t.Helper()
	var r Result
	if err := w.finish(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f.Text)
	}
	return r.State
}

// limitOrder is a call that buys or sells at 200.00.
func limitOrder(side order.Side, symbol string, quantity int64, id string) gate.Call {
	return gate.Call{
		Intent: order.Intent{
			Action: order.ActionNew, Symbol: symbol, Side: side, Type: order.Limit, Quantity: money.QuantityFromInt(quantity),
			LimitPrice: money.MustPrice("200.00"), TimeInForce: order.Day, ClientOrderID: id,
		},
		Door: "test", Agent: "agent", CallID: id, RawDigest: digest([]byte(id)),
	}
}

func refusedBy(j *gate.Judgement, id string) bool {
	return !j.Allowed() && slices.Contains(j.Decision.Refusing(), id)
}

func TestCaseNUM05AMillionZeros(t *testing.T) {
	t.Parallel()
	w := begin(t, head("zeros", baseLimits))
	for _, zeros := range []int{1_000, 60_000, 1_000_000} {
		for _, quote := range []string{"", `"`} {
			raw := `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","time_in_force":"day","limit_price":` +
				quote + "0." + strings.Repeat("0", zeros) + "1" + quote + "}"
			out := StepResult{}
			began := time.Now()
			if err := w.step(t.Context(), &step{kind: kindRaw, tool: normalize.PlaceOrder, raw: []byte(raw)}, &out); err != nil {
				t.Fatal(err)
			}
			want := string(normalize.InvalidNumber)
			if len(raw) > normalize.ArgumentsBytesMax {
				want = string(normalize.MalformedCall) // its length is bounded before anything is parsed
			}
			if out.Verdict != "denied" || !slices.Equal(out.Rails, []string{want}) {
				t.Errorf("%d zeros: %+v", zeros, out)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("%d zeros took %v", zeros, took)
			}
		}
	}
	if s := verified(t, w); s.Forwarded != 0 || s.Denials != 6 {
		t.Errorf("in the end %+v", s)
	}
}

// halfFills is a broker whose stream tells of one fill without a quantity.
type halfFills struct {
	gate.Broker
	fill *gate.Event
}

func (b *halfFills) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	events, err := b.Broker.Events(ctx, cursor)
	if err != nil || b.fill == nil {
		return events, err
	}
	e := *b.fill
	b.fill = nil
	return append([]gate.Event{e}, events...), nil
}

// The fill is set aside and recorded; the position is what it was, and the next orders
// are judged.
func TestCaseNUM27AFillWithoutAQuantity(t *testing.T) {
	t.Parallel()
	w := begin(t, head("a fill", baseLimits))
	broker := &halfFills{Broker: w.broker.Broker}
	w.broker.Broker = broker
	j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 100, "n1"))
	if out := w.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultAccepted {
		t.Fatalf("got %+v", out)
	}
	broker.fill = &gate.Event{
		Kind: gate.EventFill, ID: "x", ClientOrderID: j.ClientOrderID, Side: order.Buy,
		Fill: gate.Execution{ID: "half", Price: money.MustPrice("200.00"), ExecutedAt: w.clock.Now()}, At: w.clock.Now(),
	}
	if err := w.gate.Tick(t.Context()); err != nil {
		t.Fatalf("a fill that cannot be booked stops the account: %v", err)
	}
	if out := (StepResult{}); w.step(t.Context(), &step{kind: kindRaw, tool: normalize.PlaceOrder,
		raw: []byte(`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"NaN","time_in_force":"day","limit_price":"200.00"}`)}, &out) != nil ||
		!slices.Equal(out.Rails, []string{"invalid_number"}) {
		t.Errorf("got %+v", out)
	}
	if k := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 7, "n2")); !k.Allowed() {
		t.Errorf("the next order: %v %s", k.Decision.Refusing(), k.Fault)
	}
	kinds := kindsOf(t, w)
	if !slices.Contains(kinds, journal.KindRecovery) || slices.Contains(kinds, journal.KindFill) {
		t.Errorf("entries are %v", kinds)
	}
	if s := verified(t, w); len(s.Positions) != 0 || s.OpenOrders != 2 {
		t.Errorf("in the end %+v", s)
	}
}

func kindsOf(t *testing.T, w *world) []journal.Kind {
	t.Helper()
	var kinds []journal.Kind
	err := w.store.Read(t.Context(), w.doc.Account, 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		kinds = append(kinds, e.Kind)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// silentBroker cannot be asked for its account.
type silentBroker struct{ gate.Broker }

func (silentBroker) Account(context.Context) (gate.BrokerAccount, error) {
	return gate.BrokerAccount{}, errors.New("no balance")
}

// A missing position is zero; a missing balance is a fault, never an unlimited one.
func TestCaseIDN11AMissingBalance(t *testing.T) {
	t.Parallel()
	w := begin(t, head("no balance", "limits: base.yaml"))
	w.broker.Broker = silentBroker{w.broker.Broker}
	if j := w.gate.Decide(t.Context(), limitOrder(order.Sell, "MSFT", 10, "1")); !refusedBy(&j, "short_not_allowed") {
		t.Errorf("a sell of nothing: %v", j.Decision.Refusing())
	}
	if j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 10, "2")); j.Allowed() || !slices.Contains(j.Decision.Faults(), "insufficient_buying_power") {
		t.Error("a buy without a balance is allowed")
	}
	if s := verified(t, w); s.Forwarded != 0 {
		t.Errorf("in the end %+v", s)
	}
}

// gates opens more processes on a world's journal, broker and clock.
func gates(t *testing.T, w *world, n int) []*gate.Gate {
	t.Helper()
	var out []*gate.Gate
	for range n {
		cfg := w.config()
		p := &process{Store: w.store, broker: w.broker}
		cfg.Store, cfg.Broker = p, line{w.broker, p}
		g, err := gate.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// atOnce has each of n callers make one order through the gates in turn, and returns
// how many were allowed and how many of the rest a rail refused.
func atOnce(t *testing.T, all []*gate.Gate, n int, quantity int64, rail string) (allowed, refused int) {
	t.Helper()
	var yes, no atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			g := all[i%len(all)]
			j := g.Decide(t.Context(), limitOrder(order.Buy, "AAPL", quantity, fmt.Sprint("c", i)))
			switch {
			case j.Allowed():
				yes.Add(1)
				g.Forward(t.Context(), j.Permit)
			case refusedBy(&j, rail):
				no.Add(1)
			default:
				t.Errorf("neither: %v %v %s", j.Decision.Refusing(), j.Decision.Faults(), j.Fault)
			}
		})
	}
	wg.Wait()
	return int(yes.Load()), int(no.Load())
}

func TestCaseSTA02TwoProcessesOneBudget(t *testing.T) {
	t.Parallel()
	w := begin(t, head("two processes", "limits: {over: base.yaml, session: {duplicate_window: off}}\naccount: {notional_today: \"95000\"}"))
	allowed, refused := atOnce(t, gates(t, w, 2), 2, 20, "max_notional_per_day")
	if allowed != 1 || refused != 1 {
		t.Errorf("%d allowed, %d refused", allowed, refused)
	}
	if s := verified(t, w); s.Forwarded != 1 || s.NotionalToday != "99000" {
		t.Errorf("in the end %+v", s)
	}
}

func TestCaseSTA03FiftyCallersFiveSlots(t *testing.T) {
	t.Parallel()
	w := begin(t, head("fifty callers", "limits: {over: base.yaml, session: {duplicate_window: off}}"))
	allowed, refused := atOnce(t, append(gates(t, w, 1), w.gate), 50, 1, "max_orders_per_minute")
	if allowed != 5 || refused != 45 {
		t.Errorf("%d allowed, %d refused", allowed, refused)
	}
	if s := verified(t, w); s.Forwarded != 5 {
		t.Errorf("in the end %+v", s)
	}
}

// Orders that were decided before the switch and not yet sent are not sent; a cancel
// that fails does not release the switch.
func TestCaseSTA23NothingQueuedIsSentAfterTheSwitch(t *testing.T) {
	t.Parallel()
	w := begin(t, head("the switch", baseLimits+"\naccount: {open_orders: [{id: O1, symbol: AAPL, side: buy, quantity: 5, limit_price: 199.00}]}"))
	var queued []gate.Judgement
	for i := range 3 {
		j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", int64(i+1), fmt.Sprint("q", i)))
		if !j.Allowed() {
			t.Fatalf("order %d: %v", i, j.Decision.Refusing())
		}
		queued = append(queued, j)
	}
	if err := w.gate.SetMode(t.Context(), journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "test", Who: "operator"}); err != nil {
		t.Fatal(err)
	}
	if err := w.paper.Inject(t.Context(), paper.Fault{Kind: paper.FaultReject, Action: order.ActionCancel}); err != nil {
		t.Fatal(err)
	}
	cancel := gate.Call{Intent: order.Intent{Action: order.ActionCancel, Target: w.orders["O1"].orderID}, Door: "test", RawDigest: digest(nil)}
	j := w.gate.Decide(t.Context(), cancel)
	if out := w.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultRejected {
		t.Errorf("the cancel: %+v %v", out, j.Decision.Refusing())
	}
	for i := range queued {
		if out := w.gate.Forward(t.Context(), queued[i].Permit); out.Result != journal.ResultNotSent {
			t.Errorf("queued order %d: %+v", i, out)
		}
	}
	if j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 9, "new")); !refusedBy(&j, "kill_switch") {
		t.Errorf("the new order: %v", j.Decision.Refusing())
	}
	if s := verified(t, w); s.Mode != "halted" || s.Forwarded != 1 || s.Reserved != "5" {
		t.Errorf("in the end %+v", s)
	}
}

// Legs that the broker links reserve once, by the largest; a separate exit is refused.
func TestCaseSTA30LinkedExitsCountOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, head("linked exits", baseLimits+"\naccount: {positions: {AAPL: {quantity: \"100\", price: \"200.00\"}}}"))
	in, err := w.instrument(t.Context(), "AAPL")
	if err != nil {
		t.Fatal(err)
	}
	hundred := money.QuantityFromInt(100)
	linked := &linkedOrders{Broker: w.broker.Broker, legs: []journal.BrokerOrder{
		{BrokerID: "TP", Group: "g1", Instrument: in, Side: order.Sell, Type: order.Limit, Quantity: hundred, LimitPrice: money.MustPrice("208"), TimeInForce: order.GTC},
		{BrokerID: "SL", Group: "g1", Instrument: in, Side: order.Sell, Type: order.Stop, Quantity: hundred, StopPrice: money.MustPrice("195"), TimeInForce: order.GTC},
	}}
	w.broker.Broker = linked
	if err := w.gate.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := w.state(t.Context())
	if err != nil || s.Reserved != "100" || s.OpenOrders != 2 {
		t.Errorf("%v, %+v", err, s)
	}
	if j := w.gate.Decide(t.Context(), limitOrder(order.Sell, "AAPL", 100, "s")); !refusedBy(&j, "short_not_allowed") {
		t.Errorf("a third exit: %v", j.Decision.Refusing())
	}
	verified(t, w)
}

// linkedOrders is a broker that tells once of orders placed elsewhere.
type linkedOrders struct {
	gate.Broker
	legs []journal.BrokerOrder
}

func (b *linkedOrders) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	events, err := b.Broker.Events(ctx, cursor)
	for _, leg := range b.legs {
		events = append(events, gate.Event{Kind: gate.EventOrder, ID: "linked/" + leg.BrokerID, Order: leg, BrokerID: leg.BrokerID, Cursor: cursor})
	}
	b.legs = nil
	return events, err
}

// The zone of the machine, or the lack of zone files, changes nothing.
func TestCaseTIM15TheMachinesZone(t *testing.T) {
	t.Parallel()
	const child = "RAILS_TEST_ZONE_CHILD"
	text := head("zone", baseLimits) + "steps:\n  - order: {symbol: AAPL, side: buy, quantity: 10, limit_price: 200.00}\n    expect: allowed\n" +
		"  - advance: 5h\n  - quote: {AAPL: {bid: \"199.98\", ask: \"200.02\"}}\n" +
		"  - order: {symbol: AAPL, side: buy, quantity: 11, limit_price: 200.00}\n    expect: {verdict: denied, rails: [extended_hours_not_allowed]}\n"
	if os.Getenv(child) != "" {
		run(t, text)
		return
	}
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/Los_Angeles", "", "No/Where"} {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCaseTIM15TheMachinesZone$")
		c.Env = append(os.Environ(), child+"=1", "TZ="+zone, "ZONEINFO=/nowhere")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("zone %q: %v\n%s", zone, err, out)
		}
	}
}

func TestCaseCFG09FileLostWhileServing(t *testing.T) {
	t.Parallel()
	whole := begin(t, head("x", baseLimits)).text
	for name, text := range map[string][]byte{"emptied": {}, "half written": whole[:len(whole)/2], "unreadable": nil} {
		w := begin(t, head("lost", baseLimits+"\naccount: {positions: {AAPL: {quantity: \"10\", price: \"200.00\"}}}"))
		if text == nil {
			w.gate.InvalidateLimits()
		} else if _, err := w.gate.LoadLimits(t.Context(), "limits.yaml", text, "operator"); err == nil {
			t.Errorf("%s: loads", name)
		}
		if j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 10, "b")); j.Allowed() || !slices.Contains(j.Decision.Faults(), "limits_invalid") {
			t.Errorf("%s: a buy: %v %v", name, j.Decision.Refusing(), j.Decision.Faults())
		}
		if j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 501, "m")); !refusedBy(&j, "max_order_qty") {
			t.Errorf("%s: the last good figures are gone: %v", name, j.Decision.Refusing())
		}
		if j := w.gate.Decide(t.Context(), limitOrder(order.Sell, "AAPL", 10, "s")); !j.Allowed() {
			t.Errorf("%s: an exit: %v %v", name, j.Decision.Refusing(), j.Decision.Faults())
		}
	}
}
