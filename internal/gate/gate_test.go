package gate_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
)

func TestAnAllowedOrderReachesTheBrokerAfterItsDecision(t *testing.T) {
	d := newDesk(t, "")
	id := d.buy("10", "200.00")
	if n := d.messages(); n != 1 {
		t.Fatalf("%d messages at the broker, want 1", n)
	}
	d.fill(id, "10", "200.00")
	if got := d.position("AAPL"); got != "10" {
		t.Fatalf("position %s, want 10", got)
	}
	kinds := d.kinds()
	decision, outcome, fill := slices.Index(kinds, journal.KindDecision), slices.Index(kinds, journal.KindOutcome), slices.Index(kinds, journal.KindFill)
	if decision < 0 || decision > outcome || outcome > fill {
		t.Fatalf("entries %v: want decision, outcome, fill in this order", kinds)
	}
	d.verify()
}

func TestADeniedOrderReachesNobodyAndIsJournaled(t *testing.T) {
	d := newDesk(t, "")
	j, _ := d.do("place_order", limitOrder("AAPL", "buy", "5000", "200.00"))
	if j.Allowed() || j.ID == "" {
		t.Fatalf("5000 shares: allowed %v, entry %q", j.Allowed(), j.ID)
	}
	for _, rail := range []string{"max_order_qty", "max_order_notional"} {
		if !slices.Contains(j.Decision.Refusing(), rail) {
			t.Errorf("refused by %v, want %s among them", j.Decision.Refusing(), rail)
		}
	}
	if n := d.messages(); n != 0 {
		t.Fatalf("%d messages at the broker, want none", n)
	}
	d.verify()
}

func TestAPermitBurnsOnce(t *testing.T) {
	d := newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	first := d.gate.Forward(t.Context(), j.Permit)
	second := d.gate.Forward(t.Context(), j.Permit)
	if first.Result != journal.ResultAccepted || second.Result != journal.ResultNotSent {
		t.Fatalf("first %s, second %s", first.Result, second.Result)
	}
	if n := d.messages(); n != 1 {
		t.Fatalf("%d messages at the broker, want 1", n)
	}
	if out := d.gate.Forward(t.Context(), nil); out.Result != journal.ResultNotSent {
		t.Fatalf("no permit: %s", out.Result)
	}
	if out := d.gate.Forward(t.Context(), &gate.Permit{}); out.Result != journal.ResultNotSent {
		t.Fatalf("zero permit: %s", out.Result)
	}
	d.verify()
}

func TestAPermitOfAnotherGateSendsNothing(t *testing.T) {
	d, other := newDesk(t, ""), newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if out := other.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent {
		t.Fatalf("another gate's permit: %s", out.Result)
	}
	if n := other.messages() + d.messages(); n != 0 {
		t.Fatalf("%d messages at the brokers, want none", n)
	}
}

func TestAHaltBetweenDecisionAndSendSendsNothing(t *testing.T) {
	halt := journal.Mode{By: "operator", Mode: journal.ModeHalted, Reason: "stop", Who: "operator"}
	stops := map[string]func(d *desk){
		"own mode":     func(d *desk) { must(t, d.otherProcess().SetMode(t.Context(), halt)) },
		"mode of all":  func(d *desk) { must(t, gate.SetModeForAll(t.Context(), d.store, d.clock, halt)) },
		"other limits": func(d *desk) { d.limits("size: {max_order_qty: 5}") },
	}
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
			if !j.Allowed() {
				t.Fatalf("refused by %v", j.Decision.Refusing())
			}
			stop(d)
			out := d.gate.Forward(t.Context(), j.Permit)
			if out.Result != journal.ResultNotSent || out.Unrecorded {
				t.Fatalf("outcome %+v, want a recorded not_sent", out)
			}
			if n := d.messages(); n != 0 {
				t.Fatalf("%d messages at the broker, want none", n)
			}
			d.view(func(v gate.View) {
				if v.State.Order(j.OrderID) != nil {
					t.Error("the reservation of an order that was not sent is still held")
				}
			})
			d.verify()
		})
	}
}

