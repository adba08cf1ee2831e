package alpaca_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
)

// Agents at once through two processes of one journal, while replies are lost and the
// stream is cut: no decision reaches the broker twice, the day's cap holds at the broker,
// and journal and ledger agree in the end.
func TestManyAtOnce(t *testing.T) {
	const agents, each, most = 6, 4, 15
	d := newDesk(t, fmt.Sprintf("session: {duplicate_window: off, max_orders_per_day: %d, max_orders_per_minute: off, max_notional_per_minute: off}", most))
	other := *d
	other.broker = d.newBroker(fakeNumber)
	other.open()
	d.run()
	other.reconcile()
	for _, kind := range []string{"drop_after", "error_after", "html_before"} {
		inject(t, d.fake, fakealpaca.Fault{Kind: kind, On: "POST /v2/orders"})
	}
	var all sync.WaitGroup
	for i := range agents {
		g := d.gate
		if i%2 == 1 {
			g = other.gate
		}
		calls := make([]gate.Call, each)
		for n := range calls {
			calls[n] = d.call("place_order", limitOrder([]string{"AAPL", "MSFT", "SPY"}[i%3], "buy", fmt.Sprint(1+n+i), []string{"200.02", "420.05", "570.01"}[i%3]))
		}
		all.Go(func() {
			for n, c := range calls {
				if j := g.Decide(context.Background(), c); j.Allowed() {
					_ = g.Forward(context.Background(), j.Permit)
				}
				if n == 1 && i == 0 {
					d.fake.HangUp("stream_cut")
				}
			}
		})
	}
	all.Wait()
	time.Sleep(2 * time.Millisecond)
	d.settle()
	other.settle()
	d.reconcile()
	d.agrees()
	ids := map[string]bool{}
	for _, o := range d.fake.Ledger().Orders {
		if ids[o.ClientOrderID] {
			t.Errorf("%s is there twice", o.ClientOrderID)
		}
		ids[o.ClientOrderID] = true
	}
	if n := d.derived(); n > most || n < 3 {
		t.Errorf("%d orders at the broker, cap %d", n, most)
	}
	if sent := d.wire.count("POST"); sent > most {
		t.Errorf("%d sent, cap %d", sent, most)
	}
}
