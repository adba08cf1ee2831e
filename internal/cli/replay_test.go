package cli_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplayRefusesAJournalThatDoesNotVerify: what happened is not proved, so nothing is
// said about what would have happened.
func TestReplayRefusesAJournalThatDoesNotVerify(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "5000")
	rails(t, environ, 0, "replay")
	db, err := sql.Open("sqlite", filepath.Join(dataFolder(environ), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`DROP TRIGGER entry_is_final`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"quantity":"5000"', '"quantity":"4999"') AS BLOB)`); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--json"}} {
		if out := rails(t, environ, 6, append([]string{"replay"}, more...)...); strings.Contains(out, "allowed") {
			t.Errorf("a replay of a forged journal says: %s", out)
		}
	}
}

// TestReplayOnlyReads: the journal's file has the same bytes after it.
func TestReplayOnlyReads(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "1")
	file := filepath.Join(dataFolder(environ), "journal.db")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rails(t, environ, 0, "replay")
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a replay changed the journal")
	}
}
