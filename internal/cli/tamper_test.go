package cli_test

import (
	"database/sql"
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
