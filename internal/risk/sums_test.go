package risk

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// sumsOf are the facts of an order of AAPL, priced at 200, in an account that holds what
// is given, MSFT first, each with a mark in its place.
func sumsOf(bid, ask string, positions ...string) (*rail.Facts, *tradeDates) {
	now := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	figures := limits.Effective{Position: &limits.Position{}, Size: &limits.Size{}}
	f := &rail.Facts{
		Request: &rail.Request{Now: now}, State: &account.State{}, Limits: &limits.Document{Currency: "USD"}, Figures: &figures,
		Session: market.Session(now, market.XNYS()), Calendar: market.XNYS(),
		Intent: &order.Intent{Side: order.Buy}, Instrument: order.Instrument{Symbol: "AAPL", Multiplier: units("1")},
		RiskPrice: price("200"), NotionalOK: true, PricingOK: true,
	}
	for i, p := range positions {
		symbol := []string{"MSFT", "NVDA"}[i]
		in := order.Instrument{Symbol: symbol, Currency: "USD", Multiplier: units("1")}
		f.State.Holdings = append(f.State.Holdings, account.Holding{Instrument: in, Position: units(p)})
		f.Request.Marks = append(f.Request.Marks, rail.Mark{Symbol: symbol, Bid: price(bid), Ask: price(ask), At: now.Add(-time.Minute)})
	}
	dates := tradeDatesOf(f)
	return f, &dates
}

const least = "0.000000001" // the precision of an amount

// TestTenthsRoundAgainstTheOrder: a tenth of the least price is no exact amount.
func TestTenthsRoundAgainstTheOrder(t *testing.T) {
	for _, c := range []struct{ position, gross, long, short, equity, left string }{
		{"0.1", least, least, "0", "0", "0"},
		{"-0.1", least, "0", least, "-" + least, "-" + least},
	} {
		f, dates := sumsOf(least, least, c.position)
		p := f.Figures.Position
		p.MaxGrossExposure.On, p.MaxNetExposure.On, p.MaxConcentration.On, p.RequireBuyingPower = true, true, true, true
		exposureFacts(f, dates)
		if f.Gross != cash(c.gross) || f.NetLong != cash(c.long) || f.NetShort != cash(c.short) || !f.GrossOK || !f.NetOK {
			t.Errorf("%s: gross %s, net %s and %s", c.position, f.Gross, f.NetLong, f.NetShort)
		}
		if f.Equity != cash(c.equity) || f.BuyingPower != cash(c.left) || !f.EquityOK || !f.BuyingPowerOK {
			t.Errorf("%s: equity %s, buying power %s", c.position, f.Equity, f.BuyingPower)
		}
		s := account.State{Started: true, Currency: "USD", Holdings: f.State.Holdings}
		w := WorthOf(&s, f.Request.Marks, f.Request.Now, market.XNYS())
		if w.Gross != cash(c.gross) || w.Equity != cash(c.equity) || !w.GrossOK || !w.EquityOK {
			t.Errorf("%s: the account is worth %+v", c.position, w)
		}
	}
}

// TestNetOutOfRange: two instruments whose orders together leave the range on one side.
func TestNetOutOfRange(t *testing.T) {
	for _, side := range []order.Side{order.Buy, order.Sell} {
		f, dates := sumsOf("1", "1", "0", "0")
		for i := range f.State.Holdings {
			h := &f.State.Holdings[i]
			h.OpenBuy = units("1")
			h.Orders = []*account.Order{{Side: side, Terms: account.Terms{Quantity: units("1"), RiskPrice: price(far)}}}
		}
		f.Figures.Position.MaxNetExposure.On = true
		if exposureFacts(f, dates); f.NetOK {
			t.Errorf("%s: net %s and %s", side, f.NetLong, f.NetShort)
		}
	}
}

