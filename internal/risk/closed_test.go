package risk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

func TestFailClosedZeroDecisionDenies(t *testing.T) {
	var d risk.Decision
	var none *risk.Decision
	if d.Allowed() || none.Allowed() || d.Verdict != risk.Denied {
		t.Error("a decision that nobody made must deny")
	}
	if risk.Verdict(9).String() != "error" {
		t.Error("an unknown verdict must not read as allowed")
	}
}

// TestFailClosedArguments takes one argument away, or makes it another account's.
func TestFailClosedArguments(t *testing.T) {
	type args struct {
		s   *account.State
		doc *limits.Document
		req *rail.Request
		cal market.Calendar
	}
	for _, row := range []struct {
		name    string
		set     func(a *args)
		verdict risk.Verdict
		code    string
	}{
		{"nothing at all", func(a *args) { *a = args{} }, risk.Error, risk.AccountUnavailable},
		{"no state", func(a *args) { a.s = nil }, risk.Error, risk.AccountUnavailable},
		{"zero state", func(a *args) { a.s = &account.State{} }, risk.Error, risk.AccountUnavailable},
		{"no genesis", func(a *args) { a.s = account.New("paper") }, risk.Error, risk.AccountUnavailable},
		{"no limits", func(a *args) { a.doc = nil }, risk.Error, risk.LimitsInvalid},
		{"zero limits", func(a *args) { a.doc = &limits.Document{} }, risk.Error, risk.LimitsInvalid},
		{"limits of another account", func(a *args) { a.doc.Account = "other" }, risk.Error, risk.LimitsInvalid},
		{"limits in another currency", func(a *args) { a.doc.Currency = "EUR" }, risk.Error, risk.LimitsInvalid},
		{"limits of another calendar", func(a *args) { a.doc.Calendar = "XLON" }, risk.Error, risk.LimitsInvalid},
		{"no calendar", func(a *args) { a.cal = market.Calendar{} }, risk.Error, risk.LimitsInvalid},
		{"no request", func(a *args) { a.req = nil }, risk.Denied, risk.MalformedCall},
		{"zero request", func(a *args) { a.req = &rail.Request{} }, risk.Error, risk.InternalFault},
		{"no time", func(a *args) { a.req.Now = time.Time{} }, risk.Error, risk.InternalFault},
		{"before the newest entry", func(a *args) { a.req.Now = a.s.At.Add(-1) }, risk.Error, risk.InternalFault},
		{"negative fees", func(a *args) { a.req.Fees = ntl("-1") }, risk.Error, risk.InternalFault},
		{"zero intent", func(a *args) { a.req.Intent = order.Intent{} }, risk.Denied, risk.MalformedCall},
		{"unknown action", func(a *args) { a.req.Intent.Action = 99 }, risk.Denied, risk.MalformedCall},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := open(t, "100000")
			a := args{b.s, b.doc, b.new(order.Buy, "10", "200"), calendar}
			row.set(&a)
			d := risk.Decide(a.s, a.doc, a.req, a.cal)
			if d.Allowed() || d.Verdict != row.verdict || d.Integrity != row.code || d.IntegrityText == "" {
				t.Fatalf("%s by %q (%s), want %s by %s", d.Verdict, d.Integrity, d.IntegrityText, row.verdict, row.code)
			}
			ids := d.Refusing()
			if row.verdict == risk.Error {
				ids = d.Faults()
			}
			if len(ids) != 1 || ids[0] != row.code {
				t.Errorf("ids %v, want %s", ids, row.code)
			}
		})
	}
}

// TestIntegrityOfTheIntent changes one field of a good order.
func TestIntegrityOfTheIntent(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(in *order.Intent)
		code string
	}{
		{"another account", func(in *order.Intent) { in.Account = "live" }, risk.ConflictingFields},
		{"no symbol", func(in *order.Intent) { in.Symbol = "" }, risk.MalformedCall},
		{"symbol too long", func(in *order.Intent) { in.Symbol = string(make([]byte, 33)) }, risk.MalformedCall},
		{"client order id too long", func(in *order.Intent) { in.ClientOrderID = string(make([]byte, 65)) }, risk.MalformedCall},
		{"no side", func(in *order.Intent) { in.Side = order.SideNone }, risk.MalformedCall},
		{"unknown side", func(in *order.Intent) { in.Side = 3 }, risk.MalformedCall},
		{"no type", func(in *order.Intent) { in.Type = order.TypeNone }, risk.MalformedCall},
		{"unknown type", func(in *order.Intent) { in.Type = 5 }, risk.MalformedCall},
		{"zero quantity", func(in *order.Intent) { in.Quantity = qty("0") }, risk.InvalidNumber},
		{"negative quantity", func(in *order.Intent) { in.Quantity = qty("-10") }, risk.InvalidNumber},
		{"zero limit price", func(in *order.Intent) { in.LimitPrice = prc("0") }, risk.InvalidNumber},
		{"negative limit price", func(in *order.Intent) { in.LimitPrice = prc("-200") }, risk.InvalidNumber},
		{"negative stop price", func(in *order.Intent) { in.Type, in.StopPrice = order.StopLimit, prc("-1") }, risk.InvalidNumber},
		{"stop-limit without a stop", func(in *order.Intent) { in.Type = order.StopLimit }, risk.InvalidNumber},
		{"limit on a market order", func(in *order.Intent) { in.Type = order.Market }, risk.ConflictingFields},
		{"stop on a limit order", func(in *order.Intent) { in.StopPrice = prc("200") }, risk.ConflictingFields},
		{"expiry on a day order", func(in *order.Intent) { in.ExpireAt = elevenAM.Add(time.Hour) }, risk.ConflictingFields},
		{"new with a target", func(in *order.Intent) { in.Target = "paper/1" }, risk.ConflictingFields},
		{"replace without a target", func(in *order.Intent) { in.Action = order.ActionReplace }, risk.ConflictingFields},
		{"replace of an unknown order", func(in *order.Intent) {
			in.Action, in.Target = order.ActionReplace, "paper/99"
		}, risk.ConflictingFields},
		{"cancel of an unknown order", func(in *order.Intent) {
			in.Action, in.Target = order.ActionCancel, "paper/99"
		}, risk.ConflictingFields},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := open(t, "100000")
			req := b.new(order.Buy, "10", "200")
			row.set(&req.Intent)
			d := b.decide(req)
			denied(t, &d, row.code)
		})
	}
}

