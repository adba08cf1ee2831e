package cli_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	_ "modernc.org/sqlite"
)

// TestAuditFindsAForgedVerdict rewrites one stored verdict, as someone with the file
// could, and expects the audit to name that entry.
func TestAuditFindsAForgedVerdict(t *testing.T) {
	environ := newAccount(t)
	for _, quantity := range []string{"1", "5000"} {
		callOnce(t, environ, quantity)
	}
	rails(t, environ, 0, "audit-verify")
	db, err := sql.Open("sqlite", filepath.Join(dataFolder(environ), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The file guards itself against mistakes, not against someone who owns it.
	var trigger string
	if err := db.QueryRow(`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%UPDATE%entry%'`).Scan(&trigger); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP TRIGGER ` + trigger); err != nil {
		t.Fatal(err)
	}
	var seq int
	var text string
	if err := db.QueryRow(`SELECT seq, CAST(bytes AS TEXT) FROM entry WHERE instr(bytes, '"verdict":"denied"') > 0`).Scan(&seq, &text); err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(text, `"verdict":"denied"`, `"verdict":"allowed"`, 1)
	if _, err := db.Exec(`UPDATE entry SET bytes = ? WHERE seq = ?`, []byte(forged), seq); err != nil {
		t.Fatal(err)
	}
	out := rails(t, environ, 6, "audit-verify", "--json")
	var report struct {
		Verified bool `json:"verified"`
		Accounts []struct {
			Failure struct {
				Question, Entry string
			} `json:"failure"`
		} `json:"accounts"`
	}
	if err := json.Unmarshal([]byte(out), &report, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if report.Verified || len(report.Accounts) != 1 {
		t.Fatalf("a forged journal verified: %s", out)
	}
	failure := report.Accounts[0].Failure
	if want := "paper/" + strconv.Itoa(seq); failure.Entry != want || failure.Question != "integrity" {
		t.Errorf("the audit names %s for %s, want %s for integrity", failure.Entry, failure.Question, want)
	}
	if out := rails(t, environ, 6, "audit-verify"); !strings.Contains(out, "NOT VERIFIED") {
		t.Errorf("people are told: %s", out)
	}
}

// TestAuditHoldsTheHeadsAgainstTheChains edits what the file keeps beside the entries.
func TestAuditHoldsTheHeadsAgainstTheChains(t *testing.T) {
	for name, c := range map[string]struct{ edit, want string }{
		"the newest entry is gone": {`DROP TRIGGER entry_stays; DELETE FROM entry WHERE idx = (SELECT max(idx) FROM entry)`, "its end after"},
		"the head is gone":         {`DROP TRIGGER head_stays; DELETE FROM head`, "the store's head at"},
		"the head is set back":     {`UPDATE head SET seq = 2, hash = (SELECT hash FROM entry WHERE seq = 2)`, "the store's head at"},
		"a head without entries":   {`INSERT INTO head VALUES (char(27) || '[31mred', 4, zeroblob(32))`, `\u{001B}[31mred/1`},
		"a place":                  {`DROP TRIGGER entry_is_final; UPDATE entry SET seq = 900 WHERE idx = (SELECT max(idx) FROM entry)`, "it stands at 900"},
		"a hash of zeros":          {`DROP TRIGGER entry_is_final; UPDATE entry SET hash = zeroblob(32) WHERE idx = 3`, "paper/3"},
		"everything is gone": {
			`DROP TRIGGER entry_stays; DROP TRIGGER head_stays; DELETE FROM entry; DELETE FROM head`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			environ := newAccount(t)
			callOnce(t, environ, "1")
			db, err := sql.Open("sqlite", filepath.Join(dataFolder(environ), "journal.db"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(c.edit)
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			out := rails(t, environ, 6, "audit-verify")
			if !strings.Contains(out, c.want) || strings.Contains(out, "\x1b[31mred") {
				t.Errorf("the audit says %q, want %q in it", out, c.want)
			}
		})
	}
}
