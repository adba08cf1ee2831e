//go:build unix

package faults

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// A halt from another process stops the next order of a running server, and keeps one
// that is started later from serving.
func TestHaltStopsARunningServer(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprintf("all=%v", all), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, fmt.Sprintf(allOff, 100))
			var scope []string
			if all {
				scope = []string{"--all"}
			}
			s := h.serve()
			s.allowed()
			web, addr := h.launchHTTP("--stateless")
			h.must(0, append([]string{"halt", "--reason", "stop"}, scope...)...)
			got := s.order("")
			v := h.wantSent(1)
			v.wantDenied(t, "kill_switch")
			if !strings.HasPrefix(got, "DENIED kill_switch") {
				t.Errorf("the agent was told: %s", got)
			}
			if got := post(t, addr, buy("AAPL", "1", "")); !strings.Contains(got, "DENIED kill_switch") {
				t.Errorf("the agent over HTTP was told: %s", got)
			}
			web.signal(syscall.SIGTERM)
			if code := web.stop(); code != 0 {
				t.Errorf("exit code %d: %s", code, web.log)
			}
			h.refusesToStart(8, "halted", "rails resume")
			h.wantSent(1)
			h.must(0, append([]string{"resume", "--reason", "go on"}, scope...)...)
			s.allowed()
			h.wantSent(2)
			if code := s.stop(); code != 0 {
				t.Errorf("exit code %d: %s", code, s.log)
			}
			oracle(t, h.dir, time.Minute)
		})
	}
}

// A server that hangs sends nothing more once it goes on: neither an order that waited
// in its input, nor one that was decided before the halt and not yet sent.
func TestHaltStopsAHangingServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, fmt.Sprintf(allOff, 100))
	s := h.serve()
	s.allowed()
	s.signal(syscall.SIGSTOP)
	waiting := s.send("tools/call", buy("AAPL", "1", ""))
	h.must(0, "halt", "--reason", "it hangs")
	s.signal(syscall.SIGCONT)
	if got := s.wait(waiting); !strings.HasPrefix(got, "DENIED kill_switch") {
		t.Errorf("an order that waited: %s", got)
	}
	v := h.wantSent(1)
	v.wantDenied(t, "kill_switch")
	h.must(0, "resume", "--reason", "go on")

	store, err := sqlite.OpenReadOnly(t.Context(), h.dir)
	if err != nil {
		t.Fatal(err)
	}
	between := 0
	for range 12 {
		if h.hang(s, store) == journal.ResultNotSent {
			between++
		}
		h.must(0, "resume", "--reason", "go on")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("in %d of 12 rounds the server hung between decision and send", between)
	s.allowed()
	s.stop()
	oracle(t, h.dir, time.Minute)
}

// hang stops the server as soon as a new decision stands in the journal, halts, lets it
// go on, and returns what became of the order.
func (h *house) hang(s *host, store *sqlite.Store) string {
	h.t.Helper()
	ctx := h.t.Context()
	earlier := len(h.look().messages)
	before, _, err := store.Heads(ctx, "paper")
	if err != nil {
		h.t.Fatal(err)
	}
	waiting := s.send("tools/call", buy("AAPL", "1", ""))
	for limit := time.Now().Add(10 * time.Second); ; {
		now, _, err := store.Heads(ctx, "paper")
		if err != nil {
			h.t.Fatal(err)
		}
		if now.Seq > before.Seq {
			break
		}
		if time.Now().After(limit) {
			h.t.Fatalf("no decision: %s", s.log)
		}
	}
	s.signal(syscall.SIGSTOP)
	// A server that was stopped inside a transaction of the ledger or of the journal keeps
	// its lock. The first does not hinder a halt; the second is said, and a halt follows
	// as soon as it can.
	code, halt := h.rails("halt", "--reason", "it hangs")
	if code != 0 && (code != 1 || !strings.Contains(halt, "locked") || !strings.Contains(halt, "hint: ")) {
		h.t.Errorf("halt ended with %d: %s", code, halt)
	}
	s.signal(syscall.SIGCONT)
	if code != 0 {
		h.must(0, "halt", "--reason", "it hung")
	}
	said := s.wait(waiting)
	v := h.look()
	last := v.decided[len(v.decided)-1]
	outcomes := v.outcomes[last.seq]
	if len(outcomes) == 0 {
		h.t.Fatalf("no outcome of %d; the agent was told: %s", last.seq, said)
	}
	sent := v.sent(last.clientID)
	switch result := outcomes[0]; {
	case result == journal.ResultNotSent && sent != 0:
		h.t.Errorf("order %d is not_sent, and %d messages are at the broker", last.seq, sent)
	case result == journal.ResultAccepted && sent != 1:
		h.t.Errorf("order %d is accepted, and %d messages are at the broker", last.seq, sent)
	}
	if len(v.messages) > earlier+1 {
		h.t.Errorf("%d orders were sent in a round of one", len(v.messages)-earlier)
	}
	if got := s.order(""); !strings.HasPrefix(got, "DENIED kill_switch") {
		h.t.Errorf("the order after the halt: %s", got)
	}
	return outcomes[0]
}
