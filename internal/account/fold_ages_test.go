package account_test

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestWhatLeavesAWindowIsForgotten at its age and not a nanosecond before, so that a
// longer look back finds nothing.
func TestWhatLeavesAWindowIsForgotten(t *testing.T) {
	const ever = 100 * time.Hour
	c := begin(t)
	start := c.now
	c.fill(c.working(order.Buy, "AAPL", "1", "10"), "1", "10")
	d := c.decision(intent(order.Sell, "AAPL", "1", "10"))
	reserve(&d, journal.BucketExit)
	id := "paper/5"
	c.must(journal.KindDecision, d)
	c.fill(id, "1", "10") // a cycle
	c.deny()
	type figures struct {
		open, exit, rateOpen, rateExit, denials, cycles, twins int
		turnover                                               string
	}
	for _, x := range []struct {
		at   time.Duration
		want figures
	}{
		{0, figures{2, 1, 1, 1, 1, 1, 2, "20"}},
		{time.Minute - 1, figures{2, 1, 1, 1, 1, 1, 2, "20"}},
		{time.Minute, figures{0, 0, 0, 0, 1, 1, 2, "0"}},
		{time.Hour - 1, figures{0, 0, 0, 0, 1, 1, 2, "0"}},
		{time.Hour, figures{0, 0, 0, 0, 1, 1, 0, "0"}},
		{24*time.Hour - 1, figures{0, 0, 0, 0, 1, 1, 0, "0"}},
		{24 * time.Hour, figures{0, 0, 0, 0, 0, 0, 0, "0"}},
	} {
		c.now = start.Add(x.at)
		c.must(journal.KindRecovery, journal.Recovery{Version: "1"})
		s := c.s
		got := figures{
			s.Messages.Open.Count(c.now, ever), s.Messages.Exit.Count(c.now, ever), s.Rate.Open.Count(c.now, ever),
			s.Rate.Exit.Count(c.now, ever), s.Denials.Count(c.now, ever), s.Cycles.Count(c.now, ever),
			len(s.Recent), s.Turnover.Sum(c.now, ever).String(),
		}
		if got != x.want {
			t.Errorf("after %s: %+v, want %+v", x.at, got, x.want)
		}
	}
}

// TestWindowsKeepOneOverTheLargestLimit of decisions and of cycles.
func TestWindowsKeepOneOverTheLargestLimit(t *testing.T) {
	const ever = 100 * time.Hour
	c := begin(t)
	c.s.Crowd(account.DenialsMax+1, c.now)
	c.fill(c.working(order.Buy, "AAPL", "2", "10"), "2", "10")
	c.fill(c.working(order.Sell, "AAPL", "1", "10"), "1", "10")
	c.deny()
	for what, win := range map[string]*account.Window{
		"messages": &c.s.Messages.Open, "orders": &c.s.Rate.Open, "denials": &c.s.Denials, "cycles": &c.s.Cycles,
	} {
		// The newest instant counts the two orders and the denial at once.
		newest := map[string]int{"messages": 3, "orders": 2, "denials": 1, "cycles": 1}[what]
		if got := win.Count(c.now, ever); got != 10_000+newest {
			t.Errorf("%d %s are kept, want %d", got, what, 10_000+newest)
		}
	}
}

