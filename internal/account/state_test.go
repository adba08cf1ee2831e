package account_test

import (
	"bytes"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestFailClosedZeroState(t *testing.T) {
	var s account.State
	b, h, err := journal.Seal("paper", 1, journal.Hash{}, morning, "", journal.KindGenesis, journal.Genesis{Broker: "b", Currency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Apply(b, h) == nil || s.Mode != account.Halted || s.Started {
		t.Error("the zero state took an entry")
	}
	if err := account.New("*").Apply(b, h); err == nil {
		t.Error("the control chain is no account")
	}
	var control account.Control
	if control.Mode != account.Halted || account.Effective(account.Active, control.Mode) != account.Halted {
		t.Error("the zero control does not halt")
	}
}

func TestFailClosedEntriesThatDoNotFollow(t *testing.T) {
	c := begin(t)
	other := func(name, acct string, seq uint64, prev journal.Hash, at time.Time, limits string, body any) {
		b, h, err := journal.Seal(acct, seq, prev, at, limits, journal.KindOf(body), body)
		if err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, c.s)
		var typed *account.ApplyError
		if err := c.s.Apply(b, h); !errors.As(err, &typed) || typed.Seq != 2 || !bytes.Equal(snapshot(t, c.s), before) {
			t.Errorf("%s: %v", name, err)
		}
	}
	recovery := journal.Recovery{Version: "1"}
	other("account", "other", 2, c.s.Head, c.now, "", recovery)
	other("seq", "paper", 3, c.s.Head, c.now, "", recovery)
	other("prev", "paper", 2, journal.Hash{1}, c.now, "", recovery)
	other("time", "paper", 2, c.s.Head, c.now.Add(-1), "", recovery)
	other("fingerprint", "paper", 2, c.s.Head, c.now, journal.Hash{1}.String(), recovery)
	other("far future", "paper", 2, c.s.Head, c.now.AddDate(300, 0, 0), "", recovery)
	other("second genesis", "paper", 2, c.s.Head, c.now, "", journal.Genesis{Broker: "b", Currency: "USD"})
	if err := c.s.Apply([]byte("{}"), journal.Hash{}); err == nil {
		t.Error("no entry was applied")
	}
	first, h, _ := journal.Seal("new", 1, journal.Hash{}, c.now, "", journal.KindRecovery, recovery)
	if err := account.New("new").Apply(first, h); err == nil {
		t.Error("a journal without a genesis")
	}
}

func TestFailClosedAllowedDecisions(t *testing.T) {
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	spoil := map[string]func(*journal.Decision){
		"no verdict":            func(d *journal.Decision) { d.Verdict = "" },
		"held":                  func(d *journal.Decision) { d.Verdict = "held" },
		"denied, but reserved":  func(d *journal.Decision) { d.Verdict = journal.VerdictDenied },
		"no reservation":        func(d *journal.Decision) { d.Reservation = nil },
		"no bucket":             func(d *journal.Decision) { d.Reservation.Bucket = "" },
		"other quantity":        func(d *journal.Decision) { d.Reservation.Quantity = money.MustQuantity("11") },
		"negative notional":     func(d *journal.Decision) { d.Reservation.Notional = money.MustNotional("-1") },
		"negative cost":         func(d *journal.Decision) { d.Reservation.Cost = money.MustNotional("-1") },
		"no reply_by":           func(d *journal.Decision) { d.ReplyBy = journal.Time{} },
		"other account":         func(d *journal.Decision) { d.Intent.Account = "other" },
		"no side":               func(d *journal.Decision) { d.Intent.Side = order.SideNone },
		"no type":               func(d *journal.Decision) { d.Intent.Type = order.TypeNone },
		"other instrument":      func(d *journal.Decision) { d.Instrument.Symbol = "MSFT" },
		"no multiplier":         func(d *journal.Decision) { d.Instrument.Multiplier = money.Quantity{} },
		"known client order id": func(d *journal.Decision) { d.Intent.ClientOrderID = "used" },
		"replace of no order":   func(d *journal.Decision) { d.Intent.Action, d.Intent.Target = order.ActionReplace, "paper/99" },
		"cancel of no order":    func(d *journal.Decision) { d.Intent.Action, d.Intent.Target = order.ActionCancel, "" },
		"notional past the range": func(d *journal.Decision) {
			d.Reservation.Notional = money.MustNotional("99999999999999999999.999999999")
		},
	}
	used := c.decision(intent(order.Buy, "AAPL", "10", "10"))
	used.Intent.ClientOrderID = "used"
	reserve(&used, journal.BucketOpen)
	c.must(journal.KindDecision, used)
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			d := c.decision(intent(order.Buy, "AAPL", "10", "10"))
			reserve(&d, journal.BucketOpen)
			change(&d)
			c.refused(journal.KindDecision, d)
		})
	}
	c.fill(id, "5", "10")
	in := intent(order.Buy, "AAPL", "4", "10")
	in.Action, in.Target = order.ActionReplace, id
	below := c.decision(in)
	reserve(&below, journal.BucketOpen)
	c.refused(journal.KindDecision, below)
	c.replace(id, "20", "10", true)
	below.Intent.Quantity, below.Reservation.Quantity = money.MustQuantity("30"), money.MustQuantity("30")
	c.refused(journal.KindDecision, below) // one replace is pending
}

