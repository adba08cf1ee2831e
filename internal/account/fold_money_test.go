package account_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// held begins an account with positions taken over, each of cost a share, and no cash.
func held(t testing.TB, cash string, positions ...journal.Position) *script {
	c := &script{t: t, s: account.New("paper"), now: morning}
	c.must(journal.KindGenesis, journal.Genesis{
		Broker: "paper", Cash: money.MustNotional(cash), Currency: "USD", Version: "test", Who: "test", Positions: positions,
	})
	return c
}

func position(symbol, quantity, cost string) journal.Position {
	return journal.Position{Cost: money.MustPrice(cost), Instrument: stock(symbol), Quantity: money.MustQuantity(quantity)}
}

// TestTradesOfADay folds short runs of trades. Figures are derived by hand, by average
// cost, rounded against the account at the ninth decimal.
func TestTradesOfADay(t *testing.T) {
	type trade struct{ symbol, signed, price, position, cost, realized, cash string }
	for name, trades := range map[string][]trade{
		"in at two prices, out at a third": {
			{"AAPL", "3", "10", "3", "10", "0", "99970"},
			{"AAPL", "4", "11", "7", "10.571428572", "0", "99926"}, // 74/7, up
			{"AAPL", "-7", "10", "0", "0", "-4.000000004", "99996"},
		},
		"short at two prices": {
			{"AAPL", "-3", "10", "-3", "10", "0", "100030"},
			{"AAPL", "-4", "11", "-7", "10.571428571", "0", "100074"}, // 74/7, down
			{"AAPL", "2", "9", "-5", "10.571428571", "3.142857142", "100056"},
			{"AAPL", "8", "9", "3", "9", "10.999999997", "99984"}, // and 5 times 1.571428571; the rest is long at 9
		},
		"worthless": {
			{"AAPL", "5", "2", "5", "2", "0", "99990"},
			{"AAPL", "-5", "0", "0", "0", "-10", "99990"},
		},
		"flat and in again on one day": {
			{"AAPL", "1", "100", "1", "100", "0", "99900"},
			{"AAPL", "-1", "150", "0", "0", "50", "100050"},
			{"MSFT", "1", "100", "1", "100", "0", "99950"},
			{"MSFT", "-1", "130", "0", "0", "30", "100080"},
			{"MSFT", "1", "100", "1", "100", "30", "99980"},
			{"AAPL", "1", "100", "1", "100", "50", "99880"},
			{"AAPL", "-1", "90", "0", "0", "40", "99970"},
			{"MSFT", "-1", "101", "0", "0", "31", "100071"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := begin(t)
			for i, x := range trades {
				c.external(c.outside(x.symbol, x.signed, x.price))
				is(t, "cash", c.s.Cash, x.cash)
				h := c.s.Holding(x.symbol)
				if x.position == "0" {
					if h != nil {
						t.Errorf("%d: flat, but held: %+v", i, h)
					}
					// What it earned is asked of an order that opens it again.
					c.external(journal.External{Order: shown("probe", order.Buy, x.symbol, "1", "1")})
					is(t, "realized", c.s.Holding(x.symbol).Realized, x.realized)
					c.external(journal.External{Ended: &journal.ExternalEnd{BrokerID: "probe", Result: journal.ResultCanceled}})
					continue
				}
				is(t, "position", h.Position, x.position)
				is(t, "cost", h.Cost, x.cost)
				is(t, "realized", h.Realized, x.realized)
			}
		})
	}
}

// TestWhatADayEarnedEndsWithIt: also of an instrument that went flat.
func TestWhatADayEarnedEndsWithIt(t *testing.T) {
	c := begin(t)
	for _, symbol := range []string{"AAPL", "MSFT"} {
		c.fill(c.working(order.Buy, symbol, "1", "100"), "1", "100")
		c.fill(c.working(order.Sell, symbol, "1", "150"), "1", "150")
	}
	if len(c.s.Holdings) != 0 {
		t.Errorf("flat, but held: %+v", c.s.Holdings)
	}
	is(t, "realized", c.s.Day.Realized, "100")
	c.now = c.now.AddDate(0, 0, 1)
	c.place(order.Buy, "AAPL", "1", "100")
	is(t, "realized", c.s.Day.Realized, "0")
	is(t, "notional", c.s.Day.Notional, "100")
	is(t, "realized of AAPL", c.s.Holding("AAPL").Realized, "0")
	c.external(c.outside("MSFT", "1", "100"))
	is(t, "realized of MSFT", c.s.Holding("MSFT").Realized, "0")
	if c.s.Day.Orders != 1 || c.s.Day.ExitOrders != 0 {
		t.Errorf("day %+v", c.s.Day)
	}
}

