package account_test

import (
	"errors"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The interactions that pre-trade ledgers get wrong, as far as they concern the state.
// What a rail makes of it is tested with the rails.

func TestTwoSellsOfOneHoldingBothCount(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "100"), "10", "100")
	c.place(order.Sell, "AAPL", "10", "101")
	c.holding("AAPL", "10", "0", "10")
	c.place(order.Sell, "AAPL", "1", "101")
	c.holding("AAPL", "10", "0", "11")
}

func TestReplaceOfAPartlyFilledOrder(t *testing.T) {
	for _, c := range []struct {
		name               string
		total              string
		atomic             bool
		pending, after     string
		result, afterOrder string
	}{
		{"up, in one step", "120", true, "60", "60", journal.ResultAccepted, "120"},
		{"up, in two steps", "120", false, "100", "60", journal.ResultAccepted, "120"},
		{"down, in one step", "80", true, "40", "20", journal.ResultAccepted, "80"},
		{"down, in two steps", "80", false, "60", "20", journal.ResultAccepted, "80"},
		{"refused leaves the original", "120", false, "100", "40", journal.ResultRejected, "100"},
		{"not sent leaves the original", "120", true, "60", "40", journal.ResultNotSent, "100"},
		{"in doubt keeps both", "120", false, "100", "100", journal.ResultInDoubt, "100"},
		{"in doubt keeps the larger", "120", true, "60", "60", journal.ResultInDoubt, "100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t)
			id := s.working(order.Buy, "AAPL", "100", "10")
			s.fill(id, "60", "10")
			s.holding("AAPL", "60", "40", "0")
			seq := s.replace(id, c.total, "11", c.atomic)
			s.holding("AAPL", "60", c.pending, "0")
			s.must(journal.KindOutcome, journal.Outcome{Decision: seq, OrderID: id, Result: c.result})
			s.holding("AAPL", "60", c.after, "0")
			if got := s.s.Order(id).Quantity.String(); got != c.afterOrder {
				t.Errorf("total %s, want %s", got, c.afterOrder)
			}
			if doubt := s.s.InDoubtIn("AAPL", s.now); doubt != (c.result == journal.ResultInDoubt) {
				t.Errorf("in doubt: %v", doubt)
			}
		})
	}
}

func TestReplaceDownToWhatIsFilledEndsTheOrder(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "100", "10")
	c.fill(id, "60", "10")
	seq := c.replace(id, "60", "10", true)
	if c.s.Order(id) == nil {
		t.Fatal("gone while the replace is pending")
	}
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultAccepted})
	if e, known := c.s.Ended(id); !known || e.Status != account.StatusFilled || c.s.Order(id) != nil {
		t.Errorf("ended as %+v", e)
	}
}

func TestReplacingUpAndDownSpendsTheDay(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	for i := range 50 {
		total := "20"
		if i%2 == 1 {
			total = "10"
		}
		seq := c.replace(id, total, "10", true)
		c.must(journal.KindOutcome, journal.Outcome{Decision: seq, Result: journal.ResultAccepted})
	}
	// 100 of the order, and what each of the replaces said: nothing is ever given back.
	if got := c.s.Day.Notional.String(); got != "7600" {
		t.Errorf("day notional %s", got)
	}
	if c.s.Day.Orders != 1 || c.s.Rate.Count(c.now, journal.BucketOpen) != 51 {
		t.Errorf("%d orders, %d in the minute", c.s.Day.Orders, c.s.Rate.Count(c.now, journal.BucketOpen))
	}
}

func TestACancelCountsUntilItsEndIsProved(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	seq := c.cancel(id)
	for _, result := range []string{journal.ResultAccepted, journal.ResultInDoubt} {
		c.must(journal.KindOutcome, journal.Outcome{Decision: seq, OrderID: id, Result: result})
		c.holding("AAPL", "0", "10", "0")
		if c.s.Order(id).Canceling == nil {
			t.Fatalf("after %s no longer canceling", result)
		}
	}
	c.outcome(id, journal.ResultCanceled)
	c.holding("AAPL", "0", "0", "0")
	if len(c.s.Holdings) != 0 || len(c.s.Orders) != 0 {
		t.Errorf("left over: %+v", c.s.Holdings)
	}
}

