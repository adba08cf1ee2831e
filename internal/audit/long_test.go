package audit_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// What an agent does in a long journal.
const (
	callEvery     = 3 * time.Second
	deniedEvery   = 5     // calls; such an order is too large
	refusedEvery  = 11    // calls that are no orders
	modeEvery     = 1_009 // reduce_only and active again
	controlEvery  = 5_003 // a halt of all accounts and its end
	decisionLimit = `
position: {require_buying_power: true}
session: {max_orders_per_minute: 50, max_notional_per_minute: off, max_orders_per_day: off, denial_storm: off, repeated_execution: off, duplicate_window: off}`
)

// scribe writes a journal of any length as the gate would, quickly: it judges with
// risk.Decide, writes with package record and folds with package account, and leaves out
// broker, doors and disk. One entry at a time is held.
type scribe struct {
	t       testing.TB
	emit    func(audit.Item)
	state   *account.State
	control *account.Control
	doc     *limits.Document
	cal     market.Calendar
	digest  string // of the calendar
	at      time.Time
	closes  time.Time
	written uint64
	calls   int
}

// writeLong hands at least so many entries to emit, and a few more at most.
func writeLong(t testing.TB, entries uint64, emit func(audit.Item)) {
	t.Helper()
	cal := market.XNYS()
	s := &scribe{
		t: t, emit: emit, state: account.New("paper"), control: account.NewControl(), cal: cal, digest: cal.Digest(),
		at: time.Date(2026, 3, 17, 21, 0, 0, 0, time.UTC),
	}
	s.put(journal.KindGenesis, journal.Genesis{Broker: "paper", Cash: money.MustNotional("100000"), Currency: "USD", Version: "test", Who: "operator"})
	base, err := limits.Load("shipped", limits.Template("paper"))
	s.must(err)
	doc, err := limits.Over(base, "over", []byte(decisionLimit))
	s.must(err)
	s.doc, err = limits.Load("limits", doc.Canonical)
	s.must(err)
	s.state.Fingerprint = "" // the entry names the new one, as the gate writes it
	s.putUnder(s.doc.Fingerprint, journal.KindLimits, journal.Limits{Fingerprint: s.doc.Fingerprint, Text: string(doc.Canonical), Who: "operator"})
	for s.written < entries {
		s.call()
	}
}

func (s *scribe) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scribe) put(kind journal.Kind, body any) { s.putUnder(s.state.Fingerprint, kind, body) }

func (s *scribe) putUnder(fingerprint string, kind journal.Kind, body any) {
	e, text, hash, err := journal.SealEntry(s.state.Account, s.state.Seq+1, s.state.Head, s.at, fingerprint, kind, body)
	s.must(err)
	s.must(s.state.ApplyEntry(&e, hash))
	s.written++
	s.emit(audit.Item{Account: e.Account, Seq: e.Seq, Bytes: text, Stored: hash})
}

// putControl writes an entry that binds all accounts.
func (s *scribe) putControl(mode string) {
	text, hash, err := journal.Seal(journal.ControlAccount, s.control.Seq+1, s.control.Head, s.at, "", journal.KindMode,
		journal.Mode{By: journal.ByOperator, Mode: mode, Reason: "a drill", Who: "operator"})
	s.must(err)
	s.must(s.control.Apply(text, hash))
	s.written++
	s.emit(audit.Item{Account: journal.ControlAccount, Seq: s.control.Seq, Bytes: text, Stored: hash})
}

// tick moves time on, over nights and closed days, and opens the trade date.
func (s *scribe) tick() {
	s.at = s.at.Add(callEvery)
	for !s.at.Before(s.closes) {
		info := market.Session(s.at, s.cal)
		if info.Known && info.Kind == market.Regular {
			s.closes = info.ClosesAt
			s.put(journal.KindOpen, journal.Open{Equity: s.state.Cash, Source: "marks", TradeDate: info.TradeDate.String()})
			return
		}
		s.at = s.at.Add(30 * time.Minute)
	}
}

func (s *scribe) call() {
	s.tick()
	n := s.calls
	s.calls++
	switch {
	case n%controlEvery == controlEvery-1:
		s.putControl(journal.ModeHalted)
		s.order(n, "10", order.Buy)
		s.putControl(journal.ModeActive)
	case n%modeEvery == modeEvery-1:
		s.put(journal.KindMode, journal.Mode{By: journal.ByOperator, Mode: journal.ModeReduceOnly, Reason: "a drill", Who: "operator"})
		s.put(journal.KindMode, journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "its end", Who: "operator"})
	case n%refusedEvery == refusedEvery-1:
		s.put(journal.KindRefusal, journal.Refusal{Agent: "agent", CallID: "r-" + strconv.Itoa(n), Code: "unknown_tool", Count: 1, Denial: true, Door: "mcp", Message: true, RawBytes: 80, Text: "unknown tool", Tool: "set_limits"})
	case n%deniedEvery == deniedEvery-1:
		s.order(n, "5000", order.Buy)
	case s.state.Holding("AAPL") != nil:
		s.order(n, "10", order.Sell)
	default:
		s.order(n, "10", order.Buy)
	}
}

