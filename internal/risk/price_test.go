package risk_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestRiskPrice is what each type is valued at, quoted 199.98 to 200.02 with a slippage
// of 50 bps.
func TestRiskPrice(t *testing.T) {
	for _, row := range []struct {
		name        string
		kind        order.Type
		side        order.Side
		limit, stop string
		want        string
	}{
		{"limit buy: the most it can pay", order.Limit, order.Buy, "199", "0", "199"},
		{"limit sell below the bid: the bid", order.Limit, order.Sell, "199", "0", "199.98"},
		{"limit sell above the bid: its limit", order.Limit, order.Sell, "205", "0", "205"},
		{"stop-limit buy: its limit", order.StopLimit, order.Buy, "206", "205", "206"},
		{"stop-limit sell: the higher of limit and bid", order.StopLimit, order.Sell, "190", "191", "199.98"},
		{"market buy: the ask and slippage", order.Market, order.Buy, "0", "0", "201.0201"},
		{"market sell: the bid and slippage", order.Market, order.Sell, "0", "0", "200.9799"},
		{"stop buy: the stop and slippage", order.Stop, order.Buy, "0", "210", "211.05"},
		{"stop sell: the stop and slippage", order.Stop, order.Sell, "0", "190", "190.95"},
	} {
		b := open(t, "100000", held("AAPL", "100", "200"))
		req := b.new(row.side, "10", row.limit)
		req.Intent.Type, req.Intent.StopPrice = row.kind, prc(row.stop)
		d := b.decide(req)
		if d.RiskPrice != prc(row.want) {
			t.Errorf("%s: %s, want %s", row.name, d.RiskPrice, row.want)
		}
		if want, _ := prc(row.want).Times(qty("10"), money.Up); d.Notional != want {
			t.Errorf("%s: notional %s, want %s", row.name, d.Notional, want)
		}
	}
}

func TestSlippageOffAndAbsent(t *testing.T) {
	b := open(t, "100000")
	req := b.new(order.Buy, "10", "0")
	req.Intent.Type = order.Market
	b.doc.Collar.MarketOrderSlippage = limits.Limit[money.BasisPoints]{Set: true}
	d := b.decide(req)
	allowed(t, &d)
	if d.RiskPrice != prc("200.02") {
		t.Errorf("off: %s, want the ask", d.RiskPrice)
	}
	b.doc.Collar.MarketOrderSlippage = limits.Limit[money.BasisPoints]{}
	if d := b.decide(req); d.Allowed() || len(d.Faults()) == 0 {
		t.Errorf("neither value nor off: %s, faults %v", d.Verdict, d.Faults())
	}
}

// TestOptionsCountTheirMultiplier: 2 contracts of 100 at 1.25 are 250.
func TestOptionsCountTheirMultiplier(t *testing.T) {
	b := open(t, "100000")
	b.doc.Instrument.AssetClasses = []order.AssetClass{order.USOption}
	req := b.new(order.Buy, "2", "1.25")
	req.Instrument.Class, req.Instrument.Multiplier = order.USOption, qty("100")
	req.Quote.Bid, req.Quote.Ask = prc("1.24"), prc("1.25")
	d := b.decide(req)
	allowed(t, &d)
	if d.Notional != ntl("250") || d.Reservation.Cost != ntl("250") {
		t.Errorf("notional %s, cost %s", d.Notional, d.Reservation.Cost)
	}
}
