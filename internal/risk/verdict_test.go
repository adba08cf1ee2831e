package risk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// TestBucketsAreNamedOnEveryDecision: a denied order counts as a message, so that its
// bucket is named as well.
func TestBucketsAreNamedOnEveryDecision(t *testing.T) {
	b := open(t, "100000", held("AAPL", "100", "200"))
	b.reconciled()
	_, id := b.place(b.new(order.Buy, "10", "200"))
	b.doc.Size.MaxOrderQuantity = on(qty("5"))
	for _, c := range []struct {
		name string
		req  *rail.Request
		want string
	}{
		{"a denied buy", b.new(order.Buy, "10", "200"), journal.BucketOpen},
		{"a denied exit", b.new(order.Sell, "10", "200"), journal.BucketExit},
		{"an allowed buy", b.new(order.Buy, "5", "200"), journal.BucketOpen},
		{"an allowed exit", b.new(order.Sell, "5", "200.50"), journal.BucketExit},
		{"a cancel", b.cancel(id), journal.BucketExit},
	} {
		c.req.AtomicReplace = true
		d := b.decide(c.req)
		if d.Allowed() != strings.Contains(c.name, "allowed") && c.name != "a cancel" {
			t.Errorf("%s: %s", c.name, explain(&d))
		}
		if d.Reservation.Bucket != c.want || d.Reservation.Atomic {
			t.Errorf("%s: bucket %q, atomic %v; want %q", c.name, d.Reservation.Bucket, d.Reservation.Atomic, c.want)
		}
	}
}

// TestADeniedCancelIsADenial: it can be the one that trips denial_storm.
func TestADeniedCancelIsADenial(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "10", "200"))
	b.doc.Session.DenialStorm = on(limits.DenialStorm{Denials: 0, Window: time.Minute})
	if d := b.decide(b.cancel(id)); !d.Allowed() || len(d.Effects) != 0 {
		t.Errorf("an allowed cancel: %s, effects %v", explain(&d), d.Effects)
	}
	b.doc.Session.MaxMessagesPerMinute = on(0)
	if d := b.decide(b.cancel(id)); d.Allowed() || len(d.Effects) != 1 || d.Effects[0] != (risk.Effect{Rail: rail.DenialStorm, Kind: rail.EffectReduceOnly}) {
		t.Errorf("a denied cancel: %s, effects %v", explain(&d), d.Effects)
	}
}

// TestTextsAtTheirLongest: a symbol or id of just the longest length is no malformed call.
func TestTextsAtTheirLongest(t *testing.T) {
	b := open(t, "100000")
	req := b.new(order.Buy, "10", "200")
	req.Intent.Symbol = strings.Repeat("A", order.SymbolBytesMax)
	if d := b.decide(req); d.Integrity != "" {
		t.Errorf("symbol: %s", explain(&d))
	}
	req = b.new(order.Buy, "10", "200")
	req.Intent.ClientOrderID = strings.Repeat("a", order.ClientOrderIDBytesMax)
	if d := b.decide(req); d.Integrity != "" {
		t.Errorf("client order id: %s", explain(&d))
	}
	req = b.new(order.Buy, "10", "200")
	req.Intent.TimeInForce, req.Intent.ExpireAt = order.TimeInForceNone, b.now.Add(time.Hour)
	if d := b.decide(req); d.Integrity != risk.ConflictingFields {
		t.Errorf("an expiry without a time in force: %s", explain(&d))
	}
}

// TestADocumentWithoutAVersionIsNone: it is no document, whatever else it holds.
func TestADocumentWithoutAVersionIsNone(t *testing.T) {
	b := open(t, "100000")
	b.doc.Version = 0
	if d := b.decide(b.new(order.Buy, "10", "200")); d.Integrity != risk.LimitsInvalid || d.Allowed() {
		t.Errorf("no version: %s", explain(&d))
	}
}

// TestACancelNeedsNoSide: what a cancel says beside its order does not matter.
func TestACancelNeedsNoSide(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "10", "200"))
	req := b.cancel(id)
	req.Intent.Side, req.Intent.Type = order.Sell, order.Market
	d := b.decide(req)
	allowed(t, &d)
}

// TestEachLimitOnEquityAsksForItAlone: with one such limit on, equity is known.
func TestEachLimitOnEquityAsksForItAlone(t *testing.T) {
	for name, keep := range map[string]func(d, full *limits.Document){
		"concentration": func(d, full *limits.Document) { d.Position.MaxConcentration = on(pct("90")) },
		"share":         func(d, full *limits.Document) { d.Size.MaxOrderPctOfEquity = on(pct("90")) },
		"loss":          func(d, full *limits.Document) { d.Session.MaxDailyLoss = full.Session.MaxDailyLoss },
		"drawdown":      func(d, full *limits.Document) { d.Session.MaxDrawdown = full.Session.MaxDrawdown },
		"none":          func(_, _ *limits.Document) {},
	} {
		b := open(t, "100000", held("AAPL", "10", "200"))
		full := wide()
		offLimit(&b.doc.Position.MaxConcentration)
		offLimit(&b.doc.Size.MaxOrderPctOfEquity)
		offLimit(&b.doc.Session.MaxDailyLoss)
		offLimit(&b.doc.Session.MaxDrawdown)
		keep(b.doc, full)
		d := b.decide(b.new(order.Buy, "10", "200"))
		want := ntl("101999.8") // 10 at a bid of 199.98
		if known := name != "none"; d.EquityOK != known || known && d.Equity != want {
			t.Errorf("%s: equity %s %v", name, d.Equity, d.EquityOK)
		}
	}
}
