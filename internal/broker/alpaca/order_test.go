package alpaca_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// An order is placed, fills, rests, is replaced and canceled; journal and ledger agree at
// each step.
func TestOrdersToTheirEnds(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.must("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	d.agrees()
	resting := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	d.agrees()
	d.must("replace_order", `{"order_id":"`+resting+`","quantity":"4","limit_price":"199.60"}`)
	o, open := d.order(resting)
	if !open || o.Quantity.String() != "4" || o.LimitPrice.String() != "199.6" || o.Pending != nil {
		t.Errorf("after the replace: %v %+v", open, o)
	}
	d.agrees()
	d.must("cancel_order", `{"order_id":"`+resting+`"}`)
	if _, open := d.order(resting); open {
		t.Error("a canceled order is open")
	}
	d.must("place_order", limitOrder("AAPL", "sell", "10", "199.98"))
	d.agrees()
	if found := d.reconcile(); len(found.Differences)+len(found.StillDoubt)+found.External > 0 {
		t.Errorf("%+v", found)
	}
	if n := d.derived(); n != 4 || d.wire.count("POST") != 3 || d.wire.count("PATCH") != 1 || d.wire.count("DELETE") != 1 {
		t.Errorf("%d orders of ours, sent %v", n, d.wire.seen)
	}
}

// What is denied never reaches the broker.
func TestDeniedIsNotSent(t *testing.T) {
	d := newDesk(t, "")
	for _, arguments := range []string{
		limitOrder("AAPL", "buy", "5000", "200.02"), limitOrder("AAPL", "buy", "10", "260.00"), limitOrder("TSTX", "buy", "1", "10.00"),
	} {
		if j, _ := d.do("place_order", arguments); j.Allowed() {
			t.Errorf("allowed: %s", arguments)
		}
	}
	if d.wire.count("POST") != 0 || len(d.fake.Ledger().Orders) != 0 {
		t.Error("something was sent")
	}
}

// A refusal that the broker wrote releases the order, with its words.
func TestRejectedByTheBroker(t *testing.T) {
	d := newDesk(t, "")
	d.fake.Block(true)
	_, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	if out.Result == journal.ResultAccepted {
		t.Fatalf("%+v", out)
	}
	d.fake.Block(false)
	d.agrees()
}

// Each fault of a new order, in both variants: at most one order of the decision at the
// broker, sent once, and journal and ledger agree once it is settled.
func TestFaultsOfANewOrder(t *testing.T) {
	for kind := range fakealpaca.Kinds() {
		if !strings.HasSuffix(kind, "_before") && !strings.HasSuffix(kind, "_after") && kind != "rate_limit" {
			continue
		}
		for _, price := range []string{"200.02", "199.50"} { // fills at once, and rests
			t.Run(kind+" "+price, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, "")
				inject(t, d.fake, fakealpaca.Fault{Kind: kind, On: "POST /v2/orders", For: 1200 * time.Millisecond})
				j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", price))
				if !j.Allowed() {
					t.Fatalf("refused by %v %v %s", j.Decision.Refusing(), j.Decision.Faults(), j.Fault)
				}
				want := 1
				if strings.HasSuffix(kind, "_before") || kind == "rate_limit" {
					want = 0
				}
				if n := d.derived(); n != want {
					t.Errorf("%d orders in the ledger, want %d", n, want)
				}
				if want == 0 && out.Result == journal.ResultAccepted {
					t.Errorf("what never arrived was taken for accepted")
				}
				if want == 1 && (out.Result == journal.ResultRejected || out.Result == journal.ResultNotSent) {
					t.Errorf("an order at the broker was taken for %s", out.Result)
				}
				d.settle()
				d.agrees()
				if d.wire.count("POST") != 1 {
					t.Errorf("sent %d times", d.wire.count("POST"))
				}
				if left := d.fake.Pending(); len(left) > 0 {
					t.Errorf("%v did not fire", left)
				}
			})
		}
	}
}

