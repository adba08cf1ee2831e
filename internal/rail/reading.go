package rail

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
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
// goes back, so where it is ahead of now its counters stand.
func (f *Facts) today() (account.Day, bool) {
	date := f.Session.TradeDate
	if date.IsZero() {
		return account.Day{}, false
	}
	if f.State.Day.Date < date {
		return account.Day{Date: date}, true
	}
	return f.State.Day, true
}

// bucket is the one that the action draws on: exits have their own, so that opens cannot
// starve them.
func (f *Facts) bucket(of *account.Bucketed) *account.Window {
	if f.spared() || f.Intent.Action == order.ActionCancel {
		return &of.Exit
	}
	return &of.Open
}

// minute is the window of the rails counted by the minute.
const minute = 60 * time.Second

// inRange is what a rail misses when a sum overflows.
const inRange = "a sum within the range of figures"