func TestARefusedCancelLeavesTheOrder(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	c.must(journal.KindOutcome, journal.Outcome{Decision: c.cancel(id), Result: journal.ResultRejected})
	if o := c.s.Order(id); o == nil || o.Canceling != nil {
		t.Errorf("order %+v", o)
	}
}

func TestTimeoutThenALateFillAfterARestart(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	if c.s.InDoubtIn("AAPL", c.now.Add(30*time.Second-1)) || c.s.Order(id).Stage != account.Reserved {
		t.Error("in doubt before reply_by")
	}
	late := c.now.Add(30 * time.Second)
	if !c.s.InDoubtIn("AAPL", late) || c.s.InDoubtCount(late) != 1 {
		t.Error("not in doubt at reply_by")
	}
	if since := c.s.Order(id).DoubtSince(late.Add(time.Hour)); !since.Equal(late) {
		t.Errorf("in doubt since %v", since)
	}
	restored, err := account.Restore(snapshot(t, c.s))
	if err != nil {
		t.Fatal(err)
	}
	c.s, c.now = restored, late.Add(time.Minute)
	c.holding("AAPL", "0", "10", "0")
	c.fill(id, "4", "10")
	c.holding("AAPL", "4", "6", "0")
	if o := c.s.Order(id); o.Stage != account.Working || o.InDoubt(c.now) {
		t.Error("a fill proves that the order is at the broker")
	}
}

func TestAnInDoubtReplyAfterProofChangesNothing(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	c.fill(id, "1", "10")
	c.outcome(id, journal.ResultInDoubt)
	if c.s.InDoubtCount(c.now) != 0 {
		t.Error("in doubt, though it filled")
	}
	c.refused(journal.KindOutcome, journal.Outcome{Decision: seqOf(id), Result: journal.ResultNotSent})
}

func TestAnExecutionIsBookedOnce(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	f := c.fillBody(id, "4", "10")
	for range 3 {
		c.must(journal.KindFill, f)
		c.holding("AAPL", "4", "6", "0")
	}
	c.now = c.now.Add(48 * time.Hour)
	c.must(journal.KindFill, f)
	c.holding("AAPL", "4", "6", "0")
	if !c.s.SeenExecution(f.ExecutionID) || c.s.SeenExecution("other") || c.s.Cash.String() != "99960" {
		t.Errorf("cash %s", c.s.Cash)
	}
}

func TestABustIsBookedAsTheOppositeFill(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	c.must(journal.KindExternal, journal.External{ID: "bust-1", Fill: &journal.ExternalFill{
		Instrument: stock("AAPL"), Price: money.MustPrice("10"), Quantity: money.MustQuantity("10"), Side: order.Sell,
	}})
	c.holding("AAPL", "0", "0", "0")
	if c.s.Cash.String() != "100000" || !c.s.Day.Realized.IsZero() || c.s.Cycles.Count(c.now, time.Hour) != 0 {
		t.Errorf("cash %s, realized %s", c.s.Cash, c.s.Day.Realized)
	}
}

func TestAManualSaleShrinksWhatCanBeClosed(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	c.must(journal.KindExternal, journal.External{ID: "o", Order: &journal.BrokerOrder{
		BrokerID: "77", Instrument: stock("AAPL"), LimitPrice: money.MustPrice("11"), Quantity: money.MustQuantity("6"),
		Side: order.Sell, TimeInForce: order.Day, Type: order.Limit,
	}})
	c.holding("AAPL", "10", "0", "6")
	for i, want := range []struct{ position, sell string }{{"8", "4"}, {"4", "0"}} {
		quantity := []string{"2", "4"}[i]
		c.must(journal.KindExternal, journal.External{ID: "f" + quantity, Fill: &journal.ExternalFill{
			BrokerID: "77", Instrument: stock("AAPL"), Price: money.MustPrice("11"), Quantity: money.MustQuantity(quantity), Side: order.Sell,
		}})
		c.holding("AAPL", want.position, "0", want.sell)
	}
	if c.s.OpenOrders() != 0 {
		t.Error("the external order is still open")
	}
}

