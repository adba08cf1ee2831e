package mcpserver

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
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// HTTPConfig is how the server is served over streamable HTTP.
type HTTPConfig struct {
	// Tokens that may call. Without any, only requests that arrive at a loopback address
	// or a Unix socket are served.
	Tokens Tokens
	// Stateless serves each request by itself; protocol version 2026-07-28 needs it.
	Stateless bool
	// AllowedHosts are the names, besides loopback ones, under which the server may be
	// called: what a Host header may say, without a port.
	AllowedHosts []string
}

// Bounds of bodies. A body beyond smallBodyBytes needs one of largeBodiesMax places,
// which it holds until its call is answered.
const (
	smallBodyBytes = 64 << 10
	largeBodiesMax = 8
)

// headerCall names, between the tap and the middleware, the request that a call came
// in. What a client sends under this name is replaced.
const headerCall = "Broker-Rails-Call"

// headers of streamable HTTP.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

const headerChallenge = "WWW-Authenticate"

const versionStateless = "2026-07-28"

// web is the HTTP side of a server.
type web struct {
	server *Server
	cfg    HTTPConfig
	large  chan struct{} // places of large bodies
	mu     sync.Mutex    // guards inFlight
	// inFlight holds the ids of calls without an answer yet, by session.
	inFlight map[string]struct{}
}

// Handler serves MCP over streamable HTTP. From the outside in: recover, the Host and
// Origin headers, the bearer token, the body's limit, the wire tap, the SDK. What fails
// before the token is known is not in the account's journal: it is nobody's call, and
// a stranger must not be able to fill a journal or trip a limit.
func (s *Server) Handler(cfg HTTPConfig) http.Handler {
	w := &web{
		server: s, cfg: cfg, large: make(chan struct{}, largeBodiesMax), inFlight: make(map[string]struct{}),
	}
	var sdk http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: cfg.Stateless, SessionTimeout: SessionIdleFor, MaxRequestBodyBytes: wire.FrameBytesMax,
		DisableLocalhostProtection: true, // sameHost below is stricter, and knows AllowedHosts
	})
	inner := w.tapped(sdk)
	if !cfg.Tokens.Empty() {
		verified := auth.RequireBearerToken(cfg.Tokens.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
		inner = challenged(verified, inner)
	}
	return w.recovered(arriving(w.local(w.sameHost(w.sameOrigin(inner)))))
}

func (w *web) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil || p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				return
			}
			s := w.server
			s.log.Error("panic while serving a request", "panic", p, "stack", string(debug.Stack()))
			// The request is refused whether or not the entry can be written.
			_, _ = s.record(r.Context(), &call{id: s.nextCall(), agent: w.principal(r)}, journal.Refusal{
				Code: gate.CodeInternalFault, Text: "a fault inside the server", Message: true,
			})
			http.Error(rw, "internal fault", http.StatusInternalServerError)
		}()
		next.ServeHTTP(rw, r)
	})
}

// challenged names the scheme to a request that verify does not let through to next: the
// SDK does so only with metadata of an authorization server, and we have none.
//
// Source: RFC 9110, section 11.6.1; RFC 6750, section 3.
func challenged(verify func(http.Handler) http.Handler, next http.Handler) http.Handler {
	admitted := verify(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Del(headerChallenge)
		next.ServeHTTP(rw, r)
	}))
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set(headerChallenge, "Bearer")
		admitted.ServeHTTP(rw, r)
	})
}

// arriving gives the body a time to arrive in before anyone knows who sends it: the body of
// a refused request is read on by net/http, which would wait for it without an end.
func arriving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(BodyWithin)) // a test's recorder has none
		next.ServeHTTP(rw, r)
	})
}

