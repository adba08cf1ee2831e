package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/memory"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// careless is a store that breaks one promise.
type careless struct {
	*memory.Store
	promise string

	mu    sync.Mutex    // guards the rest
	chain []gate.Stored // "late swap" keeps its entries here
	asked int           // "old head" answers every fifth call with stale
	stale gate.Head
}

// promises that a store may break, with the test that must notice.
var promises = map[string]string{
	"own head":       "CompareAndSwapLetsOneOfTwoWin",
	"any hash":       "CompareAndSwapRefusesEveryWrongHead",
	"late swap":      "CompareAndSwapUnderManyGoroutinesGivesOneChain",
	"control head":   "ControlHeadMustHold",
	"control race":   "ControlAndDecisionRaceIsOrdered",
	"whole batch":    "BatchIsAllOrNothing",
	"check":          "BatchThatContradictsItselfIsRefused",
	"order":          "ReadGivesTheBytesInOrder",
	"cancel":         "CanceledBeforeItStartsWritesNothing",
	"old head":       "HeadsAreLinearizable",
	"newest":         "SnapshotIsTheNewest",
	"snapshot entry": "SnapshotNeedsItsEntry",
}

func (s *careless) Append(ctx context.Context, b *gate.Batch) error {
	changed := *b
	switch s.promise {
	case "own head": // move the batch to wherever the chain ends
		own, _, err := s.Heads(ctx, b.Account)
		if err != nil {
			return err
		}
		changed.Expect, changed.Entries = own, storetest.Entries(b.Account, own, len(b.Entries), "moved")
	case "late swap": // compare, then write, without a transaction around both
		own, _, err := s.Heads(ctx, b.Account)
		if err != nil || own != b.Expect {
			return errors.Join(err, &gate.ConflictError{Account: b.Account, Have: own})
		}
		runtime.Gosched()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.chain = append(s.chain, b.Entries...)
		return nil
	case "any hash":
		own, _, err := s.Heads(ctx, b.Account)
		if err == nil && own.Seq == b.Expect.Seq {
			changed.Expect = own
		}
	case "control head", "control race":
		changed.Control = nil
	case "whole batch":
		err := s.Store.Append(ctx, b)
		var lost *gate.ConflictError
		if errors.As(err, &lost) && lost.Account == journal.ControlAccount {
			changed.Control = nil
			_ = s.Store.Append(ctx, &changed) // written, and reported as not
		}
		return err
	case "check":
		if err := b.Check(); err != nil {
			return nil
		}
	case "cancel":
		return s.Store.Append(context.WithoutCancel(ctx), &changed)
	}
	return s.Store.Append(ctx, &changed)
}

func (s *careless) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.promise == "old head" {
		own, control, err = s.Store.Heads(ctx, account)
		if s.asked++; s.asked%5 == 0 {
			return s.stale, control, err
		}
		s.stale = own
		return own, control, err
	}
	if s.promise != "late swap" {
		return s.Store.Heads(ctx, account)
	}
	if n := len(s.chain); n > 0 {
		own = gate.Head{Seq: s.chain[n-1].Seq, Hash: s.chain[n-1].Hash}
	}
	return own, gate.Head{}, nil
}

func (s *careless) Read(ctx context.Context, account string, after uint64, each func(gate.Stored) error) error {
	switch s.promise {
	case "late swap":
		for _, e := range s.chain {
			if err := each(e); err != nil {
				return err
			}
		}
		return nil
	case "order":
	default:
		return s.Store.Read(ctx, account, after, each)
	}
	var entries []gate.Stored
	if err := s.Store.Read(ctx, account, after, func(e gate.Stored) error {
		entries = append(entries, e)
		return nil
	}); err != nil {
		return err
	}
	for i := range entries {
		if err := each(entries[len(entries)-1-i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *careless) Snapshots() gate.Snapshots { return s }

func (s *careless) SaveSnapshot(ctx context.Context, account string, at gate.Head, state []byte) error {
	switch s.promise {
	case "newest":
		if at.Seq > 1 {
			return nil
		}
	case "snapshot entry":
		err := s.Store.SaveSnapshot(ctx, account, at, state)
		var unsound *gate.BatchError
		if errors.As(err, &unsound) && at.Hash != (journal.Hash{}) {
			return nil
		}
		return err
	}
	return s.Store.SaveSnapshot(ctx, account, at, state)
}

const promiseVar = "STORETEST_BROKEN_PROMISE"

// TestSuite runs the suite on the careless store; alone, the promise is empty and all
// holds.
func TestSuite(t *testing.T) {
	promise := os.Getenv(promiseVar)
	storetest.Run(t, func(*testing.T) gate.Store { return &careless{Store: memory.New(), promise: promise} })
}

// TestSuiteNoticesEveryBrokenPromise runs the suite in other processes, since it must
// fail there.
func TestSuiteNoticesEveryBrokenPromise(t *testing.T) {
	for promise, test := range promises {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$/^"+test+"$", "-test.timeout=30s")
		cmd.Env = append(os.Environ(), promiseVar+"="+promise)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuite/"+test+" ") {
			t.Errorf("%s: %s did not fail (%v)\n%s", promise, test, err, out)
		}
	}
}
