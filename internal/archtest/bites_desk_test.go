package archtest_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

var (
	qty = money.MustQuantity
	prc = money.MustPrice
	ntl = money.MustNotional
)

// elevenAM is 11:00 in New York, a Wednesday with a regular session.
var elevenAM = time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)

// settings are keys of the limits document with their values as YAML.
type settings map[string]string

// document is the shipped limits document with some keys changed.
func document(t testing.TB, changes ...settings) *limits.Document {
	t.Helper()
	text := string(limits.Template("paper"))
	for _, change := range changes {
		for key, value := range change {
			text = set(t, text, key, value)
		}
	}
	doc, err := limits.Load("limits.yaml", []byte(text))
	if err != nil {
		t.Fatalf("limits with %v: %v", changes, err)
	}
	return doc
}

// set changes one key in the text of a document.
func set(t testing.TB, text, key, value string) string {
	t.Helper()
	section, name, nested := strings.Cut(key, ".")
	start, indent := 0, "  "
	if nested {
		start = strings.Index(text, "\n"+section+":\n")
	} else {
		name, indent = key, ""
	}
	line := regexp.MustCompile(`(?m)^` + indent + name + `: .*$`)
	if at := line.FindStringIndex(text[max(start, 0):]); at != nil && start >= 0 {
		return text[:start+at[0]] + indent + name + ": " + value + text[start+at[1]:]
	}
	t.Fatalf("the shipped document has no key %s", key)
	return ""
}

// book is an account folded from real entries.
type book struct {
	t     testing.TB
	state *account.State
	doc   *limits.Document
	now   time.Time
}

// begin is how an account of a row starts. Equity at the open is cash and positions at
// cost, plus lost.
type begin struct {
	cash string // empty: 100000
	held string // AAPL, at 200
	lost string // since the open
}

func open(t testing.TB, doc *limits.Document, b begin) *book {
	t.Helper()
	if b.cash == "" {
		b.cash = "100000"
	}
	k := &book{t: t, state: account.New("paper"), doc: doc, now: elevenAM.Add(-10 * time.Minute)}
	genesis := journal.Genesis{Broker: "paper", Cash: ntl(b.cash), Currency: "USD", Version: "test", Who: "test"}
	equity := ntl(b.cash)
	if b.held != "" {
		genesis.Positions = []journal.Position{{Instrument: share("AAPL"), Quantity: qty(b.held), Cost: prc("200")}}
		worth, _ := prc("200").Times(qty(b.held), money.Down)
		equity, _ = equity.Add(worth)
	}
	if b.lost != "" {
		equity, _ = equity.Add(ntl(b.lost))
	}
	k.apply(journal.KindGenesis, genesis)
	k.apply(journal.KindLimits, journal.Limits{Fingerprint: doc.Fingerprint, Text: "text", Who: "test"})
	k.apply(journal.KindOpen, journal.Open{Equity: equity, Source: "marks", TradeDate: "2026-03-18"})
	k.apply(journal.KindReconcile, journal.Reconcile{AsOf: journal.At(k.now), Cash: ntl(b.cash), Whole: true})
	k.now = elevenAM
	return k
}

func (k *book) apply(kind journal.Kind, body any) {
	k.t.Helper()
	b, h, err := journal.Seal("paper", k.state.Seq+1, k.state.Head, k.now, k.state.Fingerprint, kind, body)
	if err == nil {
		err = k.state.Apply(b, h)
	}
	if err != nil {
		k.t.Fatalf("%s: %v", kind, err)
	}
}

func share(symbol string) order.Instrument {
	return order.Instrument{
		Symbol: symbol, Class: order.USEquity, Currency: "USD", Multiplier: money.QuantityFromInt(1), Active: true,
	}
}

// request is a limit buy of 10 AAPL at 200.00, quoted 199.98 to 200.02.
func (k *book) request() *rail.Request {
	quote := market.Quote{
		Symbol: "AAPL", Bid: prc("199.98"), Ask: prc("200.02"), HasBid: true, HasAsk: true,
		Currency: "USD", Feed: "sip", At: k.now.Add(-time.Second), Present: true,
	}
	return &rail.Request{
		Intent: order.Intent{
			Action: order.ActionNew, Account: "paper", Symbol: "AAPL", Side: order.Buy, Type: order.Limit,
			Quantity: qty("10"), LimitPrice: prc("200"), TimeInForce: order.Day,
		},
		Now: k.now, InstrumentAsked: true, InstrumentKnown: true, Instrument: share("AAPL"),
		Quote: quote, LastValid: quote, PaperBroker: true, AtomicReplace: true, ControlMode: account.Active,
		Broker: rail.BrokerFigures{Present: true, Cash: k.state.Cash, BuyingPower: k.state.Cash, At: k.now},
	}
}

func (k *book) decide(req *rail.Request) risk.Decision {
	return risk.Decide(k.state, k.doc, req, market.XNYS())
}

// judge decides under other limits than the document's own, and journals it.
func (k *book) judge(doc *limits.Document, req *rail.Request) string {
	k.t.Helper()
	d := risk.Decide(k.state, doc, req, market.XNYS())
	none := strings.Repeat("0", 64)
	calendar := market.XNYS()
	body := record.Decision(req, &d, record.Origin{
		Door: "test", RawDigest: none, State: none, Calendar: calendar.Digest(), Clock: journal.Clock{Wall: journal.At(k.now)},
	})
	if d.Allowed() {
		body.ReplyBy = journal.At(k.now.Add(30 * time.Second))
	}
	k.apply(journal.KindDecision, body)
	return "paper/" + strconv.FormatUint(k.state.Seq, 10)
}

// place has an order allowed under wide limits; result is what became of its message.
func (k *book) place(req *rail.Request, result string) string {
	k.t.Helper()
	id := k.judge(wide(k.t), req)
	if k.state.Order(id) == nil {
		k.t.Fatalf("an order of a row's past was not allowed")
	}
	k.apply(journal.KindOutcome, journal.Outcome{Decision: k.state.Seq, BrokerID: "b" + id, Result: result})
	return id
}

// deny has an order denied.
func (k *book) deny() {
	k.t.Helper()
	req := k.request()
	req.Intent.Symbol, req.Intent.Quantity = "ZZZZ", qty("3")
	req.Instrument = share("ZZZZ")
	k.judge(wide(k.t), req)
}

func (k *book) fill(id, quantity string) {
	k.t.Helper()
	k.apply(journal.KindFill, journal.Fill{
		OrderID: id, ExecutionID: fmt.Sprintf("x%d", k.state.Seq), ExecutedAt: journal.At(k.now), Quantity: qty(quantity), Price: prc("200"),
	})
}

// wide are limits that allow what rows need of the past.
func wide(t testing.TB) *limits.Document {
	return document(t, settings{"session.max_daily_loss": "off"})
}
