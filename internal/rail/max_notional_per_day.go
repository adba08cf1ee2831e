package rail

func maxNotionalPerDayRail() Rail {
	return Rail{
		ID: MaxNotionalPerDay, Family: familySession, Keys: []string{"session.max_notional_per_day"},
		Exempt: ExemptAll, Check: maxNotionalPerDay,
	}
}

// maxNotionalPerDay denies an order with which more than the limit, in currency, would
// have been ordered on this trade date.
//
// It bounds what a day can turn over, whatever it leaves held. Buys and sells are both
// positive, at their risk price, when they are reserved; a later cancel or a broker's
// rejection returns nothing, so replacing down and up again gains nothing. A replace
// counts by its increment. At the limit passes; one unit of least precision more is
// denied. Without a trade date or a notional it is a fault. Reducing orders count and
// pass.
//
// Source: Nasdaq PRM accumulated daily value; RTS 6 art. 15(2).
func maxNotionalPerDay(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxNotionalPerDay, missing)
	}
	limit := f.Limits.Session.MaxNotionalPerDay
	switch {
	case !limit.Set:
		return unset(MaxNotionalPerDay, "session.max_notional_per_day")
	case !limit.On:
		return off(MaxNotionalPerDay)
	case f.spared():
		return pass(MaxNotionalPerDay)
	case !f.NotionalOK:
		return fault(MaxNotionalPerDay, "the order's notional")
	}
	day, ok := f.today()
	if !ok {
		return fault(MaxNotionalPerDay, "a trade date")
	}
	total, ok := day.Notional.Add(f.IncrementNotional)
	switch {
	case !ok:
		return fault(MaxNotionalPerDay, inRange)
	case total.Cmp(limit.Value) <= 0:
		return pass(MaxNotionalPerDay)
	}
	observed, most, passes := total.String(), limit.Value.String(), f.quantityAfter(day.Notional, limit.Value)
	return deny(MaxNotionalPerDay, observed, most, passes,
		"Notional ordered on trade date "+day.Date.String()+" would come to "+observed+", above "+most+
			quantityPasses(passes), changedOrLater(passes))
}
