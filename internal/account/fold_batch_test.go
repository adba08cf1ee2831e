package account_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// batch seals bodies as the entries that come next, asks whether they fold, asserts that
// nothing changed, and folds them one by one if they should.
func (c *script) batch(fine bool, bodies ...any) {
	c.t.Helper()
	var entries []journal.Entry
	var hashes []journal.Hash
	prev := c.s.Head
	for i, body := range bodies {
		e, _, h, err := journal.SealEntry("paper", c.s.Seq+1+uint64(i), prev, c.now, c.s.Fingerprint, journal.KindOf(body), body)
		if err != nil {
			c.t.Fatal(err)
		}
		entries, hashes, prev = append(entries, e), append(hashes, h), h
	}
	before, digest, open := snapshot(c.t, c.s), c.s.Digest(), slices.Clone(c.s.Orders)
	if err := c.s.TryAll(entries, hashes); (err == nil) != fine {
		c.t.Fatalf("the batch: %v", err)
	}
	for n := range len(entries) + 2 {
		if n != len(entries) && c.s.TryAll(entries, make([]journal.Hash, n)) == nil {
			c.t.Errorf("%d entries with %d hashes", len(entries), n)
		}
	}
	if c.s.TryAll(nil, hashes[:1]) == nil {
		c.t.Error("a hash without an entry")
	}
	if string(snapshot(c.t, c.s)) != string(before) || c.s.Digest() != digest {
		c.t.Error("asking changed the state")
	}
	for _, o := range open {
		if c.s.Order(o.ID) != o {
			c.t.Errorf("%s is found as another", o.ID)
		}
	}
	for _, body := range bodies {
		if fine {
			c.must(journal.KindOf(body), body)
		}
	}
}

// TestABatchIsAskedFor as a whole, and the state is as it was.
func TestABatchIsAskedFor(t *testing.T) {
	recovery := journal.Recovery{Version: "1"}
	c := begin(t)
	for _, symbol := range []string{"AAPL", "MSFT"} {
		c.fill(c.working(order.Buy, symbol, "1", "100"), "1", "100")
		c.fill(c.working(order.Sell, symbol, "1", "150"), "1", "150")
	}
	// What both earned while flat is taken up by the trial and by the state.
	probe := func(id, symbol string) journal.External {
		return journal.External{ID: id, Order: shown(id, order.Buy, symbol, "1", "1")}
	}
	c.batch(true, probe("p1", "AAPL"), probe("p2", "MSFT"))
	is(t, "realized of AAPL", c.s.Holding("AAPL").Realized, "50")
	is(t, "realized of MSFT", c.s.Holding("MSFT").Realized, "50")
	// An id that the trial remembers is not remembered by the state.
	d := c.decision(intent(order.Buy, "AAPL", "1", "10"))
	d.Intent.ClientOrderID = "mine"
	reserve(&d, journal.BucketOpen)
	c.batch(true, d, recovery)
	c.batch(false, d, recovery)
	c.batch(false, recovery, d)
	c.batch(false, d)
	c.batch(true, recovery)
	// Each order counts once in the trial too: 6 and 3 x 10^19 fit, and twice 6 would not.
	c.working(order.Sell, "SPY", "60000000000000000000", "0")
	leg := shown("leg", order.Sell, "SPY", "30000000000000000000", "0")
	leg.Type, leg.Group = order.Market, "g"
	c.batch(true, journal.External{ID: "leg", Order: leg}, recovery)
	c.holding("SPY", "0", "0", "90000000000000000000")
}

// TestASnapshotThatContradictsItselfIsRefused, though its check sum is right.
func TestASnapshotThatContradictsItselfIsRefused(t *testing.T) {
	two := func() *account.State {
		c := begin(t)
		c.working(order.Buy, "AAPL", "1", "1")
		c.working(order.Buy, "MSFT", "1", "1")
		return c.s
	}
	for name, change := range map[string]func(*account.State){
		"holdings out of order": func(s *account.State) { slices.Reverse(s.Holdings) },
		"a holding twice":       func(s *account.State) { s.Holdings[1].Instrument.Symbol = "AAPL"; s.Orders[1].Symbol = "AAPL" },
		"no holding":            func(s *account.State) { s.Orders[1].Symbol = "SPY" },
		"orders out of order":   func(s *account.State) { slices.Reverse(s.Orders) },
		"an order twice":        func(s *account.State) { s.Orders[1].ID = s.Orders[0].ID },
		"twins out of order":    func(s *account.State) { s.Recent[0].At = s.Recent[0].At.Add(1) },
	} {
		s := two()
		change(s)
		if _, err := account.Restore(snapshot(t, s)); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
	s := two()
	s.Orders[1].Seq = s.Orders[0].Seq // as orders have that were taken over by one genesis
	if _, err := account.Restore(snapshot(t, s)); err != nil {
		t.Errorf("two orders of one entry: %v", err)
	}
}

// TestTheDigestKeepsItsForm: decisions name the digest that they were made by, so that a
// journal of before must give the same. The texts were taken from the first form of it.
func TestTheDigestKeepsItsForm(t *testing.T) {
	c := begin(t)
	check := func(want string) {
		t.Helper()
		d := c.s.Digest()
		if got := hex.EncodeToString(d[:8]); got != want {
			t.Errorf("after %d entries %s, want %s", c.s.Seq, got, want)
		}
	}
	check("9d97e06f19dfca61")
	d := c.decision(intent(order.Buy, "AAPL", "3", "10"))
	d.Intent.ClientOrderID = "mine"
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	c.outcome("paper/2", journal.ResultAccepted)
	c.fill("paper/2", "2", "10")
	c.fill(c.working(order.Sell, "AAPL", "1", "10"), "1", "10")
	c.deny()
	check("5f0a97ac97c89c32")
	c.now = c.now.AddDate(0, 0, 402) // the ids of before are forgotten
	c.deny()
	check("db6b8ffd9b765318")
	in := intent(order.Buy, "AAPL", "10", "10")
	in.StopPrice = money.MustPrice("9")
	digest := account.IntentDigest(&in)
	if got := hex.EncodeToString(digest[:]); got != "320e77522e8e667009230f3b88ad9f79" {
		t.Errorf("an intent's is %s", got)
	}
}

// TestABatchBooksAFillOnce: one that is new counts for the entries behind it, one that
// the state has seen does not count again.
func TestABatchBooksAFillOnce(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	replace := func(total string) journal.Decision {
		in := intent(order.Buy, "AAPL", total, "10")
		in.Action, in.Target = order.ActionReplace, id
		d := c.decision(in)
		reserve(&d, journal.BucketOpen)
		return d
	}
	f := c.fillBody(id, "5", "10")
	c.batch(false, f, replace("4"))
	c.must(journal.KindFill, f)
	c.batch(true, f, replace("6"))
	is(t, "filled", c.s.Order(id).Filled, "5")
	c.holding("AAPL", "5", "6", "0") // 5 are left of the 10, and 1 of the 6
}
