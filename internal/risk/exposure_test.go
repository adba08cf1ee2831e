package risk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// observed is what the rail found the order to come to, once its limit is zero.
func observed(t *testing.T, d *risk.Decision, id rail.ID) string {
	t.Helper()
	for i := range d.Findings {
		if d.Findings[i].Rail == id && d.Findings[i].Status == rail.Deny {
			return d.Findings[i].Observed
		}
	}
	t.Fatalf("%s does not deny: %s", id, explain(d))
	return ""
}

func nothingAllowed[T any](l *limits.Limit[T]) { *l = limits.Limit[T]{Set: true, On: true} }

// TestGrossAndNet adds up by hand: MSFT long 10 at an ask of 301, S100 short 20 at an
// ask of 51, and a buy of 10 AAPL at 200, asked 200.02.
func TestGrossAndNet(t *testing.T) {
	b := open(t, "100000", held("MSFT", "10", "300"), held("S100", "-20", "50"))
	nothingAllowed(&b.doc.Position.MaxGrossExposure)
	nothingAllowed(&b.doc.Position.MaxNetExposure)
	req := b.new(order.Buy, "10", "200")
	req.Marks = []rail.Mark{mark("MSFT", "300", "301"), mark("S100", "50", "51")}
	d := b.decide(req)
	if got := observed(t, &d, rail.MaxGrossExposure); got != "6030.2" { // 3010 + 1020 + 2000.2
		t.Errorf("gross %s, want 6030.2", got)
	}
	if got := observed(t, &d, rail.MaxNetExposure); got != "3990.2" { // 3010 - 1020 + 2000.2
		t.Errorf("net %s, want 3990.2", got)
	}
	if want := ntl("101980"); d.Equity != want || !d.EquityOK { // 100000 + 10 x 300 - 20 x 51
		t.Errorf("equity %s, want %s", d.Equity, want)
	}
}

// TestWorkingOrdersElsewhereAreNeverNetted: MSFT flat, a buy of 10 at 310 and a sell of
// 5 at 290 working, asked 301.
func TestWorkingOrdersElsewhereAreNeverNetted(t *testing.T) {
	b := open(t, "100000")
	for i, o := range []journal.BrokerOrder{
		{Side: order.Buy, Quantity: qty("10"), LimitPrice: prc("310")},
		{Side: order.Sell, Quantity: qty("5"), LimitPrice: prc("290")},
	} {
		o.BrokerID, o.Instrument, o.Type, o.TimeInForce = "e"+string(rune('0'+i)), share("MSFT"), order.Limit, order.Day
		b.apply(journal.KindExternal, journal.External{ID: "event" + o.BrokerID, Order: &o})
	}
	nothingAllowed(&b.doc.Position.MaxGrossExposure)
	nothingAllowed(&b.doc.Position.MaxNetExposure)
	req := b.new(order.Buy, "10", "200")
	req.Marks = []rail.Mark{mark("MSFT", "300", "301")}
	d := b.decide(req)
	if got := observed(t, &d, rail.MaxGrossExposure); got != "5100.2" { // max(3100, 1505) + 2000.2
		t.Errorf("gross %s, want 5100.2", got)
	}
	if got := observed(t, &d, rail.MaxNetExposure); got != "5100.2" { // worst long of both
		t.Errorf("net %s, want 5100.2", got)
	}
}

// TestLinkedOrdersCountOnce: of two sells that the broker links, the one worth most.
func TestLinkedOrdersCountOnce(t *testing.T) {
	b := open(t, "100000", held("MSFT", "10", "300"))
	for i, limit := range []string{"350", "320"} {
		o := journal.BrokerOrder{
			BrokerID: "e" + limit, Group: "oco", Instrument: share("MSFT"), Side: order.Sell, Type: order.Limit,
			Quantity: qty([]string{"40", "41"}[i]), LimitPrice: prc(limit), TimeInForce: order.GTC,
		}
		b.apply(journal.KindExternal, journal.External{ID: "event" + limit, Order: &o})
	}
	nothingAllowed(&b.doc.Position.MaxGrossExposure)
	req := b.new(order.Buy, "10", "200")
	req.Marks = []rail.Mark{mark("MSFT", "300", "301")}
	d := b.decide(req)
	// 40 x 350 = 14000 is worth more than 41 x 320; less the long of 3010, and AAPL.
	if got := observed(t, &d, rail.MaxGrossExposure); got != "12990.2" {
		t.Errorf("gross %s, want 12990.2", got)
	}
}

