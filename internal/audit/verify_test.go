package audit_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
)

// place finds the nth entry of a kind, from 0, and its seq.
func place(t testing.TB, items []audit.Item, name string, kind journal.Kind, n int) (at int, seq uint64) {
	t.Helper()
	for i := range items {
		if e := decoded(t, items[i]); items[i].Account == name && e.Kind == kind {
			if n--; n < 0 {
				return i, e.Seq
			}
		}
	}
	t.Fatalf("no such entry of kind %s", kind)
	return 0, 0
}

// rewritten changes one entry's body and, as who has the file and the time would, hashes
// it and every entry of its chain after it again.
func rewritten(t testing.TB, items []audit.Item, at int, change func(string) string) []audit.Item {
	t.Helper()
	out := slices.Clone(items)
	var prev journal.Hash
	for i := at; i < len(out); i++ {
		if out[i].Account != items[at].Account {
			continue
		}
		e := decoded(t, out[i])
		if i == at {
			body := change(string(e.Body))
			if body == string(e.Body) {
				t.Fatalf("nothing was changed in %s", body)
			}
			e.Body = []byte(body)
		} else {
			e.Prev = prev
		}
		text, err := journal.Encode(&e)
		if err != nil {
			t.Fatal(err)
		}
		prev = journal.HashOf(text)
		out[i].Bytes, out[i].Stored = text, prev
	}
	return out
}

func swap(old, fresh string) func(string) string {
	return func(body string) string { return strings.Replace(body, old, fresh, 1) }
}

func TestIntactJournal(t *testing.T) {
	items := small(t)
	r := verify(t, items)
	if failed := r.Failed(); len(failed) != 0 || r.Entries != uint64(len(items)) {
		t.Fatalf("failures %v, %d entries of %d", failed, r.Entries, len(items))
	}
	if len(r.Accounts) != 2 || r.Accounts[0].Account != journal.ControlAccount {
		t.Fatalf("accounts %v", r.Accounts)
	}
	a := reportOf(t, r, "paper")
	if a.Decisions != 4 || a.Allowed != 2 || a.Denied != 2 || a.Errors != 0 || a.Rederived != 4 || a.NotRederived != 0 {
		t.Errorf("decisions %d, allowed %d, denied %d, errors %d, rederived %d, not %d", a.Decisions, a.Allowed, a.Denied, a.Errors, a.Rederived, a.NotRederived)
	}
	if a.Orders != 2 || a.Fills != 1 || a.Refusals != 1 || a.Rejected != 0 {
		t.Errorf("orders %d, fills %d, refusals %d, rejected %d", a.Orders, a.Fills, a.Refusals, a.Rejected)
	}
	for rail, want := range map[string]int{"max_order_qty": 1, "max_order_notional": 1, "kill_switch": 1, "unknown_tool": 1} {
		if a.DeniedBy[rail] != want {
			t.Errorf("denied by %s: %d, want %d", rail, a.DeniedBy[rail], want)
		}
	}
	if h := a.State.Holding("AAPL"); h == nil || h.Position.String() != "10" || a.State.Head != a.Head {
		t.Errorf("the fold holds %v", h)
	}
	if last := items[len(items)-1]; a.Head != journal.HashOf(last.Bytes) {
		t.Errorf("head %s", a.Head)
	}
}

func TestEmptyJournal(t *testing.T) {
	if r := verify(t, nil); r.Entries != 0 || len(r.Accounts) != 0 {
		t.Errorf("%+v", r)
	}
	wantFailure(t, verify(t, nil, audit.Head{Account: "paper", Seq: 3}), "paper", 1, audit.Integrity)
}

