//go:build linux || darwin

package socket

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envDial has the test's own binary dial a socket, as another user.
const envDial = "RAILS_TEST_DIAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(envDial); path != "" {
		os.Exit(dialOnce(path))
	}
	os.Exit(m.Run())
}

// dialOnce connects and waits for one byte: 0 it came, 3 the server ended the connection,
// 4 there was none.
func dialOnce(path string) int {
	c, err := net.Dial("unix", path)
	if err != nil {
		return 4
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, _ := c.Read(make([]byte, 1)); n == 1 {
		return 0
	}
	return 3
}

// folder is a short one: a socket's path has few bytes.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listen(t *testing.T, path string, a Access) *Listener {
	t.Helper()
	l, err := Listen(path, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestAPlaceThatIsNotSafeIsRefused(t *testing.T) {
	for name, make := range map[string]func(dir string) (path string, err error){
		"a file": func(dir string) (string, error) {
			path := filepath.Join(dir, "s")
			return path, os.WriteFile(path, []byte("kept"), 0o600)
		},
		"a link to nowhere": func(dir string) (string, error) {
			path := filepath.Join(dir, "s")
			return path, os.Symlink(filepath.Join(dir, "n"), path)
		},
		"a folder":             func(dir string) (string, error) { path := filepath.Join(dir, "s"); return path, os.Mkdir(path, 0o700) },
		"no folder":            func(dir string) (string, error) { return filepath.Join(dir, "n", "s"), nil },
		"others may write it":  func(dir string) (string, error) { return filepath.Join(dir, "s"), os.Chmod(dir, 0o777) },
		"its group may, too":   func(dir string) (string, error) { return filepath.Join(dir, "s"), os.Chmod(dir, 0o770) },
		"a path that is long":  func(dir string) (string, error) { return filepath.Join(dir, strings.Repeat("s", PathBytesMax)), nil },
		"a path from anywhere": func(string) (string, error) { return "s", nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			path, err := make(dir)
			if err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			l, err := Listen(path, Access{Mode: 0o600})
			if err == nil {
				_ = l.Close()
				t.Fatal("it listens")
			}
			if after, _ := os.Lstat(path); before != nil && (after == nil || !os.SameFile(before, after)) {
				t.Error("what stood there is gone")
			}
		})
	}
}

func TestAnotherUsersPlaceIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give a folder away")
	}
	dir := folder(t)
	if err := os.Chown(dir, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(dir, "s"), Access{Mode: 0o600}); err == nil {
		t.Error("it listens in a folder of another user's")
	}
	dir = folder(t)
	path := filepath.Join(dir, "s")
	listen(t, path, Access{Mode: 0o600}).SetUnlinkOnClose(false)
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, Access{Mode: 0o600}); err == nil {
		t.Error("it listens over a socket of another user's")
	}
}

// A socket that a killed server left is replaced; one that is served is not.
func TestAStaleSocketIsReplacedAndAServedOneIsNot(t *testing.T) {
	path := filepath.Join(folder(t), "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, Access{Mode: 0o600}); !errors.Is(err, ErrServed) {
		t.Errorf("over a socket that answers: %v", err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	l := listen(t, path, Access{Mode: 0o640})
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o640 {
		t.Errorf("the socket has the mode %v, %v", info.Mode(), err)
	}
	if _, err := Listen(path, Access{Mode: 0o600}); !errors.Is(err, ErrServed) {
		t.Errorf("a second server at one path: %v", err)
	}
	_ = l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket stays after its server: %v", err)
	}
	l = listen(t, path, Access{Mode: 0o600})
	if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("what others put in its place is gone: %v", err)
	}
}

