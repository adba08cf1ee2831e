package rail

import "github.com/broker-rails/broker-rails/internal/account"

func killSwitchRail() Rail {
	return Rail{ID: KillSwitch, Family: familySession, Exempt: ExemptOwn, Check: killSwitch}
}

// killSwitch denies every order while the mode is halted, and all but reducing ones
// while it is reduce_only.
//
// It is the operator's stop, and where other rails' latches end up. The mode is the
// stricter of the account's and the one for all accounts; it falls only by an operator.
// A mode that is neither is halted, as is an account that has not begun. Cancels are
// not judged. No key switches it off.
//
// Source: RTS 6 art. 12 (kill functionality); FIA 2024 kill switch.
func killSwitch(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(KillSwitch, missing)
	}
	switch {
	case f.Mode == account.Active, f.Mode == account.ReduceOnly && f.spared():
		return pass(KillSwitch)
	case f.Mode == account.ReduceOnly:
		return deny(KillSwitch, "reduce_only", "active", "",
			"The account is in mode reduce_only: only reducing orders and cancels pass until an operator resumes.", RetryNo)
	}
	return deny(KillSwitch, "halted", "active", "",
		"The account is halted: only cancels pass until an operator resumes.", RetryNo)
}
