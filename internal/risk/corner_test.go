package risk_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

func offLimit[T any](l *limits.Limit[T]) { *l = limits.Limit[T]{Set: true} }

// withoutShares switches off the limits that are shares of equity.
func withoutShares(b *book) *book {
	offLimit(&b.doc.Position.MaxConcentration)
	offLimit(&b.doc.Size.MaxOrderPctOfEquity)
	return b
}

func of(req *rail.Request, symbol string) *rail.Request {
	req.Intent.Symbol, req.Instrument, req.Quote.Symbol = symbol, share(symbol), symbol
	req.LastValid = req.Quote
	return req
}

// TestPendingReplaceElsewhereIsValuedAtItsPrice: a replace in flight may already have
// made the order dearer.
func TestPendingReplaceElsewhereIsValuedAtItsPrice(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(of(b.new(order.Buy, "10", "200"), "MSFT"))
	replace := of(b.replace(id, order.Buy, "10", "202"), "MSFT")
	d := b.decide(replace)
	allowed(t, &d)
	b.journal(replace, &d)
	nothingAllowed(&b.doc.Position.MaxGrossExposure)
	req := b.new(order.Buy, "10", "200")
	req.Marks = []rail.Mark{mark("MSFT", "199.98", "200.02")}
	d = b.decide(req)
	if got := observed(t, &d, rail.MaxGrossExposure); got != "4020.2" { // 10 x 202 + 10 x 200.02
		t.Errorf("gross %s, want 4020.2", got)
	}
}

// TestShortOfAFractionalMultiplier takes the way of figures that are not exact.
func TestShortOfAFractionalMultiplier(t *testing.T) {
	short := held("S100", "-20", "50")
	short.Instrument.Multiplier = qty("0.5")
	b := withoutShares(open(t, "10000", short))
	req := b.new(order.Buy, "47", "200") // 9400 of 10000 - 20 x 0.5 x 51 = 9490
	req.Marks = []rail.Mark{mark("S100", "50", "51")}
	d := b.decide(req)
	allowed(t, &d)
	if d.Equity != ntl("9490") {
		t.Errorf("equity %s, want 9490", d.Equity)
	}
	req.Intent.Quantity = qty("48")
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power")
}

// TestOwnHoldingWithoutAValidQuote is valued for equity by the last valid one.
func TestOwnHoldingWithoutAValidQuote(t *testing.T) {
	b := open(t, "1000", held("AAPL", "10", "199"))
	req := b.new(order.Sell, "5", "200")
	req.Quote.Bid = prc("201") // crossed
	req.LastValid = quote("AAPL", "198", "199")
	d := b.decide(req)
	allowed(t, &d)
	if d.Equity != ntl("2980") || !d.EquityOK {
		t.Errorf("equity %s, want 2980", d.Equity)
	}
}

// TestReplaceOfAnExitReduces as long as everything that could fill does.
func TestReplaceOfAnExitReduces(t *testing.T) {
	b := open(t, "1000", held("AAPL", "100", "200"))
	_, id := b.place(b.new(order.Sell, "60", "200"))
	req := b.replace(id, order.Sell, "100", "200.01")
	d := b.decide(req)
	if !d.Reducing {
		t.Error("to all of the position, in one step")
	}
	req.AtomicReplace = false
	if d := b.decide(req); d.Reducing {
		t.Error("to all of the position, beside the old order")
	}
	req.Intent.Quantity = qty("40")
	if d := b.decide(req); !d.Reducing {
		t.Error("old and new come to the position")
	}
}

// TestReplaceOfALinkedOrder counts the larger of the linked legs, once.
func TestReplaceOfALinkedOrder(t *testing.T) {
	b := open(t, "1000", held("AAPL", "100", "200"))
	b.outside(1, "AAPL", order.Sell, 60, 21_000, "oco")
	b.outside(2, "AAPL", order.Sell, 50, 20_000, "oco")
	b.outside(3, "AAPL", order.Sell, 10, 20_100, "")
	req := b.replace("ext/e2", order.Sell, "90", "200")
	req.Intent.TimeInForce = order.GTC
	d := b.decide(req)
	allowed(t, &d)
	if !d.Reducing {
		t.Error("90 of the pair and 10 close 100")
	}
	req.Intent.Quantity = qty("91")
	if d := b.decide(req); d.Reducing || d.Allowed() {
		t.Errorf("91 of the pair and 10: %s, reducing %v", d.Verdict, d.Reducing)
	}
	req.Intent.Quantity = qty("20")
	d = b.decide(req)
	allowed(t, &d)
}

