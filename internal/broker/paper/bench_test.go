package paper

import (
	"fmt"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

func BenchmarkAccept(b *testing.B) {
	onFile, err := OpenFile(b.Context(), b.TempDir(), start())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		ledger *Ledger
	}{{"memory", InMemory(start())}, {"file", onFile}} {
		b.Run(c.name, func(b *testing.B) {
			t := &tape{}
			q := t.say(at, "199.98", "200.02")
			broker, err := New(c.ledger, Options{Clock: &hand{at}, Quotes: t, Calendar: market.XNYS()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := range b.N {
				m := gate.Message{
					Action: order.ActionNew, ClientOrderID: fmt.Sprintf("%d-%d", b.N, i), Instrument: share("AAPL"), Side: order.Buy,
					Type: order.Limit, Quantity: qty("10"), LimitPrice: px("201.00"), TimeInForce: order.Day, Quote: q, At: at,
				}
				if i%2 == 1 {
					m.Side, m.LimitPrice = order.Sell, px("199.00")
				}
				if r := broker.accept(b.Context(), m); r.Result != gate.ReplyAccepted {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
	if err := onFile.Close(); err != nil {
		b.Error(err)
	}
}
