package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxOrderPctOfEquityRail() Rail {
	return Rail{
		ID: MaxOrderPctOfEquity, Family: familySize, Keys: []string{"size.max_order_pct_of_equity"},
		Exempt: ExemptAll, Check: maxOrderPctOfEquity,
	}
}

// maxOrderPctOfEquity denies an order worth more than its share of the account's
// equity, the smaller of equity at open and equity now.
//
// It keeps one order from staking the account, also after a loss. A notional at the
// share passes; the two are compared by cross-multiplication. With no equity left every
// order exceeds. Without equity, now or at the open of this trade date, or without a
// risk price, it is a fault. Reducing orders pass.
//
// Source: 15c3-5(c)(1)(i).
func maxOrderPctOfEquity(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOrderPctOfEquity, missing)
	}
	limit := f.Figures.Size.MaxOrderPctOfEquity
	day := &f.State.Day
	switch {
	case !limit.Set:
		return unset(MaxOrderPctOfEquity, "size.max_order_pct_of_equity")
	case !limit.On:
		return off(MaxOrderPctOfEquity)
	case f.spared():
		return pass(MaxOrderPctOfEquity)
	case !f.NotionalOK:
		return fault(MaxOrderPctOfEquity, "a price for the order")
	case !f.EquityOK:
		return fault(MaxOrderPctOfEquity, "the account's equity now")
	case !day.HasOpen || day.Date != f.Session.TradeDate:
		return fault(MaxOrderPctOfEquity, "the account's equity at open")
	}
	equity := money.MinNotional(day.EquityAtOpen, f.Equity)
	exceeds, ok := f.Notional.ExceedsPercentOf(equity, limit.Value)
	switch {
	case !ok:
		return fault(MaxOrderPctOfEquity, "a share that can be compared with")
	case !exceeds:
		return pass(MaxOrderPctOfEquity)
	}
	passes := ""
	if most, ok := equity.Share(limit.Value, money.Down); ok && most.IsPositive() {
		if q, ok := most.LargestQuantity(f.RiskPrice, f.Instrument.Multiplier, stepOf(f)); ok && q.IsPositive() {
			passes = q.String()
		}
	}
	return deny(MaxOrderPctOfEquity, f.Notional.String(), limit.Value.String()+" percent", passes,
		"Notional "+f.Notional.String()+" is above "+limit.Value.String()+" percent of equity "+equity.String()+".", RetryChanged)
}
