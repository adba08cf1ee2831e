package rail

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestNoPriceIsNotAPass: a rail that compares with a quote refuses without a valid one,
// also when figures of an invalid one are at hand, and when a valid one cannot be
// compared with.
func TestNoPriceIsNotAPass(t *testing.T) {
	zeroQuote := func(f *Facts) { f.PricingQuote = market.Quote{} }
	rows := []struct {
		id    ID
		check func(*Facts) Finding
		kind  order.Type
	}{
		{LimitPriceCollar, limitPriceCollar, order.Limit}, {PassivePriceCollar, passivePriceCollar, order.Limit},
		{MarketOrderGuard, marketOrderGuard, order.Market}, {SpreadTooWide, spreadTooWide, order.Limit},
	}
	for _, r := range rows {
		run(t, r.id, r.check, []check{
			{string(r.id) + ": figures, not valid", func(f *Facts) { f.Intent.Type, f.PricingOK = r.kind, false }, Fault},
			{string(r.id) + ": valid, no figures", func(f *Facts) { f.Intent.Type = r.kind; zeroQuote(f) }, Fault},
		})
	}
	run(t, QuoteStale, quoteStale, []check{
		{"a time without a quote", func(f *Facts) { f.Quote.Present = false }, Fault},
	})
	run(t, LimitPriceCollar, limitPriceCollar, []check{
		{"a market sell has no limit price", func(f *Facts) {
			f.Intent.Side, f.Intent.Type, f.Intent.LimitPrice = order.Sell, order.Market, money.Price{}
		}, Pass},
		{"a sell is compared with the bid", func(f *Facts) { f.Intent.Side, f.Intent.LimitPrice = order.Sell, prc("197.00") }, Pass},
	})
}

// TestOutOfRangeIsAFault: a figure that cannot be computed is not one within a limit.
func TestOutOfRangeIsAFault(t *testing.T) {
	most := ntl("99999999999999999999")
	for _, r := range []struct {
		id    ID
		check func(*Facts) Finding
		set   func(f *Facts)
	}{
		{MaxNotionalPerDay, maxNotionalPerDay, func(f *Facts) { f.State.Day.Notional, f.IncrementNotional = most, most }},
		{MaxDailyLoss, maxDailyLoss, func(f *Facts) { f.Equity, f.State.Day.EquityAtOpen = most.Neg(), most }},
	} {
		run(t, r.id, r.check, []check{{string(r.id), r.set, Fault}})
	}
}

func TestSteps(t *testing.T) {
	f := baseFacts()
	set := func(l limits.Limit[money.Quantity]) { f.Limits.Size.QuantityStep = l; f.figures() }
	for _, c := range []struct {
		name string
		step limits.Limit[money.Quantity]
		want string
	}{
		{"on", on(qty("5")), "5"}, {"zero", on(qty("0")), "1"}, {"off", switchedOff[money.Quantity](), "1"},
		{"off with a figure", limits.Limit[money.Quantity]{Set: true, Value: qty("5")}, "1"},
	} {
		if set(c.step); stepOf(&f) != qty(c.want) {
			t.Errorf("quantity step %s: %s, want %s", c.name, stepOf(&f), c.want)
		}
	}
	for _, c := range []struct {
		name, at, want string
		step           limits.Limit[limits.PriceStep]
	}{
		{"a number", "200", "0.05", on(limits.PriceStep{Step: prc("0.05")})},
		{"the rule, with a number", "200", "0.01", on(limits.PriceStep{USEquity: true, Step: prc("0.05")})},
		{"the rule below one", "0.9999", "0.0001", on(limits.PriceStep{USEquity: true})},
		{"the rule at one", "1", "0.01", on(limits.PriceStep{USEquity: true})},
		{"zero", "200", "0.01", on(limits.PriceStep{})},
		{"off with a number", "200", "0.01", limits.Limit[limits.PriceStep]{Set: true, Value: limits.PriceStep{Step: prc("0.05")}}},
	} {
		f.Limits.Collar.PriceStep = c.step
		if f.figures(); priceStepAt(&f, prc(c.at)) != prc(c.want) {
			t.Errorf("price step %s: %s, want %s", c.name, priceStepAt(&f, prc(c.at)), c.want)
		}
	}
	for q, want := range map[string]string{"0.5": "", "1": "1", "3.5": "3"} {
		if got := lowerMultiple(qty(q), qty("1")); got != want {
			t.Errorf("lower multiple of %s: %q, want %q", q, got, want)
		}
	}
}

