package audit_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
	auditor "github.com/broker-rails/broker-rails/verify"
)

// longFile writes a long journal to a file, without a flush for each entry.
func longFile(t testing.TB, entries uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Chmod(dir, 0o700))
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{Create: true})
	check(err)
	check(store.Close())
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName)+"?_pragma=synchronous(0)")
	check(err)
	db.SetMaxOpenConns(1)
	const transaction = 20_000
	var tx *sql.Tx
	var insert *sql.Stmt
	heads := map[string]audit.Head{}
	n := 0
	writeLong(t, entries, func(i audit.Item) {
		if n%transaction == 0 {
			if tx != nil {
				check(tx.Commit())
			}
			tx, err = db.BeginTx(t.Context(), nil)
			check(err)
			insert, err = tx.PrepareContext(t.Context(), `INSERT INTO entry (account, seq, hash, bytes) VALUES (?, ?, ?, ?)`)
			check(err)
		}
		n++
		_, err := insert.Exec(i.Account, int64(i.Seq), i.Stored[:], i.Bytes)
		check(err)
		heads[i.Account] = audit.Head{Account: i.Account, Seq: i.Seq, Hash: i.Stored}
	})
	for _, h := range heads {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO head (account, seq, hash) VALUES (?, ?, ?)`, h.Account, int64(h.Seq), h.Hash[:])
		check(err)
	}
	check(errors.Join(tx.Commit(), db.Close()))
	return dir
}

// peak looks at the heap while work is done, from its own goroutine.
func peak(work func()) (bytes uint64) {
	done, told := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-done:
				told <- most
				return
			case <-tick.C:
			}
		}
	}()
	debug.FreeOSMemory()
	work()
	close(done)
	return <-told
}

// auditFile reads a journal's file as the command does: chains, heads and tree.
func auditFile(t testing.TB, dir string, o audit.Options) *audit.Report {
	t.Helper()
	store, err := sqlite.OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	pass := tree.Against()
	o.Calendar = market.XNYS()
	o.Ends = func(ctx context.Context) (ends []audit.Head, err error) {
		err = store.EachHead(ctx, func(name string, h gate.Head) {
			ends = append(ends, audit.Head{Account: name, Seq: h.Seq, Hash: h.Hash})
		})
		return ends, err
	}
	r, err := audit.Verify(t.Context(), func(ctx context.Context, each func(audit.Item) error) error {
		return store.All(ctx, 0, func(s gate.Stored) error {
			pass.Take(s.Index, s.Bytes)
			return each(audit.Item{Account: s.Account, Seq: s.Seq, Bytes: s.Bytes, Stored: s.Hash})
		})
	}, o)
	if err != nil || len(r.Failed()) != 0 || pass.Failed() != nil {
		t.Fatal(err, r.Failed(), pass.Failed())
	}
	return r
}

// BenchmarkAudit verifies journals of ten thousand, a hundred thousand and a million
// entries from their file: the first question alone, and all three. Run it with
// -cpu 1 for the figures of one core. Each reading is one operation.
func BenchmarkAudit(b *testing.B) {
	for _, entries := range []uint64{10_000, 100_000, 1_000_000} {
		if entries > 100_000 && testing.Short() {
			continue
		}
		dir := longFile(b, entries)
		for name, only := range map[string]bool{"integrity": true, "all": false} {
			b.Run(fmt.Sprintf("%s/%d", name, entries), func(b *testing.B) {
				var read, most uint64
				began := cpuTime()
				for b.Loop() {
					most = max(most, peak(func() { read += auditFile(b, dir, audit.Options{IntegrityOnly: only}).Entries }))
				}
				b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "entries/s")
				b.ReportMetric(float64(read)/(cpuTime()-began).Seconds(), "entries/cpu-s")
				b.ReportMetric(float64(most)/(1<<20), "heap-MB")
			})
		}
	}
}

// BenchmarkIntegrity is the first question alone, without a file.
func BenchmarkIntegrity(b *testing.B) {
	items := longItems(b, 20_000)
	bytes := 0
	for _, i := range items {
		bytes += len(i.Bytes)
	}
	for _, part := range []string{"chain", "tree", "both"} {
		b.Run(part, func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				pass := tree.Against()
				var chain journal.Chain
				for n := range items {
					if part != "chain" {
						pass.Take(uint64(n)+1, items[n].Bytes)
					}
					if part != "tree" {
						if _, err := chain.NextStored(items[n].Account, items[n].Bytes, items[n].Stored); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(len(items))*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkProofs proves one entry of a journal of a million, from its file, and then
// checks the proof as an auditor does, who has it and the public key alone.
func BenchmarkProofs(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a gigabyte")
	}
	const entries = 1_000_000
	dir := longFile(b, entries)
	store, err := sqlite.OpenReadOnly(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	var first, asked []byte
	pass := tree.Against()
	err = store.All(b.Context(), 0, func(s gate.Stored) error {
		switch s.Index {
		case 1:
			first = s.Bytes
		case entries / 3:
			asked = s.Bytes
		}
		pass.Take(s.Index, s.Bytes)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	folder := tree.In(b.TempDir())
	signer, err := folder.Signer(tree.Origin(first))
	if err != nil {
		b.Fatal(err)
	}
	c, err := signer.Sign(pass.Size(), pass.Root())
	if err != nil {
		b.Fatal(err)
	}
	key, _, err := folder.Public()
	if err != nil {
		b.Fatal(err)
	}
	proof := &auditor.Proof{Index: entries/3 - 1, Signed: c.Signed, Extra: asked}
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			pass := tree.Against(c)
			err := pass.WantRecord(c.Size, proof.Index)
			if err == nil {
				err = store.All(b.Context(), 0, func(s gate.Stored) error { pass.Take(s.Index, s.Bytes); return nil })
			}
			if err == nil {
				proof.Path, err = pass.ProveRecord(c.Size, proof.Index)
			}
			if err = errors.Join(err, pass.Failed()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(c.Size)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	})
	text := tree.FormatProof(proof)
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			read, err := auditor.ParseProof(text)
			if err != nil {
				b.Fatal(err)
			}
			leaf, err := auditor.LeafHash(bytes.NewReader(read.Extra))
			if err == nil {
				_, err = read.Check(key, leaf)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(proof.Path)), "hashes")
	})
}
