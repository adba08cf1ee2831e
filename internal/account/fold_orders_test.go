package account_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// is asserts a figure by its text.
func is[T interface{ String() string }](t testing.TB, what string, got T, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// shown is a working limit order as a broker shows it.
func shown(id string, side order.Side, symbol, quantity, price string) *journal.BrokerOrder {
	return &journal.BrokerOrder{
		BrokerID: id, Instrument: stock(symbol), LimitPrice: money.MustPrice(price),
		Quantity: money.MustQuantity(quantity), Side: side, TimeInForce: order.Day, Type: order.Limit,
	}
}

// external journals one event of the broker's, whose id is made up.
func (c *script) external(x journal.External) {
	c.t.Helper()
	c.execs++
	x.ID = "event" + strconv.Itoa(c.execs)
	c.must(journal.KindExternal, x)
}

// outside is a trade outside the gate; a negative quantity sells.
func (c *script) outside(symbol, signed, price string) journal.External {
	q, side := money.MustQuantity(signed), order.Buy
	if q.IsNegative() {
		q, side = q.Neg(), order.Sell
	}
	return journal.External{Fill: &journal.ExternalFill{Instrument: stock(symbol), Price: money.MustPrice(price), Quantity: q, Side: side}}
}

// TestTheStatusOfAnOrder walks one through its life.
func TestTheStatusOfAnOrder(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	status := func(at time.Time, want string) {
		t.Helper()
		if got := c.s.Order(id).Status(at); got != want {
			t.Errorf("status %s, want %s", got, want)
		}
	}
	status(c.now.Add(30*time.Second-1), "reserved")
	status(c.now.Add(30*time.Second), "in_doubt")
	c.outcome(id, journal.ResultAccepted)
	status(c.now.Add(time.Hour), "working")
	c.fill(id, "4", "10")
	status(c.now, "partially_filled")
	seq := c.replace(id, "12", "10", false)
	c.now = c.now.Add(time.Second)
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultInDoubt})
	status(c.now, "in_doubt")
	// The entry says so 29 seconds before the reply was due: doubt begins with the entry.
	if o := c.s.Order(id); !o.DoubtSince(c.now).Equal(c.now) {
		t.Errorf("in doubt since %s, want %s", o.DoubtSince(c.now), c.now)
	}
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultAccepted})
	status(c.now, "partially_filled")
	if o := c.s.Order(id); o.Stage != account.Working || o.Pending != nil {
		t.Errorf("after the replace: %+v", o)
	}
}

// TestWhatTheBrokerShowsOfOurOrder: someone changed it there. What it was judged by is
// only ever raised, and what the broker does not show stays.
func TestWhatTheBrokerShowsOfOurOrder(t *testing.T) {
	c := begin(t)
	d := c.decision(intent(order.Buy, "AAPL", "10", "10"))
	d.Intent.ExtendedHours, d.Intent.ExpireAt = true, c.now.Add(time.Hour)
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	id := "paper/2"
	c.must(journal.KindOutcome, journal.Outcome{BrokerID: "b1", Decision: 2, Result: journal.ResultInDoubt})
	for _, x := range []struct{ quantity, price, filled, cost, risk, open string }{
		{"8", "9", "3", "100", "10", "8"}, // less than it was judged by, and fills of its own that are told apart
		{"20", "15", "0", "300", "15", "20"},
	} {
		b := shown("b1", order.Buy, "AAPL", x.quantity, x.price)
		b.ClientOrderID, b.Filled = c.s.Order(id).ClientOrderID, money.MustQuantity(x.filled)
		c.external(journal.External{Order: b})
		o := c.s.Order(id)
		is(t, "cost", o.Cost, x.cost)
		is(t, "risk price", o.RiskPrice, x.risk)
		is(t, "filled", o.Filled, "0")
		c.holding("AAPL", "0", x.open, "0")
		if !o.ExtendedHours || !o.ExpireAt.Equal(c.now.Add(time.Hour)) || o.Stage != account.Working || o.External {
			t.Errorf("order %+v", o)
		}
	}
}

