package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxDailyLossRail() Rail {
	return Rail{
		ID: MaxDailyLoss, Family: familySession, Keys: []string{"session.max_daily_loss"},
		Exempt: ExemptAll, Check: maxDailyLoss,
		Effect: EffectLatch, Trips: maxDailyLossTrips,
	}
}

// maxDailyLoss denies new risk for the rest of the trade date once the account has
// lost the limit, in currency.
//
// It ends a bad day. The loss is equity at the open, with deposits and withdrawals
// since taken out, less equity now; or what was realized today at average cost, if
// that is worse. It trips at the limit: a loss of exactly the limit is denied, one unit
// of least precision less passes. It is judged on every order, and latches: a recovery
// does not lift it, the next trade date does. Without equity at the open, equity now or
// a trade date it is a fault, unless the realized loss or the latch already denies.
// Reducing orders pass.
//
// Source: RTS 6 art. 15(4); SEC rule 15c3-5(c)(1)(i).
func maxDailyLoss(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxDailyLoss, missing)
	}
	limit := f.Limits.Session.MaxDailyLoss
	switch {
	case !limit.Set:
		return unset(MaxDailyLoss, "session.max_daily_loss")
	case !limit.On:
		return off(MaxDailyLoss)
	case f.spared():
		return pass(MaxDailyLoss)
	}
	day, ok := f.today()
	if !ok {
		return fault(MaxDailyLoss, "a trade date")
	}
	loss, missing := f.lossToday(limit.Value)
	reached := missing == "" && loss.Cmp(limit.Value) >= 0
	switch {
	case !reached && !day.LossLatched && missing != "":
		return fault(MaxDailyLoss, missing)
	case !reached && !day.LossLatched:
		return pass(MaxDailyLoss)
	}
	observed, most := "latched", limit.Value.String()
	text := "The daily loss limit of " + most + " was reached on trade date " + day.Date.String()
	if reached {
		observed = loss.String()
		text = "The account has lost " + observed + " on trade date " + day.Date.String() + ", which reaches " + most
	}
	return deny(MaxDailyLoss, observed, most, "", text+"; only reducing orders pass until the next one.", RetryLater)
}

// maxDailyLossTrips reports whether the loss reaches the limit, whatever the order.
func maxDailyLossTrips(f *Facts, _ bool) bool {
	if f.absent() != "" {
		return false
	}
	limit := f.Limits.Session.MaxDailyLoss
	if !limit.Set || !limit.On {
		return false
	}
	loss, missing := f.lossToday(limit.Value)
	return missing == "" && loss.Cmp(limit.Value) >= 0
}

// lossToday is the larger of the loss in equity and the realized one: negative for a
// gain. missing names what it needs and lacks; a realized loss of enough needs nothing
// else.
func (f *Facts) lossToday(enough money.Notional) (loss money.Notional, missing string) {
	day, ok := f.today()
	if !ok {
		return money.Notional{}, "a trade date"
	}
	realized := day.Realized.Neg()
	switch {
	case !(day.HasOpen && f.EquityOK) && realized.Cmp(enough) >= 0:
		return realized, ""
	case !day.HasOpen:
		return money.Notional{}, "equity at the open"
	case !f.EquityOK:
		return money.Notional{}, "equity now"
	}
	start, ok := day.EquityAtOpen.Add(day.Flows)
	if !ok {
		return money.Notional{}, inRange
	}
	loss, ok = start.Sub(f.Equity)
	if !ok {
		return money.Notional{}, inRange
	}
	return money.MaxNotional(loss, realized), ""
}
