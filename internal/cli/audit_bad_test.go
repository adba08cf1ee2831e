package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/broker-rails/broker-rails/internal/cli"
)

// rebuilt puts the entries into a table in which two may share a number, as someone could
// who owns the file.
func rebuilt(more string) []string {
	return []string{
		`CREATE TABLE other AS SELECT * FROM entry`, `DROP TABLE entry`,
		`CREATE TABLE entry (idx INTEGER PRIMARY KEY, account TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL, bytes BLOB NOT NULL) STRICT`,
		`INSERT INTO entry SELECT * FROM other`, more,
	}
}

// TestAuditOfABadJournal gives the audit files that nobody would write: it names the
// first bad entry, or says that there is nothing to audit, and does not panic.
func TestAuditOfABadJournal(t *testing.T) {
	for name, c := range map[string]struct {
		edits []string
		want  []string // each is said
	}{
		"a gap":             {[]string{`DELETE FROM entry WHERE seq = 4`}, []string{"paper/4", "seq does not follow"}},
		"a missing genesis": {[]string{`DELETE FROM entry WHERE seq = 1`}, []string{"paper/1", "seq does not follow"}},
		"a fork":            {rebuilt(`INSERT INTO entry (account, seq, hash, bytes) SELECT account, seq, hash, bytes FROM other WHERE seq = 4`), []string{"seq does not follow", "got 4"}},
		"another entry of the same number": {
			rebuilt(`UPDATE entry SET seq = 3, bytes = (SELECT bytes FROM other WHERE seq = 3), hash = (SELECT hash FROM other WHERE seq = 3) WHERE seq = 4`),
			[]string{"paper/4", "seq does not follow"},
		},
		"a duplicate under a number of its own": {[]string{
			`INSERT INTO entry (account, seq, hash, bytes) SELECT account, 900, hash, bytes FROM entry WHERE seq = 4`,
		}, []string{"seq does not follow", "got 4"}},
		"two places for one entry": {[]string{`UPDATE entry SET idx = -idx WHERE seq = 4`}, []string{"without a place in commit order"}},
		"an unknown kind": {[]string{
			`UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"kind":"mode"', '"kind":"mood"') AS BLOB) WHERE instr(bytes, '"kind":"mode"')`,
		}, []string{"first failure at paper/"}},
		"an unknown version": {[]string{
			`UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), '"schema":1', '"schema":2') AS BLOB) WHERE seq = 3`,
		}, []string{"paper/3"}},
		"an empty entry":      {[]string{`UPDATE entry SET bytes = x'' WHERE seq = 3`}, []string{"paper/3"}},
		"an entry of zeros":   {[]string{`UPDATE entry SET bytes = zeroblob(1048576) WHERE seq = 3`}, []string{"paper/3"}},
		"an entry too long":   {[]string{`UPDATE entry SET bytes = zeroblob(1048577) WHERE seq = 3`}, []string{"paper/3", "longer than 1048576 bytes"}},
		"a name too long":     {[]string{`UPDATE entry SET account = hex(zeroblob(1000)) WHERE seq = 3`}, []string{"without account and seq"}},
		"a name that steers":  {[]string{`UPDATE entry SET account = char(27) || '[2J' WHERE seq = 3`}, []string{`\u{001B}[2J/1`}},
		"entries of nobody":   {[]string{`DELETE FROM head`, `UPDATE entry SET account = 'a b'`}, []string{"a b/1"}},
		"a chain turned over": {[]string{`UPDATE entry SET idx = 1000 - idx`}, []string{"first failure at paper/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			environ := newAccount(t)
			callOnce(t, environ, "1")
			rails(t, environ, 0, "halt", "--reason", "a look")
			damage(t, environ, c.edits...)
			for _, args := range [][]string{{"audit-verify"}, {"audit-verify", "--integrity-only"}} {
				out := answer(t, environ, 6, args...)
				for _, want := range c.want {
					if !strings.Contains(out, want) {
						t.Errorf("rails %s does not say %q:\n%s", strings.Join(args, " "), want, out)
					}
				}
				if strings.Contains(out, "\x1b[2J") || !strings.Contains(out, "NOT VERIFIED") {
					t.Errorf("rails %s says %q", strings.Join(args, " "), out)
				}
			}
		})
	}
}

