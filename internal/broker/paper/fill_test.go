package paper

import (
	"slices"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
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

func TestRestingLimitFillsOnceAtItsLimitOrBetter(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		if r := d.took(d.limit(order.Buy, "10", "199.00")); len(r.Fills) != 0 || r.Ended != "" {
			d.t.Fatalf("reply %+v, want a resting order", r)
		}
		d.tape.say(at.Add(30*time.Second), "198.00", "198.50")
		d.tape.say(at.Add(31*time.Second), "199.98", "200.02")
		d.clock.pass(time.Hour) // nobody looked while the price was there
		s := d.find("c1")
		if len(s.Fills) != 1 || s.Open || s.Fills[0].Price != px("198.50") || !s.Fills[0].ExecutedAt.Equal(at.Add(30*time.Second)) {
			d.t.Fatalf("standing %+v", s)
		}
		d.clock.pass(time.Hour)
		if got := d.tells(); !slices.Equal(got, []string{"fill 10@198.5"}) {
			d.t.Errorf("events %q", got)
		}
	})
}

func TestOrderIsNotLookedAtInTheSecondItCameIn(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "199.00")
		d.tape.say(at, "198.00", "198.02") // after the rails priced it, in the same second
		d.took(m)
		if s := d.find("c1"); len(s.Fills) != 0 {
			d.t.Fatalf("filled at %+v by a quote that it was not judged by", s.Fills)
		}
		d.clock.pass(time.Second)
		if s := d.find("c1"); len(s.Fills) != 1 {
			d.t.Errorf("standing %+v, want filled a second later", s)
		}
	})
}

func TestLargeRestingOrderFillsByDisplayedSize(t *testing.T) {
	desks(t, Options{AllowShort: true}, func(d *desk) {
		d.took(d.limit(order.Sell, "900", "201.00"))
		d.tape.say(at.Add(time.Second), "201.50", "201.52")
		d.clock.pass(time.Second)
		first := d.find("c1")
		if len(first.Fills) != 1 || !first.Open {
			d.t.Fatalf("standing %+v, want one partial fill", first)
		}
		if q := first.Fills[0].Quantity; q.Cmp(qty("50")) < 0 || q.Cmp(qty("400")) > 0 {
			d.t.Errorf("filled %s of a displayed size of 50 to 400", q)
		}
		d.clock.pass(time.Minute)
		last := d.find("c1")
		sum := qty("0")
		for _, f := range last.Fills {
			sum, _ = sum.Add(f.Quantity)
		}
		if last.Open || sum != qty("900") || len(last.Fills) < 3 {
			d.t.Errorf("filled %s in %d, open %v", sum, len(last.Fills), last.Open)
		}
	})
}

func TestOrdersShareTheDisplayedSize(t *testing.T) {
	desks(t, Options{AllowShort: true}, func(d *desk) {
		d.took(d.limit(order.Sell, "400", "201.00"))
		d.took(d.limit(order.Sell, "400", "201.00"))
		d.tape.say(at.Add(time.Second), "201.50", "201.52")
		d.clock.pass(time.Second)
		a, b := d.find("c1").Order.Filled, d.find("c2").Order.Filled
		sum, _ := a.Add(b)
		if sum != displayed(7, "AAPL", at.Add(time.Second)) || a.Cmp(b) < 0 {
			d.t.Errorf("filled %s and %s", a, b)
		}
	})
}

func TestMarketableOrderBeyondWhatFillsAtOnce(t *testing.T) {
	for _, tif := range []order.TimeInForce{order.IOC, order.Day} {
		desks(t, Options{AllowShort: true}, func(d *desk) {
			m := d.limit(order.Sell, "1500", "199.00")
			m.TimeInForce = tif
			r := d.took(m)
			if len(r.Fills) != 1 || r.Fills[0].Quantity != qty("1000") {
				d.t.Fatalf("fills %+v", r.Fills)
			}
			if ended := r.Ended == "canceled"; ended != (tif == order.IOC) || d.find("c1").Open == ended {
				d.t.Errorf("%s: ended %q", tif, r.Ended)
			}
		})
	}
	desks(t, Options{PartialFills: true}, func(d *desk) {
		if r := d.took(d.limit(order.Buy, "450", "201.00")); len(r.Fills) != 1 || r.Fills[0].Quantity != displayed(7, "AAPL", at) {
			d.t.Errorf("fills %+v, want the displayed size", r.Fills)
		}
	})
}

