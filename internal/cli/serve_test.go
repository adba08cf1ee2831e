//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is a rails serve of its own process.
type server struct {
	t       *testing.T
	command *exec.Cmd
	url     string
	lines   chan string // of its log
}

// startServer starts rails serve over HTTP on a free port.
func startServer(t *testing.T, environ []string, flags ...string) *server {
	t.Helper()
	args := append([]string{"serve", "--transport", "streamable-http", "--port", "0"}, flags...)
	s := &server{t: t, command: exec.Command("rails", args...), lines: make(chan string, 100)}
	s.command.Env = environ
	log, err := s.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.command.Process.Kill() }) // ended already, if all went well
	go func() {                                        // ends with the process
		for scan := bufio.NewScanner(log); scan.Scan(); {
			s.lines <- scan.Text()
		}
		close(s.lines)
	}()
	_, s.url, _ = strings.Cut(s.await("listening on "), "listening on ")
	return s
}

// await returns the first line of the log that holds the text.
func (s *server) await(text string) string {
	s.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("the server ended before its log held %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-limit:
			s.t.Fatalf("the server's log does not hold %q", text)
		}
	}
}

func (s *server) connect(ctx context.Context) *mcp.ClientSession {
	s.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.url}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() }) // the server may be gone
	return session
}

// order places an order for so many shares, and returns the answer's first line.
func (s *server) order(ctx context.Context, session *mcp.ClientSession, quantity string) string {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"` + quantity + `","limit_price":"202.00","time_in_force":"day"}`)})
	if err != nil {
		return "error: " + err.Error()
	}
	line, _, _ := strings.Cut(result.Content[0].(*mcp.TextContent).Text, "\n")
	return line
}

// TestHaltStopsARunningAndAHangingServer: a halt typed in another terminal refuses the
// next order, also that of a server that hangs and only then goes on.
func TestHaltStopsARunningAndAHangingServer(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	environ := newAccount(t)
	s := startServer(t, environ)
	session := s.connect(ctx)
	if got := s.order(ctx, session, "1"); !strings.HasPrefix(got, "ALLOWED ") {
		t.Fatalf("before the halt: %s", got)
	}
	rails(t, environ, 0, "halt", "--reason", "running")
	if got := s.order(ctx, session, "2"); !strings.HasPrefix(got, "DENIED kill_switch ") {
		t.Errorf("after a halt: %s", got)
	}
	rails(t, environ, 0, "resume", "--reason", "go on")

	s.suspend()
	answer := make(chan string, 1)
	go func() { answer <- s.order(ctx, session, "3") }() // ends with ctx
	rails(t, environ, 0, "halt", "--reason", "hanging")
	if err := s.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; !strings.HasPrefix(got, "DENIED kill_switch ") {
		t.Errorf("a hanging server, after a halt: %s", got)
	}
	if got := strings.Count(rails(t, environ, 0, "decisions"), "allowed"); got != 1 {
		t.Errorf("%d orders were allowed, want the one before the halts", got)
	}
	s.terminate()
}

// suspend stops the process and waits until it stands: a signal is taken some time
// after it was sent.
func (s *server) suspend() {
	s.t.Helper()
	pid := s.command.Process.Pid
	if err := s.command.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	var status syscall.WaitStatus
	if got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || got != pid || !status.Stopped() {
		s.t.Fatalf("the server does not stand: %v", err)
	}
}

// terminate asks the server to stop, as a service manager does.
func (s *server) terminate() {
	s.t.Helper()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	for range s.lines { //nolint:revive // drains the log to its end
	}
	if err := s.command.Wait(); err != nil {
		s.t.Errorf("the server did not end well: %v", err)
	}
}

// TestHangupLoadsLimits: SIGHUP puts the document in force; while it is invalid only
// reducing orders pass.
func TestHangupLoadsLimits(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	environ := newAccount(t)
	file := filepath.Join(dataFolder(environ), "..", "..", "config", "rails", "limits.yaml")
	shipped, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, environ)
	session := s.connect(ctx)
	s.hangup(file, strings.Replace(string(shipped), "max_order_qty: 100", "max_order_qty: 5", 1), "limits loaded")
	if got := s.order(ctx, session, "6"); !strings.HasPrefix(got, "DENIED max_order_qty ") {
		t.Errorf("above the new limit: %s", got)
	}
	s.hangup(file, "version: 2\n", "limits not loaded")
	if got := s.order(ctx, session, "4"); !strings.Contains(got, "limits_invalid") {
		t.Errorf("with an invalid document: %s", got)
	}
	s.hangup(file, string(shipped), "limits loaded")
	if got := s.order(ctx, session, "6"); !strings.HasPrefix(got, "ALLOWED ") {
		t.Errorf("after a valid load: %s", got)
	}
	s.terminate()
}

func (s *server) hangup(file, text, want string) {
	s.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := s.command.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	s.await(want)
}
