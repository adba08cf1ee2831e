//go:build linux || darwin

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startDaemon starts rails serve on sockets in a folder of its own.
func startDaemon(t *testing.T, environ []string, flags ...string) (s *server, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path has few bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "rails")
	return startDaemonAt(t, environ, path, flags...), path
}

func startDaemonAt(t *testing.T, environ []string, path string, flags ...string) *server {
	t.Helper()
	s := &server{t: t, command: exec.Command("rails", append([]string{"serve", "--listen", "unix:" + path}, flags...)...), lines: make(chan string, 100)}
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
	s.await("agents at ")
	return s
}

// line is a raw connection to an agent socket, one message a line.
type line struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dialLine(t *testing.T, path string) *line {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &line{t, c, bufio.NewReader(c)}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// say sends one message and returns the next answer.
func (l *line) say(message string) string {
	l.t.Helper()
	if _, err := io.WriteString(l.conn, message+"\n"); err != nil {
		l.t.Fatal(err)
	}
	got, err := l.in.ReadString('\n')
	if err != nil {
		l.t.Fatalf("no answer to %.80s: %v", message, err)
	}
	return got
}

// refusals are the journal's refusal entries by an agent.
func refusals(t *testing.T, environ []string, agent string) int {
	t.Helper()
	var v struct {
		Decisions []struct {
			Kind, Agent string
			Count       int
		}
	}
	if err := json.Unmarshal([]byte(rails(t, environ, 0, "decisions", "--json", "--limit", "100")), &v); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range v.Decisions {
		if d.Kind == "refusal" && d.Agent == agent {
			n += d.Count
		}
	}
	return n
}

// modeAndLimits are what no agent may change.
func modeAndLimits(t *testing.T, environ []string) string {
	t.Helper()
	var v struct {
		Mode   struct{ Effective, Reason string }
		Limits struct{ Fingerprint string }
	}
	if err := json.Unmarshal([]byte(rails(t, environ, 0, "status", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// TestAnAgentsSocketChangesNoMode walks everything that an operator may ask, in the
// operators' own protocol, as a tool and as a method: each is refused and recorded, and
// nothing is different afterwards.
func TestAnAgentsSocketChangesNoMode(t *testing.T) {
	environ := newAccount(t)
	s, path := startDaemon(t, environ)
	before := modeAndLimits(t, environ)
	limits := filepath.Join(dataFolder(environ), "..", "..", "config", "rails", "limits.yaml")
	text, err := os.ReadFile(limits)
	if err != nil {
		t.Fatal(err)
	}
	// A reload would be seen by its fingerprint.
	if err := os.WriteFile(limits, bytes.Replace(text, []byte("max_order_qty: 100"), []byte("max_order_qty: 99"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := dialLine(t, path)
	agent.say(hello)
	asked := 0
	for _, verb := range []string{"halt", "reduce-only", "resume", "reload", "status", "cancel", "reconcile"} {
		for _, message := range []string{
			fmt.Sprintf(`{"schema":"rails.operator/v1","verb":%q,"args":["--reason=x"],"json":false}`, verb),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"reason":"x"}}}`, verb),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"reason":"x"}}`, verb),
		} {
			if got := agent.say(message); !strings.Contains(got, `"error":`) {
				t.Errorf("%s is answered: %s", message, got)
			}
			asked++
		}
	}
	if got := modeAndLimits(t, environ); got != before {
		t.Errorf("it was %s and is %s", before, got)
	}
	if got := refusals(t, environ, fmt.Sprintf("uid:%d", os.Geteuid())); got != asked {
		t.Errorf("%d refusals stand in the journal, %d were asked for", got, asked)
	}
	// The same on the other socket changes what it says: the walk above asked for something.
	rails(t, environ, 0, "reload", "--socket", path+".operator")
	rails(t, environ, 0, "halt", "--reason", "x", "--socket", path+".operator")
	if got := modeAndLimits(t, environ); got == before {
		t.Error("the operator's socket changes nothing")
	}
	s.terminate()
	if left, _ := filepath.Glob(path + "*[^k]"); len(left) > 0 {
		t.Errorf("sockets are left after a clean end: %v", left)
	}
}

// TestOperatorsActThroughTheSocket: without a way to the data folder, in the operator's
// name, and with what the command itself would have said.
func TestOperatorsActThroughTheSocket(t *testing.T) {
	environ := newAccount(t)
	s, path := startDaemon(t, environ)
	outside := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "RAILS_SOCKET=" + path + ".operator"}
	if got := rails(t, outside, 0, "halt", "--reason", "lunch"); got != "paper is halted\n" {
		t.Errorf("halt says %q", got)
	}
	if got := modeAndLimits(t, environ); !strings.Contains(got, "halted lunch") {
		t.Errorf("after a halt: %s", got)
	}
	rails(t, outside, 2, "resume") // no reason: as without a socket
	rails(t, outside, 2, "halt", "--reason", "x", "--data", t.TempDir(), "--socket", path+".operator")
	rails(t, outside, 2, "reload", "--limits", "other.yaml")
	rails(t, outside, 0, "resume", "--reason", "back", "--json")
	rails(t, outside, 0, "reduce-only", "--reason", "slow")
	rails(t, outside, 0, "reload")
	rails(t, outside, 0, "reconcile")
	rails(t, outside, 0, "cancel", "--all")
	if got := rails(t, outside, 0, "status"); !strings.Contains(got, "reduce_only") {
		t.Errorf("status says %s", got)
	}
	for _, request := range []string{
		`{"schema":"rails.operator/v1","verb":"serve","args":[],"json":false}`,
		`{"schema":"rails.operator/v1","verb":"init","args":[],"json":false}`,
		`{"schema":"rails.operator/v1","verb":"reload","args":["--limits=/etc/passwd"],"json":false}`,
		`{"schema":"rails.operator/v1","verb":"reload","args":["--data","/"],"json":false}`,
		`{"schema":"rails.operator/v1","verb":"halt","args":["-h"],"json":false}`,
	} {
		if got := dialLine(t, path+".operator").say(request); !strings.Contains(got, `"code":2`) {
			t.Errorf("%s is answered: %s", request, got)
		}
	}
	s.terminate()
	rails(t, outside, 1, "halt", "--reason", "gone")
}

// throughShim is an MCP session through rails shim, and the shim's process.
func throughShim(ctx context.Context, t *testing.T, path string) (*mcp.ClientSession, *exec.Cmd, *bytes.Buffer) {
	t.Helper()
	shim, said := exec.Command("rails", "shim", "--socket", path), &bytes.Buffer{}
	shim.Stderr, shim.Env = said, []string{"PATH=" + os.Getenv("PATH")}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: shim}, nil)
	if err != nil {
		t.Fatal(err, said)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server may be gone
	return session, shim, said
}

// TestAKilledServer ends its shims with a sentence, and another starts on the sockets that
// it left. Nothing is sent again.
func TestAKilledServer(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	defer stop()
	environ := newAccount(t)
	s, path := startDaemon(t, environ)
	session, _, _ := throughShim(ctx, t, path)
	if got := s.order(ctx, session, "1"); !strings.HasPrefix(got, "ALLOWED ") {
		t.Fatalf("an order through the shim: %s", got)
	}
	shim, said := exec.Command("rails", "shim", "--socket", path), &bytes.Buffer{}
	shim.Stderr = said
	in, err := shim.StdinPipe() // a host that says nothing
	if err == nil {
		err = shim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	time.Sleep(300 * time.Millisecond) // it is connected, or will find the server gone: both end it
	if err := s.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shim.Wait()
	if code := shim.ProcessState.ExitCode(); code == 0 || !strings.Contains(said.String(), "hint: ") {
		t.Errorf("the shim of a killed server ended with %d: %s", code, said)
	}
	_ = s.command.Wait()
	if got := s.order(ctx, session, "2"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("an order to a killed server: %s", got)
	}
	s = startDaemonAt(t, environ, path)
	session, _, _ = throughShim(ctx, t, path)
	if got := s.order(ctx, session, "3"); !strings.HasPrefix(got, "ALLOWED ") {
		t.Errorf("after the server was started again: %s", got)
	}
	if got := strings.Count(rails(t, environ, 0, "decisions"), "allowed"); got != 2 {
		t.Errorf("%d orders were allowed, want 2", got)
	}
	s.terminate()
	rails(t, environ, 0, "audit-verify")
}

// TestTwoUsers: a user that is not on the list decides nothing, one that is may trade, and
// neither is an operator.
func TestTwoUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can be two users")
	}
	environ := newAccount(t)
	const nobody = 65534
	s, path := startDaemon(t, environ, "--agent-uid", fmt.Sprint(nobody))
	for _, p := range []string{path, path + ".operator"} {
		if err := os.Chmod(p, 0o666); err != nil { // so that the kernel's word on the peer is what decides
			t.Fatal(err)
		}
	}
	// The test's own binary stands where another user cannot go.
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(filepath.Dir(path), "rails-shim", "rails")
	if err := os.Mkdir(filepath.Dir(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(uid uint32, in string, args ...string) (code int, out string) {
		c := exec.Command(binary, args...)
		var both bytes.Buffer
		c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = filepath.Dir(binary), []string{"HOME=/"}, io.MultiReader(strings.NewReader(in), &later{}), &both, &both
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		_ = c.Run() // its code says how it ended
		return c.ProcessState.ExitCode(), both.String()
	}
	order := hello + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"1","limit_price":"202.00","time_in_force":"day"}}}` + "\n"
	if code, out := run(1, order, "shim", "--socket", path); code == 0 || strings.Contains(out, "jsonrpc") {
		t.Errorf("a user that is not on the list: %d %s", code, out)
	}
	if got := rails(t, environ, 0, "decisions"); strings.Contains(got, "AAPL") {
		t.Errorf("an order of a user that is not on the list was decided: %s", got)
	}
	code, out := run(nobody, order, "shim", "--socket", path)
	if code != 0 || !strings.Contains(out, "ALLOWED ") {
		t.Errorf("the user on the list: %d %s", code, out)
	}
	if got := rails(t, environ, 0, "decisions", "--json"); !strings.Contains(got, `"uid:65534"`) {
		t.Errorf("the user on the list decided nothing: %s", got)
	}
	before := modeAndLimits(t, environ)
	for _, uid := range []uint32{1, nobody} {
		if code, out := run(uid, "", "halt", "--reason", "x", "--socket", path+".operator"); code != 1 {
			t.Errorf("user %d at the operators' socket: %d %s", uid, code, out)
		}
	}
	if got := modeAndLimits(t, environ); got != before {
		t.Errorf("it was %s and is %s", before, got)
	}
	if _, err := os.ReadFile(filepath.Join(dataFolder(environ), "journal.db")); err != nil {
		t.Fatal(err)
	}
	s.terminate()
}

// later ends an input some time after it was read: a session ends with its input, and with
// it what was not begun.
type later struct{}

func (*later) Read([]byte) (int, error) {
	time.Sleep(2 * time.Second)
	return 0, io.EOF
}

// TestClientsDoNotHoldUpEachOther: silent, half-sent and flooding ones take their own place
// only, and one client beyond the places is told so.
func TestClientsDoNotHoldUpEachOther(t *testing.T) {
	environ := newAccount(t)
	s, path := startDaemon(t, environ)
	dialLine(t, path) // silent
	half := dialLine(t, path)
	if _, err := io.WriteString(half.conn, `{"jsonrpc":"2.0","id":1,`); err != nil {
		t.Fatal(err)
	}
	// It takes no answers: the server ends it, or leaves it waiting, and reads no more of it
	// than its buffers hold.
	flood := dialLine(t, path)
	flood.say(hello)
	if err := flood.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	sent := 0
	const most = 1_000_000
	for sent < most {
		if _, err := fmt.Fprintf(flood.conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", sent+1); err != nil {
			break
		}
		sent++
	}
	if sent == most {
		t.Errorf("%d messages were taken of a client that takes no answer", sent)
	}
	good := dialLine(t, path)
	if got := good.say(hello); !strings.Contains(got, `"result"`) {
		t.Errorf("beside them: %s", got)
	}
	for range 28 {
		dialLine(t, path)
	}
	extra := dialLine(t, path)
	got, _ := extra.in.ReadString('\n')
	if !strings.Contains(got, "too many sessions") {
		t.Errorf("one beyond the places is told %q", got)
	}
	if got := rails(t, environ, 0, "halt", "--reason", "flood", "--socket", path+".operator"); !strings.Contains(got, "halted") {
		t.Errorf("a halt beside them: %s", got)
	}
	if got := good.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, "place_order") {
		t.Errorf("beside them, later: %.100s", got)
	}
	s.terminate()
}

// TestShimAlone says what is missing.
func TestShimAlone(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir()}
	rails(t, environ, 2, "shim")
	rails(t, environ, 7, "shim", "--socket", filepath.Join(t.TempDir(), "none"))
	rails(t, environ, 7, "shim", "--socket", "relative")
}

func dialUnix(path string) (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}
