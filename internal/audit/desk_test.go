package audit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

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

// desk writes journals as production does: through the gate, under a virtual clock.
type desk struct {
	t      testing.TB
	store  *memory.Store
	clock  *clock.Virtual
	quotes fresh
	paper  *paper.Broker
	gate   *gate.Gate
}

func newDesk(t testing.TB, over string) *desk {
	t.Helper()
	at := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)
	cal := market.XNYS()
	d := &desk{t: t, store: memory.New(), clock: clock.NewVirtual(at), quotes: fresh{quotes.NewScripted(cal)}}
	var err error
	d.paper, err = paper.OpenMemory(
		paper.Start{Cash: paper.StartingCash(), Wall: at, Market: at},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: cal, ManualFills: true},
	)
	d.must(err)
	cfg := gate.Config{
		Account: "paper", Store: d.store, Broker: d.paper, Quotes: d.quotes, Clock: d.clock, Calendar: cal,
		Paper: true, AtomicReplace: true, Version: "test",
	}
	d.must(gate.Create(t.Context(), cfg, journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "operator"}))
	d.gate, err = gate.Open(t.Context(), cfg)
	d.must(err)
	base, err := limits.Load("shipped", limits.Template("paper"))
	d.must(err)
	doc := base
	if over != "" {
		doc, err = limits.Over(base, "over", []byte(over))
		d.must(err)
	}
	_, err = d.gate.LoadLimits(t.Context(), "limits", doc.Canonical, "operator")
	d.must(err)
	return d
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// fresh has one quote, which is always of now.
type fresh struct{ *quotes.Scripted }

func (fresh) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	return market.Quote{
		Symbol: symbol, Currency: "USD", Present: true, HasBid: true, HasAsk: true, At: now,
		Bid: money.MustPrice("199.98"), Ask: money.MustPrice("200.02"),
	}, nil
}

// order places a limit buy and reports whether it was allowed.
func (d *desk) order(quantity, price string) gate.Judgement {
	d.t.Helper()
	d.clock.Advance(time.Second)
	n, refusal := normalize.Call("place_order", fmt.Appendf(nil,
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":%q,"limit_price":%q,"time_in_force":"day"}`, quantity, price))
	if refusal != nil {
		d.t.Fatal(refusal)
	}
	j := d.gate.Decide(d.t.Context(), gate.Call{Intent: n.Intent, Door: "test", Agent: "agent", CallID: "c", RawDigest: strings.Repeat("0", 64)})
	if j.Allowed() {
		d.gate.Forward(d.t.Context(), j.Permit)
	}
	return j
}

// items are the entries of all accounts in commit order.
func (d *desk) items() (out []audit.Item) {
	d.t.Helper()
	d.must(d.store.All(d.t.Context(), 0, func(s gate.Stored) error {
		out = append(out, audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		return nil
	}))
	return out
}

// small is a journal with most kinds of entries: two accounts' chains would be the
// account's and the control chain's.
func small(t testing.TB) []audit.Item {
	t.Helper()
	ctx := t.Context()
	d := newDesk(t, "")
	allowed := d.order("10", "200.00")
	if !allowed.Allowed() {
		t.Fatalf("refused by %v", allowed.Decision.Refusing())
	}
	_, err := d.paper.FillOrder(ctx, allowed.ClientOrderID, money.MustQuantity("10"), money.MustPrice("199.99"), "")
	d.must(err)
	d.must(d.gate.Tick(ctx))
	if j := d.order("5000", "200.00"); j.Allowed() {
		t.Fatal("an order beyond the limit was allowed")
	}
	_, err = d.gate.Refuse(ctx, journal.Refusal{Code: "unknown_tool", Count: 1, Denial: true, Door: "test", Message: true, Text: "unknown tool"})
	d.must(err)
	d.must(d.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: journal.ModeReduceOnly, Reason: "careful", Who: "operator"}))
	d.must(gate.SetModeForAll(ctx, d.store, d.clock, journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "stop", Who: "operator"}))
	if j := d.order("2", "200.00"); j.Allowed() {
		t.Fatal("an order was allowed while halted")
	}
	d.must(gate.SetModeForAll(ctx, d.store, d.clock, journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "go on", Who: "operator"}))
	d.must(d.gate.SetMode(ctx, journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "go on", Who: "operator"}))
	d.must(d.gate.Start(ctx))
	if j := d.order("3", "200.00"); !j.Allowed() {
		t.Fatalf("refused by %v", j.Decision.Refusing())
	}
	return d.items()
}

// verify runs the audit over items.
func verify(t testing.TB, items []audit.Item, heads ...audit.Head) *audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{Calendar: market.XNYS(), Heads: heads})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func sourceOf(items []audit.Item) audit.Source {
	return func(_ context.Context, each func(audit.Item) error) error {
		for _, i := range items {
			if err := each(i); err != nil {
				return err
			}
		}
		return nil
	}
}

// reportOf finds a chain's report.
func reportOf(t testing.TB, r *audit.Report, name string) *audit.AccountReport {
	t.Helper()
	for _, a := range r.Accounts {
		if a.Account == name {
			return a
		}
	}
	t.Fatalf("no report of %q", name)
	return nil
}

// wantFailure fails unless the account's first failure is at seq, of the question.
func wantFailure(t testing.TB, r *audit.Report, name string, seq uint64, q audit.Question) {
	t.Helper()
	f := reportOf(t, r, name).Failure
	switch {
	case f == nil:
		t.Errorf("nothing was found, want %s at %s/%d", q, name, seq)
	case f.Seq != seq || f.Question != q || f.Account != name || f.Want == "" || f.Got == "":
		t.Errorf("found %v, want %s at %s/%d", f, q, name, seq)
	}
}

// decoded reads an item.
func decoded(t testing.TB, i audit.Item) journal.Entry {
	t.Helper()
	e, err := journal.Decode(i.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
