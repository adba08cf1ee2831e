package cli_test

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/cli"
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

// TestReplayBesideAServer: it reads what a running server has written so far.
func TestReplayBesideAServer(t *testing.T) {
	environ := newAccount(t)
	in, hold := io.Pipe()
	done := make(chan int)
	go func() {
		done <- cli.Main(cli.Environment{Args: []string{"serve"}, Environ: environ, In: in, Out: io.Discard, Err: io.Discard})
	}()
	callOnce(t, environ, "1") // by a second server
	out := rails(t, environ, 0, "replay")
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	if !strings.Contains(out, "no verdict changes in 1 decision") {
		t.Errorf("beside a server: %s", out)
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
