package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// closedJournal makes a journal with n entries of account a and closes it.
func closedJournal(t *testing.T, n int) (dir string, head gate.Head) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "journal")
	s, err := Open(t.Context(), dir, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	b := storetest.Batch("a", gate.Head{}, n, "x")
	if err := errors.Join(s.Append(t.Context(), b), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, b.After()
}

func TestDurabilityIsAsserted(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	for query, want := range map[string]any{
		`PRAGMA journal_mode`:    "wal",
		`PRAGMA synchronous`:     int64(2),
		`PRAGMA trusted_schema`:  int64(0),
		`PRAGMA cell_size_check`: int64(1),
		`PRAGMA foreign_keys`:    int64(1),
		`PRAGMA busy_timeout`:    BusyFor.Milliseconds(),
		`PRAGMA application_id`:  int64(ApplicationID),
		`PRAGMA integrity_check`: "ok",
	} {
		// Nothing was appended, so the writer's goroutine does not touch its connection.
		have, err := s.writer.value(t.Context(), query)
		if err != nil || have != want {
			t.Errorf("%s gives %v, %v; want %v", query, have, err, want)
		}
	}
}

func TestReopenedJournalGoesOn(t *testing.T) {
	noLeaks(t)
	dir, head := closedJournal(t, 3)
	s := openAt(t, dir, Options{})
	b := storetest.Batch("a", head, 2, "y")
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if head := storetest.CheckChain(t, storetest.Contents(t, s, "a")); head != b.After() {
		t.Errorf("head %d", head.Seq)
	}
}

func TestMissingJournalIsNotInvented(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "none")
	_, err := Open(t.Context(), dir, Options{})
	wantReason(t, err, ReasonMissing)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost: ", err)
	}
	_, err = OpenReadOnly(t.Context(), dir)
	wantReason(t, err, ReasonMissing)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was made")
	}
}

// TestForeignFilesAreLeftAsTheyAre opens what is not a journal of this version, with
// every way of opening, and compares the bytes after.
func TestForeignFilesAreLeftAsTheyAre(t *testing.T) {
	noLeaks(t)
	ours, _ := closedJournal(t, 40)
	journal, err := os.ReadFile(filepath.Join(ours, FileName))
	if err != nil {
		t.Fatal(err)
	}
	altered := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, journal, 0o600); err != nil {
				t.Fatal(err)
			}
			rawExec(t, path, statements...)
		}
	}
	written := func(content []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		make func(t *testing.T, path string)
		want Reason
	}{
		"text":                {written([]byte(strings.Repeat("not a database\n", 1000))), ReasonCorrupt},
		"zeros":               {written(make([]byte, 8192)), ReasonCorrupt},
		"first page torn":     {written(append(bytes.Repeat([]byte{0xff}, 600), journal[600:]...)), ReasonCorrupt},
		"cut off":             {written(journal[:4096+100]), ReasonCorrupt},
		"another product":     {altered(`PRAGMA application_id = 7`), ReasonUnknown},
		"another application": {altered(`UPDATE meta SET value = 8 WHERE name = 'application_id'`), ReasonUnknown},
		"later version":       {altered(`UPDATE meta SET value = 2 WHERE name = 'schema'`), ReasonUnknown},
		"no version":          {altered(`DELETE FROM meta`), ReasonUnknown},
		"a table less":        {altered(`DROP TABLE head`), ReasonUnknown},
		"someone's tables": {func(t *testing.T, path string) {
			written(nil)(t, path)
			rawExec(t, path, `CREATE TABLE notes (text)`)
		}, ReasonUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, FileName)
			tt.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err = Open(t.Context(), dir, Options{})
				wantReason(t, err, tt.want)
				_, err = Open(t.Context(), dir, Options{Create: true})
				wantReason(t, err, tt.want)
				_, err = OpenReadOnly(t.Context(), dir)
				wantReason(t, err, tt.want)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestEmptiedFileIsNotANewJournal(t *testing.T) {
	noLeaks(t)
	dir, _ := closedJournal(t, 2)
	path := filepath.Join(dir, FileName)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, Options{})
	wantReason(t, err, ReasonCorrupt)
	// With a log beside it not even Create makes one: SQLite would drop the log.
	log := []byte("entries not yet moved into the file")
	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir, Options{Create: true})
	wantReason(t, err, ReasonCorrupt)
	if have, err := os.ReadFile(path + "-wal"); !bytes.Equal(have, log) {
		t.Errorf("the log was changed, %v", err)
	}
}

