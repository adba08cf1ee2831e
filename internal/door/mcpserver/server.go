package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// Journal reads what was decided.
type Journal interface {
	// Decisions returns the account's newest decision and refusal entries, newest first,
	// at most n.
	Decisions(ctx context.Context, n int) ([]journal.Entry, error)
}

// Config is what a server is made of. A server without a gate refuses every order.
type Config struct {
	Gate    *gate.Gate
	Quotes  gate.Quotes
	Journal Journal // nil: recent_decisions answers with a fault
	Name    string
	Version string
	// Headlines are what market_context shows; nil: there is no such tool.
	Headlines []string
	// Practice: the account trades by the practice clock, which every result says.
	Practice bool
	// Agent names the principal of callers that do not name themselves by a token.
	Agent string
	Log   *slog.Logger // diagnosis only; nil discards
	// Fixtures are for protocol suites; a server that serves orders has none.
	Fixtures *Fixtures
}

// Server serves one account's tools. It may have many sessions at once.
type Server struct {
	cfg   Config
	log   *slog.Logger
	mcp   *mcp.Server
	tools map[string]tool
	run   string // tells the calls of one process from those of another
	calls atomic.Uint64
	// expected holds the keys of HTTP tool calls that the middleware has not seen yet.
	expected sync.Map
}

// New returns a server. It starts nothing.
func New(cfg Config) *Server {
	return build(cfg, func(_ string, body mcp.ToolHandler) mcp.ToolHandler { return body })
}

// build lets a test look at each run of a tool's body.
func build(cfg Config, wrap func(name string, body mcp.ToolHandler) mcp.ToolHandler) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Gate == nil {
		cfg.Gate = new(gate.Gate) // refuses everything
	}
	if cfg.Agent == "" {
		cfg.Agent = "agent"
	}
	if cfg.Name == "" {
		cfg.Name = "broker-rails"
	}
	s := &Server{cfg: cfg, log: cfg.Log, tools: make(map[string]tool), run: rand.Text()[:8]}
	options := cfg.Fixtures.options()
	options.Instructions, options.Logger = s.instructions(), slog.New(slog.DiscardHandler)
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: cfg.Name, Title: "Broker Rails", Version: cfg.Version}, &options)
	cfg.Fixtures.add(s.mcp)
	for _, t := range s.offered() {
		s.tools[t.name] = t
		s.mcp.AddTool(t.described(), wrap(t.name, t.body))
	}
	// The first of these is the outermost.
	s.mcp.AddReceivingMiddleware(s.recovering, s.admitting)
	return s
}

func (s *Server) instructions() string {
	text := "Orders go through limits that the operator has set; get_limits shows them. " +
		"A refusal says which limit and what would pass. An order in doubt may have been placed: never send it again."
	if s.cfg.Practice {
		text += " This is a practice account: its clock and its market are simulated."
	}
	return text
}

// Connect starts a session over a transport of the SDK. The session ends when the
// transport does, or with Close. Messages that the SDK cannot read are not recorded:
// ServeStdio and Handler tap them first.
func (s *Server) Connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	return s.mcp.Connect(ctx, t, nil)
}

// ServeStdio serves one session over a pair of streams, one message a line, until in
// ends or ctx does. Nothing but protocol is written to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.serveStreams(ctx, in, out, s.cfg.Agent)
}

func (s *Server) serveStreams(ctx context.Context, in io.Reader, out io.Writer, agent string) error {
	tap := wire.NewStdio(in, out, quoted(metaDecision), func(v *wire.Violation) { s.violated(ctx, v, agent) })
	// The tap bounds lines; the SDK's own limit would end the session.
	session, err := s.mcp.Connect(ctx, &mcp.IOTransport{Reader: tap.In, Writer: tap.Out, MaxLineLength: -1}, nil)
	if err != nil {
		return fmt.Errorf("mcp over a stream: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }() // ends with the session
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Close waits for calls in progress: an order that was sent is journaled.
		err = session.Close()
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("mcp over a stream: %w", err)
	}
	return nil
}

// nextCall names a call in entries: unique over processes, and not the caller's text.
func (s *Server) nextCall() string { return fmt.Sprintf("%s-%d", s.run, s.calls.Add(1)) }
