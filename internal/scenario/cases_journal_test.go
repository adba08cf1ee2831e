package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Cases of the journal, of incidents and of bounds; and that the comparison at the end
// of a story can fail.

// Every byte of a record is under its hash: whatever is changed, taken out or added is
// found, and named by its seq.
func TestCaseAUD06EveryFieldIsUnderTheHash(t *testing.T) {
	t.Parallel()
	w := begin(t, head("fields", baseLimits+"\naccount: {positions: {AAPL: {quantity: \"10\", price: \"190\"}}, orders_today: 2}"))
	j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 10, "a"))
	w.gate.Forward(t.Context(), j.Permit)
	w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 501, "b"))
	if _, err := w.paper.FillOrder(t.Context(), j.ClientOrderID, money.QuantityFromInt(10), money.MustPrice("200"), ""); err != nil {
		t.Fatal(err)
	}
	verified(t, w)
	var items []audit.Item
	err := w.store.All(t.Context(), 0, func(s gate.Stored) error {
		items = append(items, audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		for _, edited := range editions(items[i].Bytes) {
			changed := slices.Clone(items)
			changed[i].Bytes = edited
			source := func(_ context.Context, each func(audit.Item) error) error {
				for _, item := range changed[:i+1] {
					if err := each(item); err != nil {
						return err
					}
				}
				return nil
			}
			report, err := audit.Verify(t.Context(), source, audit.Options{Calendar: w.options.Calendar})
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Failed(); len(f) != 1 || f[0].Seq != uint64(i+1) || f[0].Question != audit.Integrity {
				t.Fatalf("entry %d, edited to %s: %v", i+1, edited, f)
			}
		}
	}
}

// editions are an entry with one byte of each member changed, each member taken out,
// and one added.
func editions(text []byte) [][]byte {
	s := string(text)
	out := [][]byte{[]byte(strings.Replace(s, "{", `{"a":1,`, 1))}
	for at := 0; ; {
		i := strings.Index(s[at:], `":`)
		if i < 0 {
			return out
		}
		at += i + 2
		b := []byte(s)
		b[min(at+1, len(b)-1)] ^= 1
		out = append(out, b)
		if end := strings.IndexAny(s[at:], ",}"); end >= 0 {
			start := strings.LastIndex(s[:at-2], `"`)
			out = append(out, []byte(s[:start]+strings.TrimPrefix(s[at+end:], ",")))
		}
	}
}

// Two processes on one journal do not make two branches of it: both append, and one
// linear chain comes out. Nothing refuses to start, since sharing is what the store is
// for.
func TestCaseAUD08TwoProcessesOneChain(t *testing.T) {
	t.Parallel()
	w := begin(t, head("two gateways", "limits: {over: base.yaml, session: {max_messages_per_minute: off}}"))
	before := len(kindsOf(t, w))
	var wg sync.WaitGroup
	for i, g := range gates(t, w, 2) {
		wg.Go(func() {
			for n := range 500 {
				if _, err := g.Refuse(t.Context(), journal.Refusal{Code: "malformed_call", Door: "test", Count: 1, CallID: fmt.Sprint(i, "/", n)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := len(kindsOf(t, w)) - before; got != 1000 {
		t.Errorf("%d entries", got)
	}
	verified(t, w)
}

func TestCaseAUD09EightThreadsOneChain(t *testing.T) {
	t.Parallel()
	w := begin(t, head("eight threads", "limits: {over: base.yaml, session: {max_messages_per_minute: off}}"))
	before := len(kindsOf(t, w))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 250 {
				if _, err := w.gate.Refuse(t.Context(), journal.Refusal{Code: "malformed_call", Door: "test", Count: 1, CallID: fmt.Sprint(i, "/", n)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := len(kindsOf(t, w)) - before; got != 2000 {
		t.Errorf("%d entries", got)
	}
	verified(t, w)
}

// No record, no order: neither a buy nor an exit leaves without its entry, and the next
// process, whose disk has room, goes on.
func TestCaseAUD11ADiskThatIsFull(t *testing.T) {
	t.Parallel()
	w := begin(t, head("full disk", baseLimits+"\naccount: {positions: {AAPL: {quantity: \"10\", price: \"200.00\"}}}"))
	full := &fullDisk{Store: w.store}
	cfg := w.config()
	cfg.Store = full
	g, err := gate.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	full.now.Store(true)
	for i, side := range []order.Side{order.Buy, order.Sell} {
		j := g.Decide(t.Context(), limitOrder(side, "AAPL", 10, fmt.Sprint(i)))
		if j.Allowed() || j.Fault != gate.CodeJournalUnavailable {
			t.Errorf("%s: %q %v", side, j.Fault, j.Permit)
		}
		if out := g.Forward(t.Context(), j.Permit); out.Result != journal.ResultNotSent {
			t.Errorf("%s: %+v", side, out)
		}
	}
	if s := verified(t, w); s.Forwarded != 0 || s.Reserved != "0" {
		t.Errorf("in the end %+v", s)
	}
	if j := w.gate.Decide(t.Context(), limitOrder(order.Sell, "AAPL", 10, "later")); !j.Allowed() {
		t.Errorf("another process: %v %s", j.Decision.Refusing(), j.Fault)
	}
}

type fullDisk struct {
	gate.Store
	now atomic.Bool
}

func (s *fullDisk) Append(ctx context.Context, b *gate.Batch) error {
	if s.now.Load() {
		return errors.New("no space left on device")
	}
	return s.Store.Append(ctx, b)
}

// A router that sends 200 orders a second without end: five pass, and after ten denials
// only exits do, until a person looks.
func TestCaseINC01ARouterThatDoesNotStop(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head("a router that does not stop",
		"limits: {over: base.yaml, session: {duplicate_window: off, denial_storm: {denials: 10, window: 1m}, max_messages_per_minute: 600}}"))
	b.WriteString("steps:\n")
	for i := range 2_000 {
		fmt.Fprintf(&b, "  - order: {symbol: AAPL, side: buy, quantity: 1, limit_price: 200.00, client_order_id: p%d}\n", i%212)
		switch {
		case i < 5:
			b.WriteString("    expect: allowed\n")
		case i < 16:
			b.WriteString("    expect: {verdict: denied, rails: [max_orders_per_minute]}\n")
		case i >= 212:
			// The first five ids again: the same orders, whose first outcome is told.
			fmt.Fprintf(&b, "    expect: {forwarded: 0}\n")
		default:
			b.WriteString("    expect: {verdict: denied, rails_include: [max_orders_per_minute, kill_switch]}\n")
		}
		b.WriteString("  - advance: 5ms\n")
	}
	r := run(t, b.String())
	if r.State.Mode != "reduce_only" || r.State.Forwarded != 5 {
		t.Errorf("in the end %+v", r.State)
	}
	if entries := r.Decided; entries > 700 {
		t.Errorf("%d decisions journaled one by one", entries)
	}
}

// A long field and deep nesting are refused by bounds of their own, and the next good
// call is judged. That the frame itself passes, or ends as a protocol error, is tested
// with the door (wire).
func TestCasePRT11AndPRT22LongAndDeepArguments(t *testing.T) {
	t.Parallel()
	w := begin(t, head("bounds", baseLimits))
	order := func(member string) []byte {
		return []byte(`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.00","time_in_force":"day"` + member + `}`)
	}
	for name, c := range map[string]struct {
		member, want string
	}{
		"PRT-11, a note of 300 KiB":            {`,"note":"` + strings.Repeat("a", 300<<10) + `"`, "denied"},
		"PRT-11, a note of 257 characters":     {`,"note":"` + strings.Repeat("a", 257) + `"`, "denied"},
		"PRT-22, 100000 nested arrays":         {`,"note":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "denied"},
		"PRT-22, 65 nested arrays":             {`,"note":` + strings.Repeat("[", 65) + strings.Repeat("]", 65), "denied"},
		"PRT-22, arrays that are never closed": {`,"note":` + strings.Repeat("[", 10_000), "denied"},
	} {
		out := StepResult{}
		if err := w.step(t.Context(), &step{kind: kindRaw, tool: normalize.PlaceOrder, raw: order(c.member)}, &out); err != nil {
			t.Fatal(err)
		}
		if out.Verdict != c.want || !slices.Equal(out.Rails, []string{"malformed_call"}) {
			t.Errorf("%s: %+v", name, out)
		}
	}
	out := StepResult{}
	if err := w.step(t.Context(), &step{kind: kindRaw, tool: normalize.PlaceOrder, raw: order("")}, &out); err != nil || out.Verdict != "allowed" {
		t.Errorf("the next good call: %v %+v", err, out)
	}
	if s := verified(t, w); s.Forwarded != 1 {
		t.Errorf("in the end %+v", s)
	}
}

// deaf is a broker whose stream tells nothing.
type deaf struct{ gate.Broker }

func (deaf) Events(context.Context, string) ([]gate.Event, error) { return nil, nil }

// TestAJournalThatDisagreesWithTheBrokerFails shows that the comparison at the end can
// fail: a fill that the gate never heard of is found in cash and position.
func TestAJournalThatDisagreesWithTheBrokerFails(t *testing.T) {
	t.Parallel()
	w := begin(t, head("deaf", baseLimits))
	j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 10, "a"))
	w.gate.Forward(t.Context(), j.Permit)
	w.broker.Broker = deaf{w.broker.Broker}
	if _, err := w.paper.FillOrder(t.Context(), j.ClientOrderID, money.QuantityFromInt(4), money.MustPrice("200"), ""); err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := w.finish(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != 2 || !strings.Contains(r.Failures[0].Text, "AAPL") || !strings.Contains(r.Failures[1].Text, "cash") {
		t.Errorf("got %v", r.Failures)
	}
}

// TestAMessageWithoutADecisionFails: the journal is taken away from under the message.
func TestAMessageWithoutADecisionFails(t *testing.T) {
	t.Parallel()
	w := begin(t, head("no decision", baseLimits))
	j := w.gate.Decide(t.Context(), limitOrder(order.Buy, "AAPL", 10, "a"))
	w.gate.Forward(t.Context(), j.Permit)
	other := begin(t, head("other", baseLimits))
	w.store, w.process, w.gate = other.store, other.process, other.gate
	var r Result
	if err := w.verify(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Text, "without a decision") {
		t.Errorf("got %v", r.Failures)
	}
}
