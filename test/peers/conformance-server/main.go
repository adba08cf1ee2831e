// Command conformance-server is the MCP server of rails with the fixtures that the
// official conformance suite asks for, behind the same middleware and wire checks. It
// is for tests only: its account is in memory and its fixtures answer without a gate.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

func main() { os.Exit(run()) }

func run() int {
	stateless := flag.Bool("stateless", false, "keep no sessions")
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *addr, *stateless); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "conformance-server:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, addr string, stateless bool) error {
	g, q, err := account(ctx)
	if err != nil {
		return err
	}
	var tools []string
	fixtures := &mcpserver.Fixtures{
		Options: mcp.ServerOptions{
			CompletionHandler:  func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) { return noCompletion(), nil },
			SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		},
		Add: func(s *mcp.Server) {
			tools = addTools(s)
			addResources(s)
			addPrompts(s)
			go touch(ctx, s) // ends with ctx
		},
	}
	// The names are known before the first call: New adds the fixtures.
	server := mcpserver.New(mcpserver.Config{Gate: g, Quotes: q, Name: "rails", Version: "test", Fixtures: fixtures})
	fixtures.Tools = tools
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return server.RunHTTP(ctx, l, mcpserver.HTTPConfig{Stateless: stateless})
}

// account is a paper account in memory, open for trading.
func account(ctx context.Context) (*gate.Gate, gate.Quotes, error) {
	calendar, now := market.XNYS(), clock.NewVirtual(clock.PracticeStart())
	q := quotes.NewScripted(calendar)
	broker, err := paper.OpenMemory(
		paper.Start{Seed: 1, Cash: paper.StartingCash(), Wall: now.Now(), Market: now.Now()},
		paper.Options{Clock: now, Quotes: q, Calendar: calendar})
	if err != nil {
		return nil, nil, err
	}
	cfg := gate.Config{
		Account: "paper", Store: memory.New(), Broker: broker, Quotes: q, Clock: now, Calendar: calendar,
		Paper: true, AtomicReplace: true, Version: "test",
	}
	genesis := journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "test"}
	if err := gate.Create(ctx, cfg, genesis); err != nil {
		return nil, nil, err
	}
	g, err := gate.Open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if _, err := g.LoadLimits(ctx, "limits.yaml", limits.Template("paper"), "test"); err != nil {
		return nil, nil, err
	}
	return g, q, g.Start(ctx)
}

// touchEvery is how often the watched resource changes; the suite waits a few seconds.
const touchEvery = time.Second

func touch(ctx context.Context, s *mcp.Server) {
	every := time.NewTicker(touchEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			// A client that has left is not told; nothing else can fail.
			_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watchedURI})
		}
	}
}

func noCompletion() *mcp.CompleteResult {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
}
