package gate_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// Figures of the long journal: a day of an agent that places an order every 45 ms.
const (
	longEntries   = 1_000_000
	orderEvery    = 45 * time.Millisecond
	behindEntries = gate.SnapshotEvery / 2 // how far the snapshot is behind on the average
)

// long is a journal being written without a gate, entry after entry.
type long struct {
	b     *testing.B
	store *sqlite.Store
	state *account.State
	batch gate.Batch
	at    time.Time
}

func (l *long) put(kind journal.Kind, body any) {
	s := l.state
	e, text, hash, err := journal.SealEntry(s.Account, s.Seq+1, s.Head, l.at, s.Fingerprint, kind, body)
	must(l.b, err)
	if len(l.batch.Entries) == 0 {
		l.batch = gate.Batch{Account: s.Account, Expect: gate.Head{Seq: s.Seq, Hash: s.Head}, Entries: l.batch.Entries}
	}
	must(l.b, s.ApplyEntry(&e, hash))
	l.batch.Entries = append(l.batch.Entries, gate.Stored{Account: s.Account, Seq: s.Seq, Hash: hash, Bytes: text})
	if len(l.batch.Entries) == gate.BatchEntriesMax {
		l.flush()
	}
}

func (l *long) flush() {
	if len(l.batch.Entries) > 0 {
		must(l.b, l.store.Append(l.b.Context(), &l.batch))
		l.batch.Entries = nil
	}
}

// order puts an order, its acceptance and its fill.
func (l *long) order(n int) {
	l.at = l.at.Add(orderEvery)
	side := order.Buy
	if n%2 == 1 {
		side = order.Sell
	}
	one, price := money.QuantityFromInt(1), money.MustPrice("200.00")
	share := order.Instrument{Active: true, Class: order.USEquity, Currency: "USD", Multiplier: one, Symbol: "AAPL"}
	bid, ask := money.MustPrice("199.98"), money.MustPrice("200.02")
	l.put(journal.KindDecision, journal.Decision{
		Agent: "agent", Calendar: journal.Hash{1}.String(), CallID: fmt.Sprintf("c-%d", n), Clock: l.state.Clock, Door: "mcp", Engine: "1",
		Flags: []string{"instrument_asked", "instrument_known", "paper_broker"}, Instrument: share, Mode: journal.ModeActive,
		Intent: order.Intent{
			Account: l.state.Account, Action: order.ActionNew, ClientOrderID: fmt.Sprintf("id-%d", n), LimitPrice: price, Type: order.Limit,
			Quantity: one, Side: side, Symbol: "AAPL", TimeInForce: order.Day,
		},
		Off: 8, Passes: 37, Quote: &journal.Quote{Ask: &ask, At: journal.At(l.at), Bid: &bid, Currency: "USD", Feed: "paper"},
		RawDigest: journal.Hash{2}.String(), ReplyBy: journal.At(l.at.Add(gate.ReplyWithin)), StateDigest: journal.Hash{3}.String(),
		Reservation: &journal.Reservation{Bucket: journal.BucketOpen, Notional: money.NotionalFromInt(200), Price: price, Quantity: one},
		Verdict:     journal.VerdictAllowed,
	})
	seq := l.state.Seq
	l.put(journal.KindOutcome, journal.Outcome{BrokerID: fmt.Sprintf("b-%d", n), Decision: seq, Result: journal.ResultAccepted})
	l.put(journal.KindFill, journal.Fill{
		ExecutedAt: journal.At(l.at), ExecutionID: fmt.Sprintf("x-%d", n), OrderID: fmt.Sprintf("%s/%d", l.state.Account, seq), Price: price, Quantity: one,
	})
}

// write makes the account's journal as long as asked, with a snapshot that is behind.
func (l *long) write(account string, entries uint64) {
	l.state = newState(l.b, l.store, account)
	saved := false
	for n := 0; l.state.Seq < entries; n++ {
		l.order(n)
		if !saved && l.state.Seq+behindEntries >= entries {
			l.flush()
			text, err := l.state.Snapshot()
			must(l.b, err)
			must(l.b, l.store.SaveSnapshot(l.b.Context(), account, gate.Head{Seq: l.state.Seq, Hash: l.state.Head}, text))
			saved = true
		}
	}
	l.flush()
}

func newState(b *testing.B, store gate.Store, name string) *account.State {
	s := account.New(name)
	must(b, store.Read(b.Context(), name, 0, func(e gate.Stored) error { return s.Apply(e.Bytes, e.Hash) }))
	return s
}

// BenchmarkLongJournal writes a journal of a million entries to SQLite, and then measures
// a start from its snapshot, and decisions on it turn by turn with decisions on a journal
// that has only begun. It takes about a minute to set up.
func BenchmarkLongJournal(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a gigabyte")
	}
	dir := b.TempDir()
	must(b, os.Chmod(dir, 0o700))
	store, err := sqlite.Open(b.Context(), dir, sqlite.Options{Create: true})
	must(b, err)
	old, fresh := deskOn(b, store, "old"), deskOn(b, store, "fresh")
	l := &long{b: b, store: store, at: start()}
	l.write("old", longEntries)
	old.advance(l.at.Sub(start()))
	fresh.advance(l.at.Sub(start()))
	must(b, store.Close())

	var starts, onOld, onFresh []time.Duration
	for range 5 {
		t0 := time.Now()
		store, err = sqlite.Open(b.Context(), dir, sqlite.Options{})
		must(b, err)
		old.store = store
		old.open()
		starts = append(starts, time.Since(t0))
		must(b, store.Close())
	}
	store, err = sqlite.Open(b.Context(), dir, sqlite.Options{})
	must(b, err)
	defer store.Close()
	for _, d := range []*desk{old, fresh} {
		d.store = store
		d.open()
	}
	calls := old.call("place_order", limitOrder("AAPL", "buy", "101", "200.00"))
	took := func(d *desk) time.Duration {
		t0 := time.Now()
		if j := d.gate.Decide(b.Context(), calls); j.ID == "" {
			b.Fatal(j.Fault)
		}
		return time.Since(t0)
	}
	for b.Loop() {
		onFresh, onOld = append(onFresh, took(fresh)), append(onOld, took(old))
	}
	long, short := quantile(onOld, 0.5), quantile(onFresh, 0.5)
	b.ReportMetric(float64(quantile(starts, 0.5).Microseconds())/1000, "start-p50-ms")
	b.ReportMetric(float64(long.Microseconds()), "long-p50-µs")
	b.ReportMetric(float64(short.Microseconds()), "short-p50-µs")
	b.ReportMetric(float64(long)/float64(short), "long/short")
}
