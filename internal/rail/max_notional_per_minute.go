package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxNotionalPerMinuteRail() Rail {
	return Rail{
		ID: MaxNotionalPerMinute, Family: familySession, Keys: []string{"session.max_notional_per_minute"},
		Exempt: ExemptAll, Check: maxNotionalPerMinute,
	}
}

// maxNotionalPerMinute denies an order with which more than the limit, in currency,
// would have been ordered within 60 s.
//
// It bounds what a burst of orders, each within its own limits, can come to. Buys and
// sells are both positive, at their risk price, when they are reserved; a later cancel
// returns nothing. A replace counts by its increment. The window is (now-60 s, now],
// sliding. At the limit passes; one unit of least precision more is denied. An order
// without a notional is a fault. Reducing orders count and pass.
//
// Source: SEC rule 15c3-5(c)(1)(ii) (over a short period of time); RTS 6 art. 15(1).
func maxNotionalPerMinute(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxNotionalPerMinute, missing)
	}
	limit := f.Limits.Session.MaxNotionalPerMinute
	switch {
	case !limit.Set:
		return unset(MaxNotionalPerMinute, "session.max_notional_per_minute")
	case !limit.On:
		return off(MaxNotionalPerMinute)
	case f.spared():
		return pass(MaxNotionalPerMinute)
	case !f.NotionalOK:
		return fault(MaxNotionalPerMinute, "the order's notional")
	}
	spent := f.State.Turnover.Sum(f.Request.Now, minute)
	total, ok := spent.Add(f.IncrementNotional)
	switch {
	case !ok:
		return fault(MaxNotionalPerMinute, inRange)
	case total.Cmp(limit.Value) <= 0:
		return pass(MaxNotionalPerMinute)
	}
	observed, most, passes := total.String(), limit.Value.String(), f.quantityAfter(spent, limit.Value)
	return deny(MaxNotionalPerMinute, observed, most, passes,
		"Notional ordered within 60 s would come to "+observed+", above "+most+quantityPasses(passes), changedOrLater(passes))
}

// quantityAfter is the total quantity whose notional fits into limit beside what is
// spent.
func (f *Facts) quantityAfter(spent, limit money.Notional) string {
	room, ok := limit.Sub(spent)
	if !ok || !f.RiskPriceOK {
		return ""
	}
	quantity, ok := room.LargestQuantity(f.RiskPrice, f.Instrument.Multiplier, finest())
	if !ok || quantity.Cmp(f.Increment) >= 0 {
		return ""
	}
	return f.totalWith(quantity)
}

// changedOrLater is the retry of a denial that time can mend as well.
func changedOrLater(passes string) Retry {
	if passes == "" {
		return RetryLater
	}
	return RetryChanged
}
