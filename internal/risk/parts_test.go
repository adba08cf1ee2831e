package risk

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

var (
	units = money.MustQuantity
	price = money.MustPrice
	cash  = money.MustNotional
)

const far = "99999999999999999999"

func TestCombineCounts(t *testing.T) {
	for _, last := range []rail.Status{rail.Deny, rail.Fault, rail.Pass} {
		list := []rail.Finding{{Status: rail.Pass}, {Status: rail.Off}, {Status: rail.Pass}, {Status: rail.Off}, {Status: rail.Off}, {Status: last}}
		want := 2
		if last == rail.Pass {
			want = 3
		}
		if _, passes, off := combine(list); passes != want || off != 3 {
			t.Errorf("with a last %s: %d pass and %d off, want %d and 3", last, passes, off, want)
		}
	}
}

func TestBuckets(t *testing.T) {
	if bucketOf(true) != journal.BucketExit || bucketOf(false) != journal.BucketOpen {
		t.Errorf("buckets %q and %q", bucketOf(true), bucketOf(false))
	}
}

// TestPartRoundsAgainstTheOrder: a part of a cost is never less than its share.
func TestPartRoundsAgainstTheOrder(t *testing.T) {
	for _, c := range []struct {
		cost, whole, some, want string
		ok                      bool
	}{
		{"100", "3", "3", "100", true},
		{"100", "3", "1", "33.333333334", true},
		{"100", "3", "2", "66.666666668", true},
		{"1", "3", "0.1", "0.033333334", true},
		{"0", "3", "1", "0", true},
		{"0", "0", "1", "0", true},
		{"100", "0", "0", "100", true},
		{"100", "0", "1", "0", false},
	} {
		got, ok := part(cash(c.cost), units(c.whole), units(c.some))
		if got != cash(c.want) || ok != c.ok {
			t.Errorf("%s of %s of %s: %s %v, want %s %v", c.some, c.whole, c.cost, got, ok, c.want, c.ok)
		}
	}
	for _, c := range [][3]string{{"10", "4", "6"}, {"10", "10", "0"}, {"4", "10", "0"}} {
		if got := unfilled(units(c[0]), units(c[1])); got != units(c[2]) {
			t.Errorf("unfilled %s of %s: %s", c[1], c[0], got)
		}
	}
	if _, ok := add(cash("1"), cash("1"), false); ok {
		t.Error("a sum of what is not known is known")
	}
	if _, ok := add(cash(far), cash(far), true); ok {
		t.Error("a sum out of range is known")
	}
}

