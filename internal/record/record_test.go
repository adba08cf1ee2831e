package record_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

func now() time.Time { return time.Date(2026, 3, 18, 15, 0, 0, 1, time.UTC) }

func quote(bid, ask string) market.Quote {
	return market.Quote{
		Symbol: "AAPL", Bid: money.MustPrice(bid), Ask: money.MustPrice(ask), At: now().Add(-time.Second),
		Present: true, HasBid: true, HasAsk: true,
	}
}

// full is a request of which every field says something.
func full() rail.Request {
	q := quote("199.98", "200.02")
	q.Last, q.HasLast, q.Currency, q.Feed, q.Halted = money.MustPrice("200"), true, "USD", "sip", true
	return rail.Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: "paper", Symbol: "AAPL", Side: order.Buy, Type: order.Limit,
			Quantity: money.MustQuantity("10"), LimitPrice: money.MustPrice("200"), TimeInForce: order.Day, ClientOrderID: "c-1",
		},
		Now: now(), InstrumentAsked: true, InstrumentKnown: true,
		Instrument: order.Instrument{
			Symbol: "AAPL", Class: order.USEquity, Currency: "USD", Multiplier: money.MustQuantity("1"), Active: true,
		},
		Quote: q, LastValid: quote("199.90", "199.94"),
		Marks: []rail.Mark{{Symbol: "MSFT", Bid: money.MustPrice("400"), Ask: money.MustPrice("401"), At: now()}},
		Broker: rail.BrokerFigures{
			Present: true, Cash: money.MustNotional("1"), BuyingPower: money.MustNotional("2"), At: now(),
		},
		ClockSuspect: true, LimitsInvalid: true, StartPending: true, PaperBroker: true, AtomicReplace: true,
		ControlMode: account.ReduceOnly, Fees: money.MustNotional("0.05"),
	}
}

// again writes a request down, as bytes, and reads it back.
func again(t *testing.T, req *rail.Request) rail.Request {
	t.Helper()
	body := record.Decision(req, &risk.Decision{}, record.Origin{Clock: journal.Clock{Suspect: req.ClockSuspect}})
	text, _, err := journal.Seal("paper", 2, journal.Hash{1}, req.Now, "", journal.KindDecision, body)
	if err != nil {
		t.Fatal(err)
	}
	e, err := journal.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	read, err := journal.DecodeBody[journal.Decision](&e)
	if err != nil {
		t.Fatal(err)
	}
	out, err := record.Request(&e, &read)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, name string, want rail.Request) {
	t.Helper()
	if diff := cmp.Diff(want, again(t, &want), cmp.Comparer(func(a, b money.Price) bool { return a == b }),
		cmp.Comparer(func(a, b money.Quantity) bool { return a == b }), cmp.Comparer(func(a, b money.Notional) bool { return a == b })); diff != "" {
		t.Errorf("%s: what is judged again is not what was judged (-first +again):\n%s", name, diff)
	}
}

// TestWhatIsJudgedAgainIsWhatWasJudged: each field of a request, at another value than its
// zero, comes back from the journal. A field that is added and not recorded fails here.
func TestWhatIsJudgedAgainIsWhatWasJudged(t *testing.T) {
	req := full()
	v := reflect.ValueOf(req)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s at zero", v.Type().Field(i).Name)
		}
	}
	same(t, "full", req)
	for i := range v.NumField() {
		part := full()
		reflect.ValueOf(&part).Elem().Field(i).SetZero()
		switch v.Type().Field(i).Name {
		case "Intent", "Now", "Instrument":
			continue // no entry without them
		}
		same(t, "without "+v.Type().Field(i).Name, part)
	}
	halted := full()
	halted.ControlMode, halted.Quote, halted.LastValid.Halted = account.Halted, market.Quote{}, true
	same(t, "halted", halted)
	active := full()
	active.ControlMode = account.Active
	same(t, "active", active)
	folded := full()
	folded.Intent.Symbol = "aapl"
	same(t, "a symbol in small letters", folded)
}

// An entry of flags that this version does not know was judged by inputs that it cannot
// give.
func TestFailClosedUnknownFlag(t *testing.T) {
	req := full()
	body := record.Decision(&req, &risk.Decision{}, record.Origin{})
	body.Flags = append(body.Flags, "some_other")
	if _, err := record.Request(&journal.Entry{}, &body); err == nil {
		t.Error("an unknown flag is passed over")
	}
}
