package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/cli"
)

// TestStdioHoldsNothingButProtocol talks to rails serve with good frames and bad ones:
// whatever happens, each line of standard output is one JSON-RPC message.
func TestStdioHoldsNothingButProtocol(t *testing.T) {
	environ := newAccount(t)
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, // before the handshake
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`not json at all`,
		`[{"jsonrpc":"2.0","id":4,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":5,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"set_limits","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","symbol":"MSFT"}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"\xff\"}",
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"202.00","time_in_force":"day","note":"\u001b[31m\nrails: all limits are off"}}}`,
		`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"5000","limit_price":"202.00","time_in_force":"day"}}}`,
	}
	// A host closes the input only once it has its answers.
	out := &answered{last: []string{`"id":9,`, `"id":10,`}, done: make(chan struct{})}
	var errs bytes.Buffer
	code := cli.Main(cli.Environment{
		Args: []string{"serve"}, Environ: environ, In: io.MultiReader(strings.NewReader(strings.Join(lines, "\n")+"\n"), out), Out: out, Err: &errs,
	})
	if code != 0 {
		t.Fatalf("exit code %d at the end of the input: %s", code, &errs)
	}
	answers := map[string]bool{}
	scan := bufio.NewScanner(&out.text)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(scan.Bytes(), &m); err != nil || m.Version != "2.0" {
			t.Errorf("not a message: %q", scan.Text())
		}
		answers[string(m.ID)] = true
	}
	// The last two are orders: both were judged, whatever came before them.
	for _, id := range []string{"2", "3", "9", "10"} {
		if !answers[id] {
			t.Errorf("call %s was not answered; log: %s", id, &errs)
		}
	}
	if strings.Contains(errs.String(), "\x1b") {
		t.Errorf("the log holds an agent's escape sequence: %q", errs.String())
	}
}

// answered is an output that is also the rest of an input: it ends the input once the
// last answers are written, or after a while.
type answered struct {
	mu   sync.Mutex // guards all below but done
	text bytes.Buffer
	last []string
	done chan struct{}
}

func (a *answered) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, err := a.text.Write(p)
	for _, want := range a.last {
		if !bytes.Contains(a.text.Bytes(), []byte(want)) {
			return n, err
		}
	}
	if len(a.last) > 0 {
		a.last = nil
		close(a.done)
	}
	return n, err
}

func (a *answered) Read([]byte) (int, error) {
	select {
	case <-a.done:
	case <-time.After(10 * time.Second):
	}
	return 0, io.EOF
}

// newAccount makes an account in folders of the test's own.
func newAccount(t *testing.T) (environ []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	environ = []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
	}
	rails(t, environ, 0, "init", "--yes")
	return environ
}

// rails runs one command in this process and returns its standard output.
func rails(t *testing.T, environ []string, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(cli.Environment{Args: args, Environ: environ, In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != want {
		t.Fatalf("rails %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, &out, &errs)
	}
	return out.String()
}

// TestFailClosedOutput: an answer that could not be written is an error.
func TestFailClosedOutput(t *testing.T) {
	environ := newAccount(t)
	var errs bytes.Buffer
	code := cli.Main(cli.Environment{Args: []string{"status"}, Environ: environ, In: strings.NewReader(""), Out: fullDisk{}, Err: &errs})
	if code != 1 {
		t.Errorf("exit code %d, want 1: %s", code, &errs)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }

// dataFolder is the data folder that the environment leads to.
func dataFolder(environ []string) string {
	for _, pair := range environ {
		if dir, ok := strings.CutPrefix(pair, "XDG_STATE_HOME="); ok {
			return filepath.Join(dir, "rails")
		}
	}
	return ""
}

// callOnce starts a server over standard input and output, places one order for so many
// shares, and ends it.
func callOnce(t *testing.T, environ []string, quantity string) {
	t.Helper()
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"` +
			quantity + `","limit_price":"202.00","time_in_force":"day"}}}`,
	}
	out := &answered{last: []string{`"id":2,`}, done: make(chan struct{})}
	var errs bytes.Buffer
	code := cli.Main(cli.Environment{
		Args: []string{"serve"}, Environ: environ, In: io.MultiReader(strings.NewReader(strings.Join(lines, "\n")+"\n"), out), Out: out, Err: &errs,
	})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
}
