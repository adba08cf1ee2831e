package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// resolve journals what was found out about an order.
func (c *script) resolve(r journal.Resolution) {
	c.t.Helper()
	r.Reason = "looked up"
	c.must(journal.KindReconcile, journal.Reconcile{AsOf: journal.At(c.now), Order: &r, Who: "operator"})
}

// TestAResolutionSettlesOneThing: what was in doubt, and leaves the rest.
func TestAResolutionSettlesOneThing(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	c.must(journal.KindOutcome, journal.Outcome{BrokerID: "b1", Decision: 2, Result: journal.ResultAccepted})
	c.replace(id, "15", "10", true)
	c.cancel(id)
	// Placed is the replace; the cancel has no end yet, and the broker's id stays if none is told.
	c.resolve(journal.Resolution{OrderID: id, Result: journal.ResolvedPlaced})
	if o := c.s.Order(id); o.Pending != nil || o.Canceling == nil || o.BrokerID != "b1" || o.Stage != account.Working {
		t.Errorf("replace placed: %+v", o)
	}
	c.holding("AAPL", "0", "15", "0")
	// Placed again is the order that was to be canceled.
	c.resolve(journal.Resolution{OrderID: id, Result: journal.ResolvedPlaced})
	if o := c.s.Order(id); o.Canceling != nil || o.BrokerID != "b1" {
		t.Errorf("cancel without effect: %+v", o)
	}
	// Part is filled: no id told, none lost.
	c.resolve(journal.Resolution{OrderID: id, Result: journal.ResolvedFilled, Price: money.MustPrice("9"), Quantity: money.MustQuantity("4")})
	if o := c.s.Order(id); o.BrokerID != "b1" || o.Filled.String() != "4" {
		t.Errorf("filled in part: %+v", o)
	}
	c.holding("AAPL", "4", "11", "0")
	is(t, "cash", c.s.Cash, "99964")
	// Not placed ends it; the id that is told with it is not taken.
	c.resolve(journal.Resolution{BrokerID: "b2", OrderID: id, Result: journal.ResolvedNotPlaced})
	if e, known := c.s.Ended(id); !known || e.BrokerID != "b1" || e.Status != "not_placed" || e.Filled.String() != "4" || e.Quantity.String() != "15" {
		t.Errorf("ended as %+v", e)
	}
	c.holding("AAPL", "4", "0", "0")
	// What has ended is not opened again, and the last order of an instrument takes it along.
	c.resolve(journal.Resolution{OrderID: id, Result: journal.ResolvedPlaced})
	other := c.place(order.Sell, "SPY", "1", "10")
	c.resolve(journal.Resolution{OrderID: other, Result: journal.ResolvedNotPlaced})
	if c.s.OpenOrders() != 0 || c.s.Holding("SPY") != nil {
		t.Errorf("open: %+v", c.s.Orders)
	}
}

// adopt journals that the positions are taken over; nothing is open then.
func (c *script) adopt(adopted []string, positions ...journal.Holding) error {
	return c.add(journal.KindReconcile, journal.Reconcile{Adopted: adopted, AsOf: journal.At(c.now), Cash: money.NotionalFromInt(7), Positions: positions, Who: "operator"})
}

func at(symbol, quantity, cost string, in *order.Instrument) journal.Holding {
	return journal.Holding{Cost: money.MustPrice(cost), Instrument: in, Quantity: money.MustQuantity(quantity), Symbol: symbol}
}

// TestWhatAnAdoptionKeeps: the cost while the direction stays, and the cycle.
func TestWhatAnAdoptionKeeps(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	c.place(order.Buy, "AAPL", "1", "10")
	for _, x := range []struct {
		quantity, cost, wantCost string
		cycle                    bool
	}{
		{"20", "0", "10", true}, {"20", "4", "4", true}, {"-5", "0", "0", false}, {"-6", "3", "3", false}, {"0", "8", "0", false},
	} {
		if err := c.adopt([]string{"AAPL"}, at("AAPL", x.quantity, x.cost, nil)); err != nil {
			t.Fatal(err)
		}
		h := c.s.Holding("AAPL")
		is(t, "position", h.Position, x.quantity)
		is(t, "cost", h.Cost, x.wantCost)
		is(t, "open buy", h.OpenBuy, "1")
		if h.OpenedInCycle != x.cycle {
			t.Errorf("%s at %s: in a cycle %v", x.quantity, x.cost, h.OpenedInCycle)
		}
	}
	is(t, "cash", c.s.Cash, "99900") // it was not adopted
}

