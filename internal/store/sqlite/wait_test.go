package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// lockFile takes the write lock as another process would, until the returned function
// is called. SQLite keeps its own connections apart, in one process as in many.
func lockFile(t *testing.T, path string) (release func()) {
	t.Helper()
	db := rawOpen(t, path)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), `ROLLBACK`); err != nil {
			t.Error(err)
		}
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// rawOpen opens the file past the store.
func rawOpen(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, Options{}, "mode=rw"))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func rawExec(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := rawOpen(t, path)
	defer db.Close()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(text, err)
		}
	}
}

func TestLockedByAnotherIsBoundedAndPasses(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{busyFor: 50 * time.Millisecond})
	release := lockFile(t, s.path)
	b := storetest.Batch("a", gate.Head{}, 1, "x")
	start := time.Now()
	err := s.Append(t.Context(), b)
	if typed := wantReason(t, err, ReasonLocked); !typed.Passing() || s.Broken() != nil {
		t.Errorf("a lock broke the store: %v", typed)
	}
	if waited := time.Since(start); waited < 40*time.Millisecond || waited > 3*time.Second {
		t.Errorf("waited %v", waited)
	}
	// Reading goes on beside a writer.
	if _, _, err := s.Heads(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	release()
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if n := len(storetest.Contents(t, s, "a")); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// TestCancelTakesAWaitingAppendOut cancels while the writer waits for another process.
// The caller returns at once and its batch is never written; its neighbor's is.
func TestCancelTakesAWaitingAppendOut(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	release := lockFile(t, s.path)
	ctx, cancel := context.WithCancel(t.Context())
	gone, stays := make(chan error, 1), make(chan error, 1)
	go func() { gone <- s.Append(ctx, storetest.Batch("gone", gate.Head{}, 1, "x")) }()
	go func() { stays <- s.Append(t.Context(), storetest.Batch("stays", gate.Head{}, 1, "x")) }()
	time.Sleep(20 * time.Millisecond)
	cancel()
	select {
	case err := <-gone:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("append gave %v", err)
		}
	case <-time.After(3 * time.Second):
		t.Error("the caller still waits")
	}
	release()
	if err := <-stays; err != nil {
		t.Error(err)
	}
	if n := len(storetest.Contents(t, s, "gone")); n != 0 {
		t.Errorf("%d entries of the canceled append", n)
	}
	if n := len(storetest.Contents(t, s, "stays")); n != 1 {
		t.Errorf("%d entries of the other", n)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	release := lockFile(t, s.path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var overloaded, done atomic.Int32
	var wg sync.WaitGroup
	for i := range QueueMax + GroupMax + 8 {
		wg.Go(func() {
			err := s.Append(ctx, storetest.Batch(fmt.Sprintf("a%d", i), gate.Head{}, 1, "x"))
			var typed *UnavailableError
			switch {
			case err == nil:
				done.Add(1)
			case errors.As(err, &typed) && typed.Reason == ReasonOverloaded && typed.Passing():
				overloaded.Add(1)
				cancel()
			case !errors.Is(err, context.Canceled):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	release()
	if overloaded.Load() == 0 {
		t.Error("a queue without a limit")
	}
	accounts, err := s.Accounts(t.Context())
	if err != nil || len(accounts) != int(done.Load()) {
		t.Errorf("%d accounts, %v; %d appends were done", len(accounts), err, done.Load())
	}
	// Those that gave up keep their place until the writer has passed over them.
	err = s.Append(t.Context(), storetest.Batch("after", gate.Head{}, 1, "x"))
	for deadline := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		wantReason(t, err, ReasonOverloaded)
		err = s.Append(t.Context(), storetest.Batch("after", gate.Head{}, 1, "x"))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestCloseFinishesWhatWaits closes while appends wait: each is written and told so, or
// refused.
func TestCloseFinishesWhatWaits(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	dir := filepath.Dir(s.path)
	release := lockFile(t, s.path)
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = s.Append(t.Context(), storetest.Batch(fmt.Sprintf("a%d", i), gate.Head{}, 1, "x"))
		})
	}
	time.Sleep(10 * time.Millisecond)
	wg.Go(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(5 * time.Millisecond)
	release()
	wg.Wait()
	wantReason(t, s.Append(t.Context(), storetest.Batch("late", gate.Head{}, 1, "x")), ReasonClosed)
	_, _, err := s.Heads(t.Context(), "a0")
	wantReason(t, err, ReasonClosed)
	wantReason(t, s.Read(t.Context(), "a0", 0, nil), ReasonClosed)

	again := openAt(t, dir, Options{})
	written := 0
	for i, err := range errs {
		n := len(storetest.Contents(t, again, fmt.Sprintf("a%d", i)))
		written += n
		if (err == nil) != (n == 1) {
			t.Errorf("append %d gave %v, %d entries", i, err, n)
		}
		if err != nil {
			wantReason(t, err, ReasonClosed)
		}
	}
	if written == 0 {
		t.Error("nothing was written: the test shows nothing")
	}
}