func TestClientIDsAreKnownFor400Days(t *testing.T) {
	c := begin(t)
	d := c.decision(intent(order.Buy, "AAPL", "10", "10"))
	d.Intent.ClientOrderID = "mine"
	reserve(&d, journal.BucketOpen)
	seq := c.must(journal.KindDecision, d)
	want := "paper/" + strconv.FormatUint(seq, 10)
	id, digest, known := c.s.ClientID("mine")
	if !known || id != want || digest != account.IntentDigest(&d.Intent) {
		t.Fatalf("%s %v", id, known)
	}
	if _, _, known := c.s.ClientID(""); known {
		t.Error("no id is known")
	}
	denied := c.decision(intent(order.Buy, "AAPL", "10", "10"))
	denied.Intent.ClientOrderID, denied.Verdict = "never", journal.VerdictDenied
	c.must(journal.KindDecision, denied)
	if _, _, known := c.s.ClientID("never"); known {
		t.Error("a denied order's id is remembered")
	}
	derived := c.s.Order(want).ClientOrderID
	if found, ok := c.s.OrderIDFor(derived); !ok || found != want {
		t.Errorf("%s is %s", derived, found)
	}
	c.outcome(want, journal.ResultRejected)
	if found, ok := c.s.OrderIDFor(derived); !ok || found != want {
		t.Errorf("ended: %s is %s", derived, found)
	}
	c.now = morning.AddDate(0, 0, 400)
	c.deny()
	if _, _, known := c.s.ClientID("mine"); !known {
		t.Error("forgotten after 400 days")
	}
	c.now = morning.AddDate(0, 0, 402)
	c.deny()
	if _, _, known := c.s.ClientID("mine"); known {
		t.Error("known after 402 days")
	}
}

func TestIntentDigestCoversAllButTheAgentsID(t *testing.T) {
	one := intent(order.Buy, "AAPL", "10", "10")
	want := account.IntentDigest(&one)
	renamed := one
	renamed.ClientOrderID = "x"
	if account.IntentDigest(&renamed) != want {
		t.Error("the id changes the digest")
	}
	for i, change := range []func(*order.Intent){
		func(i *order.Intent) { i.Action = order.ActionReplace }, func(i *order.Intent) { i.Account = "b" },
		func(i *order.Intent) { i.Symbol = "AAP" }, func(i *order.Intent) { i.Side = order.Sell },
		func(i *order.Intent) { i.Type = order.Market }, func(i *order.Intent) { i.Quantity = money.MustQuantity("10.1") },
		func(i *order.Intent) { i.LimitPrice = money.MustPrice("-10") }, func(i *order.Intent) { i.StopPrice = money.MustPrice("1") },
		func(i *order.Intent) { i.TimeInForce = order.GTC }, func(i *order.Intent) { i.ExpireAt = morning },
		func(i *order.Intent) { i.ExtendedHours = true }, func(i *order.Intent) { i.Target = "x" },
	} {
		other := one
		if change(&other); account.IntentDigest(&other) == want {
			t.Errorf("change %d has the same digest", i)
		}
	}
}