// TestWhatCanBeAdopted: cash makes no position, and a position needs its own instrument.
func TestWhatCanBeAdopted(t *testing.T) {
	nameless, spy, idle := stock(""), stock("SPY"), stock("SPY")
	idle.Multiplier = money.Quantity{}
	c := begin(t)
	if err := c.adopt([]string{"", "ZZZ"}, at("", "5", "1", &nameless), at("SPY", "1", "1", &spy)); err != nil {
		t.Fatal(err)
	}
	if len(c.s.Holdings) != 0 {
		t.Errorf("held: %+v", c.s.Holdings)
	}
	is(t, "cash", c.s.Cash, "7")
	other := stock("QQQ")
	for name, h := range map[string]journal.Holding{
		"another instrument": at("SPY", "1", "1", &other), "no multiplier": at("SPY", "1", "1", &idle), "none": at("SPY", "1", "1", nil),
		"negative cost": at("SPY", "1", "-0.000000001", &spy),
	} {
		if c.adopt([]string{"SPY"}, h) == nil {
			t.Errorf("%s is adopted", name)
		}
	}
	if err := c.adopt([]string{"SPY"}, at("SPY", "1", "1", &spy)); err != nil {
		t.Fatal(err)
	}
	c.holding("SPY", "1", "0", "0")
}

// TestDifferencesAreInOrder, and no symbol twice.
func TestDifferencesAreInOrder(t *testing.T) {
	c := begin(t)
	for symbols, fine := range map[string]bool{"AAPL": true, "AAPL MSFT SPY": true, "MSFT AAPL": false, "AAPL AAPL": false} {
		r := journal.Reconcile{AsOf: journal.At(c.now), Whole: true}
		for symbol := range strings.FieldsSeq(symbols) {
			r.Differences = append(r.Differences, journal.Difference{Broker: money.MustQuantity("1"), Symbol: symbol})
		}
		if err := c.add(journal.KindReconcile, r); (err == nil) != fine {
			t.Errorf("%s: %v", symbols, err)
		} else if fine && len(c.s.Reconciled.Differences) != len(r.Differences) {
			t.Errorf("%s: %+v", symbols, c.s.Reconciled)
		}
	}
}

// TestAnEventToldTwiceMovesTheCursorOnly: a fill is booked once.
func TestAnEventToldTwiceMovesTheCursorOnly(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	f := c.fillBody(id, "4", "10")
	for _, cursor := range []string{"c1", "c2"} {
		f.Cursor = cursor
		c.must(journal.KindFill, f)
		c.holding("AAPL", "4", "6", "0")
		is(t, "cash", c.s.Cash, "99960")
		if c.s.Cursor != cursor {
			t.Errorf("cursor %s, want %s", c.s.Cursor, cursor)
		}
	}
}

// TestTheControlChainFollows: what does not follow it is refused, by the seq that would
// have been next.
func TestTheControlChainFollows(t *testing.T) {
	c := account.NewControl()
	if c.Mode != account.Active {
		t.Errorf("an empty chain binds: %s", c.Mode)
	}
	put := func(seq uint64, prev journal.Hash, at time.Time, body any) error {
		b, h, err := journal.Seal(journal.ControlAccount, seq, prev, at, "", journal.KindOf(body), body)
		if err != nil {
			t.Fatal(err)
		}
		return c.Apply(b, h)
	}
	halt := journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "stop", Who: "me"}
	if err := put(1, journal.Hash{}, morning, journal.Recovery{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"the same seq": put(1, c.Head, morning, halt), "a later seq": put(3, c.Head, morning, halt),
		"another head": put(2, journal.Hash{9}, morning, halt), "before": put(2, c.Head, morning.Add(-1), halt),
		"no bytes": c.Apply(nil, journal.Hash{}),
		"a mode that cannot be read": c.ApplyEntry(&journal.Entry{
			Account: journal.ControlAccount, At: journal.At(morning), Body: []byte(`{"unheard":"of"}`), Kind: journal.KindMode, Prev: c.Head, Schema: 1, Seq: 2,
		}, journal.Hash{}),
		"a recovery that cannot be read": c.ApplyEntry(&journal.Entry{
			Account: journal.ControlAccount, At: journal.At(morning), Body: []byte(`{"unheard":"of"}`), Kind: journal.KindRecovery, Prev: c.Head, Schema: 1, Seq: 2,
		}, journal.Hash{}),
	} {
		var refused *account.ApplyError
		if !errors.As(err, &refused) || refused.Seq != 2 || refused.Account != journal.ControlAccount {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := put(2, c.Head, morning, halt); err != nil || c.Mode != account.Halted {
		t.Errorf("%s, %v", c.Mode, err)
	}
}

// TestARefusalNamesTheEntry that would have been next, also if it has no envelope.
func TestARefusalNamesTheEntry(t *testing.T) {
	c := begin(t)
	for _, err := range []error{c.s.Apply(nil, journal.Hash{}), c.s.TryAll(make([]journal.Entry, 2), nil)} {
		var refused *account.ApplyError
		if !errors.As(err, &refused) || refused.Seq != 2 || refused.Account != "paper" || refused.Cause.Error() == "" {
			t.Errorf("refused as %v", err)
		}
	}
}
