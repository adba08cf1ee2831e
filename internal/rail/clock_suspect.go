package rail

func clockSuspectRail() Rail {
	return Rail{ID: ClockSuspect, Family: familySession, Exempt: ExemptAll, Check: clockSuspect}
}

// clockSuspect denies new risk while the process cannot trust its clock.
//
// Windows, quote ages and trade dates are only as good as the clock: one that is set
// forward empties every window, one that is set back fills them. A step back of over
// 2 s, or 5 s between the wall clock and the clock since boot, makes it suspect until
// both have agreed for 10 s; the process tells that with the request. Reducing orders
// pass. No key switches it off.
//
// Source: RTS 25 art. 4 (clocks traceable and within bounds).
func clockSuspect(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(ClockSuspect, missing)
	}
	if f.spared() || !f.Request.ClockSuspect {
		return pass(ClockSuspect)
	}
	return deny(ClockSuspect, "suspect", "trusted", "",
		"The clock was set, or its readings disagree; only reducing orders pass until they have agreed for 10 s.", RetryLater)
}