func TestAnExpiredPermitSendsNothing(t *testing.T) {
	d := newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	gate.Age(j.Permit, gate.PermitFor+time.Millisecond)
	if out := d.gate.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent {
		t.Fatalf("outcome %s", out.Result)
	}
	if n := d.messages(); n != 0 {
		t.Fatalf("%d messages at the broker, want none", n)
	}
	d.verify()
}

func TestATimeoutIsInDoubtAndIsNotSentAgain(t *testing.T) {
	for _, fault := range []paper.FaultKind{paper.FaultTimeout, paper.FaultTimeoutAfter} {
		d := newDesk(t, "")
		must(t, d.paper.Inject(t.Context(), paper.Fault{Kind: fault}))
		arguments := `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.00","time_in_force":"day","client_order_id":"a1"}`
		j, out := d.do("place_order", arguments)
		if out.Result != journal.ResultInDoubt {
			t.Fatalf("fault %d: outcome %+v", fault, out)
		}
		again := d.decide("place_order", arguments)
		if again.Replayed == nil || again.OrderID != j.OrderID || again.Replayed.Status != "in_doubt" {
			t.Fatalf("fault %d: the same id again gives %+v", fault, again.Replayed)
		}
		fresh := d.decide("place_order", limitOrder("AAPL", "buy", "11", "200.00"))
		if !slices.Contains(fresh.Decision.Refusing(), "order_in_doubt") {
			t.Fatalf("fault %d: a new order is refused by %v, want order_in_doubt", fault, fresh.Decision.Refusing())
		}
		found, err := d.gate.Reconcile(t.Context(), nil)
		must(t, err)
		want := "not_placed"
		if fault == paper.FaultTimeoutAfter {
			want = "placed"
		}
		if len(found.Resolved) != 1 || found.Resolved[0].Result != want {
			t.Fatalf("fault %d: resolved %+v, want %s", fault, found.Resolved, want)
		}
		if n, _ := d.paper.Ledger().SubmitCount(t.Context(), j.ClientOrderID); n > 1 {
			t.Fatalf("fault %d: sent %d times", fault, n)
		}
		d.verify()
	}
}

func TestInFlightTurnsToDoubtByTimeAlone(t *testing.T) {
	d := newDesk(t, "")
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() {
		t.Fatal("refused")
	}
	d.open() // the process died before it sent
	d.advance(gate.ReplyWithin + time.Second)
	next := d.decide("place_order", limitOrder("AAPL", "buy", "11", "200.00"))
	if !slices.Contains(next.Decision.Refusing(), "order_in_doubt") {
		t.Fatalf("refused by %v, want order_in_doubt", next.Decision.Refusing())
	}
	must(t, d.gate.Start(t.Context()))
	d.view(func(v gate.View) {
		if len(v.State.Orders) != 0 {
			t.Error("an order that the broker never had is still open")
		}
	})
	if j2, out := d.do("place_order", limitOrder("AAPL", "buy", "12", "200.00")); out.Result != journal.ResultAccepted {
		t.Fatalf("after the reconciliation: refused by %v, outcome %+v", j2.Decision.Refusing(), out)
	}
	d.verify()
}

