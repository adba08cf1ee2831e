package risk_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// TestAReplaceInTwoStepsHoldsBothCosts: until it is answered the broker may hold either
// order, and for an instant both.
func TestAReplaceInTwoStepsHoldsBothCosts(t *testing.T) {
	b := withoutShares(open(t, "100000"))
	_, id := b.place(of(b.new(order.Buy, "20", "200"), "MSFT"))
	replace := of(b.replace(id, order.Buy, "20", "201"), "MSFT")
	replace.AtomicReplace = false
	d := b.decide(replace)
	allowed(t, &d)
	b.journal(replace, &d)
	for _, row := range []struct {
		quantity string
		passes   bool
	}{{"9", true}, {"10", false}} { // of 10000 less 4000 and 4020
		req := b.new(order.Buy, row.quantity, "200")
		b.now = elevenAM.Add(3 * time.Second)
		req.Now = b.now
		req.Broker = rail.BrokerFigures{Present: true, BuyingPower: ntl("10000"), At: elevenAM.Add(2 * time.Second)}
		req.Marks = []rail.Mark{mark("MSFT", "199.98", "200.02")}
		d := b.decide(req)
		if row.passes {
			allowed(t, &d)
		} else {
			denied(t, &d, "insufficient_buying_power")
		}
	}
}