// TestSmallerLegDoesNotHideTheLarger: the other leg of the pair stays as large as it is.
func TestSmallerLegDoesNotHideTheLarger(t *testing.T) {
	b := open(t, "1000", held("AAPL", "100", "200"))
	b.outside(1, "AAPL", order.Sell, 60, 21_000, "oco")
	b.outside(2, "AAPL", order.Sell, 50, 20_000, "oco")
	b.outside(3, "AAPL", order.Sell, 45, 20_100, "")
	req := b.replace("ext/e2", order.Sell, "20", "200.01")
	req.Intent.TimeInForce = order.GTC
	if d := b.decide(req); d.Reducing {
		t.Error("60 of the pair and 45 are more than 100")
	}
}

// TestOverflowIsAnError and no denial: the order was not judged.
func TestOverflowIsAnError(t *testing.T) {
	const most = "99999999999999999999"
	b := open(t, "1000", held("AAPL", most, "0"))
	if d := b.decide(b.new(order.Buy, most, "200")); d.Verdict != risk.Error || d.Integrity != risk.InternalFault {
		t.Errorf("quantity: %s by %q", d.Verdict, d.Integrity)
	}
	b = open(t, "1000")
	d := b.decide(b.new(order.Buy, most, "200"))
	if d.Allowed() || len(d.Faults()) == 0 {
		t.Errorf("notional: %s, faults %v", d.Verdict, d.Faults())
	}
	for _, id := range []string{"max_order_notional", "max_gross_exposure", "insufficient_buying_power"} {
		found := false
		for _, fault := range d.Faults() {
			found = found || fault == id
		}
		if !found {
			t.Errorf("%s decides without a notional", id)
		}
	}
}

func TestLoweringProvesNothingBesideAnotherChange(t *testing.T) {
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	extended := b.replace(id, order.Buy, "90", "200")
	extended.Intent.ExtendedHours = true
	if d := b.decide(extended); d.Reducing {
		t.Error("a replace that also asks for extended hours")
	}
	pending := b.replace(id, order.Buy, "100", "201")
	d := b.decide(pending)
	allowed(t, &d)
	b.journal(pending, &d)
	if d := b.decide(b.replace(id, order.Buy, "90", "200")); d.Reducing {
		t.Error("a replace that may undo a pending one's price")
	}
}

// TestReplaceOfAShortSaleHoldsBackItsWhole: what has filled is short already, and the
// order's cost is of its whole quantity.
func TestReplaceOfAShortSaleHoldsBackItsWhole(t *testing.T) {
	b := withoutShares(open(t, "100000"))
	b.doc.Instrument.AllowShort = true
	_, id := b.place(b.new(order.Sell, "50", "200"))
	b.fill(id, "20", "200")
	d := b.decide(b.replace(id, order.Sell, "60", "200"))
	allowed(t, &d)
	if d.Reservation.Cost != ntl("12000") {
		t.Errorf("cost %s, want 12000", d.Reservation.Cost)
	}
}

// TestReplaceCostsWhatItAdds to what its order holds back.
func TestReplaceCostsWhatItAdds(t *testing.T) {
	b := withoutShares(open(t, "10000"))
	_, id := b.place(b.new(order.Buy, "40", "200"))
	req := b.replace(id, order.Buy, "50", "200")
	d := b.decide(req)
	allowed(t, &d)
	if d.Reservation.Cost != ntl("10000") {
		t.Errorf("held back %s, want that of the whole order", d.Reservation.Cost)
	}
	req.AtomicReplace = false
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power")
	d = b.decide(b.replace(id, order.Buy, "51", "200"))
	denied(t, &d, "insufficient_buying_power")
}

// TestBrokersFigureMayLackWhatIsInFlight: an order or replace without an answer is not
// proved to be in a figure that is newer than it.
func TestBrokersFigureMayLackWhatIsInFlight(t *testing.T) {
	later := func(b *book, req *rail.Request) *rail.Request {
		b.now = elevenAM.Add(3 * time.Second)
		req.Now = b.now
		req.Broker = rail.BrokerFigures{Present: true, BuyingPower: ntl("10000"), At: elevenAM.Add(2 * time.Second)}
		return req
	}
	b := withoutShares(open(t, "100000"))
	first := of(b.new(order.Buy, "20", "200"), "MSFT")
	d := b.decide(first)
	b.journal(first, &d)
	req := later(b, b.new(order.Buy, "30", "200"))
	req.Marks = []rail.Mark{mark("MSFT", "199.98", "200.02")}
	d = b.decide(req)
	allowed(t, &d)
	req.Intent.Quantity = qty("31") // 6200 of 10000 less 4000 in flight
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power")

	b = withoutShares(open(t, "100000"))
	_, id := b.place(of(b.new(order.Buy, "20", "200"), "MSFT"))
	replace := of(b.replace(id, order.Buy, "20", "201"), "MSFT")
	d = b.decide(replace)
	allowed(t, &d)
	b.journal(replace, &d)
	req = later(b, b.new(order.Buy, "30", "200"))
	req.Marks = []rail.Mark{mark("MSFT", "199.98", "200.02")}
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power") // 6000 of 10000 less 4020
}

