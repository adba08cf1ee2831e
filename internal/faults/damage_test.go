//go:build unix

package faults

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// files are the journal and the ledger, with what stands beside them.
func (h *house) files() map[string][]byte {
	h.t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{sqlite.FileName, paper.FileName} {
		for _, suffix := range []string{"", "-wal"} {
			text, err := os.ReadFile(filepath.Join(h.dir, name+suffix))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				h.t.Fatal(err)
			}
			if err == nil && len(text) > 0 {
				out[name+suffix] = text
			}
		}
	}
	return out
}

// restore puts files back as they were, and removes what was not there.
func (h *house) restore(files map[string][]byte) {
	h.t.Helper()
	for _, name := range []string{sqlite.FileName, paper.FileName} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			path := filepath.Join(h.dir, name+suffix)
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				h.t.Fatal(err)
			}
			if text, ok := files[name+suffix]; ok {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					h.t.Fatal(err)
				}
			}
		}
	}
}

// traded makes an account with some orders, all servers ended.
func traded(t *testing.T, orders int) *house {
	t.Helper()
	h := newHouse(t, fmt.Sprintf(allOff, 100))
	h.trade(orders)
	return h
}

// trade runs a server for some good orders.
func (h *house) trade(orders int) {
	h.t.Helper()
	s := h.serve()
	for range orders {
		s.allowed()
	}
	if code := s.stop(); code != 0 {
		h.t.Errorf("exit code %d: %s", code, s.log)
	}
}

// Whatever is wrong with the files, the start says so with a hint, sends nothing, writes
// over nothing, and works again when the files do.
func TestDamagedFilesRefuseTheStart(t *testing.T) {
	t.Parallel()
	h := traded(t, 4)
	good := h.files()
	journal := good[sqlite.FileName]
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(h.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		damage func()
		code   int
		words  []string
		halts  bool // whether a halt still gets through
	}{
		{"truncated", func() { write(sqlite.FileName, journal[:len(journal)/2]) }, 1, []string{"corrupt"}, false},
		{"emptied", func() { write(sqlite.FileName, nil) }, 1, []string{"corrupt"}, false},
		{"a first page of garbage", func() {
			write(sqlite.FileName, append(bytes.Repeat([]byte{0xa5}, 4096), journal[4096:]...))
		}, 1, []string{"corrupt"}, false},
		{"another application's", func() {
			alien := bytes.Clone(journal)
			copy(alien[68:], "Alie")
			write(sqlite.FileName, alien)
		}, 1, []string{"unknown"}, false},
		{"a ledger of garbage", func() { write(paper.FileName, bytes.Repeat([]byte("garbage "), 1024)) }, 7, []string{"paper ledger"}, true},
		{"an empty ledger", func() { write(paper.FileName, nil) }, 7, []string{"paper ledger"}, true},
		{"no ledger", func() {
			if err := os.Remove(filepath.Join(h.dir, paper.FileName)); err != nil {
				t.Fatal(err)
			}
		}, 7, []string{"paper ledger"}, true},
	} {
		h.restore(good)
		tt.damage()
		damaged := h.files()
		h.refusesToStart(tt.code, tt.words...)
		if got := h.files(); !same(got, damaged) {
			t.Errorf("%s: the start wrote over %s", tt.name, differ(got, damaged))
		}
		code, said := h.rails("halt", "--reason", "stop")
		if tt.halts != (code == 0) {
			t.Errorf("%s: halt ended with %d: %s", tt.name, code, said)
		}
		if code != 0 && !strings.Contains(said, "hint: ") {
			t.Errorf("%s: halt gives no hint: %s", tt.name, said)
		}
	}
	h.restore(good)
	h.wantSent(4)
	h.trade(1)
	h.wantSent(5)
	oracle(t, h.dir, time.Minute)
}

func same(a, b map[string][]byte) bool { return differ(a, b) == "" }

// differ names a file that is not the same in both.
func differ(a, b map[string][]byte) string {
	for _, m := range []map[string][]byte{a, b} {
		for name := range m {
			if !bytes.Equal(a[name], b[name]) {
				return name
			}
		}
	}
	return ""
}

