package sqlite

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// entryBytes is about what a decision takes.
const entryBytes = 768

func benchEntry(account string, seq uint64) gate.Stored {
	text := fmt.Appendf(make([]byte, 0, entryBytes), `{"account":%q,"seq":%d,"pad":"`, account, seq)
	for len(text) < entryBytes-2 {
		text = append(text, 'x')
	}
	text = append(text, `"}`...)
	return gate.Stored{Account: account, Seq: seq, Hash: sha256.Sum256(text), Bytes: text}
}

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "journal"), Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func percentile(times []time.Duration, share int) float64 {
	slices.Sort(times)
	return float64(times[len(times)*share/100].Nanoseconds()) / 1e3
}

// BenchmarkAppendAgainstPlainFile compares one caller's append with writing the same
// bytes to the end of a plain file and flushing it. The two alternate in the same run,
// so that what else the machine does falls on both.
func BenchmarkAppendAgainstPlainFile(b *testing.B) {
	s := openBench(b)
	plain, err := os.OpenFile(filepath.Join(b.TempDir(), "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	var head gate.Head
	appends, flushes := make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		batch := gate.Batch{Account: "a", Expect: head, Entries: []gate.Stored{benchEntry("a", head.Seq+1)}}
		start := time.Now()
		if err := s.Append(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
		appends = append(appends, time.Since(start))
		head = batch.After()

		start = time.Now()
		if _, err := plain.Write(batch.Entries[0].Bytes); err != nil {
			b.Fatal(err)
		}
		if err := flushFile(plain); err != nil {
			b.Fatal(err)
		}
		flushes = append(flushes, time.Since(start))
	}
	b.StopTimer()
	b.ReportMetric(percentile(appends, 50), "p50-append-us")
	b.ReportMetric(percentile(flushes, 50), "p50-plain-us")
	b.ReportMetric(percentile(appends, 99), "p99-append-us")
	b.ReportMetric(percentile(flushes, 99), "p99-plain-us")
	b.ReportMetric(percentile(appends, 50)/percentile(flushes, 50), "p50-ratio")
}

// BenchmarkAppendManyCallers has callers append to an account each.
func BenchmarkAppendManyCallers(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			s := openBench(b)
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			times := make([][]time.Duration, callers)
			for i := range callers {
				wg.Go(func() {
					account := fmt.Sprintf("account-%02d", i)
					var head gate.Head
					for range (b.N + callers - 1 - i) / callers {
						batch := gate.Batch{Account: account, Expect: head, Entries: []gate.Stored{benchEntry(account, head.Seq+1)}}
						start := time.Now()
						if err := s.Append(b.Context(), &batch); err != nil {
							b.Error(err)
							return
						}
						times[i] = append(times[i], time.Since(start))
						head = batch.After()
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			all := slices.Concat(times...)
			b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "appends/s")
			b.ReportMetric(percentile(all, 50), "p50-us")
			b.ReportMetric(percentile(all, 99), "p99-us")
		})
	}
}

// BenchmarkHeads is what the gate does before it releases an order.
func BenchmarkHeads(b *testing.B) {
	s := openBench(b)
	if err := s.Append(b.Context(), &gate.Batch{Account: "a", Entries: []gate.Stored{benchEntry("a", 1)}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Heads(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads an account whole.
func BenchmarkRead(b *testing.B) {
	s := openBench(b)
	var head gate.Head
	for range 20 {
		batch := gate.Batch{Account: "a", Expect: head}
		for range 500 {
			batch.Entries = append(batch.Entries, benchEntry("a", head.Seq+1))
			head = batch.After()
		}
		head = batch.After()
		if err := s.Append(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	entries := 0
	for b.Loop() {
		if err := s.Read(b.Context(), "a", 0, func(gate.Stored) error { entries++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
}
