package gate_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// A journal that was put back from a copy finds orders at the broker that it sent and
// does not remember: the account halts, and nothing is sent.
func TestAForgottenOrderHaltsTheAccount(t *testing.T) {
	for name, filled := range map[string]bool{"filled": true, "resting": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			older := d.copied()
			j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "199.99"))
			if out.Result != journal.ResultAccepted {
				t.Fatalf("outcome %+v", out)
			}
			if filled {
				_, err := d.paper.FillOrder(t.Context(), j.ClientOrderID, money.MustQuantity("10"), money.MustPrice("199.99"), "")
				must(t, err)
			}
			d.store = older
			d.open()
			must(t, d.gate.Start(t.Context()))
			d.view(func(v gate.View) {
				if v.State.Mode != account.Halted || v.State.ModeBy != "journal_behind" {
					t.Errorf("mode %v by %s", v.State.Mode, v.State.ModeBy)
				}
			})
			if j := d.decide("place_order", limitOrder("MSFT", "buy", "1", "199.99")); j.Allowed() {
				t.Error("an order is allowed on a journal that forgot one")
			}
		})
	}
}

// copied is another store with the same entries.
func (d *desk) copied() *memory.Store {
	d.t.Helper()
	out := memory.New()
	for _, name := range []string{journal.ControlAccount, "paper"} {
		batch := gate.Batch{Account: name}
		must(d.t, d.store.Read(d.t.Context(), name, 0, func(s gate.Stored) error {
			batch.Entries = append(batch.Entries, s)
			return nil
		}))
		if len(batch.Entries) > 0 {
			must(d.t, out.Append(d.t.Context(), &batch))
		}
	}
	return out
}
