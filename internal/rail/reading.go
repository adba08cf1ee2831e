package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// absent names the first of the facts that every rail on positions and time needs and
// that is not there; empty when all are. A document that Load did not make has no
// version: its booleans must not read as a limit switched off.
//
// Run asks once for all rails, which is what complete remembers while it runs.
func (f *Facts) absent() string {
	if f != nil && f.complete {
		return ""
	}
	return f.lacks()
}

func (f *Facts) lacks() string {
	switch {
	case f == nil || f.Request == nil || f.Intent == nil:
		return "an order"
	case f.Request.Now.IsZero():
		return "the time"
	case f.Limits == nil || f.Limits.Version == 0 || f.Figures == nil ||
		f.Figures.Size == nil || f.Figures.Position == nil || f.Figures.Collar == nil:
		return "the limits"
	case f.State == nil || !f.State.Started:
		return "the account's state"
	}
	return ""
}

// symbol is the resolved instrument's, by which the state keeps holdings and twins;
// the order's own where none was resolved.
func (f *Facts) symbol() string {
	if f.Instrument.Symbol != "" {
		return f.Instrument.Symbol
	}
	return f.Intent.Symbol
}

// today returns the figures of the trade date of now; false without a trade date. A
// date that no entry has reached yet has counted nothing. The state's own date never
// goes back, so where it is ahead of now its counters stand. What the result points to
// must not be changed.
func (f *Facts) today() (*account.Day, bool) {
	date := f.Session.TradeDate
	if date.IsZero() {
		return nil, false
	}
	if f.State.Day.Date < date {
		return &account.Day{Date: date}, true
	}
	return &f.State.Day, true
}

// bucket is the one that the action draws on: exits have their own, so that opens cannot
// starve them.
func (f *Facts) bucket(of *account.Bucketed) *account.Window {
	if f.spared() || f.Intent.Action == order.ActionCancel {
		return &of.Exit
	}
	return &of.Open
}

// Dearer is what the open orders of one side, but for the one that a replace names, are
// worth beyond price by their own risk prices: a stop or a limit away from the market
// fills at its own price, not at today's. Of orders that the broker links only the one
// dearest counts. Zero while that side's worst is not above zero.
func (f *Facts) Dearer(side order.Side, price money.Price) (sum money.Notional, ok bool) {
	worst := f.WorstLong
	if side == order.Sell {
		worst = f.WorstShort
	}
	if f.Holding == nil || !worst.IsPositive() {
		return sum, true
	}
	for i, o := range f.Holding.Orders {
		beyond, fine := f.beyond(o, side, price)
		for j, other := range f.Holding.Orders {
			if o.Group == "" || other.Group != o.Group || i == j {
				continue
			}
			rival, known := f.beyond(other, side, price)
			fine = fine && known
			if c := rival.Cmp(beyond); c > 0 || c == 0 && j < i {
				beyond = money.Notional{}
			}
		}
		if sum, ok = sum.Add(beyond); !fine || !ok {
			return sum, false
		}
	}
	return sum, true
}

// beyond is what one open order is worth beyond price; zero for one of the other side.
func (f *Facts) beyond(o *account.Order, side order.Side, price money.Price) (money.Notional, bool) {
	own := o.RiskPrice
	if o.Pending != nil {
		own = money.MaxPrice(own, o.Pending.Terms.RiskPrice)
	}
	if o == f.Target || o.Side != side || own.Cmp(price) <= 0 {
		return money.Notional{}, true
	}
	more, ok := own.Sub(price)
	if !ok {
		return money.Notional{}, false
	}
	return more.TimesMultiplied(o.Remaining(), f.Instrument.Multiplier, money.Up)
}

// WorthAt is one side's worst at a price, or at an open order's own where that is dearer.
func (f *Facts) WorthAt(price money.Price, side order.Side) (money.Notional, bool) {
	worst := f.WorstLong
	if side == order.Sell {
		worst = f.WorstShort
	}
	if worst.IsZero() {
		return money.Notional{}, true
	}
	value, ok1 := price.TimesMultiplied(worst, f.Instrument.Multiplier, money.Up)
	dearer, ok2 := f.Dearer(side, price)
	sum, ok3 := value.Add(dearer)
	return sum, ok1 && ok2 && ok3
}

// minute is the window of the rails counted by the minute.
const minute = 60 * time.Second

// inRange is what a rail misses when a sum overflows.
const inRange = "a sum within the range of figures"
