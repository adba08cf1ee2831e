package cli_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/cli"
	"github.com/broker-rails/broker-rails/verify"
)

// damage runs statements on the journal's file, as someone who owns it could: its
// triggers stop nobody.
func damage(t *testing.T, environ []string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dataFolder(environ), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{
		`DROP TRIGGER IF EXISTS entry_is_final`, `DROP TRIGGER IF EXISTS entry_stays`, `DROP TRIGGER IF EXISTS head_stays`,
	}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// cut takes the newest entry away, so cleanly that the chain is whole.
func cut(t *testing.T, environ []string) {
	t.Helper()
	damage(t, environ,
		`DELETE FROM entry WHERE idx = (SELECT max(idx) FROM entry)`, `DELETE FROM snapshot`,
		`UPDATE head SET (seq, hash) = (SELECT seq, hash FROM entry e WHERE e.account = head.account ORDER BY seq DESC LIMIT 1)`)
}

// answer runs one command and returns all that it says.
func answer(t *testing.T, environ []string, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Main(cli.Environment{Args: args, Environ: environ, In: strings.NewReader(""), Out: &out, Err: &out}); code != want {
		t.Fatalf("rails %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, &out)
	}
	return out.String()
}

// serves reports whether a server starts.
func serves(t *testing.T, environ []string, code int) string {
	t.Helper()
	return answer(t, environ, code, "serve") // its standard input ends at once
}

func TestAJournalCutBehindACheckpoint(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "5000") // a denial: the broker knows nothing of it
	cut(t, environ)
	// The server signed at its end. Without a checkpoint nothing shows the cut, and that is
	// why there are any.
	answer(t, environ, 6, "audit-verify")
	serves(t, environ, 6)
	if err := os.RemoveAll(filepath.Join(dataFolder(environ), "checkpoints")); err != nil {
		t.Fatal(err)
	}
	answer(t, environ, 0, "audit-verify")
	serves(t, environ, 0)

	answer(t, environ, 0, "audit", "checkpoint")
	serves(t, environ, 0)
	callOnce(t, environ, "5000")
	answer(t, environ, 0, "audit", "checkpoint")
	cut(t, environ)
	for name, out := range map[string]string{
		"audit-verify":     answer(t, environ, 6, "audit-verify"),
		"serve":            serves(t, environ, 6),
		"audit checkpoint": answer(t, environ, 6, "audit", "checkpoint"),
		"audit prove":      answer(t, environ, 6, "audit", "prove", "1"),
		"audit export":     answer(t, environ, 6, "audit", "export", filepath.Join(t.TempDir(), "books")),
	} {
		if !strings.Contains(out, "does not extend the checkpoint of size") || !strings.Contains(out, "got only") {
			t.Errorf("%s does not name the checkpoint: %s", name, out)
		}
	}
	if out := serves(t, environ, 6); !strings.Contains(out, "rails init --adopt") {
		t.Errorf("no way on is named: %s", out)
	}
	before := entries(t, environ)
	serves(t, environ, 6)
	if after := entries(t, environ); after != before {
		t.Errorf("a refused start wrote %d entries", after-before)
	}
	// The way on: a new journal. The old one's checkpoints and key stay with it.
	answer(t, environ, 0, "init", "--yes", "--adopt", "--reason", "the end was lost")
	serves(t, environ, 0)
	answer(t, environ, 0, "audit", "checkpoint")
	answer(t, environ, 0, "audit-verify")
	aside, err := filepath.Glob(filepath.Join(dataFolder(environ), "checkpoints-*", "key"))
	if err != nil || len(aside) != 1 {
		t.Errorf("the old checkpoints are gone: %v %v", aside, err)
	}
}

func entries(t *testing.T, environ []string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dataFolder(environ), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*) FROM entry`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAJournalGrownAnotherWay cuts the end and lets the journal grow past it again: it
// is long enough, whole, and another one.
func TestAJournalGrownAnotherWay(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "5000")
	answer(t, environ, 0, "audit", "checkpoint")
	cut(t, environ)
	answer(t, environ, 0, "reduce-only", "--reason", "grow again")
	answer(t, environ, 0, "resume", "--reason", "and again")
	if out := answer(t, environ, 6, "audit-verify"); !strings.Contains(out, "want root") {
		t.Errorf("a fork is not named: %s", out)
	}
	serves(t, environ, 6)
	if out := answer(t, environ, 6, "audit", "checkpoint"); !strings.Contains(out, "nothing was signed") {
		t.Errorf("a fork is signed: %s", out)
	}
}

// TestAGapInTheCommitOrder moves the newest entry one place on.
func TestAGapInTheCommitOrder(t *testing.T) {
	environ := newAccount(t)
	answer(t, environ, 0, "audit", "checkpoint")
	damage(t, environ, `UPDATE entry SET idx = idx + 1 WHERE idx = (SELECT max(idx) FROM entry)`)
	if out := answer(t, environ, 6, "audit-verify"); !strings.Contains(out, "not in order") {
		t.Errorf("a gap is not named: %s", out)
	}
	serves(t, environ, 6)
}

func TestAForgedCheckpointStopsAStart(t *testing.T) {
	environ := newAccount(t)
	answer(t, environ, 0, "audit", "checkpoint")
	held, err := filepath.Glob(filepath.Join(dataFolder(environ), "checkpoints", "*.checkpoint"))
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	text, err := os.ReadFile(held[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-10] ^= 1
	if err := os.WriteFile(held[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	serves(t, environ, 6)
	if out := answer(t, environ, 6, "audit-verify"); !strings.Contains(out, filepath.Base(held[0])) {
		t.Errorf("the file is not named: %s", out)
	}
}

// TestAnExportIsCheckedWithoutRails hands an export to the auditor's package, whole and
// with one byte changed.
func TestAnExportIsCheckedWithoutRails(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "10")
	answer(t, environ, 0, "audit", "checkpoint")
	callOnce(t, environ, "5000")
	answer(t, environ, 0, "audit", "checkpoint")
	key := read(t, filepath.Join(dataFolder(environ), "checkpoints", "key.pub")) // by another way
	books := filepath.Join(t.TempDir(), "books")
	answer(t, environ, 0, "audit", "export", books)
	k, err := verify.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(books, "checkpoints", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var held []verify.Checkpoint
	for _, path := range files {
		switch filepath.Base(path) {
		case "key":
			t.Fatal("the private key is exported")
		case "key.pub":
			continue
		}
		c, err := verify.OpenCheckpoint(read(t, path), k)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	text := read(t, filepath.Join(books, "entries.jsonl"))
	n, err := verify.CheckEntries(bytes.NewReader(text), held)
	if err != nil || n != int64(entries(t, environ)) || len(held) != 2 {
		t.Fatalf("%d entries, %d checkpoints: %v", n, len(held), err)
	}
	for i := 0; i < len(text); i += 97 {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if _, err := verify.CheckEntries(bytes.NewReader(changed), held); err == nil {
			t.Errorf("byte %d is changed, and the export holds", i)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A checkpoint that only a witness's signature still vouches for binds a start, a
// signature and an audit as the others do.
func TestACosignedCheckpointAlone(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "5000")
	folder := filepath.Join(dataFolder(environ), "checkpoints")
	held, err := filepath.Glob(filepath.Join(folder, "*.checkpoint"))
	if err != nil || len(held) == 0 {
		t.Fatalf("%v, %v", held, err)
	}
	for i, path := range held {
		if i == len(held)-1 {
			err = os.Rename(path, strings.TrimSuffix(path, ".checkpoint")+".cosigned")
		} else {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	answer(t, environ, 0, "audit-verify")
	cut(t, environ)
	answer(t, environ, 6, "audit-verify")
	answer(t, environ, 6, "audit", "checkpoint")
	serves(t, environ, 6)
}