// Every single byte of a journal, with one bit flipped, is found at its entry by the
// stored hash; and without stored hashes at the latest by the entry after it.
func TestEveryFlippedByteIsFound(t *testing.T) {
	items := small(t)
	last := map[string]int{}
	for i := range items {
		last[items[i].Account] = i
	}
	calendar := market.XNYS()
	for at := range items {
		name, seq := items[at].Account, decoded(t, items[at]).Seq
		stride := 1
		if len(items[at].Bytes) > 2000 {
			stride = 7 // the limits' text
		}
		for b := 0; b < len(items[at].Bytes); b += stride {
			flipped := bytes.Clone(items[at].Bytes)
			flipped[b] ^= 1 << (b % 8)
			for _, stored := range []bool{true, false} {
				if !stored && b%5 != 0 {
					continue
				}
				changed := slices.Clone(items[:at+1])
				changed[at].Bytes = flipped
				if !stored {
					if at == last[name] {
						continue // who has the newest entry alone can change it: see Heads
					}
					changed = slices.Concat(changed, items[at+1:])
					for i := range changed {
						changed[i].Stored = journal.Hash{}
					}
				}
				r, err := audit.Verify(t.Context(), sourceOf(changed), audit.Options{Calendar: calendar})
				if err != nil {
					t.Fatal(err)
				}
				f := reportOf(t, r, name).Failure
				if f == nil || stored && (f.Seq != seq || f.Question != audit.Integrity) || f.Seq != seq && f.Seq != seq+1 {
					t.Fatalf("byte %d of %s/%d, stored hash %v: found %v", b, name, seq, stored, f)
				}
			}
		}
	}
}

// An entry of each kind is changed and given its right hash: the entry after it does not
// follow any more, and the newest is held by a head that is known elsewhere.
func TestChangedEntryOfEveryKindIsFound(t *testing.T) {
	items := small(t)
	heads := map[string]int{}
	for i := range items {
		heads[items[i].Account] = i
	}
	changes := map[journal.Kind]func(string) string{
		journal.KindGenesis:   swap(`"who":"operator"`, `"who":"operat0r"`),
		journal.KindLimits:    swap(`"who":"operator"`, `"who":"operat0r"`),
		journal.KindOpen:      swap(`"equity":"100000"`, `"equity":"100001"`),
		journal.KindDecision:  swap(`"call_id":"c"`, `"call_id":"d"`),
		journal.KindOutcome:   swap(`"result":"accepted"`, `"result":"rejected"`),
		journal.KindFill:      swap(`"quantity":"10"`, `"quantity":"9"`),
		journal.KindMode:      swap(`"reason":"`, `"reason":"in`),
		journal.KindRefusal:   swap(`"text":"unknown tool"`, `"text":"unknown t00l"`),
		journal.KindReconcile: swap(`"who":"gate"`, `"who":"gat3"`),
	}
	seen := map[journal.Kind]bool{}
	for at := range items {
		e := decoded(t, items[at])
		change := changes[e.Kind]
		if change == nil {
			t.Errorf("no change is known for an entry of kind %s", e.Kind)
			continue
		}
		seen[e.Kind] = true
		all := rewritten(t, items, at, change)
		one := slices.Clone(items)
		one[at] = all[at]
		name, seq := items[at].Account, e.Seq
		if at == heads[name] {
			known := audit.Head{Account: name, Seq: seq, Hash: items[at].Stored}
			wantFailure(t, verify(t, one, known), name, seq, audit.Integrity)
			continue
		}
		if f := reportOf(t, verify(t, one), name).Failure; f == nil || f.Seq != seq && f.Seq != seq+1 {
			t.Errorf("%s %s/%d changed: found %v", e.Kind, name, seq, f)
		}
		// Who hashes the rest again is caught by a head known elsewhere.
		newest := items[heads[name]]
		known := audit.Head{Account: name, Seq: decoded(t, newest).Seq, Hash: newest.Stored}
		if reportOf(t, verify(t, all, known), name).Failure == nil {
			t.Errorf("%s %s/%d changed and all hashed again: not found", e.Kind, name, seq)
		}
	}
	for kind := range changes {
		if !seen[kind] {
			t.Errorf("the journal has no entry of kind %s", kind)
		}
	}
}