// TestFoldsToIsASCIIOnly holds both ends of the letters and what lies beside them.
func TestFoldsToIsASCIIOnly(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "A", true}, {"z", "Z", true}, {"`", "@", false}, {"{", "[", false}, {"m", "M", true}, {"M", "m", false},
	} {
		if got := FoldsTo(c.a, c.b); got != c.want {
			t.Errorf("%q folds to %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestCornersOfSingleRails(t *testing.T) {
	run(t, ShortNotAllowed, shortNotAllowed, []check{
		{"a buy on a short book", func(f *Facts) { f.Position, f.WorstShort = qty("-5"), qty("5") }, Pass},
	})
	run(t, SymbolRestricted, symbolRestricted, []check{
		{"the symbol as it was asked for", func(f *Facts) {
			f.Limits.Instrument.RestrictedSymbols, f.Intent.Symbol = []string{"OLD"}, "OLD"
		}, Deny},
		{"as it was asked for, one entry, none known", func(f *Facts) {
			f.Limits.Instrument.RestrictedSymbols, f.Request.InstrumentKnown = []string{"OLD"}, false
			f.Instrument = order.Instrument{}
			f.Intent.Symbol = "OLD"
		}, Deny},
	})
	run(t, StopPriceSide, stopPriceSide, []check{
		{"on, but false", func(f *Facts) {
			f.Intent.Type, f.Intent.StopPrice = order.Stop, prc("1")
			f.Limits.Collar.StopPriceSide = on(false)
		}, Off},
		{"true, but off", func(f *Facts) {
			f.Intent.Type, f.Intent.StopPrice = order.Stop, prc("1")
			f.Limits.Collar.StopPriceSide = limits.Limit[bool]{Set: true, Value: true}
		}, Off},
	})
	run(t, DuplicateClientOrderID, duplicateClientOrderID, []check{
		{"no id", func(f *Facts) { f.Intent.ClientOrderID = "" }, Pass},
	})
	run(t, PositionFlip, positionFlip, []check{
		{"a side that is neither", func(f *Facts) { f.Intent.Side = order.Side(9) }, Deny},
	})
	run(t, AccountUnreconciled, accountUnreconciled, []check{
		{"never", func(f *Facts) { f.State.Reconciled.At = time.Time{} }, Deny},
	})
	f := baseFacts()
	f.State.Reconciled.At = time.Time{}
	if got := accountUnreconciled(&f); got.Observed != "never" {
		t.Errorf("never reconciled: %+v", got)
	}
}

// TestDearer values open orders above a price by what they cost beyond it.
func TestDearer(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(f *Facts)
		side order.Side
		want string
	}{
		{"nothing open", func(*Facts) {}, order.Buy, "0"},
		{"at the price", func(f *Facts) { f.dear("a", order.Buy, "200", "") }, order.Buy, "0"},
		{"one unit above", func(f *Facts) { f.dear("a", order.Buy, "200.000000001", "") }, order.Buy, "0.00000001"},
		{"above", func(f *Facts) { f.dear("a", order.Buy, "203", "") }, order.Buy, "30"},
		{"below", func(f *Facts) { f.dear("a", order.Buy, "190", "") }, order.Buy, "0"},
		{"the other side", func(f *Facts) { f.dear("a", order.Sell, "203", "") }, order.Buy, "0"},
		{"a sell", func(f *Facts) { f.dear("a", order.Sell, "203", ""); f.WorstLong, f.WorstShort = qty("0"), qty("10") }, order.Sell, "30"},
		{"a sell, nothing short", func(f *Facts) { f.dear("a", order.Sell, "203", "") }, order.Sell, "0"},
		{"two", func(f *Facts) { f.dear("a", order.Buy, "203", ""); f.dear("b", order.Buy, "201", "") }, order.Buy, "40"},
		{"two linked, the dearer first", func(f *Facts) { f.dear("a", order.Buy, "203", "g"); f.dear("b", order.Buy, "201", "g") }, order.Buy, "30"},
		{"two linked, the dearer last", func(f *Facts) { f.dear("a", order.Buy, "201", "g"); f.dear("b", order.Buy, "203", "g") }, order.Buy, "30"},
		{"three linked, alike", func(f *Facts) {
			for _, id := range []string{"a", "b", "c"} {
				f.dear(id, order.Buy, "203", "g")
			}
		}, order.Buy, "30"},
		{"two groups", func(f *Facts) { f.dear("a", order.Buy, "203", "g"); f.dear("b", order.Buy, "201", "h") }, order.Buy, "40"},
		{"the one to replace", func(f *Facts) { f.Target = f.dear("a", order.Buy, "203", "") }, order.Buy, "0"},
		{"one of two to replace", func(f *Facts) { f.Target = f.dear("a", order.Buy, "203", ""); f.dear("b", order.Buy, "201", "") }, order.Buy, "10"},
		{"a dearer replace on its way", func(f *Facts) {
			f.dear("a", order.Buy, "190", "").Pending = &account.Pending{Terms: account.Terms{Quantity: qty("10"), RiskPrice: prc("203")}, Atomic: true}
		}, order.Buy, "30"},
		{"a cheaper replace on its way", func(f *Facts) {
			f.dear("a", order.Buy, "203", "").Pending = &account.Pending{Terms: account.Terms{Quantity: qty("10"), RiskPrice: prc("190")}, Atomic: true}
		}, order.Buy, "30"},
	} {
		f := baseFacts()
		f.Holding = &account.Holding{Instrument: apple()}
		c.set(&f)
		got, ok := f.Dearer(c.side, prc("200"))
		if !ok || got != ntl(c.want) {
			t.Errorf("%s: %s %v, want %s", c.name, got, ok, c.want)
		}
	}
	f := baseFacts()
	f.Holding = &account.Holding{Instrument: apple()}
	for _, id := range []string{"a", "b"} {
		f.dear(id, order.Buy, "99999999999999999999", "").Quantity = qty("99999999999999999999")
	}
	if got, ok := f.Dearer(order.Buy, prc("200")); ok {
		t.Errorf("out of range: %s", got)
	}
	f.Holding.Orders[1].Group, f.Holding.Orders[0].Group = "g", "g"
	f.Holding.Orders[0].RiskPrice = prc("201")
	f.Holding.Orders[0].Quantity = qty("1")
	if got, ok := f.Dearer(order.Buy, prc("200")); ok {
		t.Errorf("a linked order out of range: %s", got)
	}
	f.Instrument.Multiplier = qty("0.1")
	f.Holding.Orders = f.Holding.Orders[:1]
	f.Holding.Orders[0].RiskPrice = prc("200.000000001")
	if got, ok := f.Dearer(order.Buy, prc("200")); !ok || got != ntl("0.000000001") {
		t.Errorf("a tenth of a unit counts as %s %v, want a whole one", got, ok)
	}
}

// dear puts an open order of 10 with a risk price into the holding.
func (f *Facts) dear(id string, side order.Side, price, group string) *account.Order {
	o := &account.Order{
		ID: id, Symbol: "AAPL", Side: side, Stage: account.Working, Group: group,
		Terms: account.Terms{Type: order.Limit, Quantity: qty("10"), LimitPrice: prc(price), RiskPrice: prc(price)},
	}
	f.Holding.Orders = append(f.Holding.Orders, o)
	return o
}

func TestWorthAt(t *testing.T) {
	f := baseFacts()
	f.WorstLong, f.WorstShort = qty("10"), qty("3")
	f.Holding = &account.Holding{Instrument: apple()}
	f.dear("a", order.Buy, "203", "")
	f.dear("b", order.Sell, "201", "")
	long, ok1 := f.WorthAt(prc("200"), order.Buy)
	short, ok2 := f.WorthAt(prc("200"), order.Sell)
	if !ok1 || !ok2 || long != ntl("2030") || short != ntl("610") {
		t.Errorf("worth %s %v and %s %v, want 2030 and 610", long, ok1, short, ok2)
	}
	f.WorstShort = qty("-3")
	if short, ok := f.WorthAt(prc("200"), order.Sell); !ok || short != ntl("-600") {
		t.Errorf("a long book's short side is worth %s %v, want -600", short, ok)
	}
}

// TestDenialsTellTheirFigures holds the observed value, the limit, what passes and the
// sentence of denials that compare with a figure.
func TestDenialsTellTheirFigures(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(f *Facts)
		check func(*Facts) Finding
		want  string
	}{
		{"messages", func(f *Facts) { f.Limits.Session.MaxMessagesPerMinute = on(0) }, maxMessagesPerMinute,
			"1 | 0 |  | This would be message 1 within 60 s, above 0."},
		{"orders a minute", func(f *Facts) { f.Limits.Session.MaxOrdersPerMinute = on(0) }, maxOrdersPerMinute,
			"1 | 0 |  | This would be order 1 within 60 s, above 0."},
		{"orders a day", func(f *Facts) { f.State.Day.Orders = 200 }, maxOrdersPerDay,
			"201 | 200 |  | This would be order 201 of trade date 2026-03-18, above 200."},
		{"position long", func(f *Facts) { f.WorstLong, f.WorstShort = qty("505"), qty("504") }, maxPositionQty,
			"505 | 500 |  | With all open orders the position could come to 505 long, above 500."},
		{"position, both sides alike", func(f *Facts) { f.WorstLong, f.WorstShort = qty("505"), qty("505") }, maxPositionQty,
			"505 | 500 |  | With all open orders the position could come to 505 long, above 500."},
		{"position short", func(f *Facts) { f.WorstLong, f.WorstShort = qty("505"), qty("506") }, maxPositionQty,
			"506 | 500 |  | With all open orders the position could come to 506 short, above 500."},
		{"position, the other side at the limit", func(f *Facts) { f.WorstLong, f.WorstShort = qty("505"), qty("500") }, maxPositionQty,
			"505 | 500 | 5 | With all open orders the position could come to 505 long, above 500; a quantity of 5 passes."},
		{"net long", func(f *Facts) { f.NetLong, f.NetShort = ntl("251000"), ntl("250999") }, maxNetExposure,
			"251000 | 250000 |  | Net exposure could come to 251000 long, above 250000."},
		{"net, both sides alike", func(f *Facts) { f.NetLong, f.NetShort = ntl("251000"), ntl("251000") }, maxNetExposure,
			"251000 | 250000 |  | Net exposure could come to 251000 long, above 250000."},
		{"net short", func(f *Facts) { f.NetLong, f.NetShort = ntl("251000"), ntl("251001") }, maxNetExposure,
			"251001 | 250000 |  | Net exposure could come to 251001 short, above 250000."},
		{"net, the other side at the limit", func(f *Facts) { f.NetLong, f.NetShort = ntl("250500"), ntl("250000") }, maxNetExposure,
			"250500 | 250000 | 7 | Net exposure could come to 250500 long, above 250000; a quantity of 7 passes."},
		{"gross without its own worth", func(f *Facts) { f.Gross, f.OwnOK = ntl("251000"), false }, maxGrossExposure,
			"251000 | 250000 |  | Gross exposure could come to 251000, above 250000."},
		{"gross", func(f *Facts) { f.Gross = ntl("251000") }, maxGrossExposure,
			"251000 | 250000 | 5 | Gross exposure could come to 251000, above 250000; a quantity of 5 passes."},
		{"a minute's notional", func(f *Facts) { f.Limits.Session.MaxNotionalPerMinute = on(ntl("1100")) }, maxNotionalPerMinute,
			"2000 | 1100 | 5 | Notional ordered within 60 s would come to 2000, above 1100; a quantity of 5 passes."},
		{"a minute's notional without a price", func(f *Facts) { f.Limits.Session.MaxNotionalPerMinute, f.RiskPriceOK = on(ntl("1100")), false }, maxNotionalPerMinute,
			"2000 | 1100 |  | Notional ordered within 60 s would come to 2000, above 1100."},
		{"a minute's notional that fits the increment", func(f *Facts) {
			f.Limits.Session.MaxNotionalPerMinute, f.IncrementNotional = on(ntl("2000")), ntl("2001")
		}, maxNotionalPerMinute,
			"2001 | 2000 |  | Notional ordered within 60 s would come to 2001, above 2000."},
		{"a minute's notional, a replace", func(f *Facts) { f.Limits.Session.MaxNotionalPerMinute = on(ntl("1100")); f.Intent.Quantity = qty("30") }, maxNotionalPerMinute,
			"2000 | 1100 | 25 | Notional ordered within 60 s would come to 2000, above 1100; a quantity of 25 passes."},
		{"cash that fits the increment", func(f *Facts) { f.BuyingPower, f.Cost = ntl("2000"), ntl("2001") }, insufficientBuyingPower,
			"2001 | 2000 |  | The order could cost 2001, above 2000, the cash that is free."},
		{"cash", func(f *Facts) { f.BuyingPower = ntl("1999") }, insufficientBuyingPower,
			"2000 | 1999 | 9 | The order could cost 2000, above 1999, the cash that is free; a quantity of 9 passes."},
		{"order notional, nothing fits", func(f *Facts) { f.Limits.Size.MaxOrderNotional = on(ntl("199")) }, maxOrderNotional,
			"2000 | 199 |  | Notional 2000 is above 199, the most in one order (quantity 10, risk price 200.00)."},
		{"order notional", func(f *Facts) { f.Limits.Size.MaxOrderNotional = on(ntl("1999")) }, maxOrderNotional,
			"2000 | 1999 | 9 | Notional 2000 is above 1999, the most in one order (quantity 10, risk price 200.00)."},
		{"share of equity, nothing fits", func(f *Facts) { f.Limits.Size.MaxOrderPctOfEquity = on(pct("0.1")) }, maxOrderPctOfEquity,
			"2000 | 0.1 percent |  | Notional 2000 is above 0.1 percent of equity 100000."},
		{"share of equity, none", func(f *Facts) { f.Limits.Size.MaxOrderPctOfEquity = on(pct("0")) }, maxOrderPctOfEquity,
			"2000 | 0 percent |  | Notional 2000 is above 0 percent of equity 100000."},
		{"share of equity, rounded down", func(f *Facts) { f.Limits.Size.MaxOrderPctOfEquity, f.Equity = on(pct("50")), ntl("2399.999999999") }, maxOrderPctOfEquity,
			"2000 | 50 percent | 5 | Notional 2000 is above 50 percent of equity 2399.999999999."},
		{"concentration, rounded down", func(f *Facts) {
			f.Limits.Position.MaxConcentration, f.Equity, f.PricingQuote.Ask = on(pct("50")), ntl("3599.999999999"), prc("200")
		}, maxConcentration,
			"2000.2 | 50% | 8 | With all open orders the position could be worth 2000.2, above 50% of equity 3599.999999999; a quantity of 8 passes."},
		{"spread", func(f *Facts) { f.Quote, f.PricingQuote = quoteOf("190", "200"), quoteOf("190", "200") }, spreadTooWide,
			"512.820512821 bps | 200 bps |  | The spread of bid 190.00 and ask 200.00 is over 200 bps of the mid."},
		{"passive", func(f *Facts) { f.Intent.LimitPrice = prc("150") }, passivePriceCollar,
			"2500 bps | 2000 bps |  | limit_price 150.00 is more than 2000 bps from the mid of bid 199.98 and ask 200.02."},
		{"passive, rounded up", func(f *Facts) { f.Intent.LimitPrice, f.PricingQuote.Ask = prc("150"), prc("200.03") }, passivePriceCollar,
			"2500.187495313 bps | 2000 bps |  | limit_price 150.00 is more than 2000 bps from the mid of bid 199.98 and ask 200.03."},
		{"quote, no last", func(f *Facts) { f.Quote.Bid = prc("201") }, quoteInvalid,
			"bid 201.00, ask 200.02 | 0 < bid <= ask |  | The quote is not valid: bid 201.00, ask 200.02."},
		{"quote, a bad last", func(f *Facts) { f.Quote.HasLast, f.Quote.Last = true, prc("0") }, quoteInvalid,
			"bid 199.98, ask 200.02, last 0.00 | 0 < bid <= ask |  | The quote is not valid: bid 199.98, ask 200.02, last 0.00."},
		{"loss", func(f *Facts) { f.Equity = ntl("94000") }, maxDailyLoss,
			"6000 | 5000 |  | The account has lost 6000 on trade date 2026-03-18, which reaches 5000; only reducing orders pass until the next one."},
		{"loss latched, equity unknown", func(f *Facts) { f.State.Day.LossLatched, f.EquityOK = true, false }, maxDailyLoss,
			"latched | 5000 |  | The daily loss limit of 5000 was reached on trade date 2026-03-18; only reducing orders pass until the next one."},
		{"fraction", func(f *Facts) { f.Intent.Quantity = qty("3.5") }, fractionalNotAllowed,
			"3.5 | whole units | 3 | Quantity 3.5 is not a whole number."},
		{"in doubt here", func(f *Facts) { f.doubt(ago(time.Second)) }, orderInDoubt,
			"1 | 0 |  | What became of an earlier order of this instrument is not known: it may have been placed, and must not be sent again; reconciling settles it."},
		{"in doubt elsewhere", func(f *Facts) { f.doubtElsewhere(2) }, orderInDoubt,
			"2 | 1 |  | The outcomes of 2 orders of the account are not known, above 1; reconciling settles it."},
		{"short", func(f *Facts) { f.Intent.Side, f.WorstShort, f.Intent.Quantity = order.Sell, qty("10"), qty("10") }, shortNotAllowed,
			"short 10 | 0 |  | The sell would leave the account short by up to 10; short positions are not allowed."},
		{"short in part", func(f *Facts) { f.Intent.Side, f.WorstShort, f.Intent.Quantity = order.Sell, qty("4"), qty("10") }, shortNotAllowed,
			"short 4 | 0 | 6 | The sell would leave the account short by up to 4; short positions are not allowed."},
		{"closed", func(f *Facts) {
			f.Request.Now = at.AddDate(0, 0, 3)
			f.Session = market.Session(f.Request.Now, calendar)
		}, marketClosed,
			"closed | open | 2026-03-23T13:30:00Z | The exchange is closed; the next regular session opens at 2026-03-23T13:30:00Z."},
		{"ledger and broker", func(f *Facts) {
			f.State.Reconciled.Differences = []journal.Difference{{Symbol: "AAPL", Broker: qty("7"), Ledger: qty("9")}}
		}, accountUnreconciled,
			"7 | 9 |  | The broker holds 7 of this instrument where the ledger holds 9; a reconciliation settles it."},
		{"flip, exits that work", func(f *Facts) {
			f.Intent.Side, f.Position, f.WorstShort, f.Increment = order.Sell, qty("5"), qty("5"), qty("10")
		}, positionFlip,
			"5 | 0 | 5 | Against a position of 5 the order and the exits that already work could open 5 on the other side; a quantity of 5 passes."},
	} {
		f := baseFacts()
		c.set(&f)
		f.figures()
		got := c.check(&f)
		if got.Status != Deny {
			t.Errorf("%s: %s", c.name, got.Status)
			continue
		}
		if told := got.Observed + " | " + got.Limit + " | " + got.Passes + " | " + got.Text; told != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, told, c.want)
		}
	}
}
