package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

func TestContract(t *testing.T) {
	noLeaks(t)
	storetest.Run(t, func(t *testing.T) gate.Store { return openNew(t, Options{}) })
}

// openNew opens a new journal in a folder of the test's own.
func openNew(t testing.TB, opts Options) *Store {
	t.Helper()
	opts.Create = true
	name := "a folder, j#%"
	if runtime.GOOS != "windows" {
		name += "?"
	}
	return openAt(t, filepath.Join(t.TempDir(), name), opts)
}

// openAt opens the journal in dir, and closes it with the test.
func openAt(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// noLeaks fails the test if goroutines outlive its cleanups.
func noLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
}

// wantReason fails unless err is of the reason.
func wantReason(t *testing.T, err error, want Reason) *UnavailableError {
	t.Helper()
	var typed *UnavailableError
	if !errors.As(err, &typed) {
		t.Fatalf("got %v, want %s", err, want)
	}
	if typed.Reason != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	return typed
}