// TestEachFigureAlone is counted over an account whose marks stand out of their places.
func TestEachFigureAlone(t *testing.T) {
	for i, name := range []string{"gross", "net", "equity", "shorts"} {
		f, dates := sumsOf("300", "301", "0", "-2")
		f.Request.Marks = f.Request.Marks[1:]
		s := sums{wantGross: i == 0, wantNet: i == 1, wantEquity: i == 2, wantShorts: i == 3}
		s.addOthers(f, dates)
		s.settle()
		total := []*money.Total{&s.gross, &s.short, &s.equity, &s.shorts}[i]
		want := cash([]string{"602", "602", "-602", "-602"}[i])
		if got, ok := total.Round(money.Up); !ok || got != want {
			t.Errorf("%s alone: %s %v, want %s", name, got, ok, want)
		}
	}
	for i, name := range []string{"equity", "shorts"} {
		f, dates := sumsOf("1", "1")
		f.Holding = &account.Holding{Instrument: f.Instrument, Position: units("-2")}
		f.Quote = market.Quote{Symbol: "AAPL", Bid: price("199"), Ask: price("200"), HasBid: true, HasAsk: true, At: f.Request.Now, Present: true}
		f.Request.LastValid = f.Quote
		f.Request.LastValid.Ask = price("210")
		s := sums{wantEquity: i == 0, wantShorts: i == 1}
		s.addOwn(f, dates)
		total := []*money.Total{&s.equity, &s.shorts}[i]
		if got, ok := total.Round(money.Up); !ok || got != cash("-400") {
			t.Errorf("%s alone of the own instrument: %s %v, want -400", name, got, ok)
		}
	}
}

// TestOwnInstrumentNotKnown gives up what needs it, and nothing else.
func TestOwnInstrumentNotKnown(t *testing.T) {
	for name, set := range map[string]func(f *rail.Facts){
		"no price":           func(f *rail.Facts) { f.PricingOK = false },
		"no notional":        func(f *rail.Facts) { f.NotionalOK = false },
		"long out of range":  func(f *rail.Facts) { f.WorstLong = units(far) },
		"short out of range": func(f *rail.Facts) { f.WorstShort = units(far) },
	} {
		f, dates := sumsOf("1", "1")
		set(f)
		s := sums{wantGross: true, wantNet: true, wantEquity: true, wantShorts: true}
		if s.addOwn(f, dates); f.OwnOK || s.wantGross || s.wantNet || !s.wantEquity || !s.wantShorts {
			t.Errorf("%s: known %v, still wanted: gross %v, net %v, equity %v, shorts %v", name, f.OwnOK, s.wantGross, s.wantNet, s.wantEquity, s.wantShorts)
		}
	}
	quoted := market.Quote{Symbol: "AAPL", Bid: price("199"), Ask: price("200"), HasBid: true, HasAsk: true, Present: true}
	for name, position := range map[string]string{"no quote": "1", "out of range": far} {
		f, dates := sumsOf("1", "1")
		f.Holding = &account.Holding{Instrument: f.Instrument, Position: units(position)}
		if position == far {
			f.Quote = quoted
			f.Quote.At = f.Request.Now
		} else {
			f.Request.LastValid = quoted
			f.Request.LastValid.At = f.Request.Now.AddDate(0, -1, 0)
		}
		s := sums{wantGross: true, wantNet: true, wantEquity: true, wantShorts: true}
		if s.addOwn(f, dates); s.wantEquity || s.wantShorts || !s.wantGross || !s.wantNet {
			t.Errorf("%s: still wanted: gross %v, net %v, equity %v, shorts %v", name, s.wantGross, s.wantNet, s.wantEquity, s.wantShorts)
		}
	}
}

// TestOthersLeaveOutTheOwn, and what is in another currency is not known.
func TestOthersLeaveOutTheOwn(t *testing.T) {
	f, dates := sumsOf("300", "301", "2", "3")
	f.Holding = &f.State.Holdings[0]
	s := sums{wantGross: true}
	s.addOthers(f, dates)
	s.settle()
	if got, _ := s.gross.Round(money.Up); got != cash("903") { // 3 x 301
		t.Errorf("gross of the others %s, want 903", got)
	}
	if n := s.addPlains(f, dates, f.State.Holdings[1:], f.Request.Marks[1:]); n != 1 {
		t.Errorf("%d plain holdings beside the own, want 1", n)
	}
	f.Holding, f.State.Holdings[0].Instrument.Currency = nil, "EUR"
	s = sums{wantGross: true, wantEquity: true}
	if s.addOthers(f, dates); s.wantGross || s.wantEquity {
		t.Error("a holding in another currency is known")
	}
	h, m := &f.State.Holdings[1], &f.Request.Marks[1]
	if !usable(m, h, f, dates) {
		t.Error("a mark is not usable")
	}
	if h.Instrument.Multiplier = units("0"); usable(m, h, f, dates) {
		t.Error("a mark is usable with a multiplier of zero")
	}
}

