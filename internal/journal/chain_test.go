package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// sealed returns an intact chain of n entries.
func sealed(t testing.TB, account string, n int) (entries [][]byte, hashes []journal.Hash) {
	var prev journal.Hash
	for i := range n {
		b, h, err := journal.Seal(account, uint64(i+1), prev, at.Add(time.Duration(i)), "", journal.KindRecovery,
			journal.Recovery{Note: fmt.Sprint("denied ", i), Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		entries, hashes, prev = append(entries, b), append(hashes, h), h
	}
	return entries, hashes
}

func TestChainPassesWhatIsIntact(t *testing.T) {
	var c journal.Chain
	a, hashes := sealed(t, "a", 5)
	b, _ := sealed(t, "b", 5)
	for i := range a {
		if err := errors.Join(c.Next("a", a[i]), c.Next("b", b[i])); err != nil {
			t.Fatal(err)
		}
	}
	if seq, h := c.Head("a"); seq != 5 || h != hashes[4] {
		t.Errorf("head %d %s", seq, h)
	}
	if seq, h := c.Head("other"); seq != 0 || !h.IsZero() {
		t.Errorf("head of nothing %d %s", seq, h)
	}
}

func TestChainNamesTheFirstThatFails(t *testing.T) {
	cases := []struct {
		name    string
		spoil   func(entries [][]byte) [][]byte
		seq     uint64
		problem string
	}{
		{"edit", func(e [][]byte) [][]byte {
			e[2] = []byte(strings.Replace(string(e[2]), "denied", "passed", 1))
			return e
		}, 4, journal.ProblemPrev},
		{"missing", func(e [][]byte) [][]byte { return append(e[:2:2], e[3:]...) }, 3, journal.ProblemSeq},
		{"first missing", func(e [][]byte) [][]byte { return e[1:] }, 1, journal.ProblemSeq},
		{"swapped", func(e [][]byte) [][]byte { e[1], e[2] = e[2], e[1]; return e }, 2, journal.ProblemSeq},
		{"twice", func(e [][]byte) [][]byte { e[2] = e[1]; return e }, 3, journal.ProblemSeq},
		{"unreadable", func(e [][]byte) [][]byte { e[1] = append([]byte{' '}, e[1]...); return e }, 2, journal.ProblemEntry},
		{"last one edited to be earlier", func(e [][]byte) [][]byte {
			e[4] = []byte(strings.Replace(string(e[4]), "2026", "2025", 1))
			return e
		}, 5, journal.ProblemTime},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var chain journal.Chain
			entries, _ := sealed(t, "a", 5)
			var fault *journal.ChainError
			for _, b := range c.spoil(entries) {
				err := chain.Next("a", b)
				if fault != nil && err != error(fault) {
					t.Fatalf("after the fault: %v", err)
				}
				errors.As(err, &fault)
			}
			if fault == nil || fault.Seq != c.seq || fault.Problem != c.problem || fault.Account != "a" {
				t.Fatalf("fault %+v", fault)
			}
			if fault.Problem != journal.ProblemEntry && (fault.Want == "" || fault.Got == "" || fault.Want == fault.Got) {
				t.Errorf("want %q, got %q", fault.Want, fault.Got)
			}
		})
	}
}

func TestChainFindsAnEditByTheStoredHash(t *testing.T) {
	var chain journal.Chain
	entries, hashes := sealed(t, "a", 3)
	entries[1] = []byte(strings.Replace(string(entries[1]), "denied", "passed", 1))
	if _, err := chain.NextStored("a", entries[0], hashes[0]); err != nil {
		t.Fatal(err)
	}
	_, err := chain.NextStored("a", entries[1], hashes[1])
	var fault *journal.ChainError
	if !errors.As(err, &fault) || fault.Seq != 2 || fault.Problem != journal.ProblemHash || fault.Want != hashes[1].String() {
		t.Fatalf("%+v", err)
	}
	other, _ := sealed(t, "b", 1)
	if err := new(journal.Chain).Next("a", other[0]); !errors.As(err, &fault) || fault.Problem != journal.ProblemAccount {
		t.Fatalf("%+v", err)
	}
}
