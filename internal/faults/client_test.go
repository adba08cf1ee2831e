//go:build unix

package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// answerWithin bounds the wait for one answer: longer than the journal and the broker may
// take together.
const answerWithin = 45 * time.Second

// host is an MCP host that runs rails serve over standard input and output. Every line
// that comes back must be one JSON-RPC message, whatever is done to the server.
type host struct {
	t       testing.TB
	command *exec.Cmd
	in      io.WriteCloser
	exited  chan struct{} // closed once the output has ended
	log     *logged

	mu      sync.Mutex // guards all below, and writes to in
	next    int
	waiting map[string]chan answer
	lines   int
	killed  bool
}

// answer is one JSON-RPC message as far as the tests look at it.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result struct {
		IsError bool                    `json:"isError"`
		Content []struct{ Text string } `json:"content"`
	} `json:"result"`
}

// said is the answer's first line.
func (a answer) said() string {
	switch {
	case a.Error != nil:
		return "error: " + a.Error.Message
	case len(a.Result.Content) == 0:
		return ""
	}
	line, _, _ := strings.Cut(a.Result.Content[0].Text, "\n")
	return line
}

// logged keeps what a server writes to its diagnostic log, bounded.
type logged struct {
	mu   sync.Mutex // guards text
	text []byte
}

func (l *logged) Write(p []byte) (int, error) {
	const most = 1 << 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) < most {
		l.text = append(l.text, p...)
	}
	return len(p), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// serve starts a server over standard input and output, and shakes hands.
func (h *house) serve(args ...string) *host {
	h.t.Helper()
	return h.launch(args...).shake()
}

// shim starts a relay to a server's socket, and shakes hands through it.
func (h *house) shim(path string) *host {
	h.t.Helper()
	return h.start("shim", "--socket", path).shake()
}

func (s *host) shake() *host {
	s.t.Helper()
	a := <-s.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if a.ID == nil || a.Error != nil {
		s.t.Fatalf("no handshake: %s; log: %s", a.said(), s.log)
	}
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// launch starts a server and says nothing to it.
func (h *house) launch(args ...string) *host {
	h.t.Helper()
	return h.start(append([]string{"serve"}, args...)...)
}

// start starts a command that speaks the protocol over its streams.
func (h *house) start(args ...string) *host {
	h.t.Helper()
	s := &host{t: h.t, command: h.command(h.t.Context(), args...), exited: make(chan struct{}),
		log: &logged{}, waiting: map[string]chan answer{}}
	s.command.Stderr = s.log
	in, err := s.command.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	s.in = in
	if err := s.command.Start(); err != nil {
		h.t.Fatal(err)
	}
	go s.listen(out) // ends with the process
	h.t.Cleanup(s.kill)
	return s
}

// listen hands every line to who waits for it, until the output ends.
func (s *host) listen(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			s.mu.Lock()
			if len(line) > 0 && !s.killed {
				s.t.Errorf("output ends within a line: %q", line)
			}
			for _, c := range s.waiting {
				close(c)
			}
			s.waiting = nil
			s.mu.Unlock()
			close(s.exited)
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil || a.Version != "2.0" {
			s.t.Errorf("not a message of the protocol on standard output: %q", line)
			continue
		}
		s.mu.Lock()
		s.lines++
		if c := s.waiting[string(a.ID)]; c != nil && a.Method == "" {
			c <- a
			delete(s.waiting, string(a.ID))
		}
		s.mu.Unlock()
	}
}

// send calls a method. The channel brings the answer, or is closed when the server ends.
func (s *host) send(method, params string) <-chan answer {
	c, _ := s.sendAs(method, params)
	return c
}

// sendAs is send, and tells the call's id.
func (s *host) sendAs(method, params string) (<-chan answer, string) {
	c := make(chan answer, 1)
	s.mu.Lock()
	s.next++
	id := fmt.Sprint(s.next)
	if s.waiting == nil {
		close(c)
		s.mu.Unlock()
		return c, id
	}
	s.waiting[id] = c
	s.mu.Unlock()
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return c, id
}

func (s *host) write(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.in, line+"\n") // a server that is gone is seen by its output
}

// buy is the text of an order that a marketable price fills at once.
func buy(symbol, quantity, more string) string {
	price := map[string]string{"AAPL": "202.00"}[symbol]
	return fmt.Sprintf(`{"name":"place_order","arguments":{"symbol":%q,"side":"buy","order_type":"limit","quantity":%q,"limit_price":%q,"time_in_force":"day"%s}}`,
		symbol, quantity, price, more)
}

// order places an order for one share and returns the answer's first line; empty when
// the server ended before it answered.
func (s *host) order(more string) string {
	return s.wait(s.send("tools/call", buy("AAPL", "1", more)))
}

func (s *host) wait(c <-chan answer) string {
	select {
	case a := <-c:
		return a.said()
	case <-time.After(answerWithin):
		s.t.Errorf("no answer; log: %s", s.log)
		return ""
	}
}

// allowed places an order that must pass.
func (s *host) allowed() {
	s.t.Helper()
	if got := s.order(""); !strings.HasPrefix(got, "ALLOWED ") {
		s.t.Fatalf("a good order: %s; log: %s", got, s.log)
	}
}

// signal sends a signal to the server.
func (s *host) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.command.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// kill ends the server as a crash would. One that has ended already stays so.
func (s *host) kill() {
	s.mu.Lock()
	s.killed = true
	s.mu.Unlock()
	_ = s.command.Process.Kill()
	<-s.exited
	_ = s.command.Wait()
}

// stop closes the input, as a host does that ends, and returns the exit code.
func (s *host) stop() int {
	s.t.Helper()
	_ = s.in.Close()
	select {
	case <-s.exited:
	case <-time.After(answerWithin):
		s.t.Errorf("the server does not end with its input; log: %s", s.log)
		s.kill()
	}
	_ = s.command.Wait()
	return s.command.ProcessState.ExitCode()
}

// refusesToStart runs a server that must end by itself, with a code, and a word in its log.
func (h *house) refusesToStart(code int, words ...string) {
	h.t.Helper()
	s := h.launch()
	if got := s.stop(); got != code {
		h.t.Errorf("serve ended with %d, want %d: %s", got, code, s.log)
	}
	for _, w := range append(words, "hint: ") {
		if !strings.Contains(s.log.String(), w) {
			h.t.Errorf("serve does not say %q: %s", w, s.log)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines != 0 {
		h.t.Errorf("a server that does not start wrote %d lines to standard output", s.lines)
	}
}
