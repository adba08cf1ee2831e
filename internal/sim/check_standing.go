package sim

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// late reports whether an execution is of an order that had ended when it was last seen.
func (c *Checker) late(x paper.Execution) bool {
	o, ok := c.known[x.BrokerID]
	return ok && o.State != paper.Open
}

// execute books a trade, and checks it against its order.
func (c *Checker) execute(x paper.Execution, o *paper.Order) {
	by := x.Quantity
	var cash money.Notional
	value, ok := x.Price.Times(x.Quantity, money.Up)
	if x.Side == order.Sell {
		by = by.Neg()
		value, ok = x.Price.Times(x.Quantity, money.Down)
		cash, _ = c.cash.Add(value)
	} else {
		cash, _ = c.cash.Sub(value)
	}
	c.made(CheckLedger, ok && x.Quantity.IsPositive(), x.At, "execution %s is for %s at %s", x.ID, x.Quantity, x.Price)
	c.cash = cash
	after, _ := c.held[x.Symbol].Add(by)
	if c.held[x.Symbol] = after; after.IsZero() {
		delete(c.held, x.Symbol)
	}
	switch {
	case c.late(x):
		c.excuse(x, after, cash)
	case x.Side == order.Sell:
		c.made(CheckShort, !after.IsNegative(), x.At, "execution %s leaves %s of %s", x.ID, after, x.Symbol)
	default:
		c.made(CheckCash, !cash.IsNegative(), x.At, "execution %s leaves %s in cash", x.ID, cash)
	}
	in := market.Session(x.At, c.calendar)
	c.made(CheckSession, in.Kind == market.Regular, x.At, "execution %s happened while the session was %s", x.ID, in.Kind)
	was, seen := c.known[x.BrokerID]
	within := o != nil && o.Filled.Cmp(o.Quantity) <= 0 && (!beyond(x, o) || seen && !beyond(x, &was))
	c.made(CheckFills, within, x.At, "execution %s of %s at %s is beyond its order", x.ID, x.Quantity, x.Price)
}

// excuse notes a fill that the broker booked after it had said that its order ended: the
// gate had given the room to others, and no gate can refuse a fill.
func (c *Checker) excuse(x paper.Execution, after money.Quantity, cash money.Notional) {
	worst, _ := after.Add(c.onOrder(x.Symbol, order.Buy, ""))
	over := x.Side == order.Buy && (cash.IsNegative() || worst.Cmp(c.caps.PositionQuantity) > 0)
	if over || after.IsNegative() {
		c.LateOver++
	}
	if x.Side == order.Buy {
		c.lateFills[x.Symbol], _ = c.lateFills[x.Symbol].Add(x.Quantity)
	}
}

// beyond reports whether a trade is worse than its order's limit.
func beyond(x paper.Execution, o *paper.Order) bool {
	if o.Side == order.Buy {
		return x.Price.Cmp(o.LimitPrice) > 0
	}
	return x.Price.Cmp(o.LimitPrice) < 0
}

// standing checks what is held and on order together: positions always, exposure when
// something opened, since prices move it without anyone's order.
func (c *Checker) standing(l *Look, opened string) {
	var gross money.Notional
	priced := true
	for _, symbol := range c.symbols() {
		worst, _ := c.held[symbol].Add(c.onOrder(symbol, order.Buy, ""))
		c.position(l, symbol, worst, symbol == opened)
		ask, ok := c.prices.Ask(symbol, l.At)
		value, ok2 := ask.Times(worst, money.Up)
		gross, _ = gross.Add(value)
		priced = priced && ok && ok2
	}
	if !priced {
		c.made(CheckGross, false, l.At, "a holding has no price")
		return
	}
	c.Tallies[CheckGross].Peak.money(gross)
	if opened != "" {
		c.made(CheckGross, gross.Cmp(c.caps.GrossExposure) <= 0, l.At, "%s held and on order, the cap is %s", gross, c.caps.GrossExposure)
	}
}

// position holds what one instrument can come to against the cap. What late fills of the
// broker took beyond it is excused for as long as it only shrinks, and nothing may be
// opened on it.
func (c *Checker) position(l *Look, symbol string, worst money.Quantity, opened bool) {
	over, _ := worst.Sub(c.caps.PositionQuantity)
	over = money.MaxQuantity(over, money.Quantity{})
	if c.lateFills[symbol].IsPositive() {
		c.lateFills[symbol] = money.MinQuantity(c.lateFills[symbol], over)
	}
	held := over.IsZero() || !opened && over.Cmp(c.lateFills[symbol]) <= 0
	c.made(CheckPosition, held, l.At, "%s: %s held and on order, the cap is %s", symbol, worst, c.caps.PositionQuantity)
	if over.IsZero() {
		c.Tallies[CheckPosition].Peak.units(worst)
	}
}

// sums holds the broker's own statement against what its executions come to.
func (c *Checker) sums(l *Look) {
	same := l.Cash == c.cash && len(l.Positions) == len(c.held)
	for _, p := range l.Positions {
		same = same && c.held[p.Instrument.Symbol] == p.Quantity
	}
	c.made(CheckLedger, same, l.At, "the broker states %d positions and %s in cash, its executions come to %d and %s",
		len(l.Positions), l.Cash, len(c.held), c.cash)
}

// Equity is cash and what is held, at the bid.
func (c *Checker) Equity(at time.Time) money.Notional {
	sum := c.cash
	for symbol, held := range c.held {
		bid, _ := c.prices.Bid(symbol, at)
		value, _ := bid.Times(held, money.Down)
		sum, _ = sum.Add(value)
	}
	return sum
}

// Loss is the equity at the trade date's first look less the equity now; negative for a gain.
func (c *Checker) Loss(at time.Time) money.Notional {
	loss, _ := c.day.opening.Sub(c.Equity(at))
	return loss
}

func (c *Checker) lossReached(at time.Time) bool {
	loss := c.Loss(at)
	c.Tallies[CheckLoss].Peak.money(loss)
	return loss.Cmp(c.caps.DailyLoss) >= 0
}

// Gross is what is held, at the ask.
func (c *Checker) Gross(at time.Time) money.Notional {
	var sum money.Notional
	for symbol, q := range c.held {
		ask, _ := c.prices.Ask(symbol, at)
		value, _ := ask.Times(q.Abs(), money.Up)
		sum, _ = sum.Add(value)
	}
	return sum
}

// Largest is the largest position in units.
func (c *Checker) Largest() money.Quantity {
	var most money.Quantity
	for _, q := range c.held {
		most = money.MaxQuantity(most, q.Abs())
	}
	return most
}

// Peak is the largest figure that a check met, as text of its own unit.
type Peak struct {
	n      int
	worth  money.Notional
	amount money.Quantity
	unit   byte
}

func (p *Peak) count(n int)            { p.unit, p.n = 'n', max(p.n, n) }
func (p *Peak) money(n money.Notional) { p.unit, p.worth = '$', money.MaxNotional(p.worth, n) }
func (p *Peak) units(q money.Quantity) { p.unit, p.amount = 'q', money.MaxQuantity(p.amount, q) }