// Faults of a replace and of a cancel, and the races that a fill wins.
func TestFaultsOfAChange(t *testing.T) {
	kinds := []string{"lost_replace", "lost_cancel"}
	for kind := range fakealpaca.Kinds() {
		if strings.HasSuffix(kind, "_before") || strings.HasSuffix(kind, "_after") || kind == "rate_limit" {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		for method, tool := range map[string]string{"PATCH": "replace_order", "DELETE": "cancel_order"} {
			if strings.HasPrefix(kind, "lost_") && !strings.HasPrefix(tool, kind[5:]) {
				continue
			}
			if method == "DELETE" && slices.Contains([]string{"foreign_after", "number_after", "huge_after", "status_after", "empty_after"}, kind) {
				continue // a cancel's answer has no body
			}
			t.Run(method+" "+kind, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, "session: {duplicate_window: off}")
				resting := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
				on := method + " /v2/orders"
				if strings.HasPrefix(kind, "lost_") {
					on = method
				}
				inject(t, d.fake, fakealpaca.Fault{Kind: kind, On: on, For: 1200 * time.Millisecond})
				arguments := `{"order_id":"` + resting + `"}`
				if method == "PATCH" {
					arguments = `{"order_id":"` + resting + `","quantity":"4","limit_price":"199.60"}`
				}
				j, _ := d.do(tool, arguments)
				if !j.Allowed() {
					t.Fatalf("refused by %v %v %s", j.Decision.Refusing(), j.Decision.Faults(), j.Fault)
				}
				if left := d.fake.Pending(); len(left) > 0 {
					t.Errorf("%v did not fire", left)
				}
				d.settle()
				d.agrees()
				if d.wire.count(method) != 1 {
					t.Errorf("sent %d times", d.wire.count(method))
				}
			})
		}
	}
}

func inject(t testing.TB, b *fakealpaca.Broker, f fakealpaca.Fault) {
	t.Helper()
	if err := b.Inject(f); err != nil {
		t.Fatal(err)
	}
}

// After a 429 nothing is sent until its end, and then it is.
func TestRateLimitPauses(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	inject(t, d.fake, fakealpaca.Fault{Kind: "rate_limit", On: "POST", For: 40 * time.Second})
	if _, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.02")); out.Result != journal.ResultRejected {
		t.Fatalf("%+v", out)
	}
	_, _ = d.do("place_order", limitOrder("AAPL", "buy", "11", "200.02"))
	if d.wire.count("POST") != 1 {
		t.Errorf("%d were sent during the pause", d.wire.count("POST"))
	}
	d.clock.Advance(41 * time.Second)
	d.reconcile()
	d.must("place_order", limitOrder("AAPL", "buy", "12", "200.02"))
	d.agrees()
}

// Orders and fills that did not come through the gate count, and are told.
func TestByHand(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	o := d.fake.PlaceByHand("MSFT", "buy", money.QuantityFromInt(3), money.MustPrice("400"))
	d.fake.PlaceByHand("AAPL", "buy", money.QuantityFromInt(2), money.Price{})
	d.clock.Advance(time.Second)
	found := d.reconcile()
	if found.External != 1 || len(found.Differences) != 0 {
		t.Errorf("%+v", found)
	}
	if _, open := d.order("ext/" + o.ID); !open {
		t.Error("the order by hand does not count")
	}
	d.agrees()
	d.fake.SetQuote("MSFT", fakealpaca.Quote{Bid: money.MustPrice("399"), Ask: money.MustPrice("399.5"), Last: money.MustPrice("399")})
	d.clock.Advance(time.Second)
	d.reconcile()
	d.agrees()
	d.fake.Deposit(money.NotionalFromInt(500))
	d.fake.Deposit(money.NotionalFromInt(-20))
	d.reconcile()
	d.agrees()
	d.fake.Drift("MSFT", money.QuantityFromInt(6))
	if found := d.reconcile(); len(found.Differences) != 1 || found.Differences[0].Symbol != "MSFT" {
		t.Errorf("a split: %+v", found)
	}
	if j, _ := d.do("place_order", limitOrder("MSFT", "buy", "1", "399.5")); j.Allowed() {
		t.Error("new risk on a position that differs")
	}
}

// A journal takes over what is there, and tells none of it again.
func TestTakeover(t *testing.T) {
	d := bareDesk(t)
	d.fake.PlaceByHand("AAPL", "buy", money.QuantityFromInt(2), money.Price{})
	o := d.fake.PlaceByHand("MSFT", "buy", money.QuantityFromInt(3), money.MustPrice("400"))
	d.fake.Deposit(money.NotionalFromInt(500))
	d.begin("")
	d.agrees()
	if _, open := d.order("ext/" + o.ID); !open {
		t.Error("the open order was not taken over")
	}
	d.clock.Advance(time.Minute)
	d.reconcile()
	d.restart()
	d.reconcile()
	d.agrees()
}