func TestReplaceAndCancel(t *testing.T) {
	d := newDesk(t, "")
	id := d.buy("10", "199.00")
	if _, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"20"}`); out.Result != journal.ResultAccepted {
		t.Fatalf("replace: %+v", out)
	}
	d.view(func(v gate.View) {
		if o := v.State.Order(id); o == nil || o.Quantity.String() != "20" || o.LimitPrice.String() != "199" {
			t.Fatalf("after the replace: %+v", o)
		}
	})
	d.fill(id, "5", "199.00")
	if _, out := d.do("cancel_order", `{"order_id":"`+id+`"}`); out.Result != journal.ResultAccepted {
		t.Fatalf("cancel: %+v", out)
	}
	d.view(func(v gate.View) {
		if len(v.State.Orders) != 0 {
			t.Errorf("%d orders open after the cancel", len(v.State.Orders))
		}
	})
	if got := d.position("AAPL"); got != "5" {
		t.Fatalf("position %s, want 5", got)
	}
	d.verify()
}

func TestTwoProcessesNeverPassOneLimitTogether(t *testing.T) {
	d := newDesk(t, "session: {max_orders_per_day: 1, duplicate_window: off}")
	other := d.otherProcess()
	first := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	second := other.Decide(t.Context(), d.call("place_order", limitOrder("AAPL", "buy", "10", "200.00")))
	if !first.Allowed() || second.Allowed() {
		t.Fatalf("first %v, second %v; want exactly the first", first.Allowed(), second.Allowed())
	}
	if got := second.Decision.Refusing(); !slices.Equal(got, []string{"max_orders_per_day"}) {
		t.Fatalf("second refused by %v", got)
	}
	d.verify()
}

func TestInvalidLimitsLetOnlyReducingOrdersPass(t *testing.T) {
	d := newDesk(t, "")
	d.fill(d.buy("10", "200.00"), "10", "200.00")
	if _, err := d.gate.LoadLimits(t.Context(), "limits", []byte("version: 1\n"), "operator"); err == nil {
		t.Fatal("an incomplete document loaded")
	}
	d.advance(time.Minute)
	if j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00")); j.Allowed() || !slices.Contains(j.Decision.Faults(), "limits_invalid") {
		t.Fatalf("a buy: allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
	}
	if j := d.decide("place_order", limitOrder("AAPL", "sell", "10", "199.98")); !j.Allowed() {
		t.Fatalf("closing: refused by %v %v", j.Decision.Refusing(), j.Decision.Faults())
	}
	d.verify()
}

func TestModesBindAcrossProcesses(t *testing.T) {
	d := newDesk(t, "")
	must(t, d.otherProcess().SetMode(t.Context(), journal.Mode{By: "operator", Mode: journal.ModeHalted, Reason: "stop", Who: "operator"}))
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if got := j.Decision.Refusing(); !slices.Equal(got, []string{"kill_switch"}) {
		t.Fatalf("refused by %v", got)
	}
	d.open()
	d.view(func(v gate.View) {
		if v.Mode != account.Halted {
			t.Error("a restart lifted the halt")
		}
	})
	d.verify()
}

func faultOf(j gate.Judgement) error {
	if j.Fault == "" {
		return nil
	}
	return errors.New(j.Fault)
}

func TestFailClosedZeroGate(t *testing.T) {
	var g gate.Gate
	if j := g.Decide(t.Context(), gate.Call{}); j.Allowed() || j.Fault == "" {
		t.Fatalf("the zero gate decides %+v", j)
	}
	if out := g.Forward(t.Context(), nil); out.Result != journal.ResultNotSent {
		t.Fatalf("the zero gate forwards %+v", out)
	}
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Refuse": func() error { _, err := g.Refuse(ctx, journal.Refusal{}); return err },
		"Tick":   func() error { return g.Tick(ctx) },
		"Start":  func() error { return g.Start(ctx) },
		"View":   func() error { return g.View(ctx, func(gate.View) { t.Error("the zero gate shows an account") }) },
		"SetMode": func() error {
			return g.SetMode(ctx, journal.Mode{By: "operator", Mode: "active", Reason: "r", Who: "w"})
		},
		"Resolve":  func() error { return g.ResolveByHand(ctx, "w", journal.Resolution{OrderID: "paper/1", Reason: "r"}) },
		"Limits":   func() error { _, err := g.LoadLimits(ctx, "l", limits.Template("paper"), "w"); return err },
		"Check":    func() error { return faultOf(g.Check(ctx, gate.Call{})) },
		"SetModes": func() error { return gate.SetModeForAll(ctx, nil, nil, journal.Mode{}) },
	} {
		if err := call(); err == nil {
			t.Errorf("the zero gate does %s", name)
		}
	}
	var zero gate.Sealed
	if _, err := zero.Open(); err == nil {
		t.Fatal("the zero sealed message opens")
	}
}

func (d *desk) otherProcess() *gate.Gate {
	d.t.Helper()
	g, err := gate.Open(d.t.Context(), d.cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	return g
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
