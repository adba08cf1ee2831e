package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/wire"
)

// Limits of the HTTP side.
const (
	SessionsMax    = 64
	HeaderBytesMax = 16 << 10
	HeaderWithin   = 5 * time.Second
	BodyWithin     = 15 * time.Second
	IdleWithin     = time.Minute
	StopWithin     = 35 * time.Second
)

const headerSession = "Mcp-Session-Id"

// web serves many agents over streamable HTTP, each with a session of its own at the
// server. It is for this machine only.
type web struct {
	proxy *Proxy
	dial  func(ctx context.Context) (Link, error)
	ctx   context.Context // of all sessions
	tasks sync.WaitGroup

	mu       sync.Mutex // guards sessions
	sessions map[string]*webSession
}

type webSession struct {
	transport *mcp.StreamableServerTransport
	cancel    context.CancelFunc
}

// RunHTTP serves agents of this machine at a loopback address until ctx ends. dial opens
// the server's session that belongs to each.
func (p *Proxy) RunHTTP(ctx context.Context, l net.Listener, dial func(ctx context.Context) (Link, error)) error {
	if ap, err := netip.ParseAddrPort(l.Addr().String()); err != nil || !ap.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines", l.Addr())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &web{proxy: p, dial: dial, ctx: ctx, sessions: map[string]*webSession{}}
	defer w.tasks.Wait()
	server := &http.Server{
		Handler: w.local(http.HandlerFunc(w.serve)), ReadHeaderTimeout: HeaderWithin, IdleTimeout: IdleWithin, MaxHeaderBytes: HeaderBytesMax,
	}
	stopped := make(chan error, 1)
	go func() { // ends with ctx, or when this function returns
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopWithin)
		defer cancel()
		w.tasks.Wait() // calls in progress are answered by then
		stopped <- server.Shutdown(stop)
	}()
	err := server.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("mcp over http: %w", err)
	}
	return <-stopped
}

// local refuses what a page of another site, or a rebound name, brings.
func (w *web) local(next http.Handler) http.Handler {
	protected := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if !strings.EqualFold(host, "localhost") && (err != nil || !ip.Unmap().IsLoopback()) {
			http.Error(rw, "the Host header does not name this server", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
				http.Error(rw, "requests from other origins are refused", http.StatusForbidden)
				return
			}
		}
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(BodyWithin)) // a test's recorder has none
		protected.ServeHTTP(rw, r)
	})
}

func (w *web) serve(rw http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(headerSession)
	w.mu.Lock()
	s := w.sessions[id]
	w.mu.Unlock()
	switch {
	case len(r.Header.Values(headerSession)) > 1:
		http.Error(rw, "a header stands twice", http.StatusBadRequest)
	case id != "" && s == nil:
		http.Error(rw, "session not found", http.StatusNotFound)
	case r.Method == http.MethodDelete && s != nil:
		s.cancel()
		rw.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && s != nil:
		_ = http.NewResponseController(rw).SetReadDeadline(time.Time{}) // the stream stays open
		s.transport.ServeHTTP(rw, r)
	case r.Method == http.MethodPost:
		w.post(rw, r, s)
	default:
		rw.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(rw, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// post reads one message strictly before anything else sees it.
func (w *web) post(rw http.ResponseWriter, r *http.Request, s *webSession) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, MessageBytesMax))
	if err != nil {
		http.Error(rw, "the message is too long, or did not arrive whole", http.StatusRequestEntityTooLarge)
		return
	}
	_ = http.NewResponseController(rw).SetReadDeadline(time.Time{}) // the answer may take longer
	f, v := wire.Read(body)
	if v == nil && s == nil && f.Method != methodInitialize {
		v = &wire.Violation{Code: wire.CodeInvalidRequest, Problem: "a call came before the handshake", ID: f.ID}
	}
	if v == nil && s == nil {
		if s, err = w.open(); err != nil {
			v = &wire.Violation{Code: wire.CodeBusy, Problem: err.Error(), ID: f.ID}
		}
	}
	switch {
	case v == nil:
	case v.Benign:
		rw.WriteHeader(http.StatusAccepted)
		return
	default:
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = rw.Write(wire.AppendError(nil, v)) // the client may be gone
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.transport.ServeHTTP(rw, r)
}

// open begins a session, and the server's session that belongs to it.
func (w *web) open() (*webSession, error) {
	w.mu.Lock()
	full := len(w.sessions) >= SessionsMax
	w.mu.Unlock()
	if full || w.ctx.Err() != nil {
		return nil, errors.New("too many sessions")
	}
	server, err := w.dial(w.ctx)
	if err != nil {
		w.proxy.log.Error("no session with the broker's server", "error", err)
		return nil, errors.New("the broker's server cannot be reached")
	}
	id := rand.Text()
	s := &webSession{transport: &mcp.StreamableServerTransport{SessionID: id}}
	conn, err := s.transport.Connect(w.ctx)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	ctx, cancel := context.WithCancel(w.ctx)
	s.cancel = cancel
	w.mu.Lock()
	w.sessions[id] = s
	w.mu.Unlock()
	w.tasks.Go(func() {
		defer cancel()
		if err := w.proxy.Serve(ctx, newConnection(ctx, conn, 0), server, ""); err != nil {
			w.proxy.log.Warn("a session ended", "error", err)
		}
		w.mu.Lock()
		delete(w.sessions, id)
		w.mu.Unlock()
	})
	return s, nil
}
