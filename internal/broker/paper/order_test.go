package paper

import (
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestSameClientOrderIDIsNeverASecondOrder(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "201.00")
		d.took(m)
		d.refused(m, "client_order_id must be unique")
		m.Quantity = qty("20")
		d.refused(m, "client_order_id must be unique")
		if d.position() != qty("10") {
			d.t.Errorf("position %s", d.position())
		}
		if n, err := d.Ledger().SubmitCount(d.t.Context(), "c1"); n != 3 || err != nil {
			d.t.Errorf("submitted %d, %v", n, err)
		}
	})
}

func TestCashAndPositionCoverOrders(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		d.refused(d.limit(order.Buy, "501", "199.61"), reasonCash) // 100,004.61
		d.took(d.limit(order.Buy, "400", "150.00"))                // holds 60,000
		d.refused(d.limit(order.Buy, "201", "199.50"), reasonCash) // 40,099.50
		d.took(d.limit(order.Buy, "200", "200.00"))                // exactly the rest
		if a := d.account(); !a.BuyingPower.IsZero() || a.Cash != StartingCash() || len(a.Orders) != 2 {
			d.t.Errorf("account %+v", a)
		}
		d.refused(d.limit(order.Sell, "1", "210.00"), reasonPosition)

		if err := d.Cash(d.t.Context(), usd("20002"), "deposit"); err != nil {
			d.t.Fatal(err)
		}
		market := d.limit(order.Buy, "101", "0")
		market.Type = order.Market
		d.refused(market, reasonCash) // 101 at the ask of 200.02
		market = d.limit(order.Buy, "100", "0")
		market.Type = order.Market
		d.took(market)
		d.took(d.limit(order.Sell, "60", "210.00"))
		d.refused(d.limit(order.Sell, "41", "210.00"), reasonPosition)
		d.took(d.limit(order.Sell, "40", "210.00"))
	})
}

