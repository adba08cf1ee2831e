package rail

import "strconv"

func denialStormRail() Rail {
	return Rail{
		ID: DenialStorm, Family: familySession, Keys: []string{"session.denial_storm"},
		Exempt: ExemptAll, Check: denialStorm,
		Effect: EffectReduceOnly, Trips: denialStormTrips,
	}
}

// denialStorm denies new risk, and sets mode reduce_only, once more than N denials
// fall within the window.
//
// An agent that keeps on asking for what it may not have is lost or probing. Denials
// and integrity refusals count, faults do not. The window is (now-W, now], sliding; N
// passes, N+1 trips: the denial that makes it so takes the mode with it, and orders are
// denied here as long as the window holds more than N. An operator who resumes clears
// it. Reducing orders pass, and their denials count.
//
// Source: FINRA 2026 oversight report (guardrails that limit an agent's behaviour);
// Cboe port disablement on repeated risk trips.
func denialStorm(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(DenialStorm, missing)
	}
	limit := f.Limits.Session.DenialStorm
	switch {
	case !limit.Set:
		return unset(DenialStorm, "session.denial_storm")
	case !limit.On:
		return off(DenialStorm)
	case f.spared():
		return pass(DenialStorm)
	}
	count := f.State.Denials.Count(f.Request.Now, limit.Value.Window)
	if count <= limit.Value.Denials {
		return pass(DenialStorm)
	}
	observed, most := strconv.Itoa(count), strconv.Itoa(limit.Value.Denials)
	return deny(DenialStorm, observed, most, "",
		observed+" orders were denied within "+limit.Value.Window.String()+", above "+most+
			"; only reducing orders pass until an operator resumes.", RetryNo)
}

// denialStormTrips reports whether the window holds more than N denials, this one
// counted if the order is denied.
func denialStormTrips(f *Facts, denied bool) bool {
	if f.absent() != "" {
		return false
	}
	limit := f.Limits.Session.DenialStorm
	if !limit.Set || !limit.On {
		return false
	}
	count := f.State.Denials.Count(f.Request.Now, limit.Value.Window)
	if denied {
		count++
	}
	return count > limit.Value.Denials
}
