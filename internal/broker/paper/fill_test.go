package paper

import (
	"slices"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestFailClosedUnsealedMessageSendsNothing(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		if r := d.Send(d.t.Context(), gate.Sealed{}); r.Result == gate.ReplyAccepted || r.BrokerID != "" {
			d.t.Errorf("reply %+v", r)
		}
		sent, err := d.Ledger().Messages(d.t.Context())
		if err != nil || len(sent) != 0 || len(d.events()) != 0 {
			d.t.Errorf("messages %v, events %v, %v", sent, d.events(), err)
		}
	})
}

func TestMarketableOrderFillsAtTheQuoteItWasPricedBy(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "200.50")
		d.tape.say(at, "210.00", "210.04") // the market has moved on: the message's quote counts
		r := d.took(m)
		if len(r.Fills) != 1 || r.Fills[0].Price != px("200.02") || r.Fills[0].Quantity != qty("10") {
			d.t.Fatalf("fills %+v", r.Fills)
		}
		if r.Symbol != "AAPL" || r.Side != order.Buy || r.Quantity != qty("10") || r.BrokerID == "" {
			d.t.Errorf("echo %+v", r)
		}
		if got := d.cash(); got != usd("97999.8") {
			d.t.Errorf("cash %s", got)
		}
		if got := d.position(); got != qty("10") {
			d.t.Errorf("position %s", got)
		}
		if got := d.tells(); !slices.Equal(got, []string{"fill 10@200.02"}) {
			d.t.Errorf("events %q", got)
		}
	})
}