func TestAFlipClosesAndOpens(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	c.fill(c.working(order.Sell, "AAPL", "15", "12"), "15", "12")
	c.holding("AAPL", "-5", "0", "0")
	h := c.s.Holding("AAPL")
	if h.Cost.String() != "12" || h.Realized.String() != "20" || !h.OpenedInCycle || c.s.Cycles.Count(c.now, time.Hour) != 1 {
		t.Errorf("holding %+v", h)
	}
	c.fill(c.working(order.Buy, "AAPL", "5", "13"), "5", "13")
	if c.s.Day.Realized.String() != "15" || c.s.Cash.String() != "100015" || c.s.Cycles.Count(c.now, time.Hour) != 2 {
		t.Errorf("realized %s, cash %s", c.s.Day.Realized, c.s.Cash)
	}
}

func TestLinkedOrdersCountByTheLargestLeg(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	leg := func(id, quantity, group string) {
		c.must(journal.KindExternal, journal.External{ID: "o" + id, Order: &journal.BrokerOrder{
			BrokerID: id, Group: group, Instrument: stock("AAPL"), LimitPrice: money.MustPrice("11"),
			Quantity: money.MustQuantity(quantity), Side: order.Sell, TimeInForce: order.Day, Type: order.Limit,
		}})
	}
	leg("1", "10", "g")
	leg("2", "8", "g")
	c.holding("AAPL", "10", "0", "10")
	leg("3", "3", "h")
	leg("4", "1", "")
	c.holding("AAPL", "10", "0", "14")
	fill := func(id, execution string) {
		c.must(journal.KindExternal, journal.External{ID: execution, Fill: &journal.ExternalFill{
			BrokerID: id, Instrument: stock("AAPL"), Price: money.MustPrice("11"), Quantity: money.MustQuantity("8"), Side: order.Sell,
		}})
	}
	// Both legs fill, against what the broker promised: both are booked.
	fill("1", "f1")
	c.holding("AAPL", "2", "0", "12")
	fill("2", "f2")
	c.holding("AAPL", "-6", "0", "6")
	restored, err := account.Restore(snapshot(t, c.s))
	if err != nil || restored.Holding("AAPL").OpenSell.String() != "6" {
		t.Errorf("restored otherwise: %v", err)
	}
}

func TestASplitIsAdopted(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "100"), "10", "100")
	reconcile := func(adopted ...string) journal.Reconcile {
		return journal.Reconcile{
			AsOf: journal.At(c.now), Cash: money.NotionalFromInt(99_000), Adopted: adopted, Whole: true, Who: "operator",
			Positions: []journal.Holding{{Cost: money.MustPrice("25"), Quantity: money.MustQuantity("40"), Symbol: "AAPL"}},
		}
	}
	r := reconcile()
	r.Differences = []journal.Difference{{Broker: money.MustQuantity("40"), Ledger: money.MustQuantity("10"), Symbol: "AAPL"}}
	c.must(journal.KindReconcile, r)
	c.holding("AAPL", "10", "0", "0")
	if len(c.s.Reconciled.Differences) != 1 || !c.s.Reconciled.At.Equal(c.now) {
		t.Errorf("reconciled %+v", c.s.Reconciled)
	}
	c.must(journal.KindReconcile, reconcile("AAPL"))
	c.holding("AAPL", "40", "0", "0")
	if h := c.s.Holding("AAPL"); h.Cost.String() != "25" || len(c.s.Reconciled.Differences) != 0 || c.s.Cash.String() != "99000" {
		t.Errorf("holding %+v, cash %s", h, c.s.Cash)
	}
}

