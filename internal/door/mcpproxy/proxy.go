package mcpproxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// Caller is a session with the server, as an order's way out.
type Caller interface {
	// Call calls a tool of the server once. ErrNotSent says that nothing left; after any
	// other error the call may have had its effect. digest is of the reply's bytes.
	Call(ctx context.Context, tool string, arguments []byte) (reply profile.Reply, digest string, err error)
}

// Config is what a proxy is made of. All fields but Log are needed.
type Config struct {
	Profile *profile.Profile
	Pins    *Pins
	// Gate returns the account's gate; nil before the account has one.
	Gate func() *gate.Gate
	// Begin is called once for each session, when its tools are known and before any of its
	// calls is served: it looks at the account. What it fails with ends the session. The
	// function that it returns is called at the session's end.
	Begin func(ctx context.Context, c Caller) (end func(), err error)
	// Carry puts an order on its way: through it the gate's broker finds session and reading.
	Carry   func(ctx context.Context, c Caller, r *profile.Reading) context.Context
	Agent   string // principal of callers that do not name themselves
	Log     *slog.Logger
	Changed func(waiting int) // the number of tools that wait for an operator changed
}

// Proxy serves sessions in front of one server for one account.
type Proxy struct {
	cfg   Config
	log   *slog.Logger
	run   string // tells the calls of one process from those of another
	calls atomic.Uint64
}

// New returns a proxy. It starts nothing.
func New(cfg Config) *Proxy {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Agent == "" {
		cfg.Agent = "agent"
	}
	return &Proxy{cfg: cfg, log: cfg.Log, run: rand.Text()[:8]}
}

func (p *Proxy) nextCall() string { return fmt.Sprintf("%s-%d", p.run, p.calls.Add(1)) }

// Serve relays one agent's session to one session with the server until either ends, ctx
// ends, or a limit is hit. It closes both links. A nil error is an agent that left, or the
// end of ctx.
func (p *Proxy) Serve(ctx context.Context, agent, server Link, principal string) error {
	if principal == "" {
		principal = p.cfg.Agent
	}
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newSession(ctx, cancel, p, agent, server, principal)
	defer s.finish()
	s.spawn(s.fromServer)
	go s.fromAgent() // ends with the agent's stream, which may outlive the session
	<-ctx.Done()
	if cause := context.Cause(ctx); asked.Err() == nil && !errors.Is(cause, errLeft) {
		return cause
	}
	return nil
}