// A process that starts anew, or stands beside another, tells each thing once; what ended
// while nobody looked is found.
func TestRestartAndTwoProcesses(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.fake.FillHalf(1)
	half := d.must("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	first := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	d.agrees()
	other := *d
	other.broker = d.newBroker(fakeNumber)
	other.open()
	other.reconcile()
	other.agrees()
	d.clock.Advance(time.Minute)
	// Both end with nobody looking.
	d.fake.SetQuote("AAPL", fakealpaca.Quote{Bid: money.MustPrice("199.38"), Ask: money.MustPrice("199.42"), Last: money.MustPrice("199.4")})
	d.clock.Advance(48 * time.Hour)
	d.restart()
	d.reconcile()
	for _, id := range []string{half, first} {
		if _, open := d.order(id); open {
			t.Errorf("%s is open", id)
		}
	}
	d.agrees()
	other.reconcile()
	other.agrees()
	other.must("place_order", limitOrder("AAPL", "sell", "5", "199.38"))
	d.reconcile()
	d.agrees()
	if found := d.reconcile(); len(found.Differences) > 0 {
		t.Errorf("%+v", found)
	}
}

// A crash between sending and the outcome leaves the order in doubt, and the next process
// finds it.
func TestCrashAfterSending(t *testing.T) {
	d := newDesk(t, "")
	j := d.gate.Decide(t.Context(), d.call("place_order", limitOrder("AAPL", "buy", "10", "200.02")))
	if !j.Allowed() {
		t.Fatal(j.Decision.Refusing())
	}
	inject(t, d.fake, fakealpaca.Fault{Kind: "drop_after", On: "POST"})
	_ = d.gate.Forward(t.Context(), j.Permit)
	d.restart()
	d.settle()
	d.agrees()
	if d.derived() != 1 || d.wire.count("POST") != 1 {
		t.Error("not sent exactly once")
	}
}

// Nothing leaves before the account has shown its number, or for another account.
func TestFailClosedWrongAccount(t *testing.T) {
	d := newDesk(t, "")
	d.broker = d.newBroker("PA0OTHER0001")
	d.open()
	if _, err := d.gate.Reconcile(t.Context(), nil); err == nil {
		t.Error("another account was reconciled")
	}
	d.do("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	if d.wire.count("POST") != 0 {
		t.Error("an order was sent to another account")
	}
}

func TestFailClosedOptions(t *testing.T) {
	d := newDesk(t, "")
	good := alpaca.Options{Trading: d.url, Data: d.url, Feed: alpaca.FeedIEX, Keys: d.keys(), Clock: d.clock, Calendar: d.config().Calendar}
	if _, err := alpaca.New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *alpaca.Options){
		"no address":     func(o *alpaca.Options) { o.Trading = "" },
		"live":           func(o *alpaca.Options) { o.Trading = alpaca.LiveURL },
		"live account":   func(o *alpaca.Options) { o.AccountID = "123456789" },
		"plain http":     func(o *alpaca.Options) { o.Trading = "http://paper-api.alpaca.markets" },
		"elsewhere":      func(o *alpaca.Options) { o.Trading = "https://paper-api.alpaca.markets.example.org" },
		"another port":   func(o *alpaca.Options) { o.Trading = "https://paper-api.alpaca.markets:444" },
		"keys in it":     func(o *alpaca.Options) { o.Trading = "https://a:b@paper-api.alpaca.markets" },
		"no data":        func(o *alpaca.Options) { o.Data = "" },
		"no feed":        func(o *alpaca.Options) { o.Feed = "" },
		"no keys":        func(o *alpaca.Options) { o.Keys = alpaca.Keys{} },
		"no clock":       func(o *alpaca.Options) { o.Clock = nil },
		"no calendar":    func(o *alpaca.Options) { o.Calendar = alpaca.Options{}.Calendar },
		"unknown scheme": func(o *alpaca.Options) { o.Data = "ftp://127.0.0.1" },
	} {
		o := good
		change(&o)
		if _, err := alpaca.New(o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if r := new(alpaca.Broker).Send(t.Context(), gate.Sealed{}); r.Result != gate.ReplyInDoubt {
		t.Errorf("a message that no gate made: %+v", r)
	}
}

// An order that another journal sent, and this one took over, is nobody's of ours: its
// fills are booked as a stranger's.
func TestTakenOverOrderOfAnotherJournal(t *testing.T) {
	first := newDesk(t, "session: {duplicate_window: off}")
	first.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	second := &desk{t: t, fake: first.fake, wire: first.wire, url: first.url, clock: first.clock, store: memory.New()}
	second.begin("")
	second.agrees()
	first.fake.SetQuote("AAPL", fakealpaca.Quote{Bid: money.MustPrice("199.38"), Ask: money.MustPrice("199.42"), Last: money.MustPrice("199.4")})
	first.clock.Advance(time.Second)
	second.reconcile()
	second.agrees()
	first.reconcile()
	first.agrees()
}
