package rail

import (
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/limits/limitstest"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Short names for the numbers of the tables.
var (
	qty = money.MustQuantity
	prc = money.MustPrice
	ntl = money.MustNotional
	bps = money.MustBasisPoints
	pct = money.MustPercent
)

// at is 11:00 in New York, a Wednesday with a regular session.
var at = time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)

var calendar = market.XNYS()

func on[T any](v T) limits.Limit[T] { return limitstest.On(v) }

// switchedOff is a key that the operator wrote off.
func switchedOff[T any]() limits.Limit[T] { return limits.Limit[T]{Set: true} }

// apple is the instrument of the base order.
func apple() order.Instrument {
	return order.Instrument{
		Symbol: "AAPL", Class: order.USEquity, Currency: "USD",
		Multiplier: money.QuantityFromInt(1), Active: true,
	}
}

// quoteOf is a fresh two-sided quote of the base instrument.
func quoteOf(bid, ask string) market.Quote {
	return market.Quote{
		Symbol: "AAPL", Bid: prc(bid), Ask: prc(ask), HasBid: true, HasAsk: true,
		Currency: "USD", Feed: "sip", At: at.Add(-time.Second), Present: true,
	}
}

// baseFacts is an allowed buy of 10 AAPL at 200.00, quoted 199.98 to 200.02, in a flat
// account with 100,000 of cash. Every figure is set as risk would; a test that changes
// one changes those that follow from it. Call figures after changing Limits.
func baseFacts() Facts {
	doc := limitstest.Full()
	s := account.New("paper")
	s.Broker, s.Currency, s.Started = "paper", "USD", true
	s.Seq, s.At = 2, at.Add(-time.Minute)
	s.Mode = account.Active
	s.Cash = ntl("100000")
	s.Day = account.Day{Date: 20260318, HasOpen: true, EquityAtOpen: ntl("100000")}
	s.Peak = account.Peak{Known: true, Equity: ntl("100000")}
	s.Reconciled.At = at.Add(-time.Second)
	req := &Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: "paper", Symbol: "AAPL", Side: order.Buy,
			Type: order.Limit, Quantity: qty("10"), LimitPrice: prc("200"), TimeInForce: order.Day,
		},
		Now: at, InstrumentAsked: true, InstrumentKnown: true, Instrument: apple(),
		Quote: quoteOf("199.98", "200.02"), LastValid: quoteOf("199.98", "200.02"),
		ControlMode: account.Active,
		Broker:      BrokerFigures{Present: true, Cash: ntl("100000"), BuyingPower: ntl("100000"), At: at.Add(-time.Second)},
	}
	f := Facts{
		Request: req, State: s, Limits: doc, Intent: &req.Intent, Instrument: req.Instrument,
		Session: market.Session(at, calendar), Calendar: calendar,
		PositionKnown: true, WorstLong: qty("10"), Increment: qty("10"),
		Quote: req.Quote, QuoteFresh: true, PricingQuote: req.Quote, PricingOK: true,
		RiskPrice: prc("200"), RiskPriceOK: true,
		NotionalOK: true, Notional: ntl("2000"), IncrementNotional: ntl("2000"),
		Cost: ntl("2000"), CostOK: true,
		GrossOK: true, Gross: ntl("2000.2"), NetOK: true, NetLong: ntl("2000.2"),
		OwnOK: true, Own: ntl("2000.2"), EquityOK: true, Equity: ntl("100000"),
		CommittedOK: true, BuyingPowerOK: true, BuyingPower: ntl("100000"),
		Mode: account.Active,
	}
	f.figures()
	return f
}

// figures lays the overrides over the document again.
func (f *Facts) figures() {
	figures := f.Limits.For(f.Intent.Symbol)
	f.Figures = &figures
}

// reduce makes the facts those of a sell of q from a long position of held shares.
func (f *Facts) reduce(held, q string) {
	f.Intent.Side, f.Intent.Quantity = order.Sell, qty(q)
	f.Position, f.Closable, f.Increment = qty(held), qty(held), qty(q)
	f.Reducing, f.WholeClose = true, qty(held) == qty(q)
	f.Holding = &account.Holding{Instrument: f.Instrument, Position: qty(held), Cost: prc("150")}
	f.State.Holdings = []account.Holding{*f.Holding}
	f.WorstLong = qty(held)
	f.WorstShort, _ = qty(q).Sub(qty(held))
	f.RiskPrice = money.MaxPrice(f.Intent.LimitPrice, f.PricingQuote.Bid)
	f.Notional, _ = f.RiskPrice.Times(qty(q), money.Up)
	f.IncrementNotional, f.Cost = f.Notional, money.Notional{}
}

// finds asserts one rail's own finding: its status, that it bears the rail's id, and
// that a denial explains itself.
func finds(t *testing.T, got Finding, id ID, want Status) {
	t.Helper()
	if got.Rail != id || got.Status != want {
		t.Fatalf("%s: status %d, want %s: %d (%q)", got.Rail, got.Status, id, want, got.Text)
	}
	switch want {
	case Deny:
		if got.Observed == "" || got.Limit == "" || got.Text == "" {
			t.Errorf("%s: a denial needs observed, limit and text: %+v", id, got)
		}
		if want := retryOf(got); got.Retry != want || !strings.HasSuffix(got.Text, ".") {
			t.Errorf("%s: retry %d and %q, want %d and a full stop", id, got.Retry, got.Text, want)
		}
	case Fault:
		if got.Text == "" {
			t.Errorf("%s: a fault names what is missing: %+v", id, got)
		}
		if got.Retry != RetryLater {
			t.Errorf("%s: retry %d of a fault, want later", id, got.Retry)
		}
	}
}

// check is one row of a rail's table.
type check struct {
	name string
	set  func(f *Facts)
	want Status
}

// run puts each row's change on the base order and asserts the rail's own finding.
func run(t *testing.T, id ID, rail func(*Facts) Finding, rows []check) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := baseFacts()
			if row.set != nil {
				row.set(&f)
			}
			f.figures()
			finds(t, rail(&f), id, row.want)
			if row.want != Pass {
				return
			}
			if n := testing.AllocsPerRun(10, func() { rail(&f) }); n != 0 {
				t.Errorf("passing allocates %v times", n)
			}
		})
	}
}