// TestMarketOrderPlacedOutsideIsPaidAtTheAsk, since it names no price.
func TestMarketOrderPlacedOutsideIsPaidAtTheAsk(t *testing.T) {
	b := withoutShares(open(t, "10000"))
	b.apply(journal.KindExternal, journal.External{ID: "event", Order: &journal.BrokerOrder{
		BrokerID: "e1", Instrument: share("MSFT"), Side: order.Buy, Type: order.Market, Quantity: qty("10"), TimeInForce: order.Day,
	}})
	req := b.new(order.Buy, "34", "200") // 6800 of 10000 - 10 x 310
	req.Marks = []rail.Mark{mark("MSFT", "300", "310")}
	d := b.decide(req)
	allowed(t, &d)
	req.Intent.Quantity = qty("35")
	d = b.decide(req)
	denied(t, &d, "insufficient_buying_power")
}

// TestFailClosedUnpricedOrder: with every rail that needs a price switched off, an order
// that cannot be valued still does not pass.
func TestFailClosedUnpricedOrder(t *testing.T) {
	b := open(t, "1000", held("AAPL", "10", "200"))
	offLimit(&b.doc.Collar.ExitPriceCollar)
	offLimit(&b.doc.Collar.PassivePriceCollar)
	offLimit(&b.doc.Size.MaxOrderNotional)
	offLimit(&b.doc.Session.MaxDailyLoss)
	offLimit(&b.doc.Session.MaxDrawdown)
	b.doc.Position.RequireBuyingPower = false
	req := b.new(order.Sell, "10", "200")
	req.Quote.At, req.LastValid.Present = elevenAM.Add(-time.Hour), false
	d := b.decide(req)
	if d.Verdict != risk.Error || d.Integrity != risk.InternalFault || d.Reservation.Quantity.IsPositive() {
		t.Errorf("%s by %q: %s", d.Verdict, d.Integrity, explain(&d))
	}
}

// TestEffects: what trips is told once, on whatever order it is found.
func TestEffects(t *testing.T) {
	b := open(t, "10000", held("AAPL", "10", "300"))
	b.doc.Session.MaxDailyLoss = on(ntl("900"))
	sell := b.new(order.Sell, "5", "200") // 10 AAPL bought at 300 are 1000.2 down
	d := b.decide(sell)
	allowed(t, &d)
	if len(d.Effects) != 1 || d.Effects[0] != (risk.Effect{Rail: rail.MaxDailyLoss, Kind: rail.EffectLatch}) {
		t.Fatalf("effects %v", d.Effects)
	}
	b.apply(journal.KindLatch, journal.Latch{Rail: journal.LatchDailyLoss, TradeDate: "2026-03-18"})
	if d := b.decide(sell); len(d.Effects) != 0 {
		t.Errorf("already latched: effects %v", d.Effects)
	}

	b = open(t, "10000")
	b.doc.Session.DenialStorm = on(limits.DenialStorm{Denials: 2, Window: time.Minute})
	over := b.new(order.Buy, "1001", "200")
	for i := range 3 {
		d, _ := b.place(over)
		if want := i == 2; (len(d.Effects) == 1) != want {
			t.Errorf("denial %d: effects %v", i+1, d.Effects)
		}
	}
	b.apply(journal.KindMode, journal.Mode{By: string(rail.DenialStorm), Mode: journal.ModeReduceOnly, Reason: "r", Who: "rails"})
	if d := b.decide(over); len(d.Effects) != 0 {
		t.Errorf("already reduce_only: effects %v", d.Effects)
	}
}

// TestLowercaseSymbolOfAKnownInstrument is the instrument's own: its holding counts.
func TestLowercaseSymbolOfAKnownInstrument(t *testing.T) {
	b := open(t, "1000", held("AAPL", "10", "200"))
	req := b.new(order.Sell, "10", "200")
	req.Intent.Symbol = "aapl"
	if d := b.decide(req); !d.Reducing {
		t.Errorf("%s, reducing %v", d.Verdict, d.Reducing)
	}
	req.InstrumentKnown = false
	if d := b.decide(req); d.Reducing || d.Allowed() {
		t.Errorf("not resolved: %s, reducing %v", d.Verdict, d.Reducing)
	}
}

// TestCostOutOfRangeIsNoOrder, also where no rail asks for the cost.
func TestCostOutOfRangeIsNoOrder(t *testing.T) {
	b := open(t, "100000")
	b.doc.Position.RequireBuyingPower = false
	req := b.new(order.Buy, "10", "200")
	d := b.decide(req)
	allowed(t, &d)
	req.Fees = ntl("99999999999999999999")
	if d := b.decide(req); d.Verdict != risk.Error || d.Integrity != risk.InternalFault {
		t.Errorf("%s %q: %s", d.Verdict, d.Integrity, explain(&d))
	}
}