// A recorded judgement is changed and the whole chain hashed again. Every link is right;
// judging again tells.
func TestRewrittenJudgementIsFoundByJudgingAgain(t *testing.T) {
	items := small(t)
	for _, tt := range []struct {
		name   string
		n      int // which decision
		change func(string) string
	}{
		{"denied to allowed", 1, swap(`"verdict":"denied"`, `"verdict":"allowed"`)},
		{"allowed to denied", 3, swap(`"verdict":"allowed"`, `"verdict":"denied"`)},
		{"denied to error", 1, swap(`"verdict":"denied"`, `"verdict":"error"`)},
		{"another rail", 1, swap(`"rail":"max_order_qty"`, `"rail":"max_order_qtz"`)},
		{"another limit", 1, swap(`"limit":"100"`, `"limit":"900"`)},
		{"a smaller quantity", 1, swap(`"quantity":"5000"`, `"quantity":"50"`)},
		{"a reservation", 0, swap(`"notional":"2000`, `"notional":"1000`)},
		{"another quote", 1, swap(`"bid":"199.98"`, `"bid":"150"`)},
		{"an unhalted control chain", 2, swap(`"control_halted",`, ``)},
		{"another place on the control chain", 2, swap(`"control":1`, `"control":2`)},
		{"another account before it", 1, func(body string) string {
			at := strings.Index(body, `"state_digest":"`) + len(`"state_digest":"`)
			return body[:at] + strings.Repeat("0", 64) + body[at+64:]
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, seq := place(t, items, "paper", journal.KindDecision, tt.n)
			r := verify(t, rewritten(t, items, at, tt.change))
			wantFailure(t, r, "paper", seq, audit.Verdict)
		})
	}
}

// What happened is changed and the chain hashed again: the next decision was made on
// another account than the fold gives.
func TestRewrittenEventIsFoundByTheNextDecision(t *testing.T) {
	items := small(t)
	for _, tt := range []struct {
		kind   journal.Kind
		change func(string) string
		next   int // the decision that tells
	}{
		{journal.KindGenesis, swap(`"cash":"100000"`, `"cash":"200000"`), 0},
		{journal.KindOpen, swap(`"equity":"100000"`, `"equity":"100001"`), 0},
		{journal.KindFill, swap(`"price":"199.99"`, `"price":"190"`), 1},
		{journal.KindOutcome, swap(`"broker_id":"`, `"broker_id":"x`), 1},
		{journal.KindRefusal, swap(`"count":1`, `"count":2`), 2},
		{journal.KindMode, swap(`"mode":"reduce_only"`, `"mode":"halted"`), 2},
	} {
		t.Run(string(tt.kind), func(t *testing.T) {
			at, _ := place(t, items, "paper", tt.kind, 0)
			_, seq := place(t, items, "paper", journal.KindDecision, tt.next)
			wantFailure(t, verify(t, rewritten(t, items, at, tt.change)), "paper", seq, audit.Verdict)
		})
	}
	t.Run("limits", func(t *testing.T) {
		at, seq := place(t, items, "paper", journal.KindLimits, 0)
		loosened := rewritten(t, items, at, swap(`max_order_qty\":\"100\"`, `max_order_qty\":\"9999\"`))
		wantFailure(t, verify(t, loosened), "paper", seq, audit.Fold)
	})
}

// by rewrites the words in which a decision says what it was judged by.
func by(member, word string) func(string) string {
	return func(body string) string {
		from := strings.Index(body, `"`+member+`":"`) + len(`"":"`) + len(member)
		return body[:from] + word + body[from+strings.Index(body[from:], `"`):]
	}
}

func TestADecisionOfAnotherCalendarIsNotDerivedAgain(t *testing.T) {
	items := small(t)
	// The newest: a later one would tell that the entry was changed.
	at, _ := place(t, items, "paper", journal.KindDecision, 3)
	a := reportOf(t, verify(t, rewritten(t, items, at, by("calendar", "other"))), "paper")
	if a.Failure != nil || a.NotRederived != 1 || a.Rederived != 3 || a.Decisions != 4 {
		t.Errorf("failure %v, %d rederived, %d not", a.Failure, a.Rederived, a.NotRederived)
	}
}

