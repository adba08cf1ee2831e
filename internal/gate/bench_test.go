package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/store/memory"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// noWindows lets a benchmark decide as often as it likes.
const noWindows = `
session: {max_orders_per_minute: off, max_notional_per_minute: off, max_messages_per_minute: off, duplicate_window: off, denial_storm: off, max_orders_per_day: off, repeated_execution: off}
`

// deskOn is a desk whose account's journal is kept in another store.
func deskOn(b *testing.B, store gate.Store, name string) *desk {
	b.Helper()
	d := newDesk(b, "")
	d.into(b, store, name)
	return d
}

// into opens the desk anew on an account of another store.
func (d *desk) into(b *testing.B, store gate.Store, name string) {
	b.Helper()
	d.cfg.Account, d.cfg.Store, d.store = name, store, store
	must(b, gate.Create(b.Context(), d.cfg, journal.Genesis{Broker: "paper", Cash: d.cash(), Currency: "USD", Who: "operator"}))
	d.open()
	base, err := limits.Load("shipped", limits.Template(name))
	must(b, err)
	doc, err := limits.Over(base, "over", []byte(noWindows))
	must(b, err)
	_, err = d.gate.LoadLimits(b.Context(), "limits", doc.Canonical, "operator")
	must(b, err)
	must(b, d.gate.Tick(b.Context()))
}

func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[int(float64(len(all)-1)*q)]
}

// logFull decisions fill the log up to where SQLite begins it anew.
const logFull = 1500

// BenchmarkDurableDecision compares, turn by turn, one decision on SQLite with one write
// and flush of the same number of bytes to a plain file.
func BenchmarkDurableDecision(b *testing.B) {
	dir := b.TempDir()
	must(b, os.Chmod(dir, 0o700))
	store, err := sqlite.Open(b.Context(), dir, sqlite.Options{Create: true})
	must(b, err)
	defer store.Close()
	d := deskOn(b, store, "bench")
	plain, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	must(b, err)
	defer plain.Close()
	call := d.call("place_order", limitOrder("AAPL", "buy", "101", "200.00"))
	size := 0
	must(b, store.Read(b.Context(), "bench", 0, func(s gate.Stored) error { size = len(s.Bytes); return nil }))
	bytes := make([]byte, max(size, 1500))
	// A server's write-ahead log has its length already: it is written over and over.
	// That of a new file grows first, which costs the file system more than the flush.
	for range logFull {
		if j := d.gate.Decide(b.Context(), call); j.ID == "" {
			b.Fatal(j.Fault)
		}
	}
	var decisions, writes []time.Duration
	for b.Loop() {
		t0 := time.Now()
		j := d.gate.Decide(b.Context(), call)
		t1 := time.Now()
		if j.ID == "" {
			b.Fatal(j.Fault)
		}
		_, err := plain.Write(bytes)
		must(b, err)
		must(b, fdatasync(plain))
		t2 := time.Now()
		decisions, writes = append(decisions, t1.Sub(t0)), append(writes, t2.Sub(t1))
	}
	own, base := quantile(decisions, 0.5), quantile(writes, 0.5)
	b.ReportMetric(float64(own.Microseconds()), "p50-µs")
	b.ReportMetric(float64(base.Microseconds()), "plain-p50-µs")
	b.ReportMetric(float64(own)/float64(base), "ratio")
}

// BenchmarkManyAccounts is 64 callers on 64 accounts of one SQLite journal. What a decision
// takes of the processors, the flushes' share in the kernel included, tells on a busy
// machine what an idle one could do.
func BenchmarkManyAccounts(b *testing.B) {
	dir := b.TempDir()
	must(b, os.Chmod(dir, 0o700))
	store, err := sqlite.Open(b.Context(), dir, sqlite.Options{Create: true})
	must(b, err)
	defer store.Close()
	desks := make([]*desk, 64)
	for i := range desks {
		desks[i] = deskOn(b, store, fmt.Sprintf("a%d", i))
	}
	call := desks[0].call("place_order", limitOrder("AAPL", "buy", "101", "200.00"))
	each := max(1, b.N/len(desks))
	used := processorTime()
	b.ResetTimer()
	var all sync.WaitGroup
	for _, d := range desks {
		all.Go(func() {
			for range each {
				if j := d.gate.Decide(b.Context(), call); j.ID == "" {
					b.Error(j.Fault)
					return
				}
			}
		})
	}
	all.Wait()
	used = processorTime() - used
	b.ReportMetric(float64(each*len(desks))/b.Elapsed().Seconds(), "decisions/s")
	b.ReportMetric(float64(used.Microseconds())/float64(each*len(desks)), "processor-µs/decision")
}

// BenchmarkDecisionInMemory is a decision without a disk: what the gate itself costs.
func BenchmarkDecisionInMemory(b *testing.B) {
	d := deskOn(b, memory.New(), "bench")
	call := d.call("place_order", limitOrder("AAPL", "buy", "101", "200.00"))
	b.ReportAllocs()
	for b.Loop() {
		if j := d.gate.Decide(b.Context(), call); j.ID == "" {
			b.Fatal(j.Fault)
		}
	}
}

// BenchmarkOrderInMemory is a whole order, decided, sent to the paper broker, filled and
// settled, without a disk: of a buy and a sell in turn.
func BenchmarkOrderInMemory(b *testing.B) {
	d := newDesk(b, "")
	var err error
	d.paper, err = paper.OpenMemory(paper.Start{Cash: paper.StartingCash(), Wall: start(), Market: start()},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: d.cfg.Calendar})
	must(b, err)
	d.broker = d.paper
	d.cfg.Broker = d.paper
	d.into(b, memory.New(), "bench")
	sides := []string{limitOrder("AAPL", "buy", "1", "200.02"), limitOrder("AAPL", "sell", "1", "199.98")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		j, out := d.do("place_order", sides[i%2])
		if out.Result != journal.ResultAccepted || out.Status != "filled" {
			b.Fatal(i, j.Decision.Refusing(), j.Decision.Faults(), out)
		}
	}
}