// TestMarksAreNeededWhereTheyCount: without one the figures that need it are faults.
func TestMarksAreNeededWhereTheyCount(t *testing.T) {
	of := func(set func(m *rail.Mark)) []rail.Mark {
		m := mark("MSFT", "300", "301")
		set(&m)
		return []rail.Mark{m}
	}
	for name, marks := range map[string][]rail.Mark{
		"none":              nil,
		"another symbol":    {mark("MSFU", "300", "301")},
		"crossed":           of(func(m *rail.Mark) { m.Bid = prc("302") }),
		"zero bid":          of(func(m *rail.Mark) { m.Bid = prc("0") }),
		"no time":           of(func(m *rail.Mark) { m.At = time.Time{} }),
		"in the future":     of(func(m *rail.Mark) { m.At = elevenAM.Add(time.Second + 1) }),
		"two trade dates":   of(func(m *rail.Mark) { m.At = time.Date(2026, 3, 17, 3, 59, 59, 0, time.UTC) }),
		"from another year": of(func(m *rail.Mark) { m.At = m.At.AddDate(-1, 0, 0) }),
	} {
		b := open(t, "100000", held("MSFT", "10", "300"))
		req := b.new(order.Buy, "10", "200")
		req.Marks = marks
		d := b.decide(req)
		want := []string{"max_order_pct_of_equity", "max_gross_exposure", "max_net_exposure", "max_concentration",
			"insufficient_buying_power", "max_daily_loss", "max_drawdown"}
		if d.Verdict != risk.Error || !slices.Equal(d.Faults(), want) || d.EquityOK {
			t.Errorf("%s: %s, faults %v", name, d.Verdict, d.Faults())
		}
	}
	b := open(t, "100000", held("MSFT", "10", "300"))
	req := b.new(order.Buy, "10", "200")
	req.Marks = of(func(m *rail.Mark) { m.At = time.Date(2026, 3, 17, 4, 0, 0, 0, time.UTC) })
	d := b.decide(req) // the first instant of the previous trade date in New York
	allowed(t, &d)
}

// TestMarksOfFridayServeOnMonday: trade dates are counted, not hours.
func TestMarksOfFridayServeOnMonday(t *testing.T) {
	b := open(t, "100000", held("MSFT", "10", "300"))
	b.now = time.Date(2026, time.March, 23, 15, 0, 0, 0, time.UTC)
	b.apply(journal.KindOpen, journal.Open{Equity: ntl("103000"), Source: "marks", TradeDate: "2026-03-23"})
	b.reconciled()
	req := b.new(order.Buy, "10", "200")
	req.Quote.At = b.now
	req.Marks = []rail.Mark{mark("MSFT", "300", "301")}
	req.Marks[0].At = time.Date(2026, time.March, 20, 13, 30, 0, 0, time.UTC)
	d := b.decide(req)
	allowed(t, &d)
	req.Marks[0].At = time.Date(2026, time.March, 19, 19, 0, 0, 0, time.UTC)
	if d := b.decide(req); d.Verdict != risk.Error {
		t.Errorf("Thursday's mark on Monday: %s", d.Verdict)
	}
}

// TestBuyingPower is the smaller of ledger and broker, after what is held back.
func TestBuyingPower(t *testing.T) {
	b := open(t, "10000")
	b.place(b.new(order.Buy, "20", "200")) // holds back 4000
	b.doc.Position.MaxConcentration = limits.Limit[money.Percent]{Set: true}
	b.doc.Size.MaxOrderPctOfEquity = limits.Limit[money.Percent]{Set: true}
	d := b.decide(b.new(order.Buy, "30", "200")) // 6000 of 6000
	allowed(t, &d)
	d = b.decide(b.new(order.Buy, "31", "200"))
	denied(t, &d, "insufficient_buying_power")
	fees := b.new(order.Buy, "30", "200")
	fees.Fees = ntl("0.01")
	d = b.decide(fees)
	denied(t, &d, "insufficient_buying_power")

	// The broker's figure from before the order lacks it, one from after has it in.
	req := b.new(order.Buy, "30", "200")
	req.Broker = rail.BrokerFigures{Present: true, Cash: ntl("10000"), BuyingPower: ntl("10000"), At: elevenAM.Add(-time.Second)}
	d = b.decide(req)
	allowed(t, &d)
	req.Broker.BuyingPower = ntl("9999.99")
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power")
	b.now = elevenAM.Add(2 * time.Second)
	req.Now, req.Broker.At, req.Broker.BuyingPower = b.now, elevenAM.Add(time.Second), ntl("6000")
	d = b.decide(req)
	allowed(t, &d)
}

// TestOpeningShortCostsItsExposure, and short positions bind the cash that they need to
// be bought back.
func TestOpeningShortCostsItsExposure(t *testing.T) {
	b := open(t, "10000", held("AAPL", "10", "200"), held("S100", "-20", "50"))
	b.doc.Instrument.AllowShort, b.doc.Position.AllowFlip = true, true
	b.doc.Position.MaxConcentration = limits.Limit[money.Percent]{Set: true}
	b.doc.Size.MaxOrderPctOfEquity = limits.Limit[money.Percent]{Set: true}
	sell := func(quantity string) *rail.Request {
		req := b.new(order.Sell, quantity, "200")
		req.Marks = []rail.Mark{mark("S100", "49", "50")}
		return req
	}
	// 10000 of cash less 20 x 50; a sell of 55 closes 10 and opens 45 for 9000.
	d := b.decide(sell("55"))
	allowed(t, &d)
	if d.Reservation.Cost != ntl("9000") {
		t.Errorf("cost %s, want 9000", d.Reservation.Cost)
	}
	d = b.decide(sell("56"))
	denied(t, &d, "insufficient_buying_power")
	d = b.decide(sell("10"))
	allowed(t, &d)
	if !d.Reservation.Cost.IsZero() {
		t.Errorf("closing costs %s", d.Reservation.Cost)
	}
}