// An engine that there has never been hides no verdict.
func TestAnEngineThatNeverWasIsNoExcuse(t *testing.T) {
	items := small(t)
	at, seq := place(t, items, "paper", journal.KindDecision, 3)
	for _, engine := range []string{"0", "01", "2", "other-1", "", "-1"} {
		wantFailure(t, verify(t, rewritten(t, items, at, by("engine", engine))), "paper", seq, audit.Verdict)
	}
}

// A verdict that no calendar gives is not hidden by the name of another one: the account is
// halted, and its order was let through.
func TestAnotherCalendarHidesNoVerdict(t *testing.T) {
	items := small(t)
	at, seq := place(t, items, "paper", journal.KindDecision, 2)
	allowed := decoded(t, items[func() int { i, _ := place(t, items, "paper", journal.KindDecision, 0); return i }()])
	model, err := journal.DecodeBody[journal.Decision](&allowed)
	if err != nil {
		t.Fatal(err)
	}
	forged := rewritten(t, items, at, func(body string) string {
		e := decoded(t, items[at])
		d, err := journal.DecodeBody[journal.Decision](&e)
		if err != nil || d.Verdict != journal.VerdictDenied {
			t.Fatal(err, d.Verdict)
		}
		d.Verdict, d.Findings, d.Calendar = journal.VerdictAllowed, nil, "other"
		d.ReplyBy = e.At
		r := *model.Reservation
		r.Quantity = d.Intent.Quantity
		d.Reservation = &r
		text, err := journal.EncodeBody(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
	wantFailure(t, verify(t, forged), "paper", seq, audit.Verdict)
}

// Entries are taken out, put in, or in another order; each first fault has its place.
func TestGapsAndDuplicates(t *testing.T) {
	items := small(t)
	first, _ := place(t, items, "paper", journal.KindGenesis, 0)
	fill, fillSeq := place(t, items, "paper", journal.KindFill, 0)
	last, lastSeq := len(items)-1, decoded(t, items[len(items)-1]).Seq
	control, _ := place(t, items, journal.ControlAccount, journal.KindMode, 0)
	halted, haltedSeq := place(t, items, "paper", journal.KindDecision, 2)
	unknown := bytes.Replace(items[fill].Bytes, []byte(`"kind":"fill"`), []byte(`"kind":"fiat"`), 1)
	oversized := bytes.Replace(items[fill].Bytes, []byte(`"order_id":"`), append([]byte(`"order_id":"`), bytes.Repeat([]byte("x"), journal.EntryBytesMax)...), 1)
	replaced := func(at int, text []byte) []audit.Item {
		out := slices.Clone(items)
		out[at].Bytes, out[at].Stored = text, journal.HashOf(text)
		return out
	}
	alien := slices.Clone(items)
	alien[fill].Account = "other"
	for _, tt := range []struct {
		name  string
		items []audit.Item
		of    string
		seq   uint64
		q     audit.Question
	}{
		{"a gap", slices.Delete(slices.Clone(items), fill, fill+1), "paper", fillSeq, audit.Integrity},
		{"a duplicate", slices.Insert(slices.Clone(items), fill, items[fill]), "paper", fillSeq + 1, audit.Integrity},
		{"no genesis", slices.Delete(slices.Clone(items), first, first+1), "paper", 1, audit.Integrity},
		{"an unknown kind", replaced(fill, unknown), "paper", fillSeq, audit.Integrity},
		{"an oversized entry", replaced(fill, oversized), "paper", fillSeq, audit.Integrity},
		{"an empty entry", replaced(fill, nil), "paper", fillSeq, audit.Integrity},
		{"another account's", alien, "other", 1, audit.Integrity},
		{"a halt for all taken out", slices.Delete(slices.Clone(items), control, control+1), "paper", haltedSeq, audit.Verdict},
		{"a halt for all put after its denial", slices.Concat(items[:control], items[control+1:halted+1], items[control:control+1], items[halted+1:]), "paper", haltedSeq, audit.Verdict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFailure(t, verify(t, tt.items), tt.of, tt.seq, tt.q)
		})
	}

	// A cut tail leaves a sound chain: only who knows the head can tell.
	cut := items[:last]
	if r := verify(t, cut); len(r.Failed()) != 0 || reportOf(t, r, "paper").Head == items[last].Stored {
		t.Errorf("a cut tail: %v", r.Failed())
	}
	head := audit.Head{Account: "paper", Seq: lastSeq, Hash: items[last].Stored}
	wantFailure(t, verify(t, cut, head), "paper", lastSeq, audit.Integrity)
	if r := verify(t, items, head); len(r.Failed()) != 0 {
		t.Errorf("the whole chain: %v", r.Failed())
	}
}

// A chain that starts with something else than a genesis, all links right.
func TestMissingGenesis(t *testing.T) {
	text, hash, err := journal.Seal("paper", 1, journal.Hash{}, time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC), "", journal.KindMode,
		journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "r", Who: "w"})
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, verify(t, []audit.Item{{Account: "paper", Bytes: text, Stored: hash}}), "paper", 1, audit.Fold)
}

