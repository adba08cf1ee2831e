package risk

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// positionFacts fills what the position is and could come to, and whether the order
// reduces it. It is false if a sum is out of range.
func positionFacts(f *rail.Facts, c *change) (ok bool) {
	if f.Holding != nil {
		f.Position = f.Holding.Position
	}
	if *c, ok = changeOf(f); !ok {
		return false
	}
	f.Increment = f.Intent.Quantity
	if f.Target != nil {
		f.LowersOnly = lowersOnly(f.Intent, f.Target)
		if f.Increment, ok = f.Intent.Quantity.Sub(f.Target.Quantity); !ok {
			return false
		}
		f.Increment = money.MaxQuantity(f.Increment, money.Quantity{})
	}
	buys, sells := c.sum, openOn(f.Holding, order.Sell)
	if f.Intent.Side == order.Sell {
		buys, sells = openOn(f.Holding, order.Buy), c.sum
	}
	if f.WorstLong, ok = f.Position.Add(buys); !ok {
		return false
	}
	if f.WorstShort, ok = sells.Sub(f.Position); !ok {
		return false
	}
	f.PositionKnown = true
	provable := provablePosition(f)
	closes := provable.IsPositive() && f.Intent.Side == order.Sell || provable.IsNegative() && f.Intent.Side == order.Buy
	if !closes {
		return true
	}
	if f.Closable, ok = provable.Abs().Sub(c.others); !ok {
		return false
	}
	f.Closable = money.MaxQuantity(f.Closable, money.Quantity{})
	f.Reducing = c.sum.Cmp(provable.Abs()) <= 0
	f.WholeClose = f.Reducing && c.unfilled == f.Closable
	return true
}

// provablePosition is the part of the position on which ledger and broker agree. An
// order is only reducing if it reduces both.
func provablePosition(f *rail.Facts) money.Quantity {
	differences := f.State.Reconciled.Differences
	for i := range differences {
		d := &differences[i]
		if d.Symbol != f.Instrument.Symbol {
			continue
		}
		switch {
		case d.Broker.Sign() != f.Position.Sign():
			f.PositionKnown = false
			return money.Quantity{}
		case d.Broker.Abs().Cmp(f.Position.Abs()) < 0:
			return d.Broker
		}
	}
	return f.Position
}
