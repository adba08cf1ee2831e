package risk

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

func TestPositionFacts(t *testing.T) {
	newOrder := func(side order.Side, quantity string) *rail.Facts {
		f, o := replaceFacts(quantity)
		f.Target, f.Intent.Side, o.Filled = nil, side, units("0")
		f.Holding.OpenBuy = units("10")
		return f
	}
	for _, c := range []struct {
		name                                      string
		facts                                     func() *rail.Facts
		increment, long, short, closable          string
		reducing, whole, lowers, outOfRange, none bool
	}{
		{name: "a buy", facts: func() *rail.Facts { return newOrder(order.Buy, "5") }, increment: "5", long: "15", short: "0", closable: "0"},
		{name: "a sell of nothing held", facts: func() *rail.Facts { return newOrder(order.Sell, "5") }, increment: "5", long: "10", short: "5", closable: "0"},
		{name: "a sell of a part", facts: func() *rail.Facts {
			f := newOrder(order.Sell, "5")
			f.Holding.Position = units("20")
			return f
		}, increment: "5", long: "30", short: "-15", closable: "20", reducing: true},
		{name: "a sell of the rest", facts: func() *rail.Facts {
			f := newOrder(order.Sell, "15")
			f.Holding.Position, f.Holding.OpenSell = units("20"), units("5")
			return f
		}, increment: "15", long: "30", short: "0", closable: "15", reducing: true, whole: true},
		{name: "a sell of more than the rest", facts: func() *rail.Facts {
			f := newOrder(order.Sell, "16")
			f.Holding.Position, f.Holding.OpenSell = units("20"), units("5")
			return f
		}, increment: "16", long: "30", short: "1", closable: "15"},
		{name: "a sell beside exits of more than the position", facts: func() *rail.Facts {
			f := newOrder(order.Sell, "1")
			f.Holding.Position, f.Holding.OpenSell = units("20"), units("25")
			return f
		}, increment: "1", long: "30", short: "6", closable: "0"},
		{name: "a replace to less", facts: func() *rail.Facts { f, _ := replaceFacts("8"); return f }, increment: "0", long: "6", short: "0", closable: "0", lowers: true},
		{name: "a replace to more", facts: func() *rail.Facts { f, _ := replaceFacts("13"); return f }, increment: "3", long: "9", short: "0", closable: "0"},
		{name: "long out of range", facts: func() *rail.Facts {
			f := newOrder(order.Buy, "5")
			f.Holding.Position = units(far)
			return f
		}, outOfRange: true},
		{name: "short out of range", facts: func() *rail.Facts {
			f := newOrder(order.Sell, "5")
			f.Holding.Position = units("-" + far)
			f.Holding.OpenSell = units("1")
			return f
		}, outOfRange: true},
		{name: "open orders out of range", facts: func() *rail.Facts {
			f := newOrder(order.Buy, "5")
			f.Holding.OpenBuy = units(far)
			return f
		}, outOfRange: true},
		{name: "a replace out of range", facts: func() *rail.Facts {
			f, o := replaceFacts(far)
			o.Quantity, o.Filled = units("-"+far), units("0")
			f.Holding = nil
			return f
		}, outOfRange: true},
	} {
		f := c.facts()
		var ch change
		ok := positionFacts(f, &ch)
		if ok == c.outOfRange {
			t.Errorf("%s: known %v", c.name, ok)
		}
		if !ok || c.outOfRange {
			continue
		}
		if f.Increment != units(c.increment) || f.WorstLong != units(c.long) || f.WorstShort != units(c.short) || f.Closable != units(c.closable) {
			t.Errorf("%s: increment %s, worst %s and %s, closable %s", c.name, f.Increment, f.WorstLong, f.WorstShort, f.Closable)
		}
		if f.Reducing != c.reducing || f.WholeClose != c.whole || f.LowersOnly != c.lowers {
			t.Errorf("%s: reducing %v, whole close %v, lowers only %v", c.name, f.Reducing, f.WholeClose, f.LowersOnly)
		}
	}
}