// TestAuditOfNoJournal: what is not a journal at all is a fault, and not a finding.
func TestAuditOfNoJournal(t *testing.T) {
	for name, write := range map[string]func(path string) error{
		"an empty file":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a text":           func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("no journal\n"), 100), 0o600) },
		"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe's end":     func(path string) error { return os.Symlink(os.DevNull, path) },
		"a header's half":  func(path string) error { return os.WriteFile(path, []byte("SQLite format 3\x00"), 0o600) },
		"another database": func(path string) error { return query(path, `CREATE TABLE entry (idx, account, seq, hash, bytes)`) },
		"a view of entries": func(path string) error {
			return query(path, `CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER)`, `CREATE VIEW entry AS SELECT 1 AS idx`, `PRAGMA application_id = 1382115692`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := write(filepath.Join(dir, "journal.db")); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			code := cli.Main(cli.Environment{Args: []string{"audit-verify", "--data", dir}, Out: &out, Err: &out})
			if code != 1 && code != 6 || strings.Contains(out.String(), "verified:") || strings.Contains(out.String(), "panic") {
				t.Errorf("exit code %d: %s", code, &out)
			}
		})
	}
}

func query(path string, statements ...string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			_ = db.Close()
			return err
		}
	}
	return db.Close()
}

// TestAuditOfADamagedFile overwrites pages in the middle of the file.
func TestAuditOfADamagedFile(t *testing.T) {
	environ := newAccount(t)
	callOnce(t, environ, "1")
	path := filepath.Join(dataFolder(environ), "journal.db")
	if err := query(path, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := page; at+page <= len(text); at += page {
		torn := bytes.Clone(text)
		copy(torn[at:], bytes.Repeat([]byte{0xa5}, page))
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		code := cli.Main(cli.Environment{Args: []string{"audit-verify"}, Environ: environ, Out: &out, Err: &out})
		// A page of what the audit does not read may be torn unseen by it.
		if code == 0 && !strings.Contains(out.String(), "verified:") || code > 7 || strings.Contains(out.String(), "panic") {
			t.Errorf("page %d: exit code %d: %s", at/page, code, &out)
		}
	}
}

// hugeBytes is nearly as long as SQLite makes a row.
const hugeBytes = 999_000_000

// TestAuditOfAGigabyte puts a gigabyte into one entry. It is told from its length, and not
// read.
func TestAuditOfAGigabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a gigabyte")
	}
	environ := newAccount(t)
	callOnce(t, environ, "1")
	damage(t, environ, `PRAGMA journal_mode = DELETE`, `PRAGMA journal_mode = OFF`)
	path := filepath.Join(dataFolder(environ), "journal.db")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE entry SET bytes = zeroblob(?) WHERE seq = 3`, hugeBytes); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := answer(t, environ, 6, "audit-verify")
	runtime.ReadMemStats(&after)
	if !strings.Contains(out, "first failure at paper/3") || !strings.Contains(out, "longer than 1048576 bytes") {
		t.Errorf("the audit says %s", out)
	}
	const most = 64 << 20
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("the audit took %d bytes", took)
	}
	serves(t, environ, 1) // nor does a server fold it
}

// TestAuditBesideAWriter audits a journal that is written meanwhile.
func TestAuditBesideAWriter(t *testing.T) {
	environ := newAccount(t)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Add(1)
	wrote := 0
	go func() {
		defer writing.Done()
		for ; ctx.Err() == nil && wrote < 200; wrote++ {
			var out bytes.Buffer
			mode := []string{"reduce-only", "resume"}[wrote%2]
			if code := cli.Main(cli.Environment{Args: []string{mode, "--reason", "again"}, Environ: environ, Out: &out, Err: &out}); code != 0 {
				t.Errorf("writing ended with %d: %s", code, &out)
				return
			}
		}
	}()
	for range 20 {
		answer(t, environ, 0, "audit-verify")
	}
	stop()
	writing.Wait()
	if wrote == 0 {
		t.Error("nothing was written meanwhile")
	}
	answer(t, environ, 0, "audit-verify")
}
