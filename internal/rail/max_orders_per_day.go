package rail

import (
	"strconv"

	"github.com/broker-rails/broker-rails/internal/order"
)

func maxOrdersPerDayRail() Rail {
	return Rail{
		ID: MaxOrdersPerDay, Family: familySession, Keys: []string{"session.max_orders_per_day"},
		Exempt: ExemptAll, Check: maxOrdersPerDay,
	}
}

// maxOrdersPerDay denies a new order that would be one more than the limit on this
// trade date.
//
// It ends a day of churning that stays under the minute's rate. New orders count when
// they are reserved, also those that the broker rejects, those that are canceled, and
// reducing ones; replaces do not. The day is the exchange's trade date and never goes
// back. At the limit passes; one more is denied. Without a trade date it is a fault.
// Reducing orders count and pass.
//
// Source: RTS 6 art. 8 (limit on the number of orders).
func maxOrdersPerDay(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOrdersPerDay, missing)
	}
	limit := f.Limits.Session.MaxOrdersPerDay
	switch {
	case !limit.Set:
		return unset(MaxOrdersPerDay, "session.max_orders_per_day")
	case !limit.On:
		return off(MaxOrdersPerDay)
	case f.spared(), f.Intent.Action == order.ActionReplace:
		return pass(MaxOrdersPerDay)
	}
	day, ok := f.today()
	if !ok {
		return fault(MaxOrdersPerDay, "a trade date")
	}
	count := day.OrdersInAll()
	if count < limit.Value {
		return pass(MaxOrdersPerDay)
	}
	observed, most := strconv.Itoa(count+1), strconv.Itoa(limit.Value)
	return deny(MaxOrdersPerDay, observed, most, "",
		"This would be order "+observed+" of trade date "+day.Date.String()+", above "+most+".", RetryLater)
}
