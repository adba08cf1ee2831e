// Package storetest is the contract suite of gate.Store: every store passes the same
// tests. What a store promises beyond it (durability, many processes) it tests itself.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// whole is what stores offer beyond gate.Store, to the verifier and to exports.
type whole interface {
	All(ctx context.Context, after uint64, each func(gate.Stored) error) error
	Accounts(ctx context.Context) ([]string, error)
}

// Run tests the stores that open makes: each call must return a new, empty one.
func Run(t *testing.T, open func(t *testing.T) gate.Store) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, gate.Store)
	}{
		{"EmptyStoreHasZeroHeads", emptyStore},
		{"CompareAndSwapLetsOneOfTwoWin", oneOfTwoWins},
		{"CompareAndSwapRefusesEveryWrongHead", wrongHeads},
		{"CompareAndSwapUnderManyGoroutinesGivesOneChain", oneChain},
		{"ControlHeadMustHold", controlHolds},
		{"ControlAndDecisionRaceIsOrdered", controlRace},
		{"BatchIsAllOrNothing", allOrNothing},
		{"BatchThatContradictsItselfIsRefused", unsoundBatches},
		{"HeadsAreLinearizable", linearizable},
		{"ReadGivesTheBytesInOrder", readOrder},
		{"ReadStopsWithItsCaller", readStops},
		{"ReaderMayAppend", readerAppends},
		{"AllGivesCommitOrder", commitOrder},
		{"AccountsDoNotTouch", accountsApart},
		{"CallersKeepTheirBytes", ownBytes},
		{"CanceledBeforeItStartsWritesNothing", canceled},
		{"SnapshotIsTheNewest", newestSnapshot},
		{"SnapshotNeedsItsEntry", strangeSnapshots},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// Entries makes n entries of an account that follow head, with bytes told apart by
// mark. They are not journal documents: stores do not look inside.
func Entries(account string, head gate.Head, n int, mark string) []gate.Stored {
	entries := make([]gate.Stored, n)
	prev := head.Hash
	for i := range entries {
		seq := head.Seq + 1 + uint64(i)
		text := fmt.Appendf(nil, `{"account":%q,"mark":%q,"prev":"%x","seq":%d}`, account, mark, prev[:], seq)
		entries[i] = gate.Stored{Account: account, Seq: seq, Hash: sha256.Sum256(text), Bytes: text}
		prev = entries[i].Hash
	}
	return entries
}

// Batch makes a batch of n entries that expects head.
func Batch(account string, head gate.Head, n int, mark string) *gate.Batch {
	return &gate.Batch{Account: account, Expect: head, Entries: Entries(account, head, n, mark)}
}

// CheckChain fails unless the entries are one chain of Entries from seq 1, and
// returns its head.
func CheckChain(t testing.TB, entries []gate.Stored) gate.Head {
	t.Helper()
	var head gate.Head
	for i, e := range entries {
		if e.Seq != uint64(i)+1 {
			t.Fatalf("entry %d has seq %d", i, e.Seq)
		}
		if e.Hash != sha256.Sum256(e.Bytes) {
			t.Fatalf("seq %d: hash does not fit the bytes", e.Seq)
		}
		if link := fmt.Appendf(nil, `"prev":"%x"`, head.Hash[:]); !bytes.Contains(e.Bytes, link) {
			t.Fatalf("seq %d does not follow the entry before it: %s", e.Seq, e.Bytes)
		}
		head = gate.Head{Seq: e.Seq, Hash: e.Hash}
	}
	return head
}

// Contents reads an account whole.
func Contents(t testing.TB, s gate.Store, account string) (entries []gate.Stored) {
	t.Helper()
	if err := s.Read(t.Context(), account, 0, func(e gate.Stored) error {
		entries = append(entries, e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return entries
}

// ContestedAppends has writers append until each placed n entries to one account,
// rereading the head after every lost race.
func ContestedAppends(ctx context.Context, s gate.Store, account, mark string, n int) error {
	head, _, err := s.Heads(ctx, account)
	if err != nil {
		return err
	}
	for placed := 0; placed < n; {
		b := Batch(account, head, 1, fmt.Sprintf("%s-%d", mark, placed))
		var lost *gate.ConflictError
		switch err := s.Append(ctx, b); {
		case err == nil:
			placed++
			head = b.After()
		case errors.As(err, &lost):
			head = lost.Have
		default:
			return err
		}
	}
	return nil
}

func mustAppend(t *testing.T, s gate.Store, b *gate.Batch) gate.Head {
	t.Helper()
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.After()
}

func mustLose(t *testing.T, s gate.Store, b *gate.Batch, account string, have gate.Head) {
	t.Helper()
	err := s.Append(t.Context(), b)
	var lost *gate.ConflictError
	if !errors.As(err, &lost) {
		t.Fatalf("append gave %v, want a conflict", err)
	}
	if diff := cmp.Diff(&gate.ConflictError{Account: account, Have: have}, lost); diff != "" {
		t.Errorf("conflict (-want +got):\n%s", diff)
	}
}

func wantHeads(t *testing.T, s gate.Store, account string, own, control gate.Head) {
	t.Helper()
	haveOwn, haveControl, err := s.Heads(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if haveOwn != own || haveControl != control {
		t.Errorf("heads of %s are %d and %d, want %d and %d", account, haveOwn.Seq, haveControl.Seq, own.Seq, control.Seq)
	}
}

// wantEntries compares an account's contents but for the index, which must rise.
func wantEntries(t *testing.T, s gate.Store, account string, want ...gate.Stored) {
	t.Helper()
	have := Contents(t, s, account)
	var last uint64
	for i := range have {
		if have[i].Index <= last {
			t.Errorf("index %d follows %d", have[i].Index, last)
		}
		last, have[i].Index = have[i].Index, 0
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("entries of %s (-want +got):\n%s", account, diff)
	}
}

func concurrently(t *testing.T, n int, each func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = each(i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func sequential(n int) []uint64 {
	return slices.Collect(func(yield func(uint64) bool) {
		for i := range n {
			if !yield(uint64(i) + 1) {
				return
			}
		}
	})
}

const control = journal.ControlAccount