// TestInstantsThatCanBeCounted are of the years 1971 to 2199.
func TestInstantsThatCanBeCounted(t *testing.T) {
	for text, fine := range map[string]bool{
		"1970-12-31T23:59:59.999999999Z": false, "1971-01-01T00:00:00Z": true,
		"2199-12-31T23:59:59.999999999Z": true, "2200-01-01T00:00:00Z": false,
	} {
		c := &script{t: t, s: account.New("paper"), now: instant(t, text)}
		err := c.add(journal.KindGenesis, journal.Genesis{Broker: "b", Currency: "USD", Version: "test", Who: "test"})
		if (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestADateIsNamedTwoWeeksAheadAtTheMost, by an open or a latch.
func TestADateIsNamedTwoWeeksAheadAtTheMost(t *testing.T) {
	for date, fine := range map[string]bool{
		"2026-03-17": false, "2026-03-18": true, "2026-04-01": true, "2026-04-02": false, "": false,
	} {
		for _, body := range []any{
			journal.Open{Equity: money.NotionalFromInt(5), Source: "marks", TradeDate: date},
			journal.Latch{Rail: journal.LatchDailyLoss, TradeDate: date},
		} {
			c := begin(t)
			if err := c.add(journal.KindOf(body), body); (err == nil) != fine {
				t.Errorf("%s of %q: %v", journal.KindOf(body), date, err)
			}
			if fine && c.s.Day.Date.String() != date {
				t.Errorf("%s of %q: the date is %s", journal.KindOf(body), date, c.s.Day.Date)
			}
		}
	}
}

// TestAModeOfARail may be as strict as it is, and no less.
func TestAModeOfARail(t *testing.T) {
	c := begin(t)
	set := func(mode string) journal.Mode {
		return journal.Mode{By: "daily_loss", Mode: mode, Reason: "r", Who: "gate"}
	}
	c.must(journal.KindMode, set(journal.ModeReduceOnly))
	c.must(journal.KindMode, set(journal.ModeReduceOnly))
	c.refused(journal.KindMode, set(journal.ModeActive))
	if c.s.Mode != account.ReduceOnly || !c.s.ModeAt.Equal(c.now) || c.s.ModeBy != "daily_loss" {
		t.Errorf("mode %s by %s", c.s.Mode, c.s.ModeBy)
	}
}

// TestTheFingerprintOfAnEntry is the one in force; a limits entry may have its own.
func TestTheFingerprintOfAnEntry(t *testing.T) {
	c := begin(t)
	one, two, three := journal.Hash{1}.String(), journal.Hash{2}.String(), journal.Hash{3}.String()
	put := func(fingerprint string, body any) error {
		b, h, err := journal.Seal("paper", c.s.Seq+1, c.s.Head, c.now, fingerprint, journal.KindOf(body), body)
		if err != nil {
			t.Fatal(err)
		}
		return c.s.Apply(b, h)
	}
	limits := journal.Limits{Fingerprint: one, Text: "version: 1", Who: "w"}
	if err := put(one, limits); err != nil || c.s.Fingerprint != one {
		t.Fatalf("its own: %v", err)
	}
	limits.Fingerprint = two
	if err := put(three, limits); err == nil || c.s.Fingerprint != one {
		t.Errorf("neither the old nor the new one: %s", c.s.Fingerprint)
	}
	if err := put(one, limits); err != nil || c.s.Fingerprint != two {
		t.Errorf("the old one: %v", err)
	}
	mode := journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "r", Who: "w"}
	if put(one, mode) == nil || put("", mode) == nil || c.s.Mode != account.Active {
		t.Error("a mode under limits that are no longer in force")
	}
}

// TestBodiesThatCannotBeRead are refused, each kind by its own reader.
func TestBodiesThatCannotBeRead(t *testing.T) {
	for _, body := range []any{
		journal.Decision{}, journal.Outcome{}, journal.Fill{}, journal.Refusal{}, journal.External{}, journal.Reconcile{},
		journal.Limits{}, journal.Open{}, journal.Latch{}, journal.Mode{}, journal.Recovery{}, "of no kind",
	} {
		c := begin(t)
		before := snapshot(t, c.s)
		e := journal.Entry{
			Account: "paper", At: journal.At(c.now), Body: []byte(`{"unheard":"of"}`), Kind: journal.KindOf(body), Prev: c.s.Head, Schema: 1, Seq: 2,
		}
		if body == "of no kind" {
			e.Kind = "rumor"
		}
		if c.s.Try(&e, journal.Hash{}, 0) == nil || c.s.ApplyEntry(&e, journal.Hash{}) == nil || string(snapshot(t, c.s)) != string(before) {
			t.Errorf("%s is taken", e.Kind)
		}
	}
	for _, name := range []string{"", journal.ControlAccount} {
		s := account.New(name)
		g, err := journal.Envelope(begin(t).bytes[0])
		if err != nil {
			t.Fatal(err)
		}
		g.Account = name
		if err := s.ApplyEntry(&g, journal.Hash{}); err == nil || s.Started {
			t.Errorf("an account named %q", name)
		}
	}
}

// TestTryingChangesNothing: each entry of a day is tried before it is folded, alone and
// as the next of a batch.
func TestTryingChangesNothing(t *testing.T) {
	c := ordinary(t, 80)
	s := account.New("paper")
	for i, b := range c.bytes {
		e, err := journal.Envelope(b)
		if err != nil {
			t.Fatal(err)
		}
		h := journal.HashOf(b)
		if i > 0 {
			before := snapshot(t, s)
			if err := s.Try(&e, h, 0); err != nil || string(snapshot(t, s)) != string(before) {
				t.Fatalf("trying %s %d: %v", e.Kind, e.Seq, err)
			}
			if s.Try(&e, h, 1) == nil || s.TryAll([]journal.Entry{e}, nil) == nil {
				t.Fatalf("%s %d: as one behind another, or without its hash", e.Kind, e.Seq)
			}
			later := e
			later.Seq += 3
			if err := s.Try(&later, h, 3); err != nil {
				t.Fatalf("%s %d: behind three others: %v", e.Kind, e.Seq, err)
			}
		}
		if err := s.ApplyEntry(&e, h); err != nil {
			t.Fatal(err)
		}
	}
}