// TestDenialsDoNotGrowTheState denies far more orders than any limit can see.
func TestDenialsDoNotGrowTheState(t *testing.T) {
	c := begin(t)
	grow := func(n int) {
		for range n {
			c.now = c.now.Add(time.Microsecond)
			c.must(journal.KindRefusal, journal.Refusal{Code: "malformed_call", Count: 1, Denial: true, Door: "test", Message: true})
			c.bytes = c.bytes[:0]
		}
	}
	grow(30_000)
	before := len(snapshot(t, c.s))
	grow(30_000)
	after := len(snapshot(t, c.s))
	if after > before+1000 || after > 400_000 {
		t.Errorf("the snapshot grew from %d to %d bytes", before, after)
	}
	if got := c.s.Denials.Count(c.now, account.BehaviourWindowMax); got != account.DenialsMax+1 {
		t.Errorf("%d denials are kept", got)
	}
	if got := c.s.Messages.Count(c.now, journal.BucketOpen); got != account.MessagesMax+1 {
		t.Errorf("%d messages are kept", got)
	}
	runtime.KeepAlive(c)
}

func TestModes(t *testing.T) {
	c := begin(t)
	if c.s.Mode != account.Active {
		t.Fatalf("mode %s after the genesis", c.s.Mode)
	}
	mode := func(by, to string) journal.Mode { return journal.Mode{By: by, Mode: to, Reason: "r", Who: "w"} }
	c.deny()
	c.must(journal.KindMode, mode("denial_storm", journal.ModeReduceOnly))
	if c.s.Mode != account.ReduceOnly || c.s.ModeBy != "denial_storm" || c.s.Denials.Count(c.now, time.Hour) != 1 {
		t.Errorf("mode %s", c.s.Mode)
	}
	c.refused(journal.KindMode, mode("denial_storm", journal.ModeActive))
	c.refused(journal.KindMode, mode("", journal.ModeHalted))
	c.refused(journal.KindMode, mode(journal.ByOperator, "paused"))
	rebase := mode("max_drawdown", journal.ModeHalted)
	rebase.RebasePeak = true
	c.refused(journal.KindMode, rebase)
	c.must(journal.KindMode, mode("internal_fault", journal.ModeHalted))
	c.must(journal.KindMode, mode(journal.ByOperator, journal.ModeActive))
	if c.s.Mode != account.Active || c.s.Denials.Count(c.now, time.Hour) != 0 {
		t.Errorf("mode %s", c.s.Mode)
	}
	for _, e := range []struct{ own, control, want account.Mode }{
		{account.Active, account.Active, account.Active},
		{account.Active, account.ReduceOnly, account.ReduceOnly},
		{account.ReduceOnly, account.Active, account.ReduceOnly},
		{account.Halted, account.Active, account.Halted},
		{account.ReduceOnly, account.Halted, account.Halted},
	} {
		if got := account.Effective(e.own, e.control); got != e.want {
			t.Errorf("%s with %s is %s", e.own, e.control, got)
		}
	}
}

func TestControlChain(t *testing.T) {
	c := account.NewControl()
	add := func(at time.Time, body any) error {
		b, h, err := journal.Seal(journal.ControlAccount, c.Seq+1, c.Head, at, "", journal.KindOf(body), body)
		if err != nil {
			t.Fatal(err)
		}
		before := *c
		err = c.Apply(b, h)
		if err != nil && *c != before {
			t.Error("a refused entry changed the control")
		}
		if err == nil && (c.Seq != before.Seq+1 || c.Head != h) {
			t.Errorf("head %d", c.Seq)
		}
		return err
	}
	halt := journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "stop", Who: "me"}
	if err := errors.Join(add(morning, journal.Recovery{Version: "1"}), add(morning, halt)); err != nil || c.Mode != account.Halted || c.Reason != "stop" {
		t.Fatalf("%v, mode %s", err, c.Mode)
	}
	loosen := halt
	loosen.By, loosen.Mode = "gate", journal.ModeActive
	if add(morning, loosen) == nil || add(morning.Add(-1), halt) == nil || add(morning, journal.Open{}) == nil {
		t.Error("the control took what it must refuse")
	}
	loosen.By = journal.ByOperator
	if err := add(morning, loosen); err != nil || c.Mode != account.Active {
		t.Errorf("%v, mode %s", err, c.Mode)
	}
	b, h, _ := journal.Seal("paper", c.Seq+1, c.Head, morning, "", journal.KindMode, halt)
	if c.Apply(b, h) == nil || c.Apply(nil, h) == nil {
		t.Error("the control took an account's entry")
	}
}

