package gate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// start is Wednesday 2026-03-18, 11:00 in New York.
func start() time.Time { return time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC) }

// desk is a gate with everything around it, under a virtual clock.
type desk struct {
	t      testing.TB
	store  gate.Store
	memory *memory.Store
	broker gate.Broker // what the gate is given; the paper broker, or a wrapper
	paper  *paper.Broker
	quotes *quotes.Scripted
	clock  *clock.Virtual
	gate   *gate.Gate
	cfg    gate.Config
	calls  int
}

// newDesk makes an account with the shipped limits, laid over with an inline document.
func newDesk(t testing.TB, over string) *desk {
	t.Helper()
	cal := market.XNYS()
	d := &desk{t: t, memory: memory.New(), clock: clock.NewVirtual(start()), quotes: quotes.NewScripted(cal)}
	d.store = d.memory
	for _, s := range []string{"AAPL", "MSFT"} {
		d.quote(s, "199.98", "200.02", 0)
	}
	var err error
	d.paper, err = paper.OpenMemory(
		paper.Start{Cash: paper.StartingCash(), Wall: start(), Market: start()},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: cal, ManualFills: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	d.broker = d.paper
	d.cfg = gate.Config{
		Account: "paper", Store: d.store, Broker: d.broker, Quotes: d.quotes, Clock: d.clock, Calendar: cal,
		Paper: true, AtomicReplace: true, Version: "test",
	}
	err = gate.Create(t.Context(), d.cfg, journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	d.open()
	d.limits(over)
	return d
}

// open starts a new process on the same journal, broker and clock.
func (d *desk) open() {
	d.t.Helper()
	d.cfg.Store, d.cfg.Broker = d.store, d.broker
	g, err := gate.Open(d.t.Context(), d.cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	d.gate = g
}

// limits loads the shipped document with over laid on it.
func (d *desk) limits(over string) {
	d.t.Helper()
	text := limits.Template("paper")
	if over != "" {
		base, err := limits.Load("shipped", text)
		if err != nil {
			d.t.Fatal(err)
		}
		doc, err := limits.Over(base, "over", []byte(over))
		if err != nil {
			d.t.Fatal(err)
		}
		text = doc.Canonical
	}
	if _, err := d.gate.LoadLimits(d.t.Context(), "limits", text, "operator"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) quote(symbol, bid, ask string, age time.Duration) {
	q := market.Quote{Symbol: symbol, Currency: "USD", Present: true}
	if bid != "" {
		q.Bid, q.HasBid = money.MustPrice(bid), true
	}
	if ask != "" {
		q.Ask, q.HasAsk = money.MustPrice(ask), true
	}
	d.quotes.Tell(q, d.clock.Now(), age)
}

// advance moves both clocks and renews the quotes.
func (d *desk) advance(by time.Duration) {
	d.clock.Advance(by)
	d.quote("AAPL", "199.98", "200.02", 0)
	d.quote("MSFT", "199.98", "200.02", 0)
}

func (d *desk) call(tool, arguments string) gate.Call {
	d.t.Helper()
	n, refusal := normalize.Call(tool, []byte(arguments))
	if refusal != nil {
		d.t.Fatalf("%s %s: %v", tool, arguments, refusal)
	}
	d.calls++
	sum := sha256.Sum256([]byte(arguments))
	return gate.Call{
		Intent: n.Intent, Door: "test", Agent: "agent", CallID: fmt.Sprint("c", d.calls), RawDigest: hex.EncodeToString(sum[:]), Note: n.Note,
	}
}

func (d *desk) decide(tool, arguments string) gate.Judgement {
	d.t.Helper()
	return d.gate.Decide(d.t.Context(), d.call(tool, arguments))
}

// do decides and forwards what is allowed.
func (d *desk) do(tool, arguments string) (gate.Judgement, gate.Outcome) {
	d.t.Helper()
	j := d.decide(tool, arguments)
	if !j.Allowed() {
		return j, gate.Outcome{}
	}
	return j, d.gate.Forward(d.t.Context(), j.Permit)
}

// buy places a limit buy of AAPL that must be allowed and accepted.
func (d *desk) buy(quantity, price string) string {
	d.t.Helper()
	j, out := d.do("place_order", limitOrder("AAPL", "buy", quantity, price))
	if !j.Allowed() || out.Result != journal.ResultAccepted {
		d.t.Fatalf("buy %s at %s: refused by %v %v %s, outcome %+v", quantity, price, j.Decision.Refusing(), j.Decision.Faults(), j.Fault, out)
	}
	return j.OrderID
}

func limitOrder(symbol, side, quantity, price string) string {
	return fmt.Sprintf(`{"symbol":%q,"side":%q,"order_type":"limit","quantity":%q,"limit_price":%q,"time_in_force":"day"}`, symbol, side, quantity, price)
}

func (d *desk) fill(order, quantity, price string) {
	d.t.Helper()
	client := ""
	d.view(func(v gate.View) {
		if o := v.State.Order(order); o != nil {
			client = o.ClientOrderID
		}
	})
	if _, err := d.paper.FillOrder(d.t.Context(), client, money.MustQuantity(quantity), money.MustPrice(price), ""); err != nil {
		d.t.Fatal(err)
	}
	if err := d.gate.Tick(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) view(look func(gate.View)) {
	d.t.Helper()
	if err := d.gate.View(d.t.Context(), look); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) position(symbol string) (q string) {
	d.t.Helper()
	q = "0"
	d.view(func(v gate.View) {
		if h := v.State.Holding(symbol); h != nil {
			q = h.Position.String()
		}
	})
	return q
}

// messages counts what arrived at the broker.
func (d *desk) messages() int {
	d.t.Helper()
	m, err := d.paper.Ledger().Messages(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return len(m)
}

// entries reads the account's journal.
func (d *desk) entries() (out []journal.Entry) {
	d.t.Helper()
	err := d.store.Read(d.t.Context(), "paper", 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		out = append(out, e)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) kinds() (out []journal.Kind) {
	for _, e := range d.entries() {
		out = append(out, e.Kind)
	}
	return out
}

// verify asks the audit's three questions and compares the fold with the broker.
func (d *desk) verify() {
	d.t.Helper()
	source := func(ctx context.Context, each func(audit.Item) error) error {
		return d.memory.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
	report, err := audit.Verify(d.t.Context(), source, audit.Options{Calendar: d.cfg.Calendar})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range report.Failed() {
		d.t.Errorf("audit: %v", f)
	}
	for _, a := range report.Accounts {
		if a.NotRederived != 0 || a.Rederived != a.Decisions {
			d.t.Errorf("audit: %s: %d of %d decisions re-derived", a.Account, a.Rederived, a.Decisions)
		}
		if a.Account == "paper" && a.State != nil {
			d.compare(a.State)
		}
	}
}

func (d *desk) compare(s *account.State) {
	d.t.Helper()
	seen, err := d.paper.Account(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	if s.Cash != seen.Cash {
		d.t.Errorf("fold has cash %s, the broker %s", s.Cash, seen.Cash)
	}
	for _, p := range seen.Positions {
		if h := s.Holding(p.Instrument.Symbol); h == nil || h.Position != p.Quantity {
			d.t.Errorf("fold and broker differ in %s", p.Instrument.Symbol)
		}
	}
}

func (d *desk) cash() money.Notional { return paper.StartingCash() }
