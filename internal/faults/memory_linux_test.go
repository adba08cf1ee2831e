package faults

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bounds of a server's resident memory, in kilobytes. The first is the product's figure;
// the others leave a server some room to work: a frame of wire.FrameBytesMax is held in
// a few forms at once, a connection costs its buffers, and the collector lets the heap
// double before it runs.
const (
	idleMax   = 60 << 10
	lineMax   = idleMax + 20<<10
	halvesMax = idleMax + 40<<10
	deniedMax = idleMax
)

// memory reads a figure of /proc/PID/status, in kilobytes.
func memory(t testing.TB, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("/proc has no %s", name)
	return 0
}

// wantPeak fails if a server ever held more than so many kilobytes.
func wantPeak(t testing.TB, s *host, what string, most int) {
	t.Helper()
	peak, now := memory(t, s.command.Process.Pid, "VmHWM"), memory(t, s.command.Process.Pid, "VmRSS")
	t.Logf("%s: peak %.1f MB, now %.1f MB, bound %d MB", what, float64(peak)/1024, float64(now)/1024, most>>10)
	if peak > most {
		t.Errorf("%s: peak %d kB, bound %d kB", what, peak, most)
	}
}

// An idle server is small, and a line without end does not make it grow; the calls after
// it pass.
func TestMemoryOfALineWithoutEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, fmt.Sprintf(allOff, 100))
	s := h.serve()
	s.allowed()
	wantPeak(t, s, "idle, after one order", idleMax)
	s.mu.Lock()
	chunk := strings.Repeat("[", 1<<20)
	for range 64 {
		if _, err := io.WriteString(s.in, chunk); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Unlock()
	s.write("")
	s.allowed()
	wantPeak(t, s, "a line of 64 MiB", lineMax)
	v := h.wantSent(2)
	if v.refusals["malformed_call"] != 1 {
		t.Errorf("refusals %v, want one malformed_call", v.refusals)
	}
	s.stop()
}

// A thousand requests that stop half way, headers or body, hold no more than their
// buffers, and do not keep others out once their time is over.
func TestMemoryOfHalfSentRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t, fmt.Sprintf(allOff, 100))
	s, addr := h.launchHTTP("--stateless")
	if got := post(t, addr, buy("AAPL", "1", "")); !strings.Contains(got, "ALLOWED ") {
		t.Fatalf("a good order over HTTP: %s", got)
	}
	var wg sync.WaitGroup
	const requests = 1000
	open := make([]net.Conn, requests)
	for i := range requests {
		wg.Go(func() {
			conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				return // the kernel's queue is full: as good as not accepted
			}
			open[i] = conn
			head := "POST / HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n"
			if i%2 == 0 {
				head += "\r\n" + strings.Repeat("[", 60<<10)
			}
			_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
			_, _ = io.WriteString(conn, head) // a connection that waits to be accepted may not take it all
		})
	}
	wg.Wait()
	time.Sleep(time.Second)
	wantPeak(t, s, "a thousand half-sent requests", halvesMax)
	for _, conn := range open {
		if conn != nil {
			_ = conn.Close()
		}
	}
	if got := post(t, addr, buy("AAPL", "1", "")); !strings.Contains(got, "ALLOWED ") {
		t.Errorf("a good order after them: %s", got)
	}
	h.wantSent(2)
	wantPeak(t, s, "and after they are gone", halvesMax)
	s.kill()
}

// denials is how many orders TestMemoryOfDeniedOrders has refused.
func denials() int {
	if os.Getenv("RAILS_SOAK") != "" {
		return 1_000_000
	}
	return 100_000
}

// A flood of orders that are denied does not make a server grow: neither where each has
// an entry, nor where the messages are spent and one entry a second counts them.
func TestMemoryOfDeniedOrders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, over string
		orders     int
	}{
		{"an entry each", fmt.Sprintf(allOff, 0), denials() / 10},
		{"counted", `session: {denial_storm: off}`, denials()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, tt.over)
			s := h.serve()
			begun := time.Now()
			flood(s, tt.orders, buy("AAPL", "5000", ""))
			took := time.Since(begun)
			wantPeak(t, s, fmt.Sprintf("%d denied orders, %s, %.0f a second", tt.orders, tt.name, float64(tt.orders)/took.Seconds()), deniedMax)
			if code := s.stop(); code != 0 {
				t.Errorf("exit code %d: %s", code, s.log)
			}
			v := h.wantSent(0)
			counted := len(v.decided)
			for _, n := range v.refusals {
				counted += n
			}
			if counted != tt.orders || v.allowed() != 0 {
				t.Errorf("%d refusals are in the journal, %d orders were sent in", counted, tt.orders)
			}
			t.Logf("%d entries", v.entries)
		})
	}
}

// flood sends a call again and again, with so many answers outstanding as a session may
// have.
func flood(s *host, calls int, params string) {
	const outstanding = 64
	var wg sync.WaitGroup
	for i := range outstanding {
		wg.Go(func() {
			for n := i; n < calls; n += outstanding {
				if s.wait(s.send("tools/call", params)) == "" {
					return
				}
			}
		})
	}
	wg.Wait()
}
