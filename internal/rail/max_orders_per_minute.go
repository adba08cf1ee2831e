package rail

import "strconv"

func maxOrdersPerMinuteRail() Rail {
	return Rail{
		ID: MaxOrdersPerMinute, Family: familySession, Keys: []string{"session.max_orders_per_minute"},
		Exempt: ExemptOwn, Check: maxOrdersPerMinute,
	}
}

// maxOrdersPerMinute denies an order that would be one more than the limit within
// 60 s.
//
// It stops a loop. New orders and replaces count, when they are reserved, so denied
// ones do not; those the broker rejects do. The window is (now-60 s, now], sliding,
// and survives a restart; this order counts as one more. At the limit passes; one more
// is denied. Reducing orders and replaces that only lower a quantity draw on a second
// bucket of the same size.
//
// Source: RTS 6 art. 15(1)(d) and 15(3); FIA 2024 message throttle; Nasdaq PRM order
// rate.
func maxOrdersPerMinute(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOrdersPerMinute, missing)
	}
	limit := f.Limits.Session.MaxOrdersPerMinute
	switch {
	case !limit.Set:
		return unset(MaxOrdersPerMinute, "session.max_orders_per_minute")
	case !limit.On:
		return off(MaxOrdersPerMinute)
	}
	count := f.bucket(&f.State.Rate).Count(f.Request.Now, minute)
	if count < limit.Value {
		return pass(MaxOrdersPerMinute)
	}
	observed, most := strconv.Itoa(count+1), strconv.Itoa(limit.Value)
	return deny(MaxOrdersPerMinute, observed, most, "",
		"This would be order "+observed+" within 60 s, above "+most+".", RetryLater)
}
