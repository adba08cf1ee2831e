package risk_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/limits/limitstest"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// Short names for the numbers of the tests.
var (
	qty = money.MustQuantity
	prc = money.MustPrice
	ntl = money.MustNotional
	pct = money.MustPercent
)

// elevenAM is 11:00 in New York, a Wednesday with a regular session.
var elevenAM = time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)

var calendar = market.XNYS()

func on[T any](v T) limits.Limit[T] { return limitstest.On(v) }

// wide has every rail on, with figures that leave room for the tests' orders.
func wide() *limits.Document {
	d := limitstest.Full()
	d.Fingerprint = strings.Repeat("ab", 32)
	d.Instrument.Symbols = append(d.Instrument.Symbols, symbols(50)...)
	d.Size.MaxOrderQuantity, d.Size.MaxOrderNotional = on(qty("1000")), on(ntl("250000"))
	d.Position.MaxPositionQuantity, d.Position.MaxPositionNotional = on(qty("5000")), on(ntl("1000000"))
	d.Position.MaxGrossExposure, d.Position.MaxNetExposure = on(ntl("2500000")), on(ntl("2500000"))
	d.Session.MaxOrdersPerMinute, d.Session.MaxNotionalPerMinute, d.Session.MaxMessagesPerMinute = on(100), on(ntl("5000000")), on(600)
	d.Session.MaxOrdersPerDay, d.Session.MaxNotionalPerDay = on(2000), on(ntl("50000000"))
	d.Session.MaxDailyLoss, d.Session.MaxDrawdown = on(ntl("500000")), on(ntl("900000"))
	return d
}

// symbols are n names in their order: S100, S101, ...
func symbols(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "S" + strconv.Itoa(100+i)
	}
	return out
}

func share(symbol string) order.Instrument {
	return order.Instrument{
		Symbol: symbol, Class: order.USEquity, Currency: "USD",
		Multiplier: money.QuantityFromInt(1), Active: true,
	}
}

func held(symbol, quantity, cost string) journal.Position {
	return journal.Position{Instrument: share(symbol), Quantity: qty(quantity), Cost: prc(cost)}
}

func quote(symbol, bid, ask string) market.Quote {
	return market.Quote{
		Symbol: symbol, Bid: prc(bid), Ask: prc(ask), HasBid: true, HasAsk: true,
		Currency: "USD", Feed: "sip", At: elevenAM.Add(-time.Second), Present: true,
	}
}

func mark(symbol, bid, ask string) rail.Mark {
	return rail.Mark{Symbol: symbol, Bid: prc(bid), Ask: prc(ask), At: elevenAM.Add(-time.Minute)}
}

// book is an account folded from real entries.
type book struct {
	t   testing.TB
	s   *account.State
	doc *limits.Document
	now time.Time
}

// open starts an account with positions, limits in force, equity at open (positions at
// cost) and a whole reconciliation.
func open(t testing.TB, cash string, positions ...journal.Position) *book {
	b := &book{t: t, s: account.New("paper"), doc: wide(), now: elevenAM}
	b.apply(journal.KindGenesis, journal.Genesis{
		Broker: "paper", Cash: ntl(cash), Currency: "USD", Positions: positions, Version: "test", Who: "operator",
	})
	b.apply(journal.KindLimits, journal.Limits{Fingerprint: b.doc.Fingerprint, Text: "text", Who: "operator"})
	equity := ntl(cash)
	for _, p := range positions {
		worth, _ := p.Cost.Times(p.Quantity, money.Down)
		equity, _ = equity.Add(worth)
	}
	b.apply(journal.KindOpen, journal.Open{Equity: equity, Source: "marks", TradeDate: "2026-03-18"})
	b.apply(journal.KindReconcile, journal.Reconcile{AsOf: journal.At(b.now), Cash: ntl(cash), Whole: true})
	return b
}

func (b *book) apply(kind journal.Kind, body any) {
	b.t.Helper()
	bytes, h, err := journal.Seal("paper", b.s.Seq+1, b.s.Head, b.now, b.s.Fingerprint, kind, body)
	if err != nil {
		b.t.Fatalf("seal %s: %v", kind, err)
	}
	if err := b.s.Apply(bytes, h); err != nil {
		b.t.Fatalf("apply %s: %v", kind, err)
	}
}

