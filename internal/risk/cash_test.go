package risk

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// cashOf are the facts of an account with 10000 in cash, MSFT held with orders of it.
func cashOf(orders ...*account.Order) *rail.Facts {
	s := &account.State{Cash: cash("10000"), Orders: orders, Holdings: []account.Holding{
		{Instrument: order.Instrument{Symbol: "MSFT", Currency: "USD", Multiplier: units("1")}},
	}}
	return &rail.Facts{State: s, Request: &rail.Request{Marks: []rail.Mark{{Symbol: "MSFT", Bid: price("300"), Ask: price("301")}}}}
}

func orderOf(side order.Side, quantity, cost string, external bool) *account.Order {
	return &account.Order{
		Symbol: "MSFT", Side: side, Stage: account.Working, External: external,
		Terms: account.Terms{Quantity: units(quantity), Cost: cash(cost)},
	}
}

// TestCommittedCost: each order holds back its own cost; only a buy from outside that has
// none, a market order, is taken at the ask.
func TestCommittedCost(t *testing.T) {
	for _, c := range []struct {
		name, want string
		o          *account.Order
	}{
		{"an own buy", "100", orderOf(order.Buy, "4", "100", false)},
		{"an own buy that costs nothing", "0", orderOf(order.Buy, "4", "0", false)},
		{"a limited buy from outside", "50", orderOf(order.Buy, "4", "50", true)},
		{"a market buy from outside", "1204", orderOf(order.Buy, "4", "0", true)}, // 4 x 301
		{"a market sell from outside", "0", orderOf(order.Sell, "4", "0", true)},
	} {
		f := cashOf(c.o)
		cashFacts(f, cash("500"), true)
		left, _ := cash("9500").Sub(cash(c.want)) // 10000 less the shorts
		if f.CommittedCost != cash(c.want) || !f.CommittedOK || f.BuyingPower != left || !f.BuyingPowerOK {
			t.Errorf("%s: %s %v held back, %s %v left", c.name, f.CommittedCost, f.CommittedOK, f.BuyingPower, f.BuyingPowerOK)
		}
		f = cashOf(c.o)
		cashFacts(f, cash("500"), false)
		if !f.CommittedOK || f.BuyingPowerOK {
			t.Errorf("%s, shorts not known: held back %v, left %v", c.name, f.CommittedOK, f.BuyingPowerOK)
		}
	}
	f := cashOf(orderOf(order.Buy, "4", "0", true), orderOf(order.Buy, "4", "100", false))
	f.Request.Marks = nil
	if cashFacts(f, cash("0"), true); f.CommittedOK || f.BuyingPowerOK {
		t.Error("with an order that cannot be priced the cash held back is known")
	}
}

// TestBuyingPowerOutOfRange: whichever of its differences cannot be known.
func TestBuyingPowerOutOfRange(t *testing.T) {
	for _, c := range []struct{ name, cash, held, shorts, broker string }{
		{"less what is held back", "-" + far, far, "0", "0"},
		{"less the shorts", "-" + far, "0", far, "0"},
		{"the broker's", "0", far, "0", "-" + far},
	} {
		f := cashOf(orderOf(order.Buy, "1", c.held, false))
		f.State.Cash = cash(c.cash)
		f.Request.Broker = rail.BrokerFigures{Present: true, BuyingPower: cash(c.broker)}
		if cashFacts(f, cash(c.shorts), true); !f.CommittedOK || f.BuyingPowerOK {
			t.Errorf("%s: held back %v, %s %v left", c.name, f.CommittedOK, f.BuyingPower, f.BuyingPowerOK)
		}
	}
}

