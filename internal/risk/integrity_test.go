package risk_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// TestConflictingFieldsSaysWhich: the code is one of a closed list and stands for several
// things; its sentence says exactly which.
func TestConflictingFieldsSaysWhich(t *testing.T) {
	for want, set := range map[string]func(in *order.Intent){
		"account is not the account that these limits and this journal are of.":                 func(in *order.Intent) { in.Account = "live" },
		"order_id does not go with a new order: it names the order to replace or cancel.":       func(in *order.Intent) { in.Target = "paper/1" },
		"order_id is missing: a replace names its order.":                                       func(in *order.Intent) { in.Action = order.ActionReplace },
		"order_id is missing: a cancel names its order.":                                        func(in *order.Intent) { in.Action = order.ActionCancel },
		"order_id names no order that is open in this account, so there is nothing to replace.": func(in *order.Intent) { in.Action, in.Target = order.ActionReplace, "paper/99" },
		"order_id names no order that is open in this account, so there is nothing to cancel.":  func(in *order.Intent) { in.Action, in.Target = order.ActionCancel, "paper/99" },
		"limit_price does not go with order_type market.":                                       func(in *order.Intent) { in.Type = order.Market },
		"stop_price does not go with order_type limit.":                                         func(in *order.Intent) { in.StopPrice = prc("200") },
		"An expiry goes with time_in_force gtd only.":                                           func(in *order.Intent) { in.ExpireAt = elevenAM.Add(time.Hour) },
	} {
		b := open(t, "100000")
		req := b.new(order.Buy, "10", "200")
		set(&req.Intent)
		if d := b.decide(req); d.Integrity != risk.ConflictingFields || d.IntegrityText != want {
			t.Errorf("%s %q, want %q", d.Integrity, d.IntegrityText, want)
		}
	}
	b := open(t, "100000")
	_, id := b.place(b.new(order.Buy, "100", "200"))
	b.fill(id, "60", "200")
	for want, intent := range map[string]func(in *order.Intent){
		"quantity 59 is below the 60 that are filled already; a replace names the new total.": func(in *order.Intent) { in.Quantity = qty("59") },
		"symbol differs from that of the order named: a replace cannot change it.":            func(in *order.Intent) { in.Symbol = "MSFT" },
		"side differs from that of the order named: a replace cannot change it.":              func(in *order.Intent) { in.Side = order.Sell },
		"order_type differs from that of the order named: a replace cannot change it.":        func(in *order.Intent) { in.Type = order.StopLimit },
	} {
		req := b.replace(id, order.Buy, "100", "200")
		intent(&req.Intent)
		if d := b.decide(req); d.Integrity != risk.ConflictingFields || d.IntegrityText != want {
			t.Errorf("%s %q, want %q", d.Integrity, d.IntegrityText, want)
		}
	}
}