// A source that fails, or a caller that gives up, is no report of a sound journal.
func TestUnreadableSource(t *testing.T) {
	items := small(t)
	broken := errors.New("broken")
	r, err := audit.Verify(t.Context(), func(_ context.Context, each func(audit.Item) error) error {
		return errors.Join(each(items[0]), broken)
	}, audit.Options{Calendar: market.XNYS()})
	if !errors.Is(err, broken) || r.Entries != 1 {
		t.Errorf("%v, %d entries", err, r.Entries)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := audit.Verify(ctx, sourceOf(items), audit.Options{Calendar: market.XNYS()}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
}

// large is a journal of so many calls: every nth is an order, most of them denied, and the
// others are no orders at all.
func large(t testing.TB, calls, nth int) []audit.Item {
	t.Helper()
	d := newDesk(t, `
position: {max_open_orders: off, max_position_qty: off, max_gross_exposure: off}
session: {require_market_open: false, max_orders_per_day: 50, denial_storm: off, duplicate_window: off}`)
	for n := range calls {
		if n%nth != 0 {
			d.clock.Advance(time.Second)
			_, err := d.gate.Refuse(t.Context(), journal.Refusal{Code: "unknown_tool", Count: 1, Denial: true, Door: "test", Message: true})
			d.must(err)
			continue
		}
		quantity := "5000"
		if n%100 == 0 {
			quantity = "1"
		}
		d.order(quantity, "200.00")
	}
	return d.items()
}

// The verifier's memory does not grow with the log, once the windows of the account are
// as full as they get: that of the denials holds 10,000.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a large journal")
	}
	items := large(t, 30_000, 10)
	var held []uint64
	look := func(uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		held = append(held, m.HeapAlloc)
	}
	r, err := audit.Verify(t.Context(), sourceOf(items), audit.Options{Calendar: market.XNYS(), Progress: look})
	if err != nil || len(r.Failed()) != 0 || len(held) < 4 {
		t.Fatalf("%v, %v, %d looks", err, r.Failed(), len(held))
	}
	const growthMax = 64 << 10
	if first, last := held[3], held[len(held)-1]; last > first+growthMax {
		t.Errorf("the heap grew from %d to %d bytes over %d entries", first, last, r.Entries)
	}
	t.Logf("%d entries, heap after each %d: %v", r.Entries, audit.ProgressEvery, held)
}

func BenchmarkVerify(b *testing.B) {
	items := large(b, 5_000, 1)
	calendar := market.XNYS()
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		r, err := audit.Verify(b.Context(), sourceOf(items), audit.Options{Calendar: calendar})
		if err != nil || len(r.Failed()) != 0 {
			b.Fatalf("%v, %v", err, r.Failed())
		}
	}
	b.ReportMetric(float64(len(items))*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