func TestLimitsInForce(t *testing.T) {
	c := begin(t)
	one, two := journal.Hash{1}.String(), journal.Hash{2}.String()
	c.must(journal.KindLimits, journal.Limits{Fingerprint: one, Text: "version: 1", Who: "w"})
	c.must(journal.KindLimits, journal.Limits{Fingerprint: two, Text: "version: 2", Who: "w"})
	c.refused(journal.KindLimits, journal.Limits{Fingerprint: "x", Text: "t", Who: "w"})
	c.refused(journal.KindLimits, journal.Limits{Fingerprint: one, Who: "w"})
	if c.s.Fingerprint != two || c.s.LimitsText != "version: 2" {
		t.Errorf("in force %s", c.s.Fingerprint)
	}
}

func TestGenesisTakesWhatTheBrokerHas(t *testing.T) {
	c := &script{t: t, s: account.New("paper"), now: morning}
	g := journal.Genesis{
		Broker: "alpaca", Cash: money.MustNotional("5"), Currency: "USD", OldHead: "h", Reason: "restored", Version: "1", Who: "w",
		Positions: []journal.Position{{Cost: money.MustPrice("9"), Instrument: stock("MSFT"), Quantity: money.MustQuantity("-3")}},
		Orders: []journal.BrokerOrder{
			{BrokerID: "1", Filled: money.MustQuantity("2"), Instrument: stock("AAPL"), LimitPrice: money.MustPrice("7"), Quantity: money.MustQuantity("5"), Side: order.Buy, TimeInForce: order.GTC, Type: order.Limit},
			{BrokerID: "2", Instrument: stock("MSFT"), Quantity: money.MustQuantity("3"), Side: order.Buy, TimeInForce: order.GTC, Type: order.Market},
		},
	}
	twice := g
	twice.Orders = append(twice.Orders, g.Orders[0])
	c.refused(journal.KindGenesis, twice)
	flat := g
	flat.Positions = []journal.Position{{Instrument: stock("MSFT")}}
	c.refused(journal.KindGenesis, flat)
	c.must(journal.KindGenesis, g)
	c.holding("AAPL", "0", "3", "0")
	c.holding("MSFT", "-3", "3", "0")
	if o := c.s.Order("ext/1"); o == nil || !o.External || o.Cost.String() != "35" || o.Stage != account.Working || len(c.s.Orders) != 2 {
		t.Errorf("order %+v", o)
	}
	c.must(journal.KindExternal, journal.External{ID: "e", Ended: &journal.ExternalEnd{BrokerID: "2", Result: "canceled"}})
	c.holding("MSFT", "-3", "0", "0")
	if c.s.Order("ext/1") == nil || c.s.Order("ext/2") != nil {
		t.Error("the wrong order ended")
	}
	c.refused(journal.KindFill, c.fillBody("ext/1", "1", "7"))
}

func TestAnExternalChangeOfTerms(t *testing.T) {
	c := begin(t)
	id := c.place(order.Buy, "AAPL", "10", "10")
	c.must(journal.KindOutcome, journal.Outcome{BrokerID: "b1", Decision: seqOf(id), Result: journal.ResultAccepted})
	shown := journal.BrokerOrder{
		BrokerID: "b1", Instrument: stock("AAPL"), LimitPrice: money.MustPrice("12"), Quantity: money.MustQuantity("25"),
		Side: order.Buy, TimeInForce: order.GTC, Type: order.Limit,
	}
	c.must(journal.KindExternal, journal.External{ID: "e1", Order: &shown})
	c.holding("AAPL", "0", "25", "0")
	if o := c.s.Order(id); o.Cost.String() != "300" || o.LimitPrice.String() != "12" || c.s.OpenOrders() != 1 {
		t.Errorf("order %+v", o)
	}
	shown.Side = order.Sell
	c.refused(journal.KindExternal, journal.External{ID: "e2", Order: &shown})
	c.refused(journal.KindExternal, journal.External{ID: "e3"})
	c.refused(journal.KindExternal, journal.External{ID: "e4", Cash: &journal.CashFlow{}, Ended: &journal.ExternalEnd{BrokerID: "b", Result: "filled"}})
	c.refused(journal.KindExternal, journal.External{Cash: &journal.CashFlow{}})
}

