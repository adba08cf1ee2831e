//go:build linux || darwin

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// daemon starts a server on a socket in a folder of its own.
func (h *house) daemon() (s *host, path string) {
	h.t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path has few bytes
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "rails")
	s = h.launch("--listen", "unix:"+path)
	for limit := time.Now().Add(10 * time.Second); !strings.Contains(s.log.String(), "agents at "); {
		if time.Now().After(limit) {
			h.t.Fatalf("the server does not listen: %s", s.log)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s, path
}

// Sixteen shims on one server share one cap, which the broker's ledger and the journal
// both show.
func TestSixteenShimsShareOneCap(t *testing.T) {
	t.Parallel()
	const capacity = 40
	h := newHouse(t, fmt.Sprintf(allOff, capacity))
	s, path := h.daemon()
	var wg sync.WaitGroup
	for range 16 {
		shim := h.shim(path)
		wg.Go(func() {
			shim.press(1, capacity, capped)
			if code := shim.stop(); code != 0 {
				t.Errorf("a shim ended with %d: %s", code, shim.log)
			}
		})
	}
	wg.Wait()
	v := h.wantSent(capacity)
	if v.allowed() != capacity {
		t.Errorf("%d decisions allowed, the cap is %d", v.allowed(), capacity)
	}
	s.signal(syscall.SIGTERM)
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.log)
	}
	if got := oracle(t, h.dir, time.Minute); got.placed != capacity {
		t.Errorf("%d orders at the broker, the cap is %d", got.placed, capacity)
	}
}

// A halt through the operators' socket holds by its file while the server's journal is
// locked by another process, and sends nothing once it goes on.
func TestHaltThroughTheSocketOnALockedJournal(t *testing.T) {
	t.Parallel()
	for _, scope := range [][]string{nil, {"--all"}} {
		t.Run(fmt.Sprint(scope), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, fmt.Sprintf(allOff, 100))
			s, path := h.daemon()
			shim := h.shim(path)
			shim.allowed()
			db := rawOpen(t, filepath.Join(h.dir, sqlite.FileName))
			if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			waiting := shim.send("tools/call", buy("AAPL", "1", ""))
			code, said := h.rails(append([]string{"halt", "--reason", "stop", "--socket", path + ".operator"}, scope...)...)
			if code != 1 || !strings.Contains(said, "the halt holds") {
				t.Errorf("halt ended with %d: %s", code, said)
			}
			if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if got := shim.wait(waiting); strings.HasPrefix(got, "ALLOWED") {
				t.Errorf("an order on a locked journal: %s", got)
			}
			if got := shim.order(""); !strings.HasPrefix(got, "DENIED kill_switch") {
				t.Errorf("an order after the halt: %s", got)
			}
			h.wantSent(1)
			s.signal(syscall.SIGTERM)
			s.stop()
			oracle(t, h.dir, time.Minute)
		})
	}
}

// A server that dies in the middle of orders ends every shim, and none of them sends an
// order a second time.
func TestAServerDiesUnderItsShims(t *testing.T) {
	t.Parallel()
	h := newHouse(t, fmt.Sprintf(allOff, 1000))
	s, path := h.daemon()
	shims := []*host{h.shim(path), h.shim(path), h.shim(path)}
	var wg sync.WaitGroup
	for _, shim := range shims {
		wg.Go(func() { shim.press(2, 1000, func(string) bool { return false }) })
	}
	time.Sleep(150 * time.Millisecond)
	s.kill()
	wg.Wait()
	for _, shim := range shims {
		<-shim.exited
		if code := shim.stop(); code == 0 || !strings.Contains(shim.log.String(), "do not send it again") {
			t.Errorf("a shim ended with %d: %s", code, shim.log)
		}
	}
	before := len(h.look().messages)
	s, path = h.daemon()
	h.shim(path).allowed()
	h.wantSent(before + 1)
	s.signal(syscall.SIGTERM)
	s.stop()
	oracle(t, h.dir, time.Minute)
}
