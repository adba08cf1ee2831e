package rail

import "strconv"

func maxMessagesPerMinuteRail() Rail {
	return Rail{
		ID: MaxMessagesPerMinute, Family: familySession, Keys: []string{"session.max_messages_per_minute"},
		Exempt: ExemptOwn, Check: maxMessagesPerMinute,
	}
}

// maxMessagesPerMinute denies an order, a replace or a cancel that would be one more
// than the limit within 60 s.
//
// It bounds what an agent that asks without end can make us judge and record. All of
// them count on arrival, denied ones too. The window is (now-60 s, now], sliding; this
// message counts as one more. At the limit passes; one more is denied. Cancels,
// reducing orders and replaces that only lower a quantity draw on a second bucket of
// the same size, so that nothing keeps risk from being taken out.
//
// Source: RTS 6 art. 15(1)(d) (submit, modify, cancel); FIA 2024 message throttle.
func maxMessagesPerMinute(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxMessagesPerMinute, missing)
	}
	limit := f.Limits.Session.MaxMessagesPerMinute
	switch {
	case !limit.Set:
		return unset(MaxMessagesPerMinute, "session.max_messages_per_minute")
	case !limit.On:
		return off(MaxMessagesPerMinute)
	}
	count := f.bucket(&f.State.Messages).Count(f.Request.Now, minute)
	if count < limit.Value {
		return pass(MaxMessagesPerMinute)
	}
	observed, most := strconv.Itoa(count+1), strconv.Itoa(limit.Value)
	return deny(MaxMessagesPerMinute, observed, most, "",
		"This would be message "+observed+" within 60 s, above "+most+".", RetryLater)
}