// order judges an order. One that is allowed is accepted by the broker and filled.
func (s *scribe) order(n int, quantity string, side order.Side) {
	price := money.MustPrice("200.0" + strconv.Itoa(n/10%3))
	one := money.QuantityFromInt(1)
	req := rail.Request{
		Intent: order.Intent{
			Account: s.state.Account, Action: order.ActionNew, ClientOrderID: "id-" + strconv.Itoa(n), LimitPrice: price,
			Type: order.Limit, Quantity: money.MustQuantity(quantity), Side: side, Symbol: "AAPL", TimeInForce: order.Day,
		},
		Now: s.at, InstrumentAsked: true, InstrumentKnown: true, PaperBroker: true, AtomicReplace: true, ControlMode: s.control.Mode,
		Instrument: order.Instrument{Active: true, Class: order.USEquity, Currency: "USD", Multiplier: one, Symbol: "AAPL"},
		Quote: market.Quote{
			Symbol: "AAPL", Currency: "USD", Feed: "paper", Present: true, HasBid: true, HasAsk: true, At: s.at.Add(-time.Second),
			Bid: money.MustPrice("199.98"), Ask: money.MustPrice("200.02"),
		},
		Broker: rail.BrokerFigures{Present: true, Cash: s.state.Cash, BuyingPower: s.state.Cash, At: s.at},
	}
	before := s.state.Digest()
	d := risk.Decide(s.state, s.doc, &req, s.cal)
	body := record.Decision(&req, &d, record.Origin{
		Door: "mcp", Agent: "agent", CallID: "c-" + strconv.Itoa(n), RawDigest: journal.HashOf([]byte(quantity)).String(),
		Clock: journal.Clock{BootID: "boot", BootNS: int64(n) * int64(callEvery), Wall: journal.At(s.at)}, Calendar: s.digest, Control: s.control.Seq,
		State: hex.EncodeToString(before[:]),
	})
	if d.Allowed() {
		body.ReplyBy = journal.At(s.at.Add(2 * time.Second))
	} else if quantity == "10" && s.control.Mode == account.Active {
		s.t.Fatalf("call %d at %v was refused by %v", n, s.at, d.Refusing())
	}
	s.put(journal.KindDecision, body)
	if !d.Allowed() {
		return
	}
	decision := s.state.Seq
	s.put(journal.KindOutcome, journal.Outcome{BrokerID: "b-" + strconv.Itoa(n), Cursor: strconv.Itoa(n), Decision: decision, Result: journal.ResultAccepted})
	s.put(journal.KindFill, journal.Fill{
		Cursor: strconv.Itoa(n), ExecutedAt: journal.At(s.at), ExecutionID: "x-" + strconv.Itoa(n),
		OrderID: fmt.Sprintf("%s/%d", s.state.Account, decision), Price: price, Quantity: money.MustQuantity(quantity),
	})
}

// longItems is a long journal in memory.
func longItems(t testing.TB, entries uint64) (items []audit.Item) {
	t.Helper()
	writeLong(t, entries, func(i audit.Item) { items = append(items, i) })
	return items
}

func TestALongJournalVerifies(t *testing.T) {
	items := longItems(t, 40_000)
	r := verify(t, items)
	a := reportOf(t, r, "paper")
	if len(r.Failed()) != 0 || a.Rederived != a.Decisions || a.NotRederived != 0 {
		t.Fatalf("%v, %d of %d judged again", r.Failed(), a.Rederived, a.Decisions)
	}
	if a.Allowed < 8_000 || a.Denied < 2_000 || a.Refusals < 1_000 || a.Fills != a.Orders {
		t.Errorf("%d allowed, %d denied, %d refusals, %d fills", a.Allowed, a.Denied, a.Refusals, a.Fills)
	}
	bytes := 0
	for _, i := range items {
		bytes += len(i.Bytes)
	}
	t.Logf("%d bytes an entry on average", bytes/len(items))
}

// The first question alone: it finds what is not intact and nothing else, folds nothing,
// and its memory does not grow at all.
func TestIntegrityAlone(t *testing.T) {
	items := longItems(t, 30_000)
	var held []uint64
	o := audit.Options{IntegrityOnly: true, Progress: func(uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		held = append(held, m.HeapAlloc)
	}}
	ask := func(items []audit.Item) *audit.Report {
		t.Helper()
		r, err := audit.Verify(t.Context(), sourceOf(items), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := reportOf(t, ask(items), "paper")
	if a.Failure != nil || a.State != nil || a.Decisions != 0 || a.Head.IsZero() {
		t.Errorf("%v, %d decisions, a state: %v", a.Failure, a.Decisions, a.State != nil)
	}
	const growthMax = 16 << 10
	if first, last := held[0], held[len(held)-1]; last > first+growthMax {
		t.Errorf("the heap grew from %d to %d bytes", first, last)
	}
	o.Progress = nil
	few := items[:200]
	at, seq := place(t, few, "paper", journal.KindDecision, 0)
	flipped := rewritten(t, few, at, swap(`"verdict":"allowed"`, `"verdict":"denied"`))
	if f := reportOf(t, ask(flipped), "paper").Failure; f != nil {
		t.Errorf("a verdict was judged: %v", f)
	}
	wantFailure(t, verify(t, flipped), "paper", seq, audit.Verdict)
	damaged := slices.Clone(few)
	damaged[at] = audit.Item{Account: "paper", Seq: seq, Damage: "longer than it may be"}
	wantFailure(t, ask(damaged), "paper", seq, audit.Integrity)
	wantFailure(t, verify(t, damaged), "paper", seq, audit.Integrity)
}

// Accounts are bounded, since each takes memory.
func TestTooManyChains(t *testing.T) {
	_, err := audit.Verify(t.Context(), func(_ context.Context, each func(audit.Item) error) error {
		for n := range audit.ChainsMax + 1 {
			if err := each(audit.Item{Account: strconv.Itoa(n), Bytes: []byte("no entry")}); err != nil {
				return err
			}
		}
		return nil
	}, audit.Options{IntegrityOnly: true})
	if !errors.Is(err, audit.ErrChains) {
		t.Errorf("%v", err)
	}
}