func TestMalformedOrdersAreRejected(t *testing.T) {
	for reason, spoil := range map[string]func(*gate.Message){
		"client_order_id is required":    func(m *gate.Message) { m.ClientOrderID = "" },
		"unknown instrument":             func(m *gate.Message) { m.Instrument.Multiplier = money.Quantity{} },
		"unknown side":                   func(m *gate.Message) { m.Side = order.SideNone },
		"unknown order type":             func(m *gate.Message) { m.Type = order.TypeNone },
		"quantity must be above zero":    func(m *gate.Message) { m.Quantity = qty("-1") },
		"limit_price must be above zero": func(m *gate.Message) { m.LimitPrice = money.Price{} },
		"stop_price must be above zero":  func(m *gate.Message) { m.Type = order.Stop },
		"unknown time in force":          func(m *gate.Message) { m.TimeInForce = order.TimeInForceNone },
		"the order has expired":          func(m *gate.Message) { m.TimeInForce, m.ExpireAt = order.GTD, at },
		"unknown action":                 func(m *gate.Message) { m.Action = order.ActionNone },
		reasonFigure: func(m *gate.Message) {
			m.LimitPrice, m.Quantity = px("99999999999999999999"), qty("99999999999999999999")
		},
		"the calendar does not know this date": nil,
	} {
		t.Run(reason, func(t *testing.T) {
			d := newDesk(t, InMemory(start()), Options{})
			m := d.limit(order.Buy, "1", "100.00")
			if spoil != nil {
				spoil(&m)
			} else {
				d.clock.to(time.Date(2028, time.January, 3, 15, 0, 0, 0, time.UTC))
			}
			d.refused(m, reason)
			if a := d.account(); len(a.Orders) != 0 || len(d.events()) != 0 {
				t.Errorf("account %+v", a)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		placed := d.took(d.limit(order.Buy, "10", "100.00"))
		cancel := gate.Message{Action: order.ActionCancel, ClientOrderID: "x1", TargetBrokerID: placed.BrokerID, TargetClientID: "c1", At: d.clock.now}
		wrong := cancel
		wrong.TargetClientID = "c9"
		d.refused(wrong, "broker id and client order id name different orders")
		wrong.TargetBrokerID = ""
		d.refused(wrong, reasonUnknown)
		if r := d.took(cancel); r.Ended != "canceled" || r.BrokerID != placed.BrokerID {
			d.t.Errorf("reply %+v", r)
		}
		d.refused(cancel, "order is canceled")
		if s := d.find("x1"); !s.Known || s.Order.ClientOrderID != "c1" || s.Ended != "canceled" {
			d.t.Errorf("the cancel's own id finds %+v", s)
		}
		if a := d.account(); a.BuyingPower != StartingCash() {
			d.t.Errorf("the hold was not released: %s", a.BuyingPower)
		}
		d.tape.say(at.Add(time.Second), "99.00", "99.02")
		d.clock.pass(time.Minute)
		if got := d.tells(); !slices.Equal(got, []string{"ended canceled"}) {
			d.t.Errorf("events %q", got)
		}
	})
}

func (d *desk) replaced(brokerID, quantity, price string) gate.Message {
	m := d.limit(order.Buy, quantity, price)
	m.Action, m.TargetBrokerID = order.ActionReplace, brokerID
	return m
}

func TestReplace(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		first := d.took(d.limit(order.Buy, "10", "100.00"))
		if _, err := d.FillOrder(d.t.Context(), "c1", qty("4"), px("100.00"), ""); err != nil {
			d.t.Fatal(err)
		}
		d.refused(d.replaced(first.BrokerID, "3", "100.00"), "quantity is below what is filled")
		d.refused(d.replaced(first.BrokerID, "1001", "100.00"), reasonCash)
		other := d.replaced(first.BrokerID, "8", "100.00")
		other.Side = order.Sell
		d.refused(other, "a replace cannot change the side")
		if s := d.find("c1"); !s.Open || s.Order.Quantity != qty("10") || s.Order.LimitPrice != px("100") {
			d.t.Fatalf("a refused replace changed the order: %+v", s)
		}
		m := d.replaced(first.BrokerID, "8", "201.00") // marketable now
		r := d.took(m)
		if r.BrokerID != first.BrokerID || r.Quantity != qty("8") || len(r.Fills) != 1 || r.Fills[0].Quantity != qty("4") || r.Fills[0].Price != px("200.02") {
			d.t.Errorf("reply %+v", r)
		}
		if s := d.find("c1"); s.Open || s.Order.Filled != qty("8") {
			d.t.Errorf("standing %+v", s)
		}
		if s := d.find(m.ClientOrderID); !s.Known || s.BrokerID != first.BrokerID {
			d.t.Errorf("the replace's own id finds %+v", s)
		}
		if s := d.find("c2"); s.Known {
			d.t.Errorf("a refused replace finds %+v", s)
		}
		again := d.limit(order.Buy, "1", "100.00")
		again.ClientOrderID = m.ClientOrderID
		d.refused(again, reasonUnique)
		if got := d.tells(); !slices.Equal(got, []string{"fill 4@100", "replaced", "fill 4@200.02"}) {
			d.t.Errorf("events %q", got)
		}
	})
}

func TestReplaceDownToWhatIsFilledEndsTheOrderFilled(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		first := d.took(d.limit(order.Buy, "10", "100.00"))
		if _, err := d.FillOrder(d.t.Context(), "c1", qty("4"), px("100.00"), ""); err != nil {
			d.t.Fatal(err)
		}
		r := d.took(d.replaced(first.BrokerID, "4", "100.00"))
		if s := d.find("c1"); s.Open || s.Ended != "" || r.Quantity != qty("4") {
			d.t.Errorf("standing %+v, reply %+v", s, r)
		}
	})
}

func TestMessageAfterItsTimeIsRejected(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "150.00")
		m.SendBy = d.clock.now
		d.took(m) // at its time is in time
		m.ClientOrderID, m.SendBy = "late", d.clock.now.Add(-1)
		d.refused(m, reasonLate)
		if a := d.account(); len(a.Orders) != 1 {
			d.t.Errorf("%d orders open", len(a.Orders))
		}
	})
}

// A triggered stop-limit that is moved away was judged as a stop that waits, and not as
// a limit order.
func TestAStopThatIsMovedWaitsAgain(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "200.50")
		m.Type, m.StopPrice = order.StopLimit, px("200.40")
		first := d.took(m)
		d.tape.say(at.Add(time.Second), "200.58", "200.60") // triggers, beyond the limit
		d.clock.pass(2 * time.Second)
		r := d.replaced(first.BrokerID, "10", "230.00")
		r.Type, r.StopPrice = order.StopLimit, px("225.00")
		if got := d.took(r); len(got.Fills) != 0 {
			t.Errorf("filled %+v with a stop of 225 and an ask of 200.60", got.Fills)
		}
		d.clock.pass(time.Minute)
		if got := d.position(); !got.IsZero() {
			t.Errorf("position %s", got)
		}
	})
}