func TestHeldBack(t *testing.T) {
	o := account.Order{Terms: account.Terms{Quantity: units("10"), Cost: cash("100")}, Filled: units("4")}
	check := func(name, want string, known bool) {
		t.Helper()
		if got, ok := heldBack(&o); ok != known || ok && got != cash(want) {
			t.Errorf("%s: %s %v, want %s %v", name, got, ok, want, known)
		}
	}
	check("what is not filled", "60", true)
	o.Pending = &account.Pending{Terms: account.Terms{Quantity: units("8"), Cost: cash("160")}}
	check("both", "140", true)
	o.Pending.Atomic = true
	check("the larger", "80", true)
	o.Pending.Terms.Cost = cash("40")
	check("the larger of the two is the old", "60", true)
	for _, atomic := range []bool{false, true} {
		o := account.Order{Terms: account.Terms{Quantity: units("2"), Cost: cash("1")}, Filled: units("1")}
		o.Pending = &account.Pending{Atomic: atomic, Terms: account.Terms{Cost: cash("1")}}
		o.Pending.Terms.Quantity, o.Filled = units("0.000000002"), units("0.000000001")
		o.Pending.Terms.Cost = cash(far)
		if got, ok := heldBack(&o); ok {
			t.Errorf("a replace out of range holds back %s", got)
		}
		o.Quantity, o.Pending.Terms.Quantity = o.Pending.Terms.Quantity, o.Quantity
		o.Cost, o.Pending.Terms.Cost = o.Pending.Terms.Cost, o.Cost
		if got, ok := heldBack(&o); ok {
			t.Errorf("an order out of range holds back %s", got)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {"A", "A", true}, {"A", "B", false}, {"AB", "AC", false}, {"A", "AB", false}, {"AB", "A", false}} {
		if got := same(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// TestRecentToTheSecond holds both ends of what is surely of this trade date or the one
// before, and of what may lie in the future.
func TestRecentToTheSecond(t *testing.T) {
	now := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	dates := tradeDates{now: now, unix: now.Unix(), session: market.Session(now, market.XNYS()), calendar: market.XNYS()}
	for _, c := range []struct {
		name           string
		at             time.Time
		surely, recent bool
	}{
		{"now", now, false, true},
		{"in this second", now.Add(time.Millisecond), false, true},
		{"a second before", now.Add(-time.Second), true, true},
		{"at the end of the short way", now.Add(-surelyRecent + time.Second), true, true},
		{"one second beyond it", now.Add(-surelyRecent), false, true},
		{"a second ahead", now.Add(time.Second), false, true},
		{"a nanosecond more", now.Add(time.Second + 1), false, false},
		{"never", time.Time{}, false, false},
		{"the day before's first instant", market.FromNewYork(20260317, 0), false, true},
		{"a nanosecond before it", market.FromNewYork(20260317, 0).Add(-1), false, false},
	} {
		d := dates
		if got := d.surely(c.at); got != c.surely {
			t.Errorf("%s: surely %v", c.name, got)
		}
		if got := d.recent(c.at); got != c.recent {
			t.Errorf("%s: recent %v", c.name, got)
		}
	}
}

// replaceFacts are those of a replace of a working buy of 10, 4 filled, in a holding.
func replaceFacts(quantity string) (*rail.Facts, *account.Order) {
	o := &account.Order{
		ID: "a", Symbol: "AAPL", Side: order.Buy, Stage: account.Working, Filled: units("4"),
		Terms: account.Terms{Type: order.Limit, Quantity: units("10"), LimitPrice: price("200"), RiskPrice: price("200")},
	}
	h := &account.Holding{OpenBuy: units("6"), Orders: []*account.Order{o}}
	in := order.Intent{Action: order.ActionReplace, Side: order.Buy, Type: order.Limit, Quantity: units(quantity), LimitPrice: price("200")}
	return &rail.Facts{
		Intent: &in, Target: o, Holding: h, Request: &rail.Request{AtomicReplace: true}, State: &account.State{},
		Instrument: order.Instrument{Symbol: "AAPL", Multiplier: units("1")}, RiskPrice: price("200"),
	}, o
}

func TestChangeOfAReplace(t *testing.T) {
	f, o := replaceFacts("12")
	c, ok := changeOf(f)
	if want := (change{unfilled: units("8"), counted: units("8"), others: units("0"), sum: units("8")}); !ok || c != want {
		t.Errorf("atomic: %v %v, want %v", c, ok, want)
	}
	f.Request.AtomicReplace = false
	c, ok = changeOf(f)
	if want := (change{unfilled: units("8"), counted: units("14"), others: units("0"), sum: units("14")}); !ok || c != want {
		t.Errorf("in two steps: %v %v, want %v", c, ok, want)
	}
	f.Intent.Quantity = units(far)
	o.Filled, o.Quantity = units("0"), units(far)
	f.Holding.OpenBuy = units(far)
	if _, ok := changeOf(f); ok {
		t.Error("a sum of old and new out of range is known")
	}
	f.Request.AtomicReplace = true
	f.Holding.OpenBuy = units("-" + far)
	if _, ok := changeOf(f); ok {
		t.Error("a difference out of range is known")
	}
	o.Filled, f.Intent.Quantity = units("-"+far), units(far)
	if _, ok := changeOf(f); ok {
		t.Error("an unfilled quantity out of range is known")
	}
	if _, ok := changeOf(&rail.Facts{Intent: f.Intent, Holding: &account.Holding{OpenBuy: units(far)}}); ok {
		t.Error("a new order out of range is known")
	}
}

func TestLargestLeg(t *testing.T) {
	_, o := replaceFacts("10")
	leg := func(quantity, group string, side order.Side) *account.Order {
		return &account.Order{Side: side, Group: group, Terms: account.Terms{Quantity: units(quantity)}}
	}
	h := &account.Holding{Orders: []*account.Order{o, leg("9", "", order.Buy), leg("7", "g", order.Buy), leg("5", "g", order.Buy), leg("8", "g", order.Sell), leg("20", "h", order.Buy)}}
	if got := largestLeg(h, o); !got.IsZero() {
		t.Errorf("of no group: %s", got)
	}
	o.Group = "g"
	if got := largestLeg(h, o); got != units("7") {
		t.Errorf("of a group: %s, want 7", got)
	}
	if got := largestLeg(nil, o); !got.IsZero() {
		t.Errorf("without a holding: %s", got)
	}
}

func TestLowersOnlyAtTheSameQuantity(t *testing.T) {
	f, o := replaceFacts("10")
	for quantity, want := range map[string]bool{"9.999999999": true, "10": false, "10.000000001": false} {
		f.Intent.Quantity = units(quantity)
		f.Intent.TimeInForce = o.TimeInForce
		if got := lowersOnly(f.Intent, o); got != want {
			t.Errorf("%s of 10: %v", quantity, got)
		}
	}
}

// TestAddedValue: what a replace adds is its unfilled quantity at its price, rounded up,
// less what the old could still fill at its own, rounded down.
func TestAddedValue(t *testing.T) {
	f, o := replaceFacts("10")
	f.RiskPrice = price("201")
	if got, ok := addedValue(f, units("6")); !ok || got != cash("6") {
		t.Errorf("a dearer price: %s %v, want 6", got, ok)
	}
	f.RiskPrice = price("190")
	if got, ok := addedValue(f, units("6")); !ok || !got.IsZero() {
		t.Errorf("a cheaper price: %s %v, want 0", got, ok)
	}
	f.Instrument.Multiplier = units("0.1")
	f.RiskPrice, o.RiskPrice = price("0.000000001"), price("0.000000001")
	o.Quantity, o.Filled = units("1"), units("0")
	if got, ok := addedValue(f, units("1")); !ok || got != cash("0.000000001") {
		t.Errorf("tenths: %s %v, want one unit of precision", got, ok)
	}
	f.Instrument.Multiplier = units("1")
	for _, set := range []func(){
		func() { o.Quantity, o.Filled = units(far), units("-"+far) },
		func() { o.Quantity, o.Filled, o.RiskPrice = units(far), units("0"), price("200") },
		func() { o.Quantity, o.RiskPrice, f.RiskPrice = units("1"), price("1"), price(far) },
	} {
		set()
		if got, ok := addedValue(f, units("6")); ok {
			t.Errorf("out of range: %s", got)
		}
	}
}

func TestProvablePosition(t *testing.T) {
	for _, c := range []struct {
		broker, held, want string
		known              bool
	}{
		{"7", "10", "7", true}, {"12", "10", "10", true}, {"10", "10", "10", true}, {"0", "10", "0", false},
		{"-5", "10", "0", false}, {"-7", "-10", "-7", true}, {"-12", "-10", "-10", true},
	} {
		f := rail.Facts{State: &account.State{}, Position: units(c.held), PositionKnown: true}
		f.Instrument.Symbol = "AAPL"
		f.State.Reconciled.Differences = []journal.Difference{
			{Symbol: "A", Broker: units("1")}, {Symbol: "AAPL", Broker: units(c.broker), Ledger: units(c.held)}, {Symbol: "B", Broker: units("1")},
		}
		if got := provablePosition(&f); got != units(c.want) || f.PositionKnown != c.known {
			t.Errorf("broker %s, ledger %s: %s, known %v", c.broker, c.held, got, f.PositionKnown)
		}
	}
}

// TestSumsRoundAgainstTheOrder: a holding worth half a unit of precision counts as one
// as exposure and as none as equity.
func TestSumsRoundAgainstTheOrder(t *testing.T) {
	now := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	s := &account.State{Account: "paper", Started: true, Currency: "USD", Holdings: []account.Holding{{
		Instrument: order.Instrument{Symbol: "X", Currency: "USD", Multiplier: units("0.5")}, Position: units("1"),
	}}}
	marks := []rail.Mark{{Symbol: "X", Bid: price("0.000000001"), Ask: price("0.000000001"), At: now.Add(-time.Minute)}}
	w := WorthOf(s, marks, now, market.XNYS())
	if want := (Worth{Gross: cash("0.000000001"), GrossOK: true, EquityOK: true}); w != want {
		t.Errorf("worth %+v, want %+v", w, want)
	}
	s.Holdings[0].Position = units("-1")
	w = WorthOf(s, marks, now, market.XNYS())
	if want := (Worth{Gross: cash("0.000000001"), GrossOK: true, Equity: cash("-0.000000001"), EquityOK: true}); w != want {
		t.Errorf("short: worth %+v, want %+v", w, want)
	}
	if _, ok := (&Worth{Equity: cash("-" + far), EquityOK: true}).LossToday(&account.Day{HasOpen: true, EquityAtOpen: cash(far)}); ok {
		t.Error("a loss out of range is known")
	}
	if _, ok := (&Worth{EquityOK: true}).LossToday(&account.Day{HasOpen: true, EquityAtOpen: cash(far), Flows: cash(far)}); ok {
		t.Error("a start out of range is known")
	}
	if _, ok := (&Worth{}).Drawdown(&account.Peak{Known: true, Equity: cash("100")}); ok {
		t.Error("a fall of what is not known is known")
	}
	if fall, ok := (&Worth{EquityOK: true}).Drawdown(&account.Peak{Equity: cash("100")}); !ok || !fall.IsZero() {
		t.Errorf("without a peak: %s %v", fall, ok)
	}
}

// TestRiskPriceOfStops: a buy stop below the market pays the ask, with a quote.
func TestRiskPriceOfStops(t *testing.T) {
	figures := limits.Effective{Collar: &limits.Collar{MarketOrderSlippage: limits.Limit[money.BasisPoints]{Set: true}}}
	in := order.Intent{Type: order.Stop, Side: order.Buy, StopPrice: price("190")}
	f := rail.Facts{Intent: &in, Figures: &figures, PricingOK: true}
	f.PricingQuote.Bid, f.PricingQuote.Ask = price("199"), price("201")
	for _, c := range []struct {
		name string
		set  func()
		want string
		ok   bool
	}{
		{"below the market", func() {}, "201", true},
		{"above it", func() { in.StopPrice = price("210") }, "210", true},
		{"without a quote", func() { in.StopPrice, f.PricingOK = price("190"), false }, "190", true},
		{"a sell", func() { in.Side, f.PricingOK = order.Sell, true }, "190", true},
		{"a market order without a quote", func() { in.Type, f.PricingOK = order.Market, false }, "0", false},
		{"a market sell", func() { f.PricingOK = true }, "199", true},
		{"with slippage, rounded up", func() {
			f.PricingQuote.Bid = price("0.000000001")
			figures.Collar.MarketOrderSlippage = limits.Limit[money.BasisPoints]{Set: true, On: true, Value: money.MustBasisPoints("1")}
		}, "0.000000002", true},
		{"with slippage that is off", func() { figures.Collar.MarketOrderSlippage.On = false }, "0.000000001", true},
	} {
		c.set()
		if got, ok := riskPrice(&f); got != price(c.want) || ok != c.ok {
			t.Errorf("%s: %s %v, want %s %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