func TestStopsTriggerOnTheirOwnSideOfTheQuote(t *testing.T) {
	after := at.Add(10 * time.Second)
	for _, c := range []struct {
		name             string
		side             order.Side
		kind             order.Type
		stop, limit      string
		bid, ask         string
		thenBid, thenAsk string // a second later
		filled           string // price; empty: not filled
	}{
		{"buy stop below its trigger", order.Buy, order.Stop, "205.00", "0", "204.98", "204.99", "204.98", "204.99", ""},
		{"buy stop at its trigger, by the ask", order.Buy, order.Stop, "205.00", "0", "204.98", "205.00", "0.01", "0.02", "205"},
		{"sell stop above its trigger", order.Sell, order.Stop, "195.00", "0", "195.01", "195.02", "195.01", "195.02", ""},
		{"sell stop not by the ask", order.Sell, order.Stop, "195.00", "0", "195.01", "195.00", "195.01", "195.03", ""},
		{"sell stop at its trigger, by the bid", order.Sell, order.Stop, "195.00", "0", "194.90", "195.50", "1.00", "1.02", "194.9"},
		{"stop limit triggers, then waits for its limit", order.Buy, order.StopLimit, "205.00", "205.10", "205.40", "205.50", "205.04", "205.05", "205.05"},
		{"stop limit triggers beyond its limit", order.Buy, order.StopLimit, "205.00", "205.10", "205.40", "205.50", "205.40", "205.50", ""},
		{"stop limit not triggered does not fill at its limit", order.Buy, order.StopLimit, "205.00", "205.10", "203.98", "204.00", "203.98", "204.00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			desks(t, Options{AllowShort: true}, func(d *desk) {
				m := d.limit(c.side, "10", c.limit)
				m.Type, m.StopPrice = c.kind, px(c.stop)
				d.took(m)
				d.tape.say(after, c.bid, c.ask)
				d.tape.say(after.Add(time.Second), c.thenBid, c.thenAsk)
				d.clock.pass(time.Minute)
				got := ""
				if s := d.find("c1"); len(s.Fills) == 1 {
					got = s.Fills[0].Price.String()
				}
				if got != c.filled {
					d.t.Errorf("filled at %q, want %q", got, c.filled)
				}
			})
		})
	}
}

func TestStopThatGapsBeyondTheCashIsCanceled(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "480", "0")
		m.Type, m.StopPrice = order.Stop, px("205.00")
		d.took(m)
		d.tape.say(at.Add(time.Second), "499.98", "500.00")
		d.clock.pass(time.Minute)
		if got := d.tells(); !slices.Equal(got, []string{"ended canceled"}) || d.cash() != StartingCash() {
			d.t.Errorf("events %q, cash %s", got, d.cash())
		}
	})
}

func TestHaltedOrInvalidQuoteFillsNothing(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "201.00")
		m.Quote.Halted = true
		d.took(m)
		m = d.limit(order.Buy, "10", "201.00")
		m.Quote.Ask = px("199.00") // crossed
		d.took(m)
		m = d.limit(order.Buy, "10", "201.00")
		m.Quote.HasAsk = false
		d.took(m)
		if got := d.tells(); len(got) != 0 {
			d.t.Errorf("events %q", got)
		}
		m = d.limit(order.Buy, "10", "0")
		m.Type, m.Quote = order.Market, market.Quote{}
		d.refused(m, "no valid quote for a market order")
	})
}