// local refuses requests from other machines when there is no token to tell them by.
func (w *web) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if w.cfg.Tokens.Empty() && !isLocal(addr) {
			w.forbid(rw, r, "a bearer token is needed at an address that other machines can reach")
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// isLocal reports whether only this machine can reach the address.
func isLocal(addr net.Addr) bool {
	if addr == nil {
		return false
	}
	if strings.HasPrefix(addr.Network(), "unix") {
		return true
	}
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// sameHost refuses what a rebound DNS name brings: a page whose name was pointed at
// this machine sends that name in its Host header. Loopback names and configured ones
// pass; at another address an IP literal does too, since no DNS stood between.
func (w *web) sameHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		host := hostOf(r.Host)
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		literal := err == nil
		switch {
		case strings.EqualFold(host, "localhost") || literal && ip.Unmap().IsLoopback():
		case literal && !isLocal(addr):
		case w.allowed(host):
		default:
			w.forbid(rw, r, "the Host header does not name this server")
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

func (w *web) allowed(host string) bool {
	for _, h := range w.cfg.AllowedHosts {
		if host != "" && strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// sameOrigin refuses requests that a browser sends for another site's page, also those
// that only read.
func (w *web) sameOrigin(next http.Handler) http.Handler {
	protected := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || !strings.EqualFold(u.Host, r.Host) {
				w.forbid(rw, r, "requests from other origins are refused")
				return
			}
		}
		protected.ServeHTTP(rw, r)
	})
}

func (w *web) forbid(rw http.ResponseWriter, r *http.Request, why string) {
	w.server.log.Warn("request refused", "why", why, "from", r.RemoteAddr)
	http.Error(rw, why, http.StatusForbidden)
}

func (w *web) principal(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil && info.UserID != "" {
		return info.UserID
	}
	return w.server.cfg.Agent
}

// tapped reads each message whole and strictly before the SDK sees it.
func (w *web) tapped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Header.Del(headerCall)
		if r.Method != http.MethodPost {
			if r.ContentLength == 0 { // a stream stays open; a body must still arrive in time
				_ = http.NewResponseController(rw).SetReadDeadline(time.Time{})
			}
			next.ServeHTTP(rw, r)
			return
		}
		body, release, status := w.readBody(rw, r)
		defer release()
		if status != 0 {
			w.refuse(rw, r, status, &wire.Violation{
				Code: wire.CodeParse, Problem: "the message is too long, or did not arrive whole", Bytes: len(body), Raw: body,
			})
			return
		}
		f, v := wire.Read(body)
		if v == nil {
			v = w.misfit(r, &f)
		}
		if v == nil {
			var leave func()
			leave, v = w.enter(r, &f)
			defer leave()
		}
		if v != nil {
			if v.Raw == nil {
				v.ID, v.Method, v.Tool, v.Bytes, v.Raw = f.ID, f.Method, f.Tool, len(body), body
			}
			w.refuse(rw, r, httpStatus(r, v), v)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		w.serve(next, rw, r, &f, body)
	})
}

// serve hands a sound message on. A tool call that then never came to the middleware
// was refused by the SDK, out of its sight: it is recorded here.
func (w *web) serve(next http.Handler, rw http.ResponseWriter, r *http.Request, f *wire.Frame, body []byte) {
	if f.Kind != wire.KindCall || f.Method != wire.MethodCallTool {
		next.ServeHTTP(rw, r)
		return
	}
	key := rand.Text()
	r.Header.Set(headerCall, key)
	w.server.expected.Store(key, struct{}{})
	next.ServeHTTP(rw, r)
	if _, unseen := w.server.expected.LoadAndDelete(key); unseen {
		w.server.violated(r.Context(), &wire.Violation{
			Problem: "the call does not fit its session, its headers or its protocol version", Benign: true,
			Method: f.Method, Tool: f.Tool, Bytes: len(body), Raw: body,
		}, w.principal(r))
	}
}

