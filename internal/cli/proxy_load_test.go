package cli

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// Sixteen agents at once: each gets its own answers, each order stands once in both books,
// and the limits hold over all of them together.
func TestProxySixteenAgents(t *testing.T) {
	w := newProxyWorld(t)
	w.begin().call("get_account_info", `{}`)
	const agents, calls = 16, 12
	var all sync.WaitGroup
	var mu sync.Mutex
	accepted := map[string]bool{}
	for i := range agents {
		a := w.begin()
		all.Go(func() {
			for j := range calls {
				if j%3 != 0 {
					word := fmt.Sprintf("agent-%d-call-%d", i, j)
					if got := a.ask("resources/read", `{"uri":"`+word+`"}`); !strings.Contains(got, `"uri":"`+word+`"`) {
						t.Errorf("another answer: %s", got)
					}
					continue
				}
				price := fmt.Sprintf("19%d.%02d", 6+i%3, i*4+j)
				got := a.call("place_stock_order", resting("AAPL", price))
				if got.outcome == "accepted" {
					if !strings.Contains(got.line, `"client_order_id":"`+got.clientID+`"`) {
						t.Errorf("another order's answer: %s", got.line)
					}
					mu.Lock()
					accepted[got.clientID] = true
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	orders := w.ordersAt()
	if len(orders) != len(accepted) || len(orders) == 0 {
		t.Errorf("%d at the broker, %d accepted", len(orders), len(accepted))
	}
	for _, o := range orders {
		if !accepted[o.ClientOrderID] {
			t.Errorf("nobody was told of %s", o.ClientOrderID)
		}
	}
	decisions := entries[journal.Decision](w, journal.KindDecision)
	allowed := 0
	for i := range decisions {
		if decisions[i].Verdict == journal.VerdictAllowed {
			allowed++
		}
	}
	if allowed != len(orders) || allowed > 20 { // max_open_orders of the shipped document
		t.Errorf("%d allowed, %d at the broker", allowed, len(orders))
	}
	if _, err := w.d.opened().Reconcile(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.d.opened().View(t.Context(), func(v gate.View) {
		if v.State.OpenOrders() != len(orders) {
			t.Errorf("%d open in the journal", v.State.OpenOrders())
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// Two proxies, each a process of its own in all but name, share one journal: the limits
// hold over both, and an order of one is not foreign to the other.
func TestProxyTwoProcesses(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	first := w.d
	w.d = nil
	b := w.begin()
	if got := b.call("place_stock_order", buyTwo); got.rail != "duplicate_order" {
		t.Errorf("%s", got.line)
	}
	args := strings.Replace(resting("AAPL", "198.00"), "}", `,"client_order_id":"both-1"}`, 1)
	if got := b.call("place_stock_order", args); got.outcome != "accepted" {
		t.Errorf("%s", got.line)
	}
	if got := a.call("place_stock_order", args); !strings.HasPrefix(got.text, "REPLAYED") {
		t.Errorf("%s", got.line)
	}
	for _, d := range []*proxied{first, w.d} {
		if found, err := d.opened().Reconcile(t.Context(), nil); err != nil || len(found.Differences) != 0 || found.External != 0 {
			t.Errorf("%+v, %v", found, err)
		}
	}
	if n := len(w.ordersAt()); n != 2 {
		t.Errorf("%d orders", n)
	}
	if ext := entries[journal.External](w, journal.KindExternal); len(ext) != 0 {
		t.Errorf("%+v", ext)
	}
	if err := first.close(t.Context()); err != nil {
		t.Error(err)
	}
}
