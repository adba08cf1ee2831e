package cli

import (
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// useView is how much of one limit over time is used, and what is left.
type useView struct {
	Rail     string `json:"rail"`
	Window   string `json:"window"` // 1m, day, open, or the document's own
	Used     string `json:"used"`
	Limit    string `json:"limit"` // off where it is off
	Headroom string `json:"headroom,omitzero"`
}

// uses lists the limits that fill up with time, in the order of the document.
func uses(v *gate.View, w *risk.Worth) []useView {
	if v.Limits == nil {
		return nil
	}
	s, st, p := &v.Limits.Session, v.State, &v.Limits.Position
	day := st.DayAt(v.Now)
	out := []useView{
		countUse("max_open_orders", "open", st.OpenOrders(), p.MaxOpenOrders),
		countUse("order_in_doubt", "open", st.InDoubtCount(v.Now), p.MaxInDoubt),
		countUse("max_orders_per_minute", "1m", st.Rate.Count(v.Now, journal.BucketOpen), s.MaxOrdersPerMinute),
		amountUse("max_notional_per_minute", "1m", st.Turnover.Sum(v.Now, account.MinuteWindow), s.MaxNotionalPerMinute),
		countUse("max_messages_per_minute", "1m", st.Messages.Count(v.Now, journal.BucketOpen), s.MaxMessagesPerMinute),
		countUse("max_orders_per_day", "day", day.OrdersInAll(), s.MaxOrdersPerDay),
		amountUse("max_notional_per_day", "day", day.Notional, s.MaxNotionalPerDay),
	}
	storm, cycles := s.DenialStorm, s.RepeatedExecution
	out = append(out,
		countUse("denial_storm", span(storm.Value.Window), st.Denials.Count(v.Now, storm.Value.Window),
			limits.Limit[int]{Set: storm.Set, On: storm.On, Value: storm.Value.Denials}),
		countUse("repeated_execution", span(cycles.Value.Window), st.Cycles.Count(v.Now, cycles.Value.Window),
			limits.Limit[int]{Set: cycles.Set, On: cycles.On, Value: cycles.Value.Cycles}),
	)
	return append(out, worthUses(v, w)...)
}

// worthUses are the limits that compare what the account is worth. One that is on and
// cannot be worked out here shows no figures.
func worthUses(v *gate.View, w *risk.Worth) []useView {
	day := v.State.DayAt(v.Now)
	loss, lossOK := w.LossToday(&day)
	fall, fallOK := w.Drawdown(&v.State.Peak)
	lost := worthUse("max_daily_loss", "day", loss, lossOK, v.Limits.Session.MaxDailyLoss)
	if day.LossLatched && lost.Limit != "off" {
		lost.Headroom = dollars(money.Notional{}) // whatever the account has regained
	}
	return []useView{
		worthUse("max_gross_exposure", "now", w.Gross, w.GrossOK, v.Limits.Position.MaxGrossExposure),
		lost,
		worthUse("max_drawdown", "peak", fall, fallOK, v.Limits.Session.MaxDrawdown),
	}
}

func worthUse(id, window string, used money.Notional, known bool, l limits.Limit[money.Notional]) useView {
	u := amountUse(id, window, used, l)
	if !known {
		u.Used, u.Headroom = "-", ""
	}
	return u
}

func span(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return d.String()
}

func countUse(id, window string, used int, l limits.Limit[int]) useView {
	u := useView{Rail: id, Window: window, Used: strconv.Itoa(used), Limit: "off"}
	if l.On {
		u.Limit = strconv.Itoa(l.Value)
		u.Headroom = strconv.Itoa(max(0, l.Value-used))
	}
	return u
}

func amountUse(id, window string, used money.Notional, l limits.Limit[money.Notional]) useView {
	u := useView{Rail: id, Window: window, Used: dollars(used), Limit: "off"}
	if l.On {
		u.Limit = dollars(l.Value)
		left, ok := l.Value.Sub(used)
		if !ok || left.IsNegative() {
			left = money.Notional{}
		}
		u.Headroom = dollars(left)
	}
	return u
}
