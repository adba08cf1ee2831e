//go:build unix

package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// reopened closes s, opens its journal on the real disk, and returns the account's head
// after the chain was checked.
func reopened(t *testing.T, s *Store, account string) gate.Head {
	t.Helper()
	_ = s.Close() // a broken disk may fail it
	again := openAt(t, filepath.Dir(s.path), Options{})
	head := storetest.CheckChain(t, storetest.Contents(t, again, account))
	own, _, err := again.Heads(t.Context(), account)
	if err != nil || own != head {
		t.Fatalf("head is %d, %v; the chain ends at %d", own.Seq, err, head.Seq)
	}
	return head
}

func TestDiskFullWritesNothingAndPasses(t *testing.T) {
	noLeaks(t)
	for nth := 1; ; nth++ {
		d := newDisk(t)
		s := openNew(t, Options{vfs: d.name})
		first := storetest.Batch("a", gate.Head{}, 1, "before")
		if err := s.Append(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		d.arm(&fault{operation: operation{"write", true}, nth: nth, times: 1, code: codes.SQLITE_FULL})
		b := storetest.Batch("a", first.After(), 20, "full")
		err := s.Append(t.Context(), b)
		if d.arm(nil) == 0 {
			if nth < 4 {
				t.Fatalf("an append makes only %d writes", nth-1)
			}
			return // every write of an append was made to fail
		}
		wantReason(t, err, ReasonDiskFull)
		if s.Broken() != nil {
			t.Fatalf("write %d: broken: %v", nth, s.Broken())
		}
		if n := len(storetest.Contents(t, s, "a")); n != 1 {
			t.Fatalf("write %d: %d entries after a full disk", nth, n)
		}
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatalf("write %d: space returned, but append gave %v", nth, err)
		}
		if head := reopened(t, s, "a"); head != b.After() {
			t.Fatalf("write %d: head is %d", nth, head.Seq)
		}
	}
}

// TestFailedFlushBreaksTheStore strikes each operation of an append, once without effect
// and once although it took effect.
func TestFailedFlushBreaksTheStore(t *testing.T) {
	noLeaks(t)
	for _, op := range []struct {
		name string
		code int32
	}{{"sync", codes.SQLITE_IOERR_FSYNC}, {"write", codes.SQLITE_IOERR_WRITE}, {"sync", codes.SQLITE_IOERR}, {"write", codes.SQLITE_CORRUPT}} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%d-late=%v", op.name, op.code, late), func(t *testing.T) {
				d := newDisk(t)
				s := openNew(t, Options{vfs: d.name})
				first := storetest.Batch("a", gate.Head{}, 1, "before")
				if err := s.Append(t.Context(), first); err != nil {
					t.Fatal(err)
				}
				d.arm(&fault{operation: operation{op.name, true}, nth: 1, times: 1, late: late, code: op.code})
				b := storetest.Batch("a", first.After(), 1, "lost")
				err := s.Append(t.Context(), b)
				if d.arm(nil) != 1 {
					t.Fatal("the fault did not strike")
				}
				if typed := wantReasonIn(t, err, ReasonFailed, ReasonCorrupt); typed.Passing() {
					t.Error("the fault is said to pass")
				}
				// The disk is well again; the store must not trust it.
				wantReason(t, s.Append(t.Context(), b), ReasonBroken)
				wantReason(t, s.Append(t.Context(), storetest.Batch("b", gate.Head{}, 1, "other")), ReasonBroken)
				_, _, err = s.Heads(t.Context(), "a")
				wantReason(t, err, ReasonBroken)
				wantReason(t, s.SaveSnapshot(t.Context(), "a", first.After(), []byte("s")), ReasonBroken)
				// The next start finds the whole batch or nothing of it.
				if head := reopened(t, s, "a"); head != first.After() && head != b.After() {
					t.Errorf("head is %d", head.Seq)
				}
			})
		}
	}
}

func wantReasonIn(t *testing.T, err error, want ...Reason) *UnavailableError {
	t.Helper()
	var typed *UnavailableError
	if errors.As(err, &typed) {
		for _, reason := range want {
			if typed.Reason == reason {
				return typed
			}
		}
	}
	t.Fatalf("got %v, want one of %v", err, want)
	return nil
}

// TestFailedCheckpointBreaksTheStore strikes the file while the log is moved into it.
// The log still holds all, so nothing is lost.
func TestFailedCheckpointBreaksTheStore(t *testing.T) {
	noLeaks(t)
	for _, name := range []string{"sync", "write"} {
		d := newDisk(t)
		s := openNew(t, Options{vfs: d.name})
		d.arm(&fault{operation: operation{name, false}, nth: 1, times: 1, code: codes.SQLITE_IOERR_FSYNC})
		var head gate.Head
		for range 3 {
			text := bytes.Repeat([]byte("x"), CheckpointBytes/2)
			b := &gate.Batch{Account: "a", Expect: head, Entries: []gate.Stored{
				{Account: "a", Seq: head.Seq + 1, Hash: sha256.Sum256(text), Bytes: text}}}
			if err := s.Append(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			head = b.After()
		}
		for deadline := time.Now().Add(5 * time.Second); s.Broken() == nil; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(name, ": the failed checkpoint went unnoticed")
			}
		}
		wantReason(t, s.Append(t.Context(), storetest.Batch("a", head, 1, "x")), ReasonBroken)
		d.arm(nil)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		again := openAt(t, filepath.Dir(s.path), Options{})
		if own, _, err := again.Heads(t.Context(), "a"); own != head || err != nil {
			t.Errorf("%s: head %d, %v", name, own.Seq, err)
		}
	}
}

// TestFailedFlushFailsTheWholeGroup has many callers share a failing flush: none may be told
// that it was written.
func TestFailedFlushFailsTheWholeGroup(t *testing.T) {
	noLeaks(t)
	d := newDisk(t)
	s := openNew(t, Options{vfs: d.name})
	d.arm(&fault{operation: operation{"sync", true}, nth: 3, times: 1, code: codes.SQLITE_IOERR_FSYNC})
	const callers = 32
	errs := make(chan error, callers)
	for i := range callers {
		go func() {
			errs <- storetest.ContestedAppends(context.WithoutCancel(t.Context()), s, fmt.Sprintf("a%d", i), "x", 20)
		}()
	}
	for range callers {
		var typed *UnavailableError
		if err := <-errs; !errors.As(err, &typed) || typed.Passing() {
			t.Errorf("a caller got %v", err)
		}
	}
}