// TestWhatTheBrokerShowsOfItsOrder: terms and fills of an external order are the broker's.
func TestWhatTheBrokerShowsOfItsOrder(t *testing.T) {
	c := begin(t)
	ours := c.working(order.Buy, "AAPL", "10", "10")
	second := c.working(order.Buy, "AAPL", "5", "10")
	// Its price of 0.333333333 for half a share is 0.1666666665 of cash: up.
	c.external(journal.External{Order: shown("9", order.Buy, "AAPL", "0.5", "0.333333333")})
	is(t, "cost", c.s.Order("ext/9").Cost, "0.166666667")
	// A stop has its own price, and not the limit that it lacks.
	stop := shown("9", order.Buy, "AAPL", "7", "0")
	stop.Type, stop.StopPrice = order.Stop, money.MustPrice("20")
	// Its own id goes before a client order id that an older order has too.
	stop.ClientOrderID, stop.Filled = c.s.Order(ours).ClientOrderID, money.MustQuantity("2")
	c.external(journal.External{Order: stop})
	o := c.s.Order("ext/9")
	is(t, "risk price", o.RiskPrice, "20")
	is(t, "cost", o.Cost, "140")
	is(t, "filled", o.Filled, "2")
	is(t, "ours", c.s.Order(ours).Quantity, "10")
	c.holding("AAPL", "0", "20", "0")
	if c.s.OpenOrders() != 3 {
		t.Errorf("%d open", c.s.OpenOrders())
	}
	// By the client order id alone, and not the first that comes.
	named := shown("b2", order.Buy, "AAPL", "6", "10")
	named.ClientOrderID = c.s.Order(second).ClientOrderID
	c.external(journal.External{Order: named})
	is(t, "ours", c.s.Order(ours).Quantity, "10")
	is(t, "second", c.s.Order(second).Quantity, "6")
	// Shown as filled up it is gone, and with it the last that is in its instrument.
	c.external(journal.External{Order: shown("8", order.Sell, "SPY", "1", "5")})
	full := shown("8", order.Sell, "SPY", "1", "5")
	full.Filled = full.Quantity
	c.external(journal.External{Order: full})
	if c.s.Order("ext/8") != nil || c.s.Holding("SPY") != nil {
		t.Error("an order that is filled up is still open")
	}
}

// TestLegsCountByTheLargestOfTheirSide whatever their order is, and by group and side.
func TestLegsCountByTheLargestOfTheirSide(t *testing.T) {
	c := begin(t)
	leg := func(id string, side order.Side, quantity, group string) {
		b := shown(id, side, "AAPL", quantity, "0")
		b.Type, b.Group = order.Market, group
		c.external(journal.External{Order: b})
	}
	leg("1", order.Sell, "10", "g")
	leg("2", order.Sell, "30", "g")
	leg("3", order.Buy, "50", "g")
	leg("4", order.Sell, "20", "g")
	c.holding("AAPL", "0", "50", "30")
	leg("5", order.Sell, "7", "")
	c.holding("AAPL", "0", "50", "37")
	leg("5", order.Sell, "7", "g") // linked now
	c.holding("AAPL", "0", "50", "30")
	leg("2", order.Sell, "30", "") // and another no longer
	c.holding("AAPL", "0", "50", "50")
	leg("2", order.Sell, "60000000000000000000", "h")
	b := shown("6", order.Sell, "AAPL", "60000000000000000000", "0")
	b.Type, b.Group = order.Market, "i"
	c.refused(journal.KindExternal, journal.External{ID: "too much", Order: b})
}

// TestTheEndOfAnExternalOrder by every word that ends one; its twin of one entry stays.
func TestTheEndOfAnExternalOrder(t *testing.T) {
	for _, result := range []string{journal.ResultCanceled, journal.ResultExpired, journal.ResultRejected, "filled"} {
		c := &script{t: t, s: account.New("paper"), now: morning}
		c.must(journal.KindGenesis, journal.Genesis{
			Broker: "paper", Currency: "USD", Version: "test", Who: "test",
			Orders: []journal.BrokerOrder{*shown("1", order.Buy, "AAPL", "10", "1"), *shown("2", order.Buy, "AAPL", "5", "1")},
		})
		c.external(journal.External{Ended: &journal.ExternalEnd{BrokerID: "2", Result: result}})
		c.holding("AAPL", "0", "10", "0")
		if c.s.Order("ext/2") != nil || len(c.s.Orders) != 1 || c.s.Orders[0].ID != "ext/1" {
			t.Errorf("%s: open are %+v", result, c.s.Orders)
		}
		for _, wrong := range []string{journal.ResultAccepted, journal.ResultInDoubt, journal.ResultNotSent, ""} {
			c.refused(journal.KindExternal, journal.External{ID: "w", Ended: &journal.ExternalEnd{BrokerID: "1", Result: wrong}})
		}
	}
}