// readBody reads a body within its limits of size and time. release gives back what it
// holds; a status tells that it failed.
func (w *web) readBody(rw http.ResponseWriter, r *http.Request) (body []byte, release func(), status int) {
	release = func() {}
	control := http.NewResponseController(rw)
	limited := http.MaxBytesReader(rw, r.Body, wire.FrameBytesMax)
	body, err := io.ReadAll(io.LimitReader(limited, smallBodyBytes))
	if err == nil && len(body) == smallBodyBytes {
		wait := time.NewTimer(BodyWithin)
		defer wait.Stop()
		select {
		case w.large <- struct{}{}:
			release = func() { <-w.large }
		case <-wait.C:
			return body, release, http.StatusServiceUnavailable
		case <-r.Context().Done():
			return body, release, http.StatusServiceUnavailable
		}
		var rest []byte
		rest, err = io.ReadAll(limited)
		body = append(body, rest...)
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return body, release, http.StatusRequestEntityTooLarge
	case err != nil:
		return body, release, http.StatusBadRequest
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, release, 0
}

// misfit finds a message that does not fit its headers or its session.
func (w *web) misfit(r *http.Request, f *wire.Frame) *wire.Violation {
	headers, ok := single(r, headerSession, headerVersion, headerMethod, headerName)
	switch {
	case f.Answers && !w.server.cfg.Fixtures.has(f.Tool):
		return f.Unasked()
	case w.server.cfg.Fixtures == nil && f.Unserved() != nil:
		return f.Unserved()
	case !ok:
		return &wire.Violation{Code: wire.CodeHeaderMismatch, Problem: "a header stands twice"}
	case headers[2] != "" && headers[2] != f.Method, headers[3] != "" && f.Tool != "" && headers[3] != f.Tool:
		return &wire.Violation{Code: wire.CodeHeaderMismatch, Problem: "a header says otherwise than the message"}
	case !w.cfg.Stateless && headers[0] == "" && f.Kind == wire.KindCall && f.Method == wire.MethodCallTool && !f.PerRequest:
		return &wire.Violation{Code: wire.CodeInvalidRequest, Problem: "a tool was called before the handshake"}
	}
	return nil
}

// single returns the headers' values; ok is false when one stands twice.
func single(r *http.Request, names ...string) (values []string, ok bool) {
	for _, name := range names {
		got := r.Header.Values(name)
		if len(got) > 1 {
			return nil, false
		}
		values = append(values, r.Header.Get(name))
	}
	return values, true
}

// enter takes a call of a session into flight until leave.
func (w *web) enter(r *http.Request, f *wire.Frame) (leave func(), v *wire.Violation) {
	leave = func() {}
	session := r.Header.Get(headerSession)
	if f.Kind != wire.KindCall || w.cfg.Stateless {
		return leave, nil
	}
	if session == "" {
		count := 0
		for range w.server.mcp.Sessions() {
			count++
		}
		if count >= SessionsMax {
			return leave, &wire.Violation{Code: wire.CodeBusy, Problem: "too many sessions"}
		}
		return leave, nil
	}
	key := session + "\x00" + w.principal(r) + "\x00" + f.ID
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, taken := w.inFlight[key]; taken {
		return leave, &wire.Violation{Code: wire.CodeInvalidRequest, Problem: "the id is that of a call still in flight"}
	}
	w.inFlight[key] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.inFlight, key)
	}, nil
}

func (w *web) refuse(rw http.ResponseWriter, r *http.Request, status int, v *wire.Violation) {
	w.server.violated(r.Context(), v, w.principal(r))
	if status == http.StatusAccepted {
		rw.WriteHeader(status)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = rw.Write(wire.AppendError(nil, v)) // the client may be gone
}

// httpStatus is the HTTP status of a refusal.
func httpStatus(r *http.Request, v *wire.Violation) int {
	switch {
	case v.Code == wire.CodeBusy:
		return http.StatusServiceUnavailable
	case v.Code == wire.CodeNoMethod && r.Header.Get(headerVersion) >= versionStateless:
		return http.StatusNotFound // MCP 2026-07-28
	case v.Benign:
		return http.StatusAccepted
	}
	return http.StatusBadRequest
}

// RunHTTP serves until ctx ends, then lets calls in progress finish. It refuses to
// serve an address that other machines can reach without tokens.
func (s *Server) RunHTTP(ctx context.Context, l net.Listener, cfg HTTPConfig) error {
	if cfg.Tokens.Empty() && !isLocal(l.Addr()) {
		return fmt.Errorf("%s can be reached from other machines: a bearer token is needed", l.Addr())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: s.Handler(cfg), ReadHeaderTimeout: HeaderWithin, IdleTimeout: IdleWithin, MaxHeaderBytes: HeaderBytesMax,
	}
	stopped := make(chan error, 1)
	go func() { // ends with ctx, or when this function returns
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopWithin)
		defer cancel()
		for session := range s.mcp.Sessions() {
			go func() { _ = session.Close() }() // waits for the session's calls
		}
		stopped <- server.Shutdown(stop)
	}()
	err := server.Serve(limitListener(l, ConnectionsMax))
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("mcp over http: %w", err)
	}
	return <-stopped
}
