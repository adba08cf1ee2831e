package account_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestFailClosedAllowedReplaces: a replace has to have what an order has to have.
func TestFailClosedAllowedReplaces(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	used := c.decision(intent(order.Buy, "AAPL", "1", "10"))
	used.Intent.ClientOrderID = "used"
	reserve(&used, journal.BucketOpen)
	c.must(journal.KindDecision, used)
	for name, change := range map[string]func(*journal.Decision){
		"nothing spoiled":       func(*journal.Decision) {},
		"no reservation":        func(d *journal.Decision) { d.Reservation = nil },
		"no bucket":             func(d *journal.Decision) { d.Reservation.Bucket = "" },
		"other quantity":        func(d *journal.Decision) { d.Reservation.Quantity = money.MustQuantity("11") },
		"negative notional":     func(d *journal.Decision) { d.Reservation.Notional = money.MustNotional("-1") },
		"negative cost":         func(d *journal.Decision) { d.Reservation.Cost = money.MustNotional("-1") },
		"no reply_by":           func(d *journal.Decision) { d.ReplyBy = journal.Time{} },
		"known client order id": func(d *journal.Decision) { d.Intent.ClientOrderID = "used" },
		"an order of no one":    func(d *journal.Decision) { d.Intent.Target = "paper/99" },
		"less than is filled":   func(d *journal.Decision) { d.Intent.Quantity, d.Reservation.Quantity = one(), one() },
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			in := intent(order.Buy, "AAPL", "12", "10")
			in.Action, in.Target = order.ActionReplace, id
			d := c.decision(in)
			reserve(&d, journal.BucketOpen)
			if change(&d); name != "nothing spoiled" {
				if name == "less than is filled" {
					c.fill(id, "2", "10")
				}
				c.refused(journal.KindDecision, d)
				return
			}
			b, h, err := journal.Seal("paper", c.s.Seq+1, c.s.Head, c.now, "", journal.KindDecision, d)
			if err != nil || !c.tried(b, h) {
				t.Errorf("it would be refused too: %v", err)
			}
		})
	}
}

func one() money.Quantity { return money.QuantityFromInt(1) }

// TestTakenOverQuantitiesPastTheRange: of a genesis, and of an order that grew at the broker.
func TestTakenOverQuantitiesPastTheRange(t *testing.T) {
	huge := func(id, quantity string) journal.BrokerOrder {
		b := shown(id, order.Sell, "AAPL", quantity, "0")
		b.Type = order.Market
		return *b
	}
	full := huge("3", "5")
	full.Filled = full.Quantity
	genesis := journal.Genesis{Broker: "paper", Currency: "USD", Version: "test", Who: "test"}
	genesis.Orders = []journal.BrokerOrder{huge("1", "60000000000000000000"), full, huge("2", "60000000000000000000")}
	c := &script{t: t, s: account.New("paper"), now: morning}
	c.refused(journal.KindGenesis, genesis)
	genesis.Orders[2].Quantity = money.MustQuantity("10000000000000000000")
	c.must(journal.KindGenesis, genesis)
	c.holding("AAPL", "0", "0", "70000000000000000000")
	if c.s.OpenOrders() != 2 || c.s.Order("ext/3") != nil {
		t.Errorf("%d are open, and one of them is filled", c.s.OpenOrders())
	}
	grown := huge("2", "50000000000000000000")
	c.refused(journal.KindExternal, journal.External{ID: "grown", Order: &grown})
	c.holding("AAPL", "0", "0", "70000000000000000000")
}

// TestIDsAreKnownFor400Days, of fills and events too, and no day longer.
func TestIDsAreKnownFor400Days(t *testing.T) {
	c := begin(t)
	d := c.decision(intent(order.Buy, "AAPL", "1", "10"))
	d.Intent.ClientOrderID = "mine"
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	c.fill("paper/2", "1", "10")
	c.external(journal.External{Cash: &journal.CashFlow{Amount: money.NotionalFromInt(5)}})
	for days, want := range []bool{true, false} {
		c.now = morning.AddDate(0, 0, 400+days)
		c.deny()
		_, _, client := c.s.ClientID("mine")
		if client != want || c.s.SeenExecution("x1") != want || c.s.SeenEvent("event2") != want {
			t.Errorf("after %d days: %v, %v, %v", 400+days, client, c.s.SeenExecution("x1"), c.s.SeenEvent("event2"))
		}
		restored, err := account.Restore(snapshot(t, c.s))
		if err != nil || restored.Digest() != c.s.Digest() || restored.SeenEvent("event2") != want {
			t.Errorf("after %d days restored otherwise: %v", 400+days, err)
		}
	}
}