// The kernel's word on who connects decides, also where the mode would let them in.
func TestAWrongUserIsTurnedAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can be two users")
	}
	for _, c := range []struct {
		name string
		uids []int
		mode fs.FileMode
		want int
	}{
		{"of the list", []int{65534}, 0o666, 0},
		{"not of the list", []int{0, 1}, 0o666, 3},
		{"no list, by the mode", nil, 0o666, 0},
		{"no list, and not by the mode", nil, 0o660, 4},
		{"a list does not open the mode", []int{65534}, 0o600, 4},
		{"an empty list lets nobody in", []int{}, 0o666, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t)
			binary := filepath.Join(dir, "dial")
			text, err := os.ReadFile(os.Args[0])
			if err == nil {
				err = os.WriteFile(binary, text, 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			refused := make(chan int, 1)
			path := filepath.Join(dir, "s")
			l := listen(t, path, Access{Mode: c.mode, UIDs: c.uids, Refused: func(uid int, _ error) { refused <- uid }})
			go func() { // ends with l
				for {
					got, err := l.Accept()
					if err != nil {
						return
					}
					if own, ok := got.(*Conn); ok && own.UID == 65534 {
						_, _ = got.Write([]byte{1})
					}
					_ = got.Close()
				}
			}()
			dial := exec.Command(binary)
			dial.Env = []string{envDial + "=" + path}
			dial.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			_ = dial.Run() // its code says how it ended
			if got := dial.ProcessState.ExitCode(); got != c.want {
				t.Errorf("the other user's code is %d, want %d", got, c.want)
			}
			if c.want == 3 {
				if uid := <-refused; uid != 65534 {
					t.Errorf("%d was turned away", uid)
				}
			}
		})
	}
}

// pair is a connection with both of its ends.
func pair(t *testing.T) (client *net.UnixConn, server net.Conn) {
	t.Helper()
	path := filepath.Join(folder(t), "s")
	l := listen(t, path, Access{Mode: 0o600})
	client, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

// Every byte passes as it is, both ways, and the end of the input ends both.
func TestRelayPassesBytesAsTheyAre(t *testing.T) {
	client, server := pair(t)
	sent := bytes.Repeat([]byte("\x00\xff{\r\n"), 200_000)
	go func() { // ends with the client's half
		_, _ = io.Copy(server, server)
		_ = server.Close()
	}()
	var got bytes.Buffer
	if err := Relay(t.Context(), client, bytes.NewReader(sent), &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("%d bytes came back of %d", got.Len(), len(sent))
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestRelayEndsWithEitherSide(t *testing.T) {
	client, server := pair(t)
	in, _ := io.Pipe()
	_ = server.Close()
	if err := Relay(t.Context(), client, in, io.Discard); !errors.Is(err, ErrServerGone) {
		t.Errorf("a server that ends: %v", err)
	}
	client, server = pair(t)
	if _, err := server.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := Relay(t.Context(), client, in, broken{}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a host that ends: %v", err)
	}
}

func TestARequestIsOneLineOfItsProtocol(t *testing.T) {
	good := `{"schema":"rails.operator/v1","verb":"status","args":[],"json":false}`
	for name, line := range map[string]string{
		"empty":          "\n",
		"no end":         good,
		"no schema":      "{\"verb\":\"status\"}\n",
		"another schema": strings.Replace(good, "v1", "v2", 1) + "\n",
		"another name":   strings.Replace(good, "json", "xson", 1) + "\n",
		"a name twice":   strings.Replace(good, `"args"`, `"verb":"halt","args"`, 1) + "\n",
		"too long":       strings.Replace(good, "status", strings.Repeat("s", RequestBytesMax), 1) + "\n",
		"JSON-RPC":       `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pair(t)
			go func() { // the server may have closed before all is written
				_, _ = io.WriteString(client, line)
				_ = client.CloseWrite()
			}()
			if err := Serve(server, func(Request) Answer { t.Error("it was carried out"); return Answer{} }); err == nil {
				t.Error("no error")
			}
		})
	}
}

// FuzzRequest: whatever is sent, what is carried out is a request of this protocol.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"schema":"rails.operator/v1","verb":"halt","args":["--reason=x"],"json":true}` + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r Request
		if err := readLine(bytes.NewReader(line), &r, RequestBytesMax); err != nil {
			return
		}
		var out bytes.Buffer
		if err := writeLine(&out, r, 8*RequestBytesMax); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
	})
}