// TestDamagedPagesAreReported damages one page after the other. Opening or reading may
// fail, and then says that the file is corrupt; what is read without an error is right.
func TestDamagedPagesAreReported(t *testing.T) {
	noLeaks(t)
	dir, _ := closedJournal(t, 200)
	path := filepath.Join(dir, FileName)
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for page := 4096; page < len(journal); page += 4096 {
		damaged := bytes.Clone(journal)
		copy(damaged[page:], bytes.Repeat([]byte{0xa5}, 64))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			wantReason(t, err, ReasonCorrupt)
			reported++
			continue
		}
		var entries []gate.Stored
		err = s.Read(t.Context(), "a", 0, func(e gate.Stored) error {
			entries = append(entries, e)
			return nil
		})
		head, _, headErr := s.Heads(t.Context(), "a")
		if err != nil || headErr != nil {
			for _, err := range []error{err, headErr} {
				if err != nil {
					wantReason(t, err, ReasonCorrupt)
				}
			}
			reported++
		} else if storetest.CheckChain(t, entries) != head {
			t.Errorf("page %d: damage gives another chain", page/4096)
		}
		if err := s.Append(t.Context(), storetest.Batch("a", head, 1, "y")); err != nil && headErr == nil {
			wantReason(t, err, ReasonCorrupt)
			wantReason(t, s.Append(t.Context(), storetest.Batch("b", head, 1, "y")), ReasonBroken)
		}
		_ = s.Close()
	}
	if reported < 10 {
		t.Errorf("only %d damaged pages were noticed", reported)
	}
}

func TestReadOnlyStoreRefusesToWrite(t *testing.T) {
	noLeaks(t)
	dir, head := closedJournal(t, 2)
	s, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storetest.CheckChain(t, storetest.Contents(t, s, "a"))
	wantReason(t, s.Append(t.Context(), storetest.Batch("a", head, 1, "x")), ReasonReadOnly)
	wantReason(t, s.SaveSnapshot(t.Context(), "a", head, []byte("s")), ReasonReadOnly)
	if _, err := s.reads.ExecContext(t.Context(), `DELETE FROM snapshot`); err == nil {
		t.Error("a reader's connection writes")
	}
}

func TestEntriesResistACarelessHand(t *testing.T) {
	noLeaks(t)
	dir, _ := closedJournal(t, 2)
	db := rawOpen(t, filepath.Join(dir, FileName))
	defer db.Close()
	for _, text := range []string{
		`UPDATE entry SET bytes = x'00'`, `DELETE FROM entry`, `DELETE FROM head`,
		`INSERT INTO entry (account, seq, hash, bytes) SELECT account, seq, hash, bytes FROM entry`,
		`INSERT INTO entry (account, seq, hash, bytes) VALUES ('a', 3, x'00', x'00')`,
		`INSERT INTO entry (account, seq, hash, bytes) VALUES ('a', 0, zeroblob(32), x'00')`,
	} {
		if _, err := db.ExecContext(t.Context(), text); err == nil {
			t.Errorf("%s went through", text)
		}
	}
}

func TestSnapshotThatDoesNotMatchIsNotUsed(t *testing.T) {
	noLeaks(t)
	for name, alter := range map[string]string{
		"state":   `UPDATE snapshot SET state = x'00'`,
		"digest":  `UPDATE snapshot SET digest = x'00'`,
		"hash":    `UPDATE snapshot SET hash = zeroblob(32)`,
		"seq":     `UPDATE snapshot SET seq = 1`,
		"account": `UPDATE snapshot SET account = 'b'`,
	} {
		dir, head := closedJournal(t, 2)
		s := openAt(t, dir, Options{})
		if err := s.SaveSnapshot(t.Context(), "a", head, []byte("state")); err != nil {
			t.Fatal(err)
		}
		state, at, err := s.LoadSnapshot(t.Context(), "a")
		if string(state) != "state" || at != head || err != nil {
			t.Fatalf("%s: snapshot %q at %d, %v", name, state, at.Seq, err)
		}
		rawExec(t, s.path, alter)
		for _, account := range []string{"a", "b"} {
			if state, _, err := s.LoadSnapshot(t.Context(), account); state != nil || err != nil {
				t.Errorf("%s altered: snapshot %q of %s, %v", name, state, account, err)
			}
		}
	}
}

// TestHeadThatLiesBreaksTheStore sets a head back by hand. The entry that would then be
// written twice is refused, and so is all that follows.
func TestHeadThatLiesBreaksTheStore(t *testing.T) {
	noLeaks(t)
	dir, head := closedJournal(t, 2)
	s := openAt(t, dir, Options{})
	first := storetest.Contents(t, s, "a")[0]
	rawExec(t, s.path, fmt.Sprintf(`UPDATE head SET seq = 1, hash = x'%x'`, first.Hash))
	wantReason(t, s.Append(t.Context(), storetest.Batch("a", gate.Head{Seq: 1, Hash: first.Hash}, 1, "y")), ReasonFailed)
	wantReason(t, s.Append(t.Context(), storetest.Batch("a", head, 1, "y")), ReasonBroken)
	if n := len(storetest.Contents(t, s, "a")); n != 2 {
		t.Errorf("%d entries", n)
	}
}
