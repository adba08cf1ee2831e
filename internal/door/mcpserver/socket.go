package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/door/wire"
)

// Limits of a server on a socket.
const (
	// SocketSessionsMax is how many sessions a socket has at once; one more is told so and
	// ended. Each may hold one message of wire.FrameBytesMax: 128 MiB in all.
	SocketSessionsMax = 32
	// FirstMessageWithin bounds how long a connection may say nothing at first. A session
	// that has spoken may be silent for as long as its agent thinks.
	FirstMessageWithin = time.Minute
	// AnswerTakenWithin bounds how long a client may leave an answer unread.
	AnswerTakenWithin = 15 * time.Second
)

type agentKey struct{}

// RunSocket serves a session to each connection of l, one message a line as over stdio,
// until ctx ends; calls in progress then finish. agent names a connection's principal. It
// closes l.
func (s *Server) RunSocket(ctx context.Context, l net.Listener, agent func(net.Conn) string) error {
	ctx, stop := context.WithCancel(ctx)
	var sessions sync.WaitGroup
	defer sessions.Wait() // they end with ctx
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	places := make(chan struct{}, SocketSessionsMax)
	for {
		c, err := l.Accept()
		if err != nil {
			_ = l.Close()
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("mcp over a socket: %w", err)
		}
		select {
		case places <- struct{}{}:
		default:
			busy(c)
			continue
		}
		sessions.Go(func() {
			defer func() { <-places }()
			s.serveConn(ctx, c, agent(c))
		})
	}
}

// serveConn serves one connection to its end.
func (s *Server) serveConn(ctx context.Context, c net.Conn, agent string) {
	defer func() { _ = c.Close() }() // what was written is written
	t := &attended{Conn: c}
	if err := c.SetReadDeadline(time.Now().Add(FirstMessageWithin)); err != nil {
		return
	}
	if err := s.serveStreams(context.WithValue(ctx, agentKey{}, agent), t, t, agent); err != nil {
		s.log.Info("session on the socket ended", "agent", agent, "error", err)
	}
}

// busy says that there is no place, without waiting for anyone.
func busy(c net.Conn) {
	defer func() { _ = c.Close() }() // what was written is written
	if c.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	line := wire.AppendError(nil, &wire.Violation{Code: wire.CodeBusy, Problem: "too many sessions"})
	_, _ = c.Write(append(line, '\n')) // the client may be gone
}

// attended ends a connection whose client stays silent at first, or takes no answers.
type attended struct {
	net.Conn
	spoke bool // of the one goroutine that reads
}

func (t *attended) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n > 0 && !t.spoke {
		t.spoke = true
		_ = t.SetReadDeadline(time.Time{}) // at worst the session ends early
	}
	return n, err
}

func (t *attended) Write(p []byte) (int, error) {
	_ = t.SetWriteDeadline(time.Now().Add(AnswerTakenWithin)) // of an open connection it cannot fail
	n, err := t.Conn.Write(p)
	if err != nil {
		_ = t.Close() // a line that went out in part is the last
	}
	return n, err
}
