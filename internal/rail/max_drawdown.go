package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxDrawdownRail() Rail {
	return Rail{
		ID: MaxDrawdown, Family: familySession, Keys: []string{"session.max_drawdown"},
		Exempt: ExemptAll, Check: maxDrawdown,
		Effect: EffectReduceOnly, Trips: maxDrawdownTrips,
	}
}

// maxDrawdown denies new risk once equity has fallen by the limit, in currency, from
// its highest.
//
// It catches what days that each stay within the daily loss add up to. The peak is
// adjusted for deposits and withdrawals. It trips at the limit: a fall of exactly the
// limit is denied, one unit of least precision less passes. It then sets mode
// reduce_only, which an operator ends, with a new peak if they say so. An account
// without a peak yet stands at it. Without equity now it is a fault. Reducing orders
// pass.
//
// Source: RTS 6 art. 15(4).
func maxDrawdown(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxDrawdown, missing)
	}
	limit := f.Limits.Session.MaxDrawdown
	switch {
	case !limit.Set:
		return unset(MaxDrawdown, "session.max_drawdown")
	case !limit.On:
		return off(MaxDrawdown)
	case f.spared():
		return pass(MaxDrawdown)
	}
	fall, missing := f.fallFromPeak()
	switch {
	case missing != "":
		return fault(MaxDrawdown, missing)
	case fall.Cmp(limit.Value) < 0:
		return pass(MaxDrawdown)
	}
	observed, most := fall.String(), limit.Value.String()
	return deny(MaxDrawdown, observed, most, "",
		"Equity is "+observed+" below its peak, which reaches "+most+"; only reducing orders pass until an operator resumes.",
		RetryNo)
}

// maxDrawdownTrips reports whether the fall reaches the limit, whatever the order.
func maxDrawdownTrips(f *Facts, _ bool) bool {
	if f.absent() != "" {
		return false
	}
	limit := f.Limits.Session.MaxDrawdown
	if !limit.Set || !limit.On {
		return false
	}
	fall, missing := f.fallFromPeak()
	return missing == "" && fall.Cmp(limit.Value) >= 0
}

// fallFromPeak is how far equity now is below its peak, from 0 up.
func (f *Facts) fallFromPeak() (fall money.Notional, missing string) {
	if !f.EquityOK {
		return money.Notional{}, "equity now"
	}
	if !f.State.Peak.Known {
		return money.Notional{}, ""
	}
	fall, ok := f.State.Peak.Equity.Sub(f.Equity)
	if !ok {
		return money.Notional{}, inRange
	}
	return money.MaxNotional(fall, money.Notional{}), ""
}