func TestWindowsAreHalfOpen(t *testing.T) {
	c := begin(t)
	c.place(order.Buy, "AAPL", "10", "10")
	for _, e := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Minute - 1, 1}, {time.Minute, 0}, {time.Minute + 1, 0}} {
		now := c.now.Add(e.after)
		if c.s.Rate.Count(now, journal.BucketOpen) != e.want || c.s.Messages.Count(now, journal.BucketOpen) != e.want ||
			c.s.Turnover.Count(now, time.Minute) != e.want || c.s.Rate.Count(now, journal.BucketExit) != 0 {
			t.Errorf("%s later: %d", e.after, c.s.Rate.Count(now, journal.BucketOpen))
		}
		if sum := c.s.Turnover.Sum(now, time.Minute).String(); (sum == "100") != (e.want == 1) {
			t.Errorf("%s later: %s", e.after, sum)
		}
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	c := begin(t)
	c.place(order.Buy, "AAPL", "10", "10")
	c.now = c.now.Add(-1)
	c.refused(journal.KindRecovery, journal.Recovery{Version: "1"})
	c.now = c.now.Add(1)
	c.must(journal.KindRecovery, journal.Recovery{Version: "1"})
}

// TestTheDayIsNewYorks goes over the two changes of the clock, the night before a
// Monday and UTC's midnight: only New York's midnight starts a date.
func TestTheDayIsNewYorks(t *testing.T) {
	for _, e := range []struct{ from, same, next string }{
		{"2026-03-06T15:00:00Z", "2026-03-07T04:59:59Z", "2026-03-07T05:00:00Z"}, // Friday; then all of the weekend is Monday
		{"2026-03-08T06:59:00Z", "2026-03-08T07:01:00Z", "2026-03-10T04:00:00Z"}, // clocks go forward
		{"2026-03-16T01:05:00Z", "2026-03-17T03:59:59Z", "2026-03-17T04:00:00Z"}, // Sunday 21:05 counts to Monday
		{"2026-03-18T23:59:59Z", "2026-03-19T00:00:00Z", "2026-03-19T04:00:00Z"}, // UTC's midnight
		{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-03T05:00:00Z"}, // 01:30, twice
	} {
		c := &script{t: t, s: account.New("paper"), now: instant(t, e.from)}
		c.must(journal.KindGenesis, journal.Genesis{Broker: "paper", Cash: money.NotionalFromInt(1000), Currency: "USD", Version: "1", Who: "test"})
		c.working(order.Buy, "AAPL", "1", "10")
		if c.now = instant(t, e.same); c.s.DayAt(c.now).Orders != 1 {
			t.Errorf("%s: the date has changed since %s", e.same, e.from)
		}
		c.now = instant(t, e.next)
		if day := c.s.DayAt(c.now); day.Orders != 0 || day.Date <= c.s.Day.Date {
			t.Errorf("%s: the date has not changed since %s", e.next, e.from)
		}
		c.deny()
		if c.s.Day.Orders != 0 || !c.s.Day.Notional.IsZero() {
			t.Errorf("%s: %+v", e.next, c.s.Day)
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestTheLossLatchEndsWithTheDate(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	c.fill(c.working(order.Sell, "AAPL", "5", "9"), "5", "9")
	c.must(journal.KindLatch, journal.Latch{Rail: journal.LatchDailyLoss, TradeDate: "2026-03-18"})
	c.must(journal.KindOpen, journal.Open{Equity: money.NotionalFromInt(100_000), Source: "marks", TradeDate: "2026-03-18"})
	c.refused(journal.KindOpen, journal.Open{Equity: money.NotionalFromInt(1), Source: "marks", TradeDate: "2026-03-18"})
	c.refused(journal.KindLatch, journal.Latch{Rail: "max_drawdown", TradeDate: "2026-03-18"})
	c.refused(journal.KindLatch, journal.Latch{Rail: journal.LatchDailyLoss, TradeDate: "2026-03-17"})
	if !c.s.Day.LossLatched || c.s.Day.Realized.String() != "-5" || c.s.Holding("AAPL").Realized.String() != "-5" {
		t.Errorf("day %+v", c.s.Day)
	}
	c.now = c.now.Add(24 * time.Hour)
	c.deny()
	if c.s.Day.LossLatched || c.s.Day.HasOpen || !c.s.Day.Realized.IsZero() || !c.s.Holding("AAPL").Realized.IsZero() {
		t.Errorf("next day %+v", c.s.Day)
	}
	c.must(journal.KindOpen, journal.Open{Equity: money.NotionalFromInt(100_000), Source: "marks", TradeDate: "2026-03-19"})
}

// An operator's calendar may close a day that the shipped one has open: the open entry
// then names the next date, and the figures go there.
func TestAnOpenMayNameALaterDate(t *testing.T) {
	c := begin(t)
	c.refused(journal.KindOpen, journal.Open{Source: "marks", TradeDate: "2026-05-01"})
	c.must(journal.KindOpen, journal.Open{Source: "marks", TradeDate: "2026-03-19"})
	c.working(order.Buy, "AAPL", "1", "10")
	c.now = c.now.Add(24 * time.Hour)
	c.deny()
	if c.s.Day.Date.String() != "2026-03-19" || !c.s.Day.HasOpen || c.s.Day.Orders != 1 {
		t.Errorf("day %+v", c.s.Day)
	}
}

func TestADepositIsNoProfit(t *testing.T) {
	c := begin(t)
	flow := func(id, amount string) {
		c.must(journal.KindExternal, journal.External{ID: id, Cash: &journal.CashFlow{Amount: money.MustNotional(amount)}})
	}
	flow("before", "100")
	c.must(journal.KindOpen, journal.Open{Equity: money.MustNotional("100100"), Source: "marks", TradeDate: "2026-03-18"})
	if !c.s.Day.Flows.IsZero() || c.s.Peak.Equity.String() != "100100" {
		t.Errorf("flows %s, peak %s", c.s.Day.Flows, c.s.Peak.Equity)
	}
	flow("a", "5000")
	flow("b", "-1000.5")
	flow("b", "-1000.5")
	if c.s.Day.Flows.String() != "3999.5" || c.s.Cash.String() != "104099.5" || c.s.Peak.Equity.String() != "104099.5" {
		t.Errorf("flows %s, cash %s, peak %s", c.s.Day.Flows, c.s.Cash, c.s.Peak.Equity)
	}
	if !c.s.SeenEvent("a") || c.s.SeenEvent("c") {
		t.Error("events are not known again")
	}
}

func TestAPreviousCloseKeepsTheFlowsSinceThen(t *testing.T) {
	c := begin(t)
	c.must(journal.KindExternal, journal.External{ID: "a", Cash: &journal.CashFlow{Amount: money.MustNotional("500")}})
	c.must(journal.KindOpen, journal.Open{Equity: money.MustNotional("100000"), Source: "previous_close", TradeDate: "2026-03-18"})
	if c.s.Day.Flows.String() != "500" {
		t.Errorf("flows %s", c.s.Day.Flows)
	}
}

func TestOpensCannotStarveExits(t *testing.T) {
	c := begin(t)
	for range 3 {
		c.working(order.Buy, "AAPL", "1", "10")
	}
	d := c.decision(intent(order.Sell, "AAPL", "1", "10"))
	reserve(&d, journal.BucketExit)
	c.must(journal.KindDecision, d)
	if c.s.Rate.Count(c.now, journal.BucketOpen) != 3 || c.s.Rate.Count(c.now, journal.BucketExit) != 1 ||
		c.s.OpenOrders() != 4 || c.s.Day.Orders != 3 || c.s.Day.ExitOrders != 1 {
		t.Errorf("%+v", c.s.Day)
	}
	c.cancel(c.s.Orders[0].ID)
	if c.s.Messages.Count(c.now, journal.BucketExit) != 2 || c.s.Rate.Count(c.now, journal.BucketExit) != 1 {
		t.Error("a cancel is a message of the exits' bucket, and no order")
	}
}

func TestSellsInDoubtStayReserved(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	id := c.place(order.Sell, "AAPL", "10", "10")
	c.outcome(id, journal.ResultInDoubt)
	c.holding("AAPL", "10", "0", "10")
	c.now = c.now.Add(48 * time.Hour)
	c.deny()
	c.holding("AAPL", "10", "0", "10")
	if !c.s.Order(id).InDoubt(c.now) || c.s.InDoubtCount(c.now) != 1 {
		t.Error("doubt ended by itself")
	}
}

func TestFeesLowerCashAndProfit(t *testing.T) {
	c := begin(t)
	f := c.fillBody(c.working(order.Buy, "AAPL", "3", "10"), "3", "10")
	f.Fees = money.MustNotional("0.01")
	c.must(journal.KindFill, f)
	if c.s.Cash.String() != "99969.99" || c.s.Day.Realized.String() != "-0.01" {
		t.Errorf("cash %s, realized %s", c.s.Cash, c.s.Day.Realized)
	}
}

func TestALateFillIsBookedAndAnUnknownOneIsRefused(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	c.outcome(id, journal.ResultCanceled)
	if e, known := c.s.Ended(id); !known || e.Status != journal.ResultCanceled || !e.Filled.IsZero() {
		t.Errorf("ended %+v", e)
	}
	c.fill(id, "4", "10")
	c.now = c.now.Add(24 * time.Hour)
	c.fill(id, "6", "10")
	c.fill(id, "5", "10") // beyond the order
	c.holding("AAPL", "15", "0", "0")
	if e, _ := c.s.Ended(id); e.Filled.String() != "15" {
		t.Errorf("ended %+v", e)
	}
	c.now = c.now.Add(24 * time.Hour)
	c.fill(id, "1", "10") // ended the day before yesterday, but no entry has moved the date on
	if err := c.refused(journal.KindFill, c.fillBody(id, "1", "10")); !errors.Is(err, account.ErrUnknownOrder) {
		t.Errorf("refused by %v", err)
	}
	for _, unknown := range []string{"paper/999", "paper/0", "paper/01", "other/2", "ext/1", ""} {
		if err := c.refused(journal.KindFill, c.fillBody(unknown, "1", "10")); !errors.Is(err, account.ErrUnknownOrder) {
			t.Errorf("%q refused by %v", unknown, err)
		}
	}
}

func TestTheEndOfAnOrderReplacedInTwoStepsKeepsTheNewOne(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	seq := c.replace(id, "15", "10", false)
	c.holding("AAPL", "0", "25", "0")
	c.outcome(id, journal.ResultCanceled)
	c.holding("AAPL", "0", "15", "0")
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, OrderID: id, Result: journal.ResultAccepted, BrokerID: "new"})
	c.holding("AAPL", "0", "15", "0")
	if o := c.s.Order(id); o.BrokerID != "new" || o.Quantity.String() != "15" || o.Pending != nil {
		t.Errorf("order %+v", o)
	}
}

// A loop that keeps a share back never goes flat, and is a loop all the same. An exit in
// parts is one cycle.
func TestALoopThatNeverGoesFlatIsCounted(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	for i := range 3 {
		c.fill(c.working(order.Sell, "AAPL", "5", "10"), "5", "10")
		c.fill(c.working(order.Sell, "AAPL", "4", "10"), "4", "10")
		if n := c.s.Cycles.Count(c.now, time.Hour); n != i+1 {
			t.Errorf("%d cycles after %d", n, i+1)
		}
		c.fill(c.working(order.Buy, "AAPL", "9", "10"), "9", "10")
	}
}
