package risk

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// costFacts fills the cash that the order could take: a buy its notional, a sell the
// exposure of what it would open short, both with fees. whole is that of the whole
// quantity; Facts.Cost is what it adds to what its target holds back.
func costFacts(f *rail.Facts, c *change) (whole money.Notional) {
	if !f.NotionalOK {
		return whole
	}
	quantity, ok := f.Intent.Quantity, true
	if f.Intent.Side == order.Sell {
		quantity, ok = opening(f, c)
	}
	value, fine := f.RiskPrice.TimesMultiplied(quantity, f.Instrument.Multiplier, money.Up)
	if whole, fine = add(value, f.Request.Fees, ok && fine); !fine {
		return whole
	}
	f.Cost, f.CostOK = whole, true
	if f.Target == nil {
		return whole
	}
	f.Cost, f.CostOK = part(whole, f.Intent.Quantity, c.unfilled)
	if f.Request.AtomicReplace && f.CostOK {
		before, ok := heldBack(f.Target)
		added, fine := f.Cost.Sub(before)
		f.Cost, f.CostOK = money.MaxNotional(added, f.Request.Fees), ok && fine
	}
	return whole
}

// opening is how much of a sell would not close a long position.
func opening(f *rail.Facts, c *change) (money.Quantity, bool) {
	free, ok := f.Position.Sub(c.others)
	if !ok {
		return free, false
	}
	short, ok := c.unfilled.Sub(money.MaxQuantity(free, money.Quantity{}))
	if !ok || !short.IsPositive() {
		return money.Quantity{}, ok
	}
	if f.Target == nil {
		return short, true
	}
	// Of what is filled it is no longer known what it opened.
	short, ok = short.Add(f.Target.Filled)
	return money.MinQuantity(short, f.Intent.Quantity), ok
}

// heldBack is the cash that an order holds back for what can still fill; with a pending
// replace the larger of both, or their sum.
func heldBack(o *account.Order) (money.Notional, bool) {
	held, ok := part(o.Cost, o.Quantity, unfilled(o.Quantity, o.Filled))
	if o.Pending == nil {
		return held, ok
	}
	terms := &o.Pending.Terms
	coming, fine := part(terms.Cost, terms.Quantity, unfilled(terms.Quantity, o.Filled))
	if o.Pending.Atomic {
		return money.MaxNotional(held, coming), ok && fine
	}
	return add(held, coming, ok && fine)
}

func unfilled(total, filled money.Quantity) money.Quantity {
	left, ok := total.Sub(filled)
	if !ok || left.IsNegative() {
		return money.Quantity{}
	}
	return left
}

// part is the share of a cost that falls to some of its quantity, rounded up.
func part(cost money.Notional, whole, some money.Quantity) (money.Notional, bool) {
	if some == whole || cost.IsZero() {
		return cost, true
	}
	unit, ok := cost.Per(whole, money.Up)
	if !ok {
		return money.Notional{}, false
	}
	return unit.Times(some, money.Up)
}

// cashFacts fills the cash held back by all orders, and with it the buying power.
// shorts is what the short positions are worth at ask.
func cashFacts(f *rail.Facts, shorts money.Notional, shortsOK bool) {
	broker := &f.Request.Broker
	committed, newer, ok := money.Notional{}, money.Notional{}, true
	for _, o := range f.State.Orders {
		held, fine := heldBack(o)
		if o.External && o.Cost.IsZero() && o.Side == order.Buy {
			held, fine = unpriced(f, o)
		}
		committed, ok = add(committed, held, ok && fine)
		if broker.Present && newerThan(o, broker.At) {
			newer, ok = add(newer, held, ok)
		}
		if !ok {
			return
		}
	}
	f.CommittedCost, f.CommittedOK = committed, true
	if !shortsOK {
		return
	}
	ledger, ok1 := f.State.Cash.Sub(committed)
	ledger, ok2 := ledger.Sub(shorts)
	f.BuyingPower, f.BuyingPowerOK = ledger, ok1 && ok2
	if broker.Present {
		left, fine := broker.BuyingPower.Sub(newer)
		f.BuyingPower, f.BuyingPowerOK = money.MinNotional(ledger, left), f.BuyingPowerOK && fine
	}
}

// unpriced is what a market order that someone placed outside could take: its quantity
// at the ask. It is false without a usable mark of its instrument.
func unpriced(f *rail.Facts, o *account.Order) (money.Notional, bool) {
	h := f.State.Holding(o.Symbol)
	if h == nil {
		return money.Notional{}, false
	}
	var ask money.Price
	if i := findMark(f.Request.Marks, o.Symbol); i < len(f.Request.Marks) {
		ask = f.Request.Marks[i].Ask
	}
	if h == f.Holding && f.PricingOK {
		ask = f.PricingQuote.Ask
	}
	if !ask.IsPositive() {
		return money.Notional{}, false
	}
	return ask.TimesMultiplied(o.Remaining(), h.Instrument.Multiplier, money.Up)
}

// newerThan reports whether the broker's figures of an instant may lack the order: it
// was decided later, or is not proved to have reached the broker.
func newerThan(o *account.Order, at time.Time) bool {
	return !o.DecidedAt.Before(at) || o.Stage != account.Working || o.Pending != nil
}

func add(a, b money.Notional, ok bool) (money.Notional, bool) {
	sum, fine := a.Add(b)
	return sum, ok && fine
}