// One page after the other is overwritten. The start refuses, or what it then trades by
// is the journal as it was: every order that is allowed is allowed by a whole chain.
func TestDamagedPagesNeverTrade(t *testing.T) {
	t.Parallel()
	h := traded(t, 6)
	good := h.files()
	journal := good[sqlite.FileName]
	const page = 4096
	refused, pages := 0, len(journal)/page
	for i := 1; i < pages; i += max(1, pages/12) {
		h.restore(good)
		damaged := bytes.Clone(journal)
		copy(damaged[i*page:(i+1)*page], bytes.Repeat([]byte{0xa5}, page))
		if err := os.WriteFile(filepath.Join(h.dir, sqlite.FileName), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := h.launch()
		s.wait(s.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
		s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		got := s.order("")
		s.kill()
		if !strings.HasPrefix(got, "ALLOWED ") {
			refused++
			h.restore(map[string][]byte{sqlite.FileName: journal, paper.FileName: h.files()[paper.FileName], paper.FileName + "-wal": h.files()[paper.FileName+"-wal"]})
			h.wantSent(6)
			continue
		}
		if code, said := h.rails("audit-verify"); code != 0 {
			t.Errorf("page %d: an order was allowed on a journal that does not verify: %s", i, said)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed: the test shows nothing")
	}
	t.Logf("%d damaged pages refused", refused)
}

// A flipped bit inside an entry is found at the start, before anything is sent.
func TestChangedEntryRefusesTheStart(t *testing.T) {
	t.Parallel()
	h := traded(t, 3)
	db := rawOpen(t, filepath.Join(h.dir, sqlite.FileName))
	for _, text := range []string{
		`DROP TRIGGER entry_is_final`,
		`UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"verdict":"allowed"', '"verdict":"denied"') AS BLOB) WHERE idx = (SELECT max(idx) FROM entry WHERE instr(CAST(bytes AS TEXT), '"verdict":"allowed"') > 0)`,
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h.refusesToStart(1, "audit-verify")
	if code, said := h.rails("audit-verify"); code != 6 {
		t.Errorf("audit-verify ended with %d: %s", code, said)
	}
	ledger, err := paper.OpenReadOnly(t.Context(), h.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if sent, err := ledger.Messages(t.Context()); len(sent) != 3 || err != nil {
		t.Errorf("%d messages at the broker, %v; want 3", len(sent), err)
	}
}

func rawOpen(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// Files that others may read or write refuse the start with the command that mends it.
func TestExposedFilesRefuseTheStart(t *testing.T) {
	t.Parallel()
	h := traded(t, 1)
	for _, tt := range []struct {
		path       string
		mode, good fs.FileMode
		code       int
	}{
		{h.dir, 0o777, 0o700, 1},
		{h.dir, 0o755, 0o700, 1},
		{filepath.Join(h.dir, sqlite.FileName), 0o644, 0o600, 1},
		{filepath.Join(h.dir, sqlite.FileName), 0o666, 0o600, 1},
		{h.limits, 0o666, 0o600, 3},
		{filepath.Dir(h.limits), 0o777, 0o700, 3},
	} {
		if err := os.Chmod(tt.path, tt.mode); err != nil {
			t.Fatal(err)
		}
		h.refusesToStart(tt.code, "chmod ")
		if err := os.Chmod(tt.path, tt.good); err != nil {
			t.Fatal(err)
		}
	}
	h.wantSent(1)
	h.trade(1)
	h.wantSent(2)
}

// Another process holds the journal's lock: a running server refuses and sends nothing, a
// start says what to do, and a halt holds by its file until it can be written. All work
// again when the lock is gone.
func TestLockedJournal(t *testing.T) {
	t.Parallel()
	for _, scope := range [][]string{nil, {"--all"}} {
		t.Run(fmt.Sprint(scope), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, fmt.Sprintf(allOff, 100))
			s := h.serve()
			s.allowed()
			db := rawOpen(t, filepath.Join(h.dir, sqlite.FileName))
			if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			waiting := s.send("tools/call", buy("AAPL", "1", ""))
			h.refusesToStart(1, "locked")
			if got := s.wait(waiting); !strings.Contains(got, "journal_unavailable") {
				t.Errorf("an order on a locked journal: %s", got)
			}
			code, said := h.rails(append([]string{"halt", "--reason", "stop"}, scope...)...)
			if code != 1 || !strings.Contains(said, "locked") || !strings.Contains(said, "the halt holds") {
				t.Errorf("halt ended with %d: %s", code, said)
			}
			if v := h.wantSent(1); v.allowed() != 1 {
				t.Errorf("%d decisions allowed, want 1", v.allowed())
			}
			if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			// The halt that could not be written is the next thing that is.
			s.order("")
			v := h.wantSent(1)
			v.wantDenied(t, "kill_switch")
			h.refusesToStart(8, "halted")
			h.must(0, append([]string{"resume", "--reason", "go on"}, scope...)...)
			if scope != nil {
				h.must(0, "resume", "--reason", "go on")
			}
			s.allowed()
			h.wantSent(2)
			h.must(0, append([]string{"halt", "--reason", "stop"}, scope...)...)
			s.order("")
			h.wantSent(2)
			s.stop()
			oracle(t, h.dir, time.Minute)
		})
	}
}

// A journal restored from an older copy, beside a ledger that went on, must not trade:
// the orders that it forgot would not count.
func TestOlderJournalDoesNotTrade(t *testing.T) {
	t.Parallel()
	const capacity = 6
	h := newHouse(t, fmt.Sprintf(allOff, capacity))
	h.trade(2)
	old := h.files()
	h.trade(3)
	now := h.files()
	mixed := map[string][]byte{}
	for name, text := range now {
		if strings.HasPrefix(name, paper.FileName) {
			mixed[name] = text
		}
	}
	for name, text := range old {
		if strings.HasPrefix(name, sqlite.FileName) {
			mixed[name] = text
		}
	}
	h.restore(mixed)
	h.refusesToStart(6, "does not extend the checkpoint", "rails init --adopt")
	if n := len(h.wantSent(5).modes); n != 0 {
		t.Errorf("%d modes in the journal: a refused start wrote", n)
	}
	// Where the checkpoints are gone too, the broker's orders tell.
	h.withoutCheckpoints()
	h.refusesToStart(8, "halted", "rails init --adopt")
	v := h.wantSent(5)
	if n := len(v.modes); n != 1 {
		t.Errorf("%d modes in the journal, want the halt", n)
	}
	h.must(0, "init", "--yes", "--adopt", "--reason", "restored from a backup")
	h.refusesToStart(8, "halted") // adopting is no way out of a halt
	h.must(0, "resume", "--reason", "looked at")
	h.trade(1)
	h.wantSent(6)
	h.must(0, "audit-verify")
}

// A journal whose end was cut off, the ledger's too, is sound as far as it goes: a head
// that was written down tells.
func TestCutEndIsToldByAHead(t *testing.T) {
	t.Parallel()
	h := traded(t, 2)
	old := h.files()
	h.trade(1)
	var last gate.Stored
	store, err := sqlite.OpenReadOnly(t.Context(), h.dir)
	if err != nil {
		t.Fatal(err)
	}
	err = store.Read(t.Context(), "paper", 0, func(s gate.Stored) error { last = s; return nil })
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("paper/%d=%s", last.Seq, last.Hash)
	h.must(0, "audit-verify", "--head", head)
	h.must(6, "audit-verify", "--head", fmt.Sprintf("paper/%d=%s", last.Seq-1, last.Hash))
	h.must(2, "audit-verify", "--head", "paper/1=00")
	h.restore(old)
	h.must(6, "audit-verify") // by the checkpoint of the server's end
	h.withoutCheckpoints()
	h.must(0, "audit-verify")
	h.must(6, "audit-verify", "--head", head)
}

// withoutCheckpoints takes away what a server signed at its end.
func (h *house) withoutCheckpoints() {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, "checkpoints")); err != nil {
		h.t.Fatal(err)
	}
}