func TestResolutions(t *testing.T) {
	resolve := func(c *script, id, result, quantity string) journal.Reconcile {
		r := &journal.Resolution{BrokerID: "found", OrderID: id, Reason: "looked up", Result: result}
		if quantity != "" {
			r.Quantity, r.Price = money.MustQuantity(quantity), money.MustPrice("10")
		}
		return journal.Reconcile{AsOf: journal.At(c.now), Order: r, Who: "operator"}
	}
	for _, e := range []struct {
		result, quantity     string
		position, buy, stays string
	}{
		{journal.ResolvedPlaced, "", "0", "10", "found"},
		{journal.ResolvedNotPlaced, "", "0", "0", ""},
		{journal.ResolvedFilled, "4", "4", "6", "found"},
		{journal.ResolvedFilled, "10", "10", "0", ""},
	} {
		t.Run(e.result+e.quantity, func(t *testing.T) {
			c := begin(t)
			id := c.place(order.Buy, "AAPL", "10", "10")
			c.outcome(id, journal.ResultInDoubt)
			c.must(journal.KindReconcile, resolve(c, id, e.result, e.quantity))
			c.holding("AAPL", e.position, e.buy, "0")
			if o := c.s.Order(id); (o != nil) != (e.stays != "") || o != nil && (o.BrokerID != e.stays || o.InDoubt(c.now.Add(time.Hour))) {
				t.Errorf("order %+v", o)
			}
			if c.s.InDoubtCount(c.now.Add(time.Hour)) != 0 || !c.s.Reconciled.At.IsZero() {
				t.Error("still in doubt, or taken for a whole reconciliation")
			}
			if e.result == journal.ResolvedFilled {
				c.refused(journal.KindReconcile, resolve(c, id, e.result, "1"))
				if !c.s.SeenExecution("reconcile/" + id) {
					t.Error("the fill has no execution id")
				}
			}
		})
	}
	c := begin(t)
	id := c.working(order.Buy, "AAPL", "10", "10")
	seq := c.replace(id, "15", "10", false)
	c.must(journal.KindOutcome, journal.Outcome{Decision: seq, OrderID: id, Result: journal.ResultInDoubt})
	c.must(journal.KindReconcile, resolve(c, id, journal.ResolvedNotPlaced, ""))
	c.holding("AAPL", "0", "10", "0")
	c.replace(id, "15", "10", false)
	c.must(journal.KindReconcile, resolve(c, id, journal.ResolvedPlaced, ""))
	c.holding("AAPL", "0", "15", "0")
	c.refused(journal.KindReconcile, resolve(c, "paper/99", journal.ResolvedPlaced, ""))
	c.refused(journal.KindReconcile, resolve(c, id, "perhaps", ""))
	c.refused(journal.KindReconcile, resolve(c, id, journal.ResolvedFilled, ""))
	future := resolve(c, id, journal.ResolvedPlaced, "")
	future.AsOf = journal.At(c.now.Add(1))
	c.refused(journal.KindReconcile, future)
}

func TestAdoption(t *testing.T) {
	c := begin(t)
	in := stock("MSFT")
	r := journal.Reconcile{
		Adopted: []string{"", "AAPL", "MSFT"}, AsOf: journal.At(c.now), Cash: money.MustNotional("42"), Whole: true,
		Positions: []journal.Holding{{Cost: money.MustPrice("3"), Instrument: &in, Quantity: money.MustQuantity("-2"), Symbol: "MSFT"}},
	}
	c.fill(c.working(order.Buy, "AAPL", "10", "10"), "10", "10")
	without := r
	without.Positions = []journal.Holding{{Quantity: money.MustQuantity("2"), Symbol: "MSFT"}}
	c.refused(journal.KindReconcile, without)
	c.must(journal.KindReconcile, r)
	c.holding("AAPL", "0", "0", "0")
	c.holding("MSFT", "-2", "0", "0")
	if c.s.Cash.String() != "42" || len(c.s.Holdings) != 1 || c.s.Holding("MSFT").Cost.String() != "3" {
		t.Errorf("cash %s, %+v", c.s.Cash, c.s.Holdings)
	}
}

