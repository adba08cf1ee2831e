package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

func emptyStore(t *testing.T, s gate.Store) {
	wantHeads(t, s, "a", gate.Head{}, gate.Head{})
	wantEntries(t, s, "a")
	state, at, err := s.Snapshots().LoadSnapshot(t.Context(), "a")
	if state != nil || at != (gate.Head{}) || err != nil {
		t.Errorf("snapshot %q at %d, %v", state, at.Seq, err)
	}
}

func oneOfTwoWins(t *testing.T, s gate.Store) {
	first := mustAppend(t, s, Batch("a", gate.Head{}, 1, "first"))
	won := Batch("a", first, 1, "won")
	second := mustAppend(t, s, won)
	mustLose(t, s, Batch("a", first, 1, "lost"), "a", second)
	mustLose(t, s, Batch("a", gate.Head{}, 1, "from nothing"), "a", second)
	wantEntries(t, s, "a", append(Entries("a", gate.Head{}, 1, "first"), won.Entries...)...)
	wantHeads(t, s, "a", second, gate.Head{})
}

func wrongHeads(t *testing.T, s gate.Store) {
	head := mustAppend(t, s, Batch("a", gate.Head{}, 3, "x"))
	other := head
	other.Hash[31] ^= 1
	ahead := gate.Head{Seq: head.Seq + 1, Hash: head.Hash}
	behind := gate.Head{Seq: head.Seq - 1, Hash: head.Hash}
	for _, wrong := range []gate.Head{other, ahead, behind, {}} {
		mustLose(t, s, Batch("a", wrong, 1, "wrong"), "a", head)
	}
	mustLose(t, s, Batch("b", head, 1, "wrong"), "b", gate.Head{})
	wantEntries(t, s, "a", Entries("a", gate.Head{}, 3, "x")...)
	wantEntries(t, s, "b")
}

func oneChain(t *testing.T, s gate.Store) {
	const writers, each = 8, 12
	concurrently(t, writers, func(i int) error {
		return ContestedAppends(t.Context(), s, "a", fmt.Sprintf("w%d", i), each)
	})
	entries := Contents(t, s, "a")
	if len(entries) != writers*each {
		t.Errorf("%d entries, want %d", len(entries), writers*each)
	}
	head := CheckChain(t, entries)
	wantHeads(t, s, "a", head, gate.Head{})
}

func controlHolds(t *testing.T, s gate.Store) {
	none := gate.Head{}
	b := Batch("a", none, 1, "x")
	b.Control = &none
	own := mustAppend(t, s, b)

	halted := mustAppend(t, s, Batch(control, none, 1, "halt"))
	b = Batch("a", own, 1, "y")
	b.Control = &none
	mustLose(t, s, b, control, halted)
	forged := halted
	forged.Hash[0] ^= 1
	b.Control = &forged
	mustLose(t, s, b, control, halted)
	wantEntries(t, s, "a", Entries("a", none, 1, "x")...)

	b.Control = &halted
	own = mustAppend(t, s, b)
	// Without a control head only the account's own must hold: outcomes are written
	// also after a halt.
	own = mustAppend(t, s, Batch("a", own, 1, "z"))
	// The control chain may name itself.
	b = Batch(control, halted, 1, "resume")
	b.Control = &halted
	resumed := mustAppend(t, s, b)
	wantHeads(t, s, "a", own, resumed)
	wantHeads(t, s, control, resumed, resumed)
}