// TestWhichQuotePrices: a fresh quote prices everything, an old one what increases (its
// own rail refuses that), and exits take the last valid one instead.
func TestWhichQuotePrices(t *testing.T) {
	now := time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)
	quoted := func(symbol, bid string, age time.Duration) market.Quote {
		return market.Quote{
			Symbol: symbol, Bid: price(bid), Ask: price("200"), HasBid: true, HasAsk: true, Currency: "USD",
			At: now.Add(-age), Present: true,
		}
	}
	fresh, old := quoted("AAPL", "199", time.Second), quoted("AAPL", "198", time.Minute)
	last, ancient := quoted("AAPL", "197", time.Hour), quoted("AAPL", "196", 100*24*time.Hour)
	for _, c := range []struct {
		name        string
		quote, last market.Quote
		exits, off  bool
		fresh       bool
		bid         string // that prices; empty for none
	}{
		{name: "fresh", quote: fresh, last: last, fresh: true, bid: "199"},
		{name: "fresh, an exit", quote: fresh, last: last, exits: true, fresh: true, bid: "199"},
		{name: "old", quote: old, last: last, bid: "198"},
		{name: "old, an exit", quote: old, last: last, exits: true, bid: "197"},
		{name: "old, an exit, no age asked for", quote: old, last: last, exits: true, off: true, fresh: true, bid: "198"},
		{name: "none", last: last},
		{name: "none, an exit", last: last, exits: true, bid: "197"},
		{name: "none, an exit, the last of long ago", last: ancient, exits: true},
		{name: "none, an exit, the last of another symbol", last: quoted("MSFT", "195", time.Hour), exits: true},
		{name: "without a symbol", quote: quoted("", "199", time.Second), fresh: true, bid: "199"},
		{name: "of another symbol", quote: quoted("MSFT", "199", time.Second)},
	} {
		figures := limits.Effective{Collar: &limits.Collar{MaxQuoteAge: limits.Limit[time.Duration]{Set: true, On: !c.off, Value: 5 * time.Second}}}
		f := rail.Facts{
			Figures: &figures, Limits: &limits.Document{Currency: "USD"}, Reducing: c.exits,
			Request: &rail.Request{Now: now}, Session: market.Session(now, market.XNYS()), Calendar: market.XNYS(),
			Instrument: order.Instrument{Symbol: "AAPL"},
		}
		dates := tradeDatesOf(&f)
		quoteFacts(&f, &rail.Request{Now: now, Quote: c.quote, LastValid: c.last}, &dates)
		if f.QuoteFresh != c.fresh || f.PricingOK != (c.bid != "") || f.PricingOK && f.PricingQuote.Bid != price(c.bid) {
			t.Errorf("%s: fresh %v, priced %v by %s", c.name, f.QuoteFresh, f.PricingOK, f.PricingQuote.Bid)
		}
	}
}

// TestPriceFactsOutOfRange: what cannot be multiplied is not known, whichever product.
func TestPriceFactsOutOfRange(t *testing.T) {
	for name, set := range map[string]func(f *rail.Facts, o *account.Order){
		"notional":  func(f *rail.Facts, _ *account.Order) { f.Intent.Quantity, f.Increment = units(far), units("0") },
		"increment": func(f *rail.Facts, _ *account.Order) { f.Increment = units(far) },
		"added":     func(_ *rail.Facts, o *account.Order) { o.Quantity = units(far) },
	} {
		f, o := replaceFacts("12")
		f.Increment = units("2")
		set(f, o)
		priceFacts(f, &change{unfilled: units("8")})
		if f.NotionalOK {
			t.Errorf("%s out of range: the notional is known", name)
		}
	}
	f, o := replaceFacts("1")
	f.Increment, o.Quantity, o.Filled = units("1"), units("1"), units("1")
	f.Intent.LimitPrice, f.Instrument.Multiplier = price("0.000000001"), units("0.1")
	priceFacts(f, &change{})
	if f.Notional != cash("0.000000001") || f.IncrementNotional != cash("0.000000001") || !f.NotionalOK {
		t.Errorf("a tenth counts as %s and %s %v, want one unit of precision", f.Notional, f.IncrementNotional, f.NotionalOK)
	}
}

func TestOpeningOfAShort(t *testing.T) {
	f, _ := replaceFacts("10")
	f.Target, f.Intent.Side, f.Position = nil, order.Sell, units("10")
	for _, c := range []struct{ others, want string }{{"0", "0"}, {"4", "4"}, {"10", "10"}, {"12", "10"}} {
		if got, ok := opening(f, &change{unfilled: units("10"), others: units(c.others)}); !ok || got != units(c.want) {
			t.Errorf("beside %s: %s %v opens, want %s", c.others, got, ok, c.want)
		}
	}
	if _, ok := opening(f, &change{unfilled: units("10"), others: units("-" + far)}); ok {
		t.Error("out of range is known")
	}
}
