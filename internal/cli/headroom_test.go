package cli

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// TestUseOfTheDayCountsExits: status shows what the rail compares, and exits count.
func TestUseOfTheDayCountsExits(t *testing.T) {
	doc, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)
	state := account.New("paper")
	state.Day = account.Day{Date: state.TradeDateAt(now), Orders: 3, ExitOrders: 2}
	for _, u := range uses(&gate.View{State: state, Limits: doc, Now: now}, &risk.Worth{}) {
		if u.Rail == "max_orders_per_day" {
			if u.Used != "5" || u.Headroom != "195" {
				t.Errorf("used %s, left %s, want 5 and 195", u.Used, u.Headroom)
			}
			return
		}
	}
	t.Error("max_orders_per_day is not shown")
}

// TestUseOfWorth: loss, exposure and drawdown are shown with what is left, and without
// figures where a mark is missing. A latch leaves nothing, whatever was regained.
func TestUseOfWorth(t *testing.T) {
	doc, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	on := func(text string) limits.Limit[money.Notional] {
		return limits.Limit[money.Notional]{Set: true, On: true, Value: money.MustNotional(text)}
	}
	doc.Position.MaxGrossExposure, doc.Session.MaxDailyLoss = on("5000"), on("1000")
	doc.Session.MaxDrawdown = limits.Limit[money.Notional]{Set: true}
	now := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)
	shown := func(w risk.Worth, latched bool) map[string]useView {
		state := account.New("paper")
		state.Day = account.Day{Date: state.TradeDateAt(now), HasOpen: true, EquityAtOpen: money.MustNotional("100000"), LossLatched: latched}
		out := map[string]useView{}
		for _, u := range uses(&gate.View{State: state, Limits: doc, Now: now}, &w) {
			out[u.Rail] = u
		}
		return out
	}
	w := risk.Worth{Equity: money.MustNotional("99400"), EquityOK: true, Gross: money.MustNotional("1200"), GrossOK: true}
	for name, c := range map[string]struct {
		worth   risk.Worth
		latched bool
		want    useView
	}{
		"exposure":              {w, false, useView{"max_gross_exposure", "now", "1200.00", "5000.00", "3800.00"}},
		"exposure without mark": {risk.Worth{}, false, useView{"max_gross_exposure", "now", "-", "5000.00", ""}},
		"loss":                  {w, false, useView{"max_daily_loss", "day", "600.00", "1000.00", "400.00"}},
		"loss without mark":     {risk.Worth{}, false, useView{"max_daily_loss", "day", "-", "1000.00", ""}},
		"loss latched":          {w, true, useView{"max_daily_loss", "day", "600.00", "1000.00", "0.00"}},
		"drawdown off":          {w, false, useView{"max_drawdown", "peak", "0.00", "off", ""}},
	} {
		if got := shown(c.worth, c.latched)[c.want.Rail]; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
