package rail

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestOnlyDenialsOfExitsAreEnded: the sentence on closing at the broker is for denials
// of reducing orders. The detail that all passing findings share is never written to.
func TestOnlyDenialsOfExitsAreEnded(t *testing.T) {
	f := baseFacts()
	f.reduce("500", "101")
	f.Request.Quote, f.Quote = market.Quote{}, market.Quote{}
	f.PricingOK, f.NotionalOK = false, false
	var out [Count]Finding
	Run(&f, &out)
	for _, got := range out {
		if got.Status != Deny && strings.HasSuffix(got.Text, directly) {
			t.Errorf("%s: %s ends with %q", got.Rail, got.Status, got.Text)
		}
	}
	if noDetail != (Detail{}) {
		t.Errorf("what every pass shares reads %+v", noDetail)
	}
}

func TestWhatIsNotKnownTripsNothing(t *testing.T) {
	f := baseFacts()
	f.Session = market.SessionInfo{}
	f.Limits.Session.MaxDailyLoss = on(ntl("0"))
	if maxDailyLossTrips(&f, false) {
		t.Error("a loss without a trade date trips")
	}
	f = baseFacts()
	f.State.Peak, f.Equity = account.Peak{}, ntl("-100")
	f.Limits.Session.MaxDrawdown = on(ntl("50"))
	finds(t, maxDrawdown(&f), MaxDrawdown, Pass)
}

func TestQuantitiesThatPassAtTheirEdges(t *testing.T) {
	f := baseFacts()
	if got := f.quantityOnSide(qty("15")); got != "" {
		t.Errorf("nothing is over 15, and %q is offered", got)
	}
	f.Holding = &account.Holding{Instrument: apple()}
	f.dear("a", order.Buy, "230", "")
	f.WorstLong = qty("30")
	if got := f.quantityWorth(ntl("5300"), prc("200")); got != "5" {
		t.Errorf("5300 beside 300 that is dearer offers %q, want 5", got)
	}
	f.Holding.Orders[0].RiskPrice, f.Holding.Orders[0].Quantity = prc("99999999999999999999"), qty("99999999999999999999")
	if got := f.quantityWorth(ntl("5030"), prc("200")); got != "" {
		t.Errorf("beside what is out of range %q is offered", got)
	}
	// Ten more would end a short position of five at five long.
	f = baseFacts()
	f.Position, f.WorstLong = qty("-5"), qty("5")
	f.Holding = &account.Holding{Instrument: apple()}
	f.dear("a", order.Buy, "203", "")
	for name, got := range map[string]string{
		"others are over the gross limit":  f.quantityWorth(ntl("-1000"), prc("200")),
		"others are far over it":           f.quantityWorth(ntl("-99999999999999999999"), prc("200")),
		"others are over the net limit":    f.netOffer("300000", "250000"),
		"what others come to is too much":  f.netOffer("-99999999999999999999", "0"),
		"what is left beside them is, too": f.netOffer("-99999999999999990000", "99999999999999999999"),
	} {
		if got != "" {
			t.Errorf("%s, and %q is offered", name, got)
		}
	}
	f = baseFacts()
	f.Intent.Quantity = qty("99999999999999999999")
	if got := f.totalWith(qty("5")); got != "99999999999999999994" {
		t.Errorf("five of ten more offer %q", got)
	}
}

// netOffer is the quantity offered for a net long figure.
func (f *Facts) netOffer(long, limit string) string {
	f.NetLong = ntl(long)
	return f.quantityInNet(ntl(limit))
}

func TestSymbolOfAnUnresolvedInstrument(t *testing.T) {
	f := baseFacts()
	f.Instrument.Symbol = ""
	if got := f.symbol(); got != "AAPL" {
		t.Errorf("symbol %q", got)
	}
}

func TestMoreCornersOfSingleRails(t *testing.T) {
	run(t, SymbolRestricted, symbolRestricted, []check{
		{"nothing is restricted, and the instrument is not known", func(f *Facts) {
			f.Limits.Instrument.RestrictedSymbols, f.Request.InstrumentKnown = nil, false
		}, Pass},
	})
	run(t, MaxConcentration, maxConcentration, []check{
		{"a negative share", func(f *Facts) { f.Limits.Position.MaxConcentration = on(pct("-1")) }, Fault},
	})
	run(t, MaxOrderPctOfEquity, maxOrderPctOfEquity, []check{
		{"a negative share", func(f *Facts) { f.Limits.Size.MaxOrderPctOfEquity = on(pct("-1")) }, Fault},
	})
	run(t, OrderInDoubt, orderInDoubt, []check{
		{"an exit without a holding, too many elsewhere", func(f *Facts) {
			f.reduce("10", "10")
			f.doubtElsewhere(5)
			f.Holding = nil
		}, Pass},
	})
	run(t, DuplicateOrder, duplicateOrder, []check{
		{"in doubt, of another type", func(f *Facts) {
			o := f.doubt(ago(1))
			o.LimitPrice, o.Type = prc("200"), order.StopLimit
		}, Pass},
		{"in doubt, of another quantity", func(f *Facts) {
			o := f.doubt(ago(1))
			o.LimitPrice, o.Quantity = prc("200"), qty("11")
		}, Pass},
		{"in doubt", func(f *Facts) { f.doubt(ago(1)).LimitPrice = prc("200") }, Deny},
	})
	run(t, SelfCross, selfCross, []check{
		{"one that meets it before one that does not", func(f *Facts) {
			f.rest(order.Sell, order.Limit, "200", "0")
			f.rest(order.Sell, order.Limit, "201", "0")
		}, Deny},
		{"its stop cannot be judged", func(f *Facts) {
			f.Intent.Type, f.Intent.StopPrice, f.PricingOK = order.StopLimit, prc("199"), false
			f.rest(order.Sell, order.Limit, "200", "0")
		}, Fault},
		{"the own order's stop cannot be judged", func(f *Facts) {
			f.PricingOK = false
			f.rest(order.Sell, order.StopLimit, "200", "199")
		}, Fault},
	})
	f := baseFacts()
	f.doubt(ago(1)).LimitPrice = prc("200")
	if got := duplicateOrder(&f); !strings.Contains(got.Text, "paper/5") {
		t.Errorf("a twin in doubt is not named: %q", got.Text)
	}
}

func TestSelfCrossTellsBothOrders(t *testing.T) {
	for _, c := range []struct {
		set  func(f *Facts)
		want string
	}{
		{func(f *Facts) { f.rest(order.Sell, order.Limit, "199", "0") }, "200.00 | below 199.00 | a limit_price below 199.00"},
		{func(f *Facts) { f.sells("199"); f.rest(order.Buy, order.Limit, "200", "0") }, "199.00 | above 200.00 | a limit_price above 200.00"},
		{func(f *Facts) { f.Intent.Type = order.Market; f.rest(order.Sell, order.Limit, "199", "0") }, "market | below 199.00 | a limit_price below 199.00"},
		{func(f *Facts) { f.rest(order.Sell, order.Market, "0", "0") }, "200.00 | no own market order on the other side | "},
	} {
		f := baseFacts()
		c.set(&f)
		if got := selfCross(&f); got.Observed+" | "+got.Limit+" | "+got.Passes != c.want {
			t.Errorf("got %q %q %q, want %s", got.Observed, got.Limit, got.Passes, c.want)
		}
	}
}