func TestOrdersExpire(t *testing.T) {
	for _, c := range []struct {
		name     string
		placed   time.Time
		tif      order.TimeInForce
		extended bool
		gtd      time.Time
		expires  time.Time // zero: never
	}{
		{"day at the close", clockTime(18, 11, 0), order.Day, false, time.Time{}, clockTime(18, 16, 0)},
		{"day of the extended hours", clockTime(18, 11, 0), order.Day, true, time.Time{}, clockTime(18, 20, 0)},
		{"day that comes after the close", clockTime(18, 16, 0), order.Day, false, time.Time{}, clockTime(19, 16, 0)},
		{"day before the open", clockTime(18, 7, 0), order.Day, false, time.Time{}, clockTime(18, 16, 0)},
		{"day of a Friday evening", clockTime(20, 21, 0), order.Day, true, time.Time{}, clockTime(23, 20, 0)},
		{"gtc", clockTime(18, 11, 0), order.GTC, false, time.Time{}, time.Time{}},
		{"gtd at its own time", clockTime(18, 11, 0), order.GTD, false, clockTime(19, 10, 30).Add(time.Millisecond), clockTime(19, 10, 30).Add(time.Millisecond)},
		{"early close", time.Date(2026, time.November, 27, 15, 0, 0, 0, time.UTC), order.Day, false, time.Time{}, time.Date(2026, time.November, 27, 18, 0, 0, 0, time.UTC)},
		{"extended hours of an early close", time.Date(2026, time.November, 27, 15, 0, 0, 0, time.UTC), order.Day, true, time.Time{}, time.Date(2026, time.November, 27, 22, 0, 0, 0, time.UTC)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, InMemory(Start{Seed: 7, Cash: StartingCash(), Market: c.placed}), Options{})
			d.clock.to(c.placed)
			m := d.limit(order.Buy, "1", "100.00")
			m.TimeInForce, m.ExtendedHours, m.ExpireAt = c.tif, c.extended, c.gtd
			d.took(m)
			if c.expires.IsZero() {
				d.clock.pass(14 * 24 * time.Hour)
				if !d.find("c1").Open {
					t.Error("it ended")
				}
				return
			}
			d.clock.to(c.expires.Add(-time.Nanosecond))
			if !d.find("c1").Open {
				t.Error("ended before its time")
			}
			d.clock.to(c.expires)
			if s := d.find("c1"); s.Open || s.Ended != "expired" {
				t.Errorf("standing %+v at its expiry", s)
			}
			d.clock.pass(5 * 24 * time.Hour)
			if e := d.events(); len(e) != 1 || !e[0].At.Equal(c.expires) {
				t.Errorf("events %+v", e)
			}
		})
	}
}

func TestSessionsInWhichOrdersFill(t *testing.T) {
	for _, c := range []struct {
		name     string
		at       time.Time
		extended bool
		fills    bool
	}{
		{"regular", clockTime(18, 9, 30), false, true},
		{"pre without leave", clockTime(18, 9, 29), false, false},
		{"pre with leave", clockTime(18, 9, 29), true, true},
		{"post with leave", clockTime(18, 16, 0), true, true},
		{"post without leave", clockTime(18, 16, 0), false, false},
		{"closed with leave", clockTime(18, 20, 0), true, false},
		{"Sunday with leave", clockTime(22, 12, 0), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, InMemory(Start{Cash: StartingCash(), Market: c.at}), Options{})
			d.clock.to(c.at)
			d.tape.say(c.at.Add(-time.Hour), "199.98", "200.02")
			m := d.limit(order.Buy, "1", "201.00")
			m.ExtendedHours, m.TimeInForce = c.extended, order.GTC
			if r := d.took(m); (len(r.Fills) == 1) != c.fills {
				t.Errorf("fills %+v", r.Fills)
			}
		})
	}
}

