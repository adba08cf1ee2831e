package risk_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// TestReducing: the opposite sign, and no more than is left to close.
func TestReducing(t *testing.T) {
	for _, row := range []struct {
		name     string
		held     string
		side     order.Side
		quantity string
		want     bool
	}{
		{"part of a long", "10", order.Sell, "9", true},
		{"all of a long", "10", order.Sell, "10", true},
		{"one beyond is a flip as a whole", "10", order.Sell, "11", false},
		{"more of a long", "10", order.Buy, "1", false},
		{"part of a short", "-10", order.Buy, "9", true},
		{"all of a short", "-10", order.Buy, "10", true},
		{"beyond a short", "-10", order.Buy, "11", false},
		{"more of a short", "-10", order.Sell, "1", false},
	} {
		b := open(t, "100000", held("AAPL", row.held, "150"))
		if d := b.decide(b.new(row.side, row.quantity, "200")); d.Reducing != row.want {
			t.Errorf("%s: reducing is %v", row.name, d.Reducing)
		}
	}
	b := open(t, "100000")
	if d := b.decide(b.new(order.Sell, "1", "200")); d.Reducing {
		t.Error("a flat account has nothing to reduce")
	}
}

// TestTwoSellsOfOneHolding: what is reserved to close is not there to be closed again,
// in flight and working alike.
func TestTwoSellsOfOneHolding(t *testing.T) {
	b := open(t, "100000", held("AAPL", "10", "150"))
	first := b.new(order.Sell, "10", "200")
	d := b.decide(first)
	allowed(t, &d)
	if !d.Reducing || d.Reservation.Bucket != journal.BucketExit {
		t.Fatalf("reducing %v, bucket %s", d.Reducing, d.Reservation.Bucket)
	}
	b.journal(first, &d)
	second := b.decide(b.new(order.Sell, "1", "200.01"))
	if second.Allowed() || second.Reducing {
		t.Errorf("a sell beside one in flight: %s, reducing %v", second.Verdict, second.Reducing)
	}
	b.apply(journal.KindOutcome, journal.Outcome{Decision: b.s.Seq, BrokerID: "b1", Result: journal.ResultAccepted})
	third := b.decide(b.new(order.Sell, "1", "200.01"))
	denied(t, &third, "short_not_allowed", "position_flip")
}

// TestReduceOnlyMode passes what reduces and nothing else; a flip is not split.
func TestReduceOnlyMode(t *testing.T) {
	b := open(t, "100000", held("AAPL", "10", "150"))
	b.apply(journal.KindMode, journal.Mode{By: journal.ByOperator, Mode: journal.ModeReduceOnly, Reason: "r", Who: "operator"})
	d := b.decide(b.new(order.Sell, "10", "200"))
	allowed(t, &d)
	d = b.decide(b.new(order.Buy, "1", "200"))
	denied(t, &d, "kill_switch")
	d = b.decide(b.new(order.Sell, "11", "200"))
	denied(t, &d, "short_not_allowed", "position_flip", "kill_switch")
}

// TestStricterModeRules: the control chain's mode binds where it is the stricter.
func TestStricterModeRules(t *testing.T) {
	b := open(t, "100000")
	req := b.new(order.Buy, "1", "200")
	req.ControlMode = account.ReduceOnly
	d := b.decide(req)
	denied(t, &d, "kill_switch")
	if d.Mode != account.ReduceOnly {
		t.Errorf("mode %v", d.Mode)
	}
	req.ControlMode = account.Halted
	d = b.decide(req)
	denied(t, &d, "kill_switch")
}

// TestDifferenceLimitsWhatReduces: where the broker shows less than the ledger, only
// that much can be proved to reduce.
func TestDifferenceLimitsWhatReduces(t *testing.T) {
	for _, row := range []struct {
		broker, sell string
		want         bool
	}{
		{"6", "6", true}, {"6", "7", false}, {"14", "10", true}, {"14", "11", false},
		{"0", "1", false}, {"-10", "1", false},
	} {
		b := open(t, "100000", held("AAPL", "10", "150"))
		b.apply(journal.KindReconcile, journal.Reconcile{
			AsOf: journal.At(b.now), Cash: ntl("100000"), Whole: true,
			Differences: []journal.Difference{{Symbol: "AAPL", Ledger: qty("10"), Broker: qty(row.broker)}},
			Positions:   []journal.Holding{{Symbol: "AAPL", Quantity: qty(row.broker)}},
		})
		if d := b.decide(b.new(order.Sell, row.sell, "200")); d.Reducing != row.want {
			t.Errorf("broker %s, sell %s: reducing %v", row.broker, row.sell, d.Reducing)
		}
	}
}

// TestReducingWithoutAFreshQuote is priced and collared by the last valid one; with
// neither it is an error.
func TestReducingWithoutAFreshQuote(t *testing.T) {
	b := open(t, "100000", held("AAPL", "10", "150"))
	req := b.new(order.Sell, "10", "200")
	req.Quote.At = elevenAM.Add(-10 * 60e9)
	req.LastValid = quote("AAPL", "199", "199.04")
	req.LastValid.At = elevenAM.Add(-20 * 60 * 60e9) // the previous afternoon
	d := b.decide(req)
	allowed(t, &d)
	if d.RiskPrice != prc("200") {
		t.Errorf("risk price %s, want the limit, above the bid", d.RiskPrice)
	}
	req.Intent.LimitPrice = prc("193") // the exit band of 300 bps below 199 ends at 193.03
	d = b.decide(req)
	denied(t, &d, "limit_price_collar")

	req.Intent.LimitPrice = prc("200")
	req.LastValid.At = elevenAM.Add(-50 * 60 * 60e9) // two trade dates ago
	if d := b.decide(req); d.Verdict != risk.Error {
		t.Errorf("a quote of two dates ago: %s, refusing %v", d.Verdict, d.Refusing())
	}
	req.LastValid.Present = false
	if d := b.decide(req); d.Verdict != risk.Error {
		t.Errorf("no quote at all: %s, refusing %v", d.Verdict, d.Refusing())
	}
}