// TestAnOutcomeIsOfWhatItNames: one that names an order and a decision of another
// changes neither.
func TestAnOutcomeIsOfWhatItNames(t *testing.T) {
	c := begin(t)
	a, b := c.working(order.Buy, "AAPL", "10", "10"), c.working(order.Buy, "AAPL", "5", "10")
	c.external(journal.External{Order: shown("9", order.Sell, "SPY", "1", "5")})
	ext := c.s.Seq
	gone := c.working(order.Buy, "MSFT", "1", "1")
	c.outcome(gone, journal.ResultRejected)
	for _, out := range []journal.Outcome{
		{Decision: seqOf(b), OrderID: a}, {Decision: 1, OrderID: a}, {Decision: ext, OrderID: "ext/9"},
		{Decision: ext}, {Decision: seqOf(a), OrderID: gone}, {Decision: seqOf(gone)}, {Decision: 1},
	} {
		out.Result, out.Cursor = journal.ResultRejected, "c"+strconv.FormatUint(c.s.Seq, 10)
		c.must(journal.KindOutcome, out)
		if c.s.OpenOrders() != 3 || c.s.Cursor != out.Cursor {
			t.Fatalf("%+v: %d open, cursor %s", out, c.s.OpenOrders(), c.s.Cursor)
		}
	}
	c.refused(journal.KindOutcome, journal.Outcome{Decision: c.s.Seq + 1, OrderID: a, Result: journal.ResultRejected})
	c.must(journal.KindOutcome, journal.Outcome{Decision: seqOf(a), OrderID: a, Result: journal.ResultRejected})
	if c.s.Order(a) != nil || c.s.OpenOrders() != 2 {
		t.Error("an outcome that names its order does not end it")
	}
	c.holding("AAPL", "0", "5", "0")
}

// TestACancelThatIsNotAnswered keeps what it was, in doubt; one not sent is none.
func TestACancelThatIsNotAnswered(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	seq := c.cancel(id)
	due := c.now.Add(30 * time.Second)
	if p := c.s.Order(id).Canceling; p.Seq != seq || p.Doubtful || !p.ReplyBy.Equal(due) {
		t.Errorf("asked: %+v", p)
	}
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultInDoubt})
	if p := c.s.Order(id).Canceling; p == nil || p.Seq != seq || !p.Doubtful || !p.ReplyBy.Equal(due) {
		t.Errorf("in doubt: %+v", p)
	}
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultNotSent})
	if o := c.s.Order(id); o.Canceling != nil {
		t.Errorf("not sent: %+v", o.Canceling)
	}
}

// TestOrdersAreFoundByWhatWasSent, open or ended, and by one spelling of their id.
func TestOrdersAreFoundByWhatWasSent(t *testing.T) {
	c := begin(t)
	c.external(journal.External{Order: shown("9", order.Sell, "SPY", "1", "5")})
	for c.s.Seq < 10 {
		c.deny()
	}
	id := c.working(order.Buy, "AAPL", "10", "10")
	sent := c.s.Order(id).ClientOrderID
	c.outcome(id, journal.ResultCanceled)
	if got, known := c.s.OrderIDFor(sent); !known || got != "paper/11" {
		t.Errorf("%s is %s", sent, got)
	}
	for _, other := range []string{"", "nobody's"} {
		if got, known := c.s.OrderIDFor(other); known {
			t.Errorf("%q is %s", other, got)
		}
	}
	if e, known := c.s.Ended("paper/11"); !known || e.Status != journal.ResultCanceled {
		t.Errorf("ended %+v", e)
	}
	for _, other := range []string{"11", "paper/011", "paper/+11", "other/11", "paper/11x", "paper/"} {
		if _, known := c.s.Ended(other); known {
			t.Errorf("%q is known", other)
		}
	}
}

// TestEndedOrdersLeaveByTheTenth: at the bound nothing is forgotten, one beyond it a tenth.
func TestEndedOrdersLeaveByTheTenth(t *testing.T) {
	c := begin(t)
	c.s.ForgetEnded(account.EndedMax - 1)
	for _, want := range []int{account.EndedMax, 45_001} {
		c.outcome(c.place(order.Buy, "AAPL", "1", "1"), journal.ResultRejected)
		if n := c.s.EndedCount(); n != want {
			t.Errorf("%d are remembered, want %d", n, want)
		}
	}
}
