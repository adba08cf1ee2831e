package account

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// execution is a fill, whoever's order it was of.
type execution struct {
	instrument order.Instrument
	side       order.Side
	quantity   money.Quantity // above 0
	price      money.Price
	fees       money.Notional
	ours       bool
}

// booking is what an execution makes of the account, worked out and not yet made.
type booking struct {
	instrument  order.Instrument
	position    money.Quantity
	cost        money.Price
	profit      money.Notional // of the holding on this trade date
	dayProfit   money.Notional
	cash        money.Notional
	openInCycle bool
	cycleClosed bool
}

// book works an execution out by average cost: one that reduces the position realizes
// profit and leaves the cost as it is, one that crosses zero closes what there was and
// opens the rest at its own price. Roundings go against the account: cost of a long up,
// of a short down, proceeds and profit down. Fees lower cash and profit at once.
func (st *step) book(x *execution) (booking, error) {
	s := st.state
	b := booking{instrument: x.instrument, profit: st.profitToday(x.instrument.Symbol)}
	var held money.Quantity
	var cost money.Price
	var inCycle bool
	if h := s.Holding(x.instrument.Symbol); h != nil {
		b.instrument, held, cost, inCycle = h.Instrument, h.Position, h.Cost, h.OpenedInCycle
	}
	multiplier := b.instrument.Multiplier
	switch {
	case !x.quantity.IsPositive() || x.price.IsNegative():
		return b, broken("execution without a quantity, or with a negative price")
	case x.side != order.Buy && x.side != order.Sell:
		return b, broken("execution without a side")
	case !multiplier.IsPositive():
		return b, broken("instrument without a multiplier")
	}
	signed, rounding := x.quantity, money.Up
	if x.side == order.Sell {
		signed, rounding = x.quantity.Neg(), money.Down
	}
	// The value of a sale is negative, so that up makes its proceeds smaller.
	value, ok := x.price.TimesMultiplied(signed, multiplier, money.Up)
	if !ok {
		return b, errOutOfRange
	}
	paid, ok1 := value.Add(x.fees)
	cash, ok2 := s.Cash.Sub(paid)
	position, ok3 := held.Add(signed)
	if !ok1 || !ok2 || !ok3 {
		return b, errOutOfRange
	}
	b.cash, b.position = cash, position

	gain := money.Notional{}
	if held.IsZero() || held.Sign() == signed.Sign() {
		b.cost, ok = averageCost(held.Abs(), cost, x.quantity, x.price, rounding)
		b.openInCycle = inCycle || x.ours
	} else {
		closed := money.MinQuantity(held.Abs(), x.quantity)
		gain, ok = realized(held.Sign(), cost, x.price, closed, multiplier)
		// The first closing after an opening is a cycle, whatever it leaves: a share kept back
		// must not hide the loop.
		b.cycleClosed = inCycle && x.ours
		b.cost, b.openInCycle = cost, inCycle && !x.ours
		if position.Sign() != held.Sign() {
			// Flat, or through zero: what is beyond zero begins a cycle.
			b.openInCycle = x.ours && !position.IsZero()
			b.cost = money.Price{}
			if !position.IsZero() {
				b.cost = x.price
			}
		}
	}
	if !ok {
		return b, errOutOfRange
	}
	gain, ok1 = gain.Sub(x.fees)
	b.profit, ok2 = b.profit.Add(gain)
	b.dayProfit, ok3 = st.day.Realized.Add(gain)
	if !ok1 || !ok2 || !ok3 {
		return b, errOutOfRange
	}
	return b, nil
}

func averageCost(held money.Quantity, cost money.Price, more money.Quantity, price money.Price, r money.Rounding) (money.Price, bool) {
	if held.IsZero() {
		return price, true
	}
	before, ok1 := cost.Times(held, r)
	added, ok2 := price.Times(more, r)
	total, ok3 := before.Add(added)
	quantity, ok4 := held.Add(more)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return money.Price{}, false
	}
	return total.Per(quantity, r)
}

// realized is the profit of closing part of a position whose sign is given.
func realized(sign int, cost, price money.Price, closed, multiplier money.Quantity) (money.Notional, bool) {
	each, ok := price.Sub(cost)
	if !ok {
		return money.Notional{}, false
	}
	if sign < 0 {
		each = each.Neg()
	}
	return each.TimesMultiplied(closed, multiplier, money.Down)
}

// post makes a booking.
func (st *step) post(b *booking) {
	s := st.state
	h := s.holdingFor(b.instrument)
	h.Position, h.Cost, h.Realized, h.OpenedInCycle = b.position, b.cost, b.profit, b.openInCycle
	s.Cash = b.cash
	s.Day.Realized = b.dayProfit
	if b.cycleClosed {
		s.Cycles.add(st.ns, 1, money.Notional{}, CyclesMax+1)
	}
}