// TestOtherOutOfRange gives up exposures for orders, and equity for the position.
func TestOtherOutOfRange(t *testing.T) {
	f, _ := sumsOf("300", "301", "1")
	h, m := &f.State.Holdings[0], &f.Request.Marks[0]
	huge := &account.Order{Side: order.Buy, Terms: account.Terms{Quantity: units("2"), RiskPrice: price(far)}}
	h.Orders = []*account.Order{huge}
	all := sums{wantGross: true, wantNet: true, wantEquity: true, wantShorts: true}
	s := all
	if s.addOther(h, m); s.wantGross || s.wantNet || !s.wantEquity || !s.wantShorts {
		t.Error("an order out of range: exposures are known, or equity is not")
	}
	h.Orders, h.Position = nil, units(far)
	s = all
	if s.addOther(h, m); s.wantGross || s.wantNet || s.wantEquity || s.wantShorts {
		t.Error("a position out of range: a figure is known")
	}
	small := &account.Order{Group: "g", Side: order.Buy, Terms: account.Terms{Quantity: units("1")}}
	huge.Group = "g"
	h.Orders, h.Position = []*account.Order{small, huge}, units("1")
	for _, o := range h.Orders {
		if _, ok := openValue(h, o, m.Ask); ok {
			t.Error("of linked orders one is out of range, and the most is known")
		}
	}
	h.Instrument.Multiplier = units("0.1")
	if got, ok := orderValue(h, small, price(least)); !ok || got != cash(least) {
		t.Errorf("a tenth of the least is %s %v", got, ok)
	}
}

// TestHeldIsSummedBeforeItIsRounded: two halves of the least amount are one.
func TestHeldIsSummedBeforeItIsRounded(t *testing.T) {
	var s sums
	h := account.Holding{Instrument: order.Instrument{Multiplier: units("1")}, Position: units("-0.5")}
	s.addHeld(&h, price(least), price(least))
	s.addHeld(&h, price(least), price(least))
	for name, total := range map[string]*money.Total{"equity": &s.equity, "shorts": &s.shorts} {
		if got, ok := total.Round(money.Up); !ok || got != cash("-"+least) {
			t.Errorf("%s %s %v", name, got, ok)
		}
	}
}

// TestNothingReducesAFlatPosition, and what is closable out of range is not known.
func TestNothingReducesAFlatPosition(t *testing.T) {
	for _, side := range []order.Side{order.Buy, order.Sell} {
		f, _ := replaceFacts("0")
		f.Target, f.Holding, f.Intent.Side = nil, nil, side
		var c change
		if ok := positionFacts(f, &c); !ok || f.Reducing || f.WholeClose {
			t.Errorf("%s: known %v, reducing %v, whole close %v", side, ok, f.Reducing, f.WholeClose)
		}
	}
	f, o := replaceFacts("5")
	o.Side, f.Intent.Side, o.Quantity, o.Filled = order.Sell, order.Sell, units(far), units("0")
	f.Holding.Position, f.Holding.OpenBuy, f.Holding.OpenSell = units(far), units("0"), units("0")
	var c change
	if positionFacts(f, &c) {
		t.Errorf("closable %s is known", f.Closable)
	}
}

// TestThisSecondIsRecentWithoutADate: also where no trade date can be worked out.
func TestThisSecondIsRecentWithoutADate(t *testing.T) {
	now := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	d := tradeDates{now: now, unix: now.Unix(), calendar: market.XNYS()}
	if !d.recent(now) || d.recent(now.AddDate(0, 0, -1)) {
		t.Errorf("now %v, the day before %v", d.recent(now), d.recent(now.AddDate(0, 0, -1)))
	}
}

// TestExposureAtTheEndOfTheRange: 1e20 less 1e-16 is rounded up out of the range as a
// long, and into it as a short of the opposite sign.
func TestExposureAtTheEndOfTheRange(t *testing.T) {
	var s sums
	h := account.Holding{Instrument: order.Instrument{Multiplier: units("1")}, Position: units("1.000000001")}
	if s.addExposed(&h, price("99999999900000000099.9999999")) {
		t.Error("a long out of range is known")
	}
}

// TestLongClosure: the trade date before is looked for over thirty days, no further.
func TestLongClosure(t *testing.T) {
	const date = market.TradeDate(20260320)
	for closed, want := range map[int]time.Time{
		29: market.FromNewYork(20260218, 0), // a Wednesday, thirty days before
		30: {},
	} {
		var overrides []market.Override
		for i := range closed {
			overrides = append(overrides, market.Override{Date: date.AddDays(-1 - i), Kind: market.OverrideClosed, Reason: "closed"})
		}
		c, err := market.XNYS().WithOverrides(overrides)
		if err != nil {
			t.Fatal(err)
		}
		if got := previousTradeDate(date, c); !got.Equal(want) {
			t.Errorf("closed for %d days: %s, want %s", closed, got, want)
		}
	}
}