// controlRace has a halt race with decisions. Whatever the order, no decision that
// named the old control head may stand after the halt in commit order.
func controlRace(t *testing.T, s gate.Store) {
	none := gate.Head{}
	concurrently(t, 9, func(i int) error {
		if i == 4 {
			return s.Append(t.Context(), Batch(control, none, 1, "halt"))
		}
		account := fmt.Sprintf("a%d", i)
		var head gate.Head
		for range 20 {
			b := Batch(account, head, 1, "x")
			b.Control = &none
			var lost *gate.ConflictError
			switch err := s.Append(t.Context(), b); {
			case errors.As(err, &lost):
				if lost.Account != control || lost.Have.Seq != 1 {
					return fmt.Errorf("lost against %w", lost)
				}
				return nil
			case err != nil:
				return err
			}
			head = b.After()
		}
		return nil
	})
	halted := false
	if err := s.(whole).All(t.Context(), 0, func(e gate.Stored) error {
		if halted {
			t.Errorf("%s seq %d stands after the halt", e.Account, e.Seq)
		}
		halted = halted || e.Account == control
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !halted {
		t.Error("the halt was not written")
	}
}

func allOrNothing(t *testing.T, s gate.Store) {
	none := gate.Head{}
	three := Batch("a", none, 3, "three")
	mustAppend(t, s, three)
	// Another batch loses whole, also where its first entries would fit elsewhere.
	mustLose(t, s, Batch("a", gate.Head{Seq: 1, Hash: three.Entries[0].Hash}, 5, "five"), "a", three.After())
	b := Batch("b", none, 4, "four")
	b.Control = &gate.Head{Seq: 1, Hash: journal.Hash{1}}
	mustLose(t, s, b, control, none)
	wantEntries(t, s, "a", three.Entries...)
	wantEntries(t, s, "b")
	wantHeads(t, s, "b", none, none)
}

func unsoundBatches(t *testing.T, s gate.Store) {
	head := mustAppend(t, s, Batch("a", gate.Head{}, 1, "x"))
	long := []byte(strings.Repeat("x", journal.EntryBytesMax+1))
	for name, spoil := range map[string]func(*gate.Batch){
		"no account":            func(b *gate.Batch) { b.Account = "" },
		"no entries":            func(b *gate.Batch) { b.Entries = nil },
		"too many entries":      func(b *gate.Batch) { *b = *Batch("a", head, gate.BatchEntriesMax+1, "y") },
		"another account":       func(b *gate.Batch) { b.Entries[1].Account = "b" },
		"gap before the first":  func(b *gate.Batch) { b.Entries = b.Entries[1:] },
		"gap inside":            func(b *gate.Batch) { b.Entries[1].Seq++ },
		"seq repeated":          func(b *gate.Batch) { b.Entries[1].Seq-- },
		"no bytes":              func(b *gate.Batch) { b.Entries[0].Bytes = nil; b.Entries[0].Hash = sha256.Sum256(nil) },
		"too many bytes":        func(b *gate.Batch) { b.Entries[0].Bytes = long; b.Entries[0].Hash = sha256.Sum256(long) },
		"hash of other bytes":   func(b *gate.Batch) { b.Entries[1].Hash[7] ^= 1 },
		"bytes of another hash": func(b *gate.Batch) { b.Entries[0].Bytes[3] ^= 1 },
		"head without hash":     func(b *gate.Batch) { b.Expect.Hash = journal.Hash{} },
		"hash without seq":      func(b *gate.Batch) { *b = *Batch("b", gate.Head{Hash: head.Hash}, 2, "y") },
		"control without hash":  func(b *gate.Batch) { b.Control = &gate.Head{Seq: 1} },
		"control hash, no seq":  func(b *gate.Batch) { b.Control = &gate.Head{Hash: head.Hash} },
	} {
		b := Batch("a", head, 2, "y")
		spoil(b)
		var unsound *gate.BatchError
		if err := s.Append(t.Context(), b); !errors.As(err, &unsound) {
			t.Errorf("%s: append gave %v, want a batch error", name, err)
		}
	}
	wantEntries(t, s, "a", Entries("a", gate.Head{}, 1, "x")...)
	wantEntries(t, s, "b")
	// The longest entry passes.
	text := long[:journal.EntryBytesMax]
	mustAppend(t, s, &gate.Batch{Account: "a", Expect: head, Entries: []gate.Stored{
		{Account: "a", Seq: 2, Hash: sha256.Sum256(text), Bytes: text},
	}})
}

func canceled(t *testing.T, s gate.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, Batch("a", gate.Head{}, 1, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("append gave %v", err)
	}
	if _, _, err := s.Heads(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("heads gave %v", err)
	}
	if err := s.Read(ctx, "a", 0, func(gate.Stored) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("read gave %v", err)
	}
	wantEntries(t, s, "a")
	// Callers that give up at any moment leave either all of their batch or nothing,
	// and an append that was reported done is there.
	done := make([]bool, 64)
	concurrently(t, len(done), func(i int) error {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		err := s.Append(ctx, Batch(fmt.Sprintf("b%d", i), gate.Head{}, 2, "x"))
		done[i] = err == nil
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
	for i := range done {
		if n := len(Contents(t, s, fmt.Sprintf("b%d", i))); n != 0 && n != 2 || done[i] != (n == 2) {
			t.Errorf("caller %d: done %v, %d entries", i, done[i], n)
		}
	}
}
