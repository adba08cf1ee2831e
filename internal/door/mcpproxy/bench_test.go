package mcpproxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/profile"
)

const envServe = "RAILS_TEST_NOOP_SERVER"

// TestMain lets the test's own binary be the protocol library's server without a task.
func TestMain(m *testing.M) {
	if os.Getenv(envServe) != "" {
		s := mcp.NewServer(&mcp.Implementation{Name: "noop", Version: "0"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "noop"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
		})
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const noopProfile = "profile: 1\nid: noop\nbroker: none\nupstream: {servers: [noop]}\nread: [noop]\n"

func noopProxy(tb testing.TB) *Proxy {
	tb.Helper()
	p, err := profile.Load("noop.yaml", []byte(noopProfile))
	if err != nil {
		tb.Fatal(err)
	}
	pins, err := OpenPins(filepath.Join(tb.TempDir(), "pins.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return New(Config{
		Profile: p, Pins: pins, Gate: func() *gate.Gate { return nil }, Begin: func(context.Context, Caller) (func(), error) { return nil, nil },
	})
}

func noopServer(tb testing.TB) Link {
	tb.Helper()
	l, err := Start(tb.Context(), []string{os.Args[0]}, append(os.Environ(), envServe+"=1"), io.Discard)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// asker sends calls over a pair of pipes and waits for each answer.
type asker struct {
	tb  testing.TB
	in  *bufio.Reader
	out io.Writer
}

func (a *asker) ask(line string) string {
	if _, err := io.WriteString(a.out, line+"\n"); err != nil {
		a.tb.Fatal(err)
	}
	answer, err := a.in.ReadString('\n')
	if err != nil {
		a.tb.Fatal(err)
	}
	return answer
}

func (a *asker) greet() {
	a.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	if _, err := io.WriteString(a.out, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		a.tb.Fatal(err)
	}
}

func (a *asker) p50(n int) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		a.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"noop","arguments":{}}}`, i+10))
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[n/2]
}

// BenchmarkRead compares a call of a server without a task, over pipes to its process,
// with the same call through the proxy, in one run.
func BenchmarkRead(b *testing.B) {
	direct := noopServer(b).(*lines)
	defer direct.Close()
	one := &asker{b, direct.in, direct.out}
	one.greet()

	proxy := noopProxy(b)
	agentIn, toProxy, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	fromProxy, agentOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- proxy.Serve(b.Context(), Lines(agentIn, agentOut, agentOut.Close), noopServer(b), "") }()
	two := &asker{b, bufio.NewReader(fromProxy), toProxy}
	two.greet()
	one.p50(100)
	two.p50(100)
	for b.Loop() {
		d, p := one.p50(500), two.p50(500)
		b.ReportMetric(float64(d.Nanoseconds())/1e3, "direct-p50-us")
		b.ReportMetric(float64(p.Nanoseconds())/1e3, "proxied-p50-us")
		b.ReportMetric(float64(p-d)/float64(d), "added-x")
	}
	_ = toProxy.Close()
	<-done
}