// TestUnpriced: the order's own instrument by the quote that prices it, others by mark.
func TestUnpriced(t *testing.T) {
	for _, c := range []struct {
		name, want string
		known      bool
		set        func(f *rail.Facts, o *account.Order)
	}{
		{"by its mark", "1204", true, func(*rail.Facts, *account.Order) {}},
		{"no holding", "0", false, func(f *rail.Facts, _ *account.Order) { f.State.Holdings = nil }},
		{"no mark", "0", false, func(f *rail.Facts, _ *account.Order) { f.Request.Marks = nil }},
		{"no ask", "0", false, func(f *rail.Facts, _ *account.Order) { f.Request.Marks[0].Ask = price("0") }},
		{"by the quote", "1240", true, func(f *rail.Facts, _ *account.Order) {
			f.Holding, f.PricingOK, f.PricingQuote.Ask = &f.State.Holdings[0], true, price("310")
		}},
		{"by its mark without a quote", "1204", true, func(f *rail.Facts, _ *account.Order) {
			f.Holding, f.PricingQuote.Ask = &f.State.Holdings[0], price("310")
		}},
		{"rounded up", "0.000000001", true, func(f *rail.Facts, o *account.Order) { // 4 x 1e-9 x 0.1
			f.Request.Marks[0].Ask, f.State.Holdings[0].Instrument.Multiplier = price("0.000000001"), units("0.1")
		}},
	} {
		o := orderOf(order.Buy, "4", "0", true)
		f := cashOf(o)
		c.set(f, o)
		if got, ok := unpriced(f, o); ok != c.known || got != cash(c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, got, ok, c.want, c.known)
		}
	}
}

// TestCost of a buy at 200, alone and as a replace of 10 with 4 filled.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		name, want string
		known      bool
		set        func(f *rail.Facts, ch *change)
	}{
		{"new", "2400", true, func(f *rail.Facts, _ *change) { f.Target = nil }},
		{"no notional", "0", false, func(f *rail.Facts, _ *change) { f.Target, f.NotionalOK = nil, false }},
		{"rounded up", "0.000000002", true, func(f *rail.Facts, _ *change) { // 12 x 1e-9 x 0.1
			f.Target, f.RiskPrice, f.Instrument.Multiplier = nil, price("0.000000001"), units("0.1")
		}},
		{"fees out of range", "0", false, func(f *rail.Facts, _ *change) { f.Target, f.Request.Fees = nil, cash(far) }},
		{"value out of range", "0", false, func(f *rail.Facts, _ *change) { f.Target, f.Intent.Quantity = nil, units(far) }},
		{"what opens out of range", "0", false, func(f *rail.Facts, ch *change) {
			f.Target, f.Intent.Side, f.Position, ch.others = nil, order.Sell, units(far), units("-"+far)
		}},
		{"a replace in two steps", "1600", true, func(f *rail.Facts, _ *change) { f.Request.AtomicReplace = false }}, // 8 of 12
		{"a replace", "400", true, func(*rail.Facts, *change) {}},                                                    // 1600 less 6 of 10 of 2000
		{"a replace of what is out of range", "0", false, func(f *rail.Facts, _ *change) {
			f.Target.Cost, f.Target.Quantity, f.Target.Filled = cash(far), units("0.000000002"), units("0.000000001")
		}},
	} {
		f, o := replaceFacts("12")
		f.NotionalOK, o.Cost = true, cash("2000")
		ch := change{unfilled: units("8")}
		c.set(f, &ch)
		if costFacts(f, &ch); f.CostOK != c.known || c.known && f.Cost != cash(c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, f.Cost, f.CostOK, c.want, c.known)
		}
	}
}

// TestOpeningOfAReplacedShort: 8 unfilled against 3 held open 5; what 4 filled have opened
// is not known and counts.
func TestOpeningOfAReplacedShort(t *testing.T) {
	f, o := replaceFacts("12")
	o.Side, f.Intent.Side, f.Position = order.Sell, order.Sell, units("3")
	if got, ok := opening(f, &change{unfilled: units("8")}); !ok || got != units("9") {
		t.Errorf("opens %s %v, want 9", got, ok)
	}
}