// TestFailClosedMissingInputs: what the rails need and do not have is an error, and
// never a pass.
func TestFailClosedMissingInputs(t *testing.T) {
	for name, set := range map[string]func(req *rail.Request){
		"no quote":            func(req *rail.Request) { req.Quote, req.LastValid = market.Quote{}, market.Quote{} },
		"one side":            func(req *rail.Request) { req.Quote.HasBid = false },
		"quote of a stranger": func(req *rail.Request) { req.Quote.Symbol = "MSFT" },
		"source not asked":    func(req *rail.Request) { req.InstrumentAsked = false },
	} {
		b := open(t, "100000")
		req := b.new(order.Buy, "10", "200")
		set(req)
		if d := b.decide(req); d.Verdict != risk.Error || len(d.Faults()) == 0 {
			t.Errorf("%s: %s, faults %v, refusing %v", name, d.Verdict, d.Faults(), d.Refusing())
		}
	}
}

// TestQuoteInAnotherCurrencyPricesNothing: it is there and bad, and no rail takes its
// figures for dollars.
func TestQuoteInAnotherCurrencyPricesNothing(t *testing.T) {
	b := open(t, "100000")
	req := b.new(order.Buy, "10", "200")
	req.Quote.Currency = "GBX"
	d := b.decide(req)
	if d.Allowed() || !slices.Contains(d.Faults(), "limit_price_collar") {
		t.Errorf("%s, refusing %v, faults %v", d.Verdict, d.Refusing(), d.Faults())
	}
}

func TestAnyDenialOutweighsAnyFault(t *testing.T) {
	b := open(t, "100000")
	req := b.new(order.Buy, "10000", "200")
	req.Quote.HasAsk = false
	d := b.decide(req)
	if d.Verdict != risk.Denied || len(d.Refusing()) == 0 || len(d.Faults()) == 0 {
		t.Errorf("%s, refusing %v, faults %v", d.Verdict, d.Refusing(), d.Faults())
	}
}

// TestEveryReasonIsReported: nothing short-circuits.
func TestEveryReasonIsReported(t *testing.T) {
	b := open(t, "1000")
	req := b.new(order.Buy, "1500.5", "300.001")
	req.Intent.TimeInForce = order.TimeInForceNone
	d := b.decide(req)
	denied(t, &d, "time_in_force_not_allowed", "fractional_not_allowed", "max_order_qty", "max_order_notional",
		"max_order_pct_of_equity", "quantity_step", "max_concentration", "insufficient_buying_power",
		"limit_price_collar", "passive_price_collar", "price_step")
	if d.Reservation.Quantity.IsPositive() || d.Reservation.Notional.IsPositive() {
		t.Error("a denied order reserves nothing")
	}
}

func TestInvalidLimitsLetOnlyReducingOrdersPass(t *testing.T) {
	b := open(t, "100000", held("AAPL", "10", "150"))
	buy, sell := b.new(order.Buy, "10", "200"), b.new(order.Sell, "10", "200")
	buy.LimitsInvalid, sell.LimitsInvalid = true, true
	if d := b.decide(buy); d.Verdict != risk.Error || d.Integrity != risk.LimitsInvalid || d.Passes == 0 {
		t.Errorf("buy: %s by %q, %d passes", d.Verdict, d.Integrity, d.Passes)
	}
	d := b.decide(sell)
	allowed(t, &d)
}

func TestCancelPassesWhileHalted(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "10", "200"))
	req := b.cancel(id)
	req.ControlMode = account.Halted
	d := b.decide(req)
	allowed(t, &d)
	if d.Off != rail.Count-1 || d.Passes != 1 || d.Mode != account.Halted {
		t.Errorf("off %d, passes %d, mode %v", d.Off, d.Passes, d.Mode)
	}
	req.Intent.Symbol = "MSFT"
	d = b.decide(req)
	denied(t, &d, risk.ConflictingFields)
}
