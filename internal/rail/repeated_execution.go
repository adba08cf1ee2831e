package rail

import "strconv"

func repeatedExecutionRail() Rail {
	return Rail{
		ID: RepeatedExecution, Family: familySession, Keys: []string{"session.repeated_execution"},
		Exempt: ExemptAll, Check: repeatedExecution,
		Effect: EffectReduceOnly, Trips: repeatedExecutionTrips,
	}
}

// repeatedExecution denies new risk, and sets mode reduce_only, once N positions were
// opened and closed again within the window without an operator.
//
// A loop that trades to and fro loses the spread each time, and each of its orders is
// within every other limit. A cycle is an own opening and the first own closing after
// it, also where some of the position is kept; it is in the window (now-W, now] by that
// closing. N-1 passes, N trips. An operator who sets a mode clears the count. Reducing
// orders pass.
//
// Source: RTS 6 art. 15(3) (repeated automated execution throttle, re-enabled by a
// designated person); FIA 2024 repeated automated execution limit.
func repeatedExecution(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(RepeatedExecution, missing)
	}
	limit := f.Limits.Session.RepeatedExecution
	switch {
	case !limit.Set:
		return unset(RepeatedExecution, "session.repeated_execution")
	case !limit.On:
		return off(RepeatedExecution)
	case f.spared():
		return pass(RepeatedExecution)
	}
	count := f.State.Cycles.Count(f.Request.Now, limit.Value.Window)
	if count < limit.Value.Cycles {
		return pass(RepeatedExecution)
	}
	observed, most := strconv.Itoa(count), strconv.Itoa(limit.Value.Cycles)
	return deny(RepeatedExecution, observed, most, "",
		observed+" positions were opened and closed within "+limit.Value.Window.String()+", which reaches "+most+
			"; only reducing orders pass until an operator resumes.", RetryNo)
}

// repeatedExecutionTrips reports whether the window holds N cycles, whatever the order.
func repeatedExecutionTrips(f *Facts, _ bool) bool {
	if f.absent() != "" {
		return false
	}
	limit := f.Limits.Session.RepeatedExecution
	return limit.Set && limit.On && f.State.Cycles.Count(f.Request.Now, limit.Value.Window) >= limit.Value.Cycles
}
