package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// writesMax is how many messages to a server over HTTP may be on their way at once: each is
// a request that lasts until its answer begins.
const writesMax = 64

// connection is a link over the protocol library's own connection, which keeps params and
// results as they came. The library writes <, > and & of texts as escapes.
type connection struct {
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	conn   mcp.Connection
	places chan struct{} // nil: writes do not wait for the other side
	failed chan error
	deaf   atomic.Bool // the agent has no stream for messages outside its calls
}

func newConnection(ctx context.Context, conn mcp.Connection, writes int) *connection {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &connection{ctx: ctx, cancel: cancel, conn: conn, failed: make(chan error, 1)}
	if writes > 0 {
		c.places = make(chan struct{}, writes)
	}
	return c
}

func (c *connection) Read() ([]byte, error) {
	message, err := c.conn.Read(c.ctx)
	select {
	case failed := <-c.failed:
		return nil, failed
	default:
	}
	if err != nil {
		if c.ctx.Err() != nil {
			return nil, io.EOF
		}
		return nil, err
	}
	return encoded(message)
}

// encoded writes a message with its params and results as they came.
func encoded(message jsonrpc.Message) ([]byte, error) {
	switch m := message.(type) {
	case *jsonrpc.Request:
		if !m.ID.IsValid() {
			return notification(m.Method, m.Params), nil
		}
		return request(idText(m.ID), m.Method, m.Params), nil
	case *jsonrpc.Response:
		if m.Error == nil {
			return response(idText(m.ID), m.Result), nil
		}
		var e *jsonrpc.Error
		if !errors.As(m.Error, &e) {
			e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: m.Error.Error()}
		}
		text := fault(int(e.Code), e.Message)
		if e.Data != nil {
			ms, err := members(text)
			if err != nil {
				return nil, err
			}
			text = with(ms, "data", e.Data)
		}
		return failure(idText(m.ID), text), nil
	}
	return nil, errShape
}

func idText(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case string:
		return string(quote(v))
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(id.Raw())
}

func (c *connection) Write(message []byte) error {
	if c.ctx.Err() != nil {
		return errEnded
	}
	m, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return err
	}
	if c.places == nil {
		c.deliver(m)
		return nil
	}
	select {
	case c.places <- struct{}{}:
	case <-c.ctx.Done():
		return errEnded
	}
	go func() { // ends when the server begins to answer, or with Close
		defer func() { <-c.places }()
		if err := c.conn.Write(c.ctx, m); err != nil && c.ctx.Err() == nil {
			select {
			case c.failed <- err:
			default:
			}
			_ = c.conn.Close() // ends Read, which tells of the error
		}
	}()
	return nil
}

// streamWithin is how long a message of the server waits for the agent to open the stream
// that it belongs on: agents do so just after the handshake.
const streamWithin = 2 * time.Second

// deliver writes to an agent. What cannot be delivered is nobody's, and the session goes
// on: an answer to a request that is gone, or a message to an agent that opens no stream,
// which is waited for only once.
func (c *connection) deliver(m jsonrpc.Message) {
	_, asks := m.(*jsonrpc.Request)
	for end := time.Now().Add(streamWithin); ; {
		err := c.conn.Write(c.ctx, m)
		switch {
		case err == nil:
			if asks {
				c.deaf.Store(false)
			}
			return
		case !asks, c.deaf.Load(), c.ctx.Err() != nil:
			return
		case time.Now().After(end):
			c.deaf.Store(true)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *connection) Close() error {
	c.cancel()
	return c.conn.Close()
}

// Dial opens a session with a server over streamable HTTP. Headers are sent with each
// request, beside the protocol's own: the operator's credentials, never an agent's.
// Messages that a server sends on its own, outside a call, are not asked for.
func Dial(ctx context.Context, url string, headers http.Header) (Link, error) {
	t := &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: headed{headers, http.DefaultTransport}, CheckRedirect: noRedirect},
		MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: MessageBytesMax,
	}
	conn, err := t.Connect(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("the broker's server: %w", err)
	}
	return newConnection(ctx, conn, writesMax), nil
}

// noRedirect keeps credentials and orders at the address that the operator named.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

type headed struct {
	headers http.Header
	next    http.RoundTripper
}

// RoundTrip adds the operator's headers.
func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h.headers {
		r.Header[name] = values
	}
	return h.next.RoundTrip(r)
}