// TestTradesPastTheRange: each sum of a trade by itself leaves the range, which ends at
// 10^20. None is booked.
func TestTradesPastTheRange(t *testing.T) {
	const big = "90000000000000000000" // 9 x 10^19
	fees := func(x journal.External, fees string) journal.External {
		x.Fill.Fees = money.MustNotional(fees)
		return x
	}
	fine := func(x journal.External, multiplier string) journal.External {
		x.Fill.Instrument.Multiplier = money.MustQuantity(multiplier)
		return x
	}
	tiny := position("AAPL", "1", "1")
	tiny.Instrument.Multiplier = money.MustQuantity("0.001")
	for _, x := range []struct {
		name   string
		c      *script
		before []journal.External
		last   journal.External
	}{
		{"value", held(t, "0"), nil, begin(t).outside("AAPL", "2", big)},
		{"value and fees", held(t, "0"), nil, fees(begin(t).outside("AAPL", "1", big), big)},
		{"cash", held(t, "-"+big), nil, begin(t).outside("AAPL", "1", big)},
		{"position", held(t, "0", position("AAPL", big, "0")), nil, begin(t).outside("AAPL", big, "0")},
		{"cost so far", held(t, "0", position("AAPL", "2", big)), nil, begin(t).outside("AAPL", "1", "1")},
		{"cost added", held(t, "0", tiny), nil, fine(begin(t).outside("AAPL", "2", big), "0.001")},
		{"cost in all", held(t, "0", position("AAPL", "1", big)), nil, begin(t).outside("AAPL", "1", "20000000000000000000")},
		{"profit of closing", held(t, "0", position("AAPL", "2", big)), nil, begin(t).outside("AAPL", "-2", "0")},
		{"profit less fees", held(t, "0", position("AAPL", "1", big)), nil, fees(begin(t).outside("AAPL", "-1", "0"), "20000000000000000000")},
		{"profit of the holding", held(t, "0", position("AAPL", "2", big), position("MSFT", "-1", big)), []journal.External{
			begin(t).outside("AAPL", "-1", "0"), begin(t).outside("MSFT", "1", "0"),
		}, begin(t).outside("AAPL", "-1", "0")},
		{"profit of the day", held(t, "0", position("AAPL", "1", big), position("MSFT", "1", big)), []journal.External{
			begin(t).outside("AAPL", "-1", "0"),
		}, begin(t).outside("MSFT", "-1", "0")},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.c.t = t
			for _, e := range x.before {
				x.c.external(e)
			}
			x.last.ID = "last"
			x.c.refused(journal.KindExternal, x.last)
		})
	}
}

// TestFillsPastTheRange: what an order has filled is a sum too, open, ended or external.
func TestFillsPastTheRange(t *testing.T) {
	const most, less = "99999999999999999999.999999999", "99999999999999999999"
	c := begin(t)
	id := c.working(order.Buy, "AAPL", most, "0")
	c.fill(id, less, "0")
	c.external(c.outside("AAPL", "-"+less, "0"))
	c.refused(journal.KindFill, c.fillBody(id, "5", "0"))
	c.outcome(id, journal.ResultCanceled)
	c.refused(journal.KindFill, c.fillBody(id, "5", "0"))
	c.fill(id, "0.5", "0")
	if e, _ := c.s.Ended(id); e.Filled.String() != "99999999999999999999.5" {
		t.Errorf("filled %s", e.Filled)
	}
	b := shown("9", order.Buy, "SPY", most, "0")
	b.Filled = money.MustQuantity(less)
	c.external(journal.External{Order: b})
	x := c.outside("SPY", "5", "0")
	x.Fill.BrokerID, x.ID = "9", "past"
	c.refused(journal.KindExternal, x)
}

// TestOpenQuantitiesPastTheRange: each sum of what can fill leaves the range by itself.
func TestOpenQuantitiesPastTheRange(t *testing.T) {
	c := begin(t)
	ask := func(action order.Action, target, quantity string) journal.Decision {
		in := intent(order.Buy, "AAPL", quantity, "0")
		in.Action, in.Target = action, target
		d := c.decision(in)
		reserve(&d, journal.BucketOpen)
		d.Flags = []string{journal.FlagAtomicReplace}
		return d
	}
	c.working(order.Buy, "AAPL", "60000000000000000000", "0")
	small := c.working(order.Buy, "AAPL", "10000000000000000000", "0")
	c.refused(journal.KindDecision, ask(order.ActionNew, "", "40000000000000000000"))
	c.refused(journal.KindDecision, ask(order.ActionReplace, small, "80000000000000000000"))
	c = begin(t)
	// Old and new together, although the broker would never have both.
	large := c.working(order.Buy, "AAPL", "90000000000000000000", "0")
	c.refused(journal.KindDecision, ask(order.ActionReplace, large, "20000000000000000000"))
}

// TestTheMinutesTurnoverHasARange: of its own, over the change of dates.
func TestTheMinutesTurnoverHasARange(t *testing.T) {
	for _, x := range []struct {
		after time.Duration
		fits  bool
	}{{time.Minute - 1, false}, {time.Minute, true}} {
		c := begin(t)
		c.now = time.Date(2026, 3, 19, 3, 59, 30, 0, time.UTC) // half a minute before the date of New York ends
		first := c.decision(intent(order.Buy, "AAPL", "1", "1"))
		reserve(&first, journal.BucketOpen)
		first.Reservation.Notional = money.MustNotional("90000000000000000000")
		c.must(journal.KindDecision, first)
		date := c.s.Day.Date
		c.now = c.now.Add(x.after)
		second := c.decision(intent(order.Buy, "AAPL", "1", "1"))
		reserve(&second, journal.BucketOpen)
		second.Reservation.Notional = money.MustNotional("20000000000000000000")
		if c.s.TradeDateAt(c.now) == date {
			t.Fatal("the date is the same")
		}
		if !x.fits {
			c.refused(journal.KindDecision, second)
			continue
		}
		c.must(journal.KindDecision, second)
		is(t, "notional", c.s.Day.Notional, "20000000000000000000")
	}
}