func TestOrderPlacedAtNightFillsAtTheOpen(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		d.clock.to(clockTime(18, 22, 0))
		d.took(d.limit(order.Buy, "10", "201.00"))
		d.clock.to(clockTime(19, 9, 29))
		if len(d.find("c1").Fills) != 0 {
			d.t.Error("filled before the open")
		}
		d.clock.to(clockTime(19, 10, 0))
		if s := d.find("c1"); len(s.Fills) != 1 || !s.Fills[0].ExecutedAt.Equal(clockTime(19, 9, 30)) {
			d.t.Errorf("standing %+v", s)
		}
	})
}

func TestPreviousCloseEquityIsThatOfTheClose(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		d.took(d.limit(order.Buy, "10", "201.00"))
		if a := d.account(); a.PreviousCloseEquity == nil || *a.PreviousCloseEquity != StartingCash() {
			d.t.Errorf("equity %v on the first day, want what it started with", a.PreviousCloseEquity)
		}
		d.tape.say(clockTime(18, 15, 0), "210.00", "210.10")
		d.tape.say(clockTime(18, 16, 0), "300.00", "300.10") // after hours
		d.clock.to(clockTime(19, 9, 30))
		if a := d.account(); a.PreviousCloseEquity == nil || *a.PreviousCloseEquity != usd("100099.8") {
			d.t.Errorf("equity %v, want 97999.80 + 2100.00", a.PreviousCloseEquity)
		}
		d.clock.to(clockTime(20, 9, 30))
		if a := d.account(); a.PreviousCloseEquity == nil || *a.PreviousCloseEquity != usd("100999.8") {
			d.t.Errorf("equity %v, want 97999.80 + 3000.00", a.PreviousCloseEquity)
		}
	})
}

func TestLimitExactlyAtTheQuoteFills(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		if r := d.took(d.limit(order.Buy, "10", "200.02")); len(r.Fills) != 1 {
			d.t.Errorf("a buy at the ask: %+v", r)
		}
		if r := d.took(d.limit(order.Sell, "10", "199.98")); len(r.Fills) != 1 {
			d.t.Errorf("a sell at the bid: %+v", r)
		}
	})
}

// More seconds of orders than one transaction looks at: none may be lost between two.
func TestFillBeyondOneTransactionsWork(t *testing.T) {
	d := newDesk(t, InMemory(start()), Options{})
	for range 20 {
		d.took(d.limit(order.Buy, "1", "100.00"))
	}
	filled := at.Add(stepsMax / 20 * 3 / 2 * time.Second)
	d.tape.say(filled, "99.00", "99.50")
	d.tape.say(filled.Add(time.Second), "199.98", "200.02")
	d.clock.pass(3 * time.Hour)
	e := d.events()
	if len(e) != 20 {
		t.Fatalf("%d fills, want 20", len(e))
	}
	for _, e := range e {
		if !e.At.Equal(filled) {
			t.Errorf("filled at %s, want %s", e.At, filled)
		}
	}
}

func TestOrderDoesNotFillInTheSecondOfItsExpiry(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		m := d.limit(order.Buy, "10", "100.00")
		m.TimeInForce, m.ExpireAt = order.GTD, at.Add(time.Minute)
		d.took(m)
		d.tape.say(at.Add(time.Minute), "99.00", "99.02")
		d.clock.pass(time.Hour)
		if got := d.tells(); !slices.Equal(got, []string{"ended expired"}) {
			d.t.Errorf("events %q", got)
		}
	})
}

func TestSellWhoseSharesHaveGoneIsCanceled(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		d.took(d.limit(order.Buy, "10", "201.00"))
		d.took(d.limit(order.Sell, "10", "210.00"))
		sold := journal.ExternalFill{Instrument: share("AAPL"), Side: order.Sell, Quantity: qty("4"), Price: px("200.00")}
		if _, err := d.ExternalFill(d.t.Context(), sold); err != nil {
			d.t.Fatal(err)
		}
		d.tape.say(at.Add(time.Second), "211.00", "211.02")
		d.clock.pass(time.Minute)
		if s := d.find("c2"); s.Ended != "canceled" || len(s.Fills) != 0 || d.position() != qty("6") {
			d.t.Errorf("standing %+v, position %s", s, d.position())
		}
	})
}