// new is a limit order of AAPL, quoted 199.98 to 200.02.
func (b *book) new(side order.Side, quantity, limit string) *rail.Request {
	now := quote("AAPL", "199.98", "200.02")
	now.At = b.now.Add(-time.Second)
	return &rail.Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: "paper", Symbol: "AAPL", Side: side, Type: order.Limit,
			Quantity: qty(quantity), LimitPrice: prc(limit), TimeInForce: order.Day,
		},
		Now: b.now, InstrumentAsked: true, InstrumentKnown: true, Instrument: share("AAPL"),
		Quote: now, LastValid: now,
		Broker:      rail.BrokerFigures{Present: true, Cash: ntl("1000000000"), BuyingPower: ntl("1000000000"), At: b.now},
		PaperBroker: true, AtomicReplace: true, ControlMode: account.Active,
	}
}

func (b *book) decide(req *rail.Request) risk.Decision { return risk.Decide(b.s, b.doc, req, calendar) }

// place decides, journals what it came to, and lets the broker accept what was allowed.
// It returns the order's id.
func (b *book) place(req *rail.Request) (risk.Decision, string) {
	b.t.Helper()
	d := b.decide(req)
	b.journal(req, &d)
	if d.Allowed() {
		b.apply(journal.KindOutcome, journal.Outcome{
			Decision: b.s.Seq, BrokerID: "b" + strconv.FormatUint(b.s.Seq, 10), Result: journal.ResultAccepted,
			OrderID: req.Intent.Target,
		})
		return d, "paper/" + strconv.FormatUint(b.s.Seq-1, 10)
	}
	return d, ""
}

// journal writes the decision down; an allowed order is then reserved and in flight.
func (b *book) journal(req *rail.Request, d *risk.Decision) {
	b.t.Helper()
	body := record.Decision(req, d, record.Origin{
		Door: "test", RawDigest: strings.Repeat("0", 64), State: strings.Repeat("0", 64), Calendar: calendar.Digest(),
		Clock: journal.Clock{Wall: journal.At(b.now)},
	})
	if d.Allowed() {
		body.ReplyBy = journal.At(b.now.Add(30 * time.Second))
	}
	b.apply(journal.KindDecision, body)
}

// replace asks for other terms of an order.
func (b *book) replace(target string, side order.Side, quantity, limit string) *rail.Request {
	req := b.new(side, quantity, limit)
	req.Intent.Action, req.Intent.Target = order.ActionReplace, target
	return req
}

func (b *book) cancel(target string) *rail.Request {
	return &rail.Request{
		Intent: order.Intent{Action: order.ActionCancel, Account: "paper", Symbol: "AAPL", Target: target},
		Now:    b.now, ControlMode: account.Active,
	}
}

func (b *book) fill(orderID, quantity, price string) {
	b.t.Helper()
	b.apply(journal.KindFill, journal.Fill{
		OrderID: orderID, ExecutionID: "x" + strconv.FormatUint(b.s.Seq, 10), ExecutedAt: journal.At(b.now),
		Quantity: qty(quantity), Price: prc(price),
	})
}

// allowed fails the test unless d is allowed.
func allowed(t testing.TB, d *risk.Decision) {
	t.Helper()
	if !d.Allowed() {
		t.Fatalf("%s: refusing %v, faults %v, %s", d.Verdict, d.Refusing(), d.Faults(), explain(d))
	}
}

// denied fails the test unless exactly these ids deny.
func denied(t testing.TB, d *risk.Decision, ids ...string) {
	t.Helper()
	if d.Verdict != risk.Denied || strings.Join(d.Refusing(), " ") != strings.Join(ids, " ") {
		t.Fatalf("%s: refusing %v, faults %v, want denied by %v; %s", d.Verdict, d.Refusing(), d.Faults(), ids, explain(d))
	}
}

func explain(d *risk.Decision) string {
	var texts []string
	if d.IntegrityText != "" {
		texts = append(texts, d.IntegrityText)
	}
	for i := range d.Findings {
		if d.Findings[i].Status != rail.StatusNone && d.Findings[i].Text != "" {
			texts = append(texts, string(d.Findings[i].Rail)+": "+d.Findings[i].Text)
		}
	}
	return strings.Join(texts, " | ")
}
