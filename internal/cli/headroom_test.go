package cli

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
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
	for _, u := range uses(&gate.View{State: state, Limits: doc, Now: now}) {
		if u.Rail == "max_orders_per_day" {
			if u.Used != "5" || u.Headroom != "195" {
				t.Errorf("used %s, left %s, want 5 and 195", u.Used, u.Headroom)
			}
			return
		}
	}
	t.Error("max_orders_per_day is not shown")
}
