//go:build linux || darwin

package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkSocket compares a reading tool over a server's socket, and through rails shim,
// with the same over standard input and output: three sessions in turn, servers in
// processes of their own.
func BenchmarkSocket(b *testing.B) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	environ := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	command := func(args ...string) *exec.Cmd {
		c := exec.Command("rails", args...)
		c.Env = environ
		return c
	}
	if out, err := command("init", "--yes").CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
	path := filepath.Join(dir, "rails")
	daemon := command("serve", "--listen", "unix:"+path)
	if err := daemon.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _, _ = daemon.Process.Kill(), daemon.Wait() }()
	for range 500 {
		if _, err = os.Lstat(path); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	raw := dialRaw(b, path)
	transports := []mcp.Transport{
		&mcp.CommandTransport{Command: command("serve")},
		&mcp.IOTransport{Reader: raw, Writer: raw},
		&mcp.CommandTransport{Command: command("shim", "--socket", path)},
	}
	var sessions []*mcp.ClientSession
	for _, t := range transports {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, t, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		sessions = append(sessions, s)
	}
	took := make([][]time.Duration, len(sessions))
	for b.Loop() {
		for i, s := range sessions {
			begun := time.Now()
			if r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "get_quote", Arguments: map[string]any{"symbol": "AAPL"}}); err != nil || r.IsError {
				b.Fatal(r, err)
			}
			took[i] = append(took[i], time.Since(begun))
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds()) / 1000
	}
	stdio, socket, shim := median(took[0]), median(took[1]), median(took[2])
	b.ReportMetric(stdio, "stdio_p50_us")
	b.ReportMetric(socket, "socket_p50_us")
	b.ReportMetric(socket/stdio, "socket/stdio")
	b.ReportMetric(shim, "shim_p50_us")
	b.ReportMetric(shim/stdio, "shim/stdio")
}

func dialRaw(b *testing.B, path string) *os.File {
	b.Helper()
	conn, err := dialUnix(path)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	f, err := conn.File()
	if err != nil {
		b.Fatal(err)
	}
	return f
}