func TestASpoiledSnapshotIsRefused(t *testing.T) {
	c := ordinary(t, 60)
	good := snapshot(t, c.s)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x41
		if s, err := account.Restore(bad); err == nil || s != nil {
			t.Fatalf("byte %d was changed and %v restored", i, s)
		}
		if s, err := account.Restore(good[:i]); err == nil || s != nil {
			t.Fatalf("%d bytes were restored", i)
		}
	}
	if _, err := account.Restore(good); err != nil {
		t.Error(err)
	}
}

// TestTheDigestTellsStatesApart changes one thing after another; no two digests agree.
func TestTheDigestTellsStatesApart(t *testing.T) {
	seen := map[[32]byte]string{}
	note := func(name string, s *account.State) {
		d := s.Digest()
		if before, ok := seen[d]; ok {
			t.Errorf("%q has the digest of %q", name, before)
		}
		seen[d] = name
	}
	change := map[string]func(*account.State){
		"nothing":  func(*account.State) {},
		"cash":     func(s *account.State) { s.Cash = money.MustNotional("1") },
		"negative": func(s *account.State) { s.Cash = money.MustNotional("-1") },
		"mode":     func(s *account.State) { s.Mode = account.ReduceOnly },
		"position": func(s *account.State) { s.Holdings[0].Position = money.MustQuantity("3") },
		"cost":     func(s *account.State) { s.Holdings[0].Cost = money.MustPrice("3") },
		"open buy": func(s *account.State) { s.Holdings[0].OpenBuy = money.MustQuantity("3") },
		"filled":   func(s *account.State) { s.Orders[0].Filled = money.MustQuantity("3") },
		"stage":    func(s *account.State) { s.Orders[0].Stage = account.Doubtful },
		"pending":  func(s *account.State) { s.Orders[0].Pending = &account.Pending{} },
		"cancel":   func(s *account.State) { s.Orders[0].Canceling = &account.Pending{} },
		"orders":   func(s *account.State) { s.Day.Orders++ },
		"latch":    func(s *account.State) { s.Day.LossLatched = true },
		"peak":     func(s *account.State) { s.Peak.Known = !s.Peak.Known },
		"clock":    func(s *account.State) { s.Clock.BootNS++ },
		"limits":   func(s *account.State) { s.Fingerprint = "x" },
		"checked":  func(s *account.State) { s.Reconciled.At = morning },
		"difference": func(s *account.State) {
			s.Reconciled.Differences = []journal.Difference{{Symbol: "AAPL"}}
		},
		"cycles":  func(s *account.State) { s.Cycles = s.Denials },
		"denials": func(s *account.State) { s.Denials = account.Window{} },
		"rate":    func(s *account.State) { s.Rate.Open, s.Rate.Exit = s.Rate.Exit, s.Rate.Open },
		"id":      func(s *account.State) { s.Remember("other", false) },
	}
	c := begin(t)
	c.working(order.Buy, "AAPL", "10", "10")
	c.deny()
	text := snapshot(t, c.s)
	for name, f := range change {
		s, err := account.Restore(text)
		if err != nil {
			t.Fatal(err)
		}
		f(s)
		note(name, s)
	}
	if len(seen) != len(change) {
		t.Errorf("%d digests of %d states", len(seen), len(change))
	}
}

func TestSnapshotsAreSmallAndTheSame(t *testing.T) {
	c := ordinary(t, 400)
	a, b := snapshot(t, c.s), snapshot(t, c.s)
	if !bytes.Equal(a, b) || !strings.HasPrefix(string(a), "broker-rails account snapshot v1\n") {
		t.Error("two snapshots of one state differ")
	}
}
