package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/journal"
)

const (
	tokenOne = "first-token-of-a-test-0001"
	tokenTwo = "second-token-of-a-test-002"
)

func twoTokens(t testing.TB) Tokens {
	t.Helper()
	tokens, err := ParseTokens(strings.NewReader("# who may call\none:" + tokenOne + "\n\ntwo:" + tokenTwo + "\n"))
	check(t, err)
	return tokens
}

func (d *desk) serve(cfg HTTPConfig) *httptest.Server {
	d.t.Helper()
	s := httptest.NewServer(d.server.Handler(cfg))
	d.t.Cleanup(func() {
		for session := range d.server.mcp.Sessions() {
			_ = session.Close()
		}
		s.Close()
	})
	return s
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func callOf(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// post sends one message and returns status, session and the answer's JSON.
func post(t testing.TB, url, body string, headers ...string) (status int, session, answer string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	check(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	check(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	check(t, err)
	answer = string(b)
	for part := range strings.SplitSeq(answer, "\n") {
		if data, ok := strings.CutPrefix(part, "data: "); ok {
			answer = data
		}
	}
	return res.StatusCode, res.Header.Get(headerSession), answer
}

func parse(t testing.TB, text string) answer {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return read(t, m)
}

// TestWhoMayCall is the matrix of tokens, hosts and origins at a loopback address.
func TestWhoMayCall(t *testing.T) {
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, c := range []struct {
		name    string
		cfg     HTTPConfig
		headers []string
		status  int
	}{
		{"no token asked", HTTPConfig{}, nil, 200},
		{"token", HTTPConfig{Tokens: twoTokens(t)}, bearer(tokenOne), 200},
		{"no token", HTTPConfig{Tokens: twoTokens(t)}, nil, 401},
		{"wrong token", HTTPConfig{Tokens: twoTokens(t)}, bearer("another-token-altogether"), 401},
		{"a token's beginning", HTTPConfig{Tokens: twoTokens(t)}, bearer(tokenOne[:20]), 401},
		{"basic", HTTPConfig{Tokens: twoTokens(t)}, []string{"Authorization", "Basic " + tokenOne}, 401},
		{"rebound host", HTTPConfig{}, []string{"Host", "evil.example:80"}, 403},
		{"rebound host with a token", HTTPConfig{Tokens: twoTokens(t)}, append(bearer(tokenOne), "Host", "evil.example"), 403},
		{"another address", HTTPConfig{}, []string{"Host", "192.0.2.7"}, 403},
		{"localhost", HTTPConfig{}, []string{"Host", "localhost:1"}, 200},
		{"loopback v6", HTTPConfig{}, []string{"Host", "[::1]:1"}, 200},
		{"allowed host", HTTPConfig{AllowedHosts: []string{"rails.example"}}, []string{"Host", "RAILS.example:8931"}, 200},
		{"beside the allowed host", HTTPConfig{AllowedHosts: []string{"rails.example"}}, []string{"Host", "rails.example.evil.example"}, 403},
		{"empty host", HTTPConfig{AllowedHosts: []string{""}}, []string{"Host", ":80"}, 403},
		{"evil origin", HTTPConfig{}, []string{"Origin", "https://evil.example"}, 403},
		{"null origin", HTTPConfig{}, []string{"Origin", "null"}, 403},
		{"cross-site fetch", HTTPConfig{}, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same origin", HTTPConfig{}, []string{"Host", "localhost:7", "Origin", "http://localhost:7"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			before := len(d.journaled())
			status, _, body := post(t, d.serve(c.cfg).URL, initialize, c.headers...)
			if status != c.status {
				t.Fatalf("status %d, want %d: %s", status, c.status, body)
			}
			if strings.Contains(body, "evil") || len(d.journaled()) != before {
				t.Errorf("a stranger's text or call left a trace: %q %v", body, d.journaled())
			}
		})
	}
}

// TestFailClosedWithoutTokens: an address that other machines can reach needs a token.
func TestFailClosedWithoutTokens(t *testing.T) {
	d := newDesk(t)
	outside := &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 8931}
	ask := func(cfg HTTPConfig, addr net.Addr, host, token string) int {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(initialize))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if addr != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
		}
		w := httptest.NewRecorder()
		d.server.Handler(cfg).ServeHTTP(w, r)
		want := ""
		if w.Code == http.StatusUnauthorized {
			want = "Bearer"
		}
		if got := strings.Join(w.Header().Values("WWW-Authenticate"), "|"); got != want {
			t.Errorf("status %d with WWW-Authenticate %q, want %q", w.Code, got, want)
		}
		return w.Code
	}
	tokens := HTTPConfig{Tokens: twoTokens(t)}
	for _, c := range []struct {
		name        string
		cfg         HTTPConfig
		addr        net.Addr
		host, token string
		status      int
	}{
		{"no tokens, outside", HTTPConfig{}, outside, "192.0.2.7", "", 403},
		{"no tokens, unknown address", HTTPConfig{}, nil, "localhost", "", 403},
		{"token, outside", tokens, outside, "192.0.2.7:8931", tokenOne, 200},
		{"token, outside, rebound name", tokens, outside, "evil.example", tokenOne, 403},
		{"no token, outside", tokens, outside, "192.0.2.7", "", 401},
		{"unix socket", HTTPConfig{}, &net.UnixAddr{Name: "/s", Net: "unix"}, "localhost", "", 200},
	} {
		if got := ask(c.cfg, c.addr, c.host, c.token); got != c.status {
			t.Errorf("%s: status %d, want %d", c.name, got, c.status)
		}
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip("no network: ", err)
	}
	defer l.Close()
	if err := d.server.RunHTTP(t.Context(), l, HTTPConfig{}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Fatalf("served an open address without tokens: %v", err)
	}
}

// TestASessionBelongsToItsPrincipal (PRT-24).
func TestASessionBelongsToItsPrincipal(t *testing.T) {
	d := newDesk(t)
	url := d.serve(HTTPConfig{Tokens: twoTokens(t)}).URL
	_, session, _ := post(t, url, initialize, "Authorization", "Bearer "+tokenOne)
	if session == "" {
		t.Fatal("no session")
	}
	status, _, _ := post(t, url, callOf("1", "place_order", goodOrder), "Authorization", "Bearer "+tokenTwo, headerSession, session)
	if status != http.StatusForbidden || d.broker.sends.Load() != 0 {
		t.Fatalf("status %d, %d messages", status, d.broker.sends.Load())
	}
	refusals := d.refusals()
	if len(refusals) != 1 || refusals[0].Agent != "two" || refusals[0].Tool != "place_order" {
		t.Fatalf("journal %+v", refusals)
	}
	status, _, body := post(t, url, callOf("1", "place_order", goodOrder), "Authorization", "Bearer "+tokenOne, headerSession, session)
	if a := parse(t, body); status != 200 || a.Shown["status"] != "filled" {
		t.Fatalf("its own call: %d %s", status, body)
	}
	decisions := d.entries(journal.KindDecision)
	decision, err := journal.DecodeBody[journal.Decision](&decisions[0])
	check(t, err)
	if decision.Agent != "one" {
		t.Fatalf("principal %q", decision.Agent)
	}
}

// TestMalformedOverHTTP: each is refused with its code, recorded, and the session's
// next good call works.
func TestMalformedOverHTTP(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%v", stateless), func(t *testing.T) {
			d := newDesk(t)
			url := d.serve(HTTPConfig{Stateless: stateless}).URL
			headers := []string{}
			if !stateless {
				_, session, _ := post(t, url, initialize)
				headers = []string{headerSession, session}
			}
			good := callOf("1", "place_order", goodOrder)
			for _, c := range []struct {
				name, body   string
				status, code int
				headers      []string
			}{
				{"batch", "[" + good + "]", 400, wire.CodeInvalidRequest, nil},
				{"duplicate", callOf("1", "place_order", `{"a":1,"a":2}`), 400, wire.CodeParse, nil},
				{"not UTF-8", callOf("1", "place_order", "{\"a\":\"\xff\"}"), 400, wire.CodeParse, nil},
				{"empty", "", 400, wire.CodeParse, nil},
				{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"orders/place"}`, 400, wire.CodeNoMethod, nil},
				{"a prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x"}}`, 400, wire.CodeNoMethod, nil},
				{"a completion", `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"x"}}}`, 400, wire.CodeNoMethod, nil},
				{"as a notification", `{"jsonrpc":"2.0","method":"tools/call","params":{}}`, 400, wire.CodeInvalidRequest, nil},
				{"folded", strings.Replace(good, `"name"`, `"Name"`, 1), 400, wire.CodeInvalidRequest, nil},
				{"another method in its header", good, 400, wire.CodeHeaderMismatch, []string{headerMethod, "tools/list"}},
				{"another tool in its header", good, 400, wire.CodeHeaderMismatch, []string{headerName, "get_quote"}},
				{"too long", callOf("1", "place_order", `{"note":"`+strings.Repeat("a", wire.FrameBytesMax)+`"}`), 413, wire.CodeParse, nil},
				{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/x"}`, 202, 0, nil},
			} {
				before := len(d.refusals())
				status, _, body := post(t, url, c.body, append(c.headers, headers...)...)
				if status != c.status || c.code != 0 && !strings.Contains(body, fmt.Sprintf(`"code":%d`, c.code)) {
					t.Errorf("%s: %d %s", c.name, status, body)
				}
				if got := len(d.refusals()); got != before+1 {
					t.Errorf("%s: %d entries", c.name, got-before)
				}
			}
			if d.broker.sends.Load() != 0 {
				t.Fatalf("%d messages", d.broker.sends.Load())
			}
			status, _, body := post(t, url, good, headers...)
			if a := parse(t, body); status != 200 || a.Shown["status"] != "filled" {
				t.Fatalf("the next good call: %d %s", status, body)
			}
		})
	}
}

// TestWhatTheSDKRefusesIsRecorded: calls that die between the tap and the middleware.
func TestWhatTheSDKRefusesIsRecorded(t *testing.T) {
	d := newDesk(t)
	url := d.serve(HTTPConfig{}).URL
	good := callOf("1", "place_order", goodOrder)
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		status  int
	}{
		{"no session", good, nil, 400},
		{"unknown session", good, []string{headerSession, "nothing"}, 404},
		{"unknown version", good, []string{headerSession, "nothing", headerVersion, "1999-01-01"}, 400},
		{"two sessions", good, []string{headerSession, "a", headerSession, "b"}, 400},
		{"stateless call of a stateful server", strings.Replace(good, `"name"`,
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name"`, 1),
			[]string{headerVersion, versionStateless, headerMethod, "tools/call", headerName, "place_order"}, 400},
	} {
		before := len(d.refusals())
		status, _, body := post(t, url, c.body, c.headers...)
		if got := len(d.refusals()); status != c.status || got != before+1 {
			t.Errorf("%s: status %d, %d entries: %s", c.name, status, got-before, body)
		}
	}
	if d.broker.sends.Load() != 0 {
		t.Fatalf("%d messages", d.broker.sends.Load())
	}
}

// TestEveryProtocolVersionTrades: an order fills at each version of the protocol, over
// every transport that has it.
func TestEveryProtocolVersionTrades(t *testing.T) {
	for _, version := range mcp.SupportedProtocolVersions() {
		for _, transport := range []string{"memory", "stateful", "stateless"} {
			if transport == "stateful" && version == versionStateless {
				continue
			}
			t.Run(version+" "+transport, func(t *testing.T) {
				d := newDesk(t)
				var link mcp.Transport
				if transport == "memory" {
					near, far := mcp.NewInMemoryTransports()
					session, err := d.server.Connect(t.Context(), far)
					check(t, err)
					defer session.Close()
					link = near
				} else {
					link = &mcp.StreamableClientTransport{Endpoint: d.serve(HTTPConfig{Stateless: transport == "stateless"}).URL, DisableStandaloneSSE: true}
				}
				client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), link, &mcp.ClientSessionOptions{ProtocolVersion: version})
				check(t, err)
				defer session.Close()
				for _, c := range []struct {
					arguments string
					refused   bool
				}{{hugeOrder, true}, {goodOrder, false}} {
					r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(c.arguments)})
					check(t, err)
					if r.IsError != c.refused {
						b, _ := json.Marshal(r)
						t.Fatalf("%s", b)
					}
				}
				if d.filled() != 1 || d.broker.sends.Load() != 1 {
					t.Fatalf("%d executions, %d messages", d.filled(), d.broker.sends.Load())
				}
			})
		}
	}
}

// TestHalfSentRequestsAreBounded: a thousand requests that never end hold at most
// ConnectionsMax places and little memory.
func TestHalfSentRequestsAreBounded(t *testing.T) {
	d := newDesk(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no network: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.RunHTTP(ctx, l, HTTPConfig{}) }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var conns []net.Conn
	for range 1000 {
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		if err != nil {
			break // the kernel's queue is full, which bounds it as well
		}
		conns = append(conns, c)
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n")
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("%d half-sent requests hold %d bytes", len(conns), grown)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	status, _, body := post(t, "http://"+l.Addr().String(), initialize)
	if status != 200 {
		t.Errorf("after them: %d %s", status, body)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	select {
	case err := <-ended:
		check(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the server did not stop")
	}
}

// TestTheListenerWaitsForAPlace: a connection beyond the limit is accepted only when
// another has closed.
func TestTheListenerWaitsForAPlace(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no network: ", err)
	}
	l := limitListener(inner, 1)
	accepted := make(chan net.Conn, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	for range 2 {
		c, err := net.Dial("tcp", inner.Addr().String())
		check(t, err)
		defer c.Close()
	}
	first := <-accepted
	select {
	case <-accepted:
		t.Fatal("two connections at once")
	case <-time.After(20 * time.Millisecond):
	}
	check(t, first.Close())
	_ = first.Close() // gives no second place
	second := <-accepted
	check(t, second.Close())
	check(t, l.Close())
	if _, open := <-accepted; open {
		t.Fatal("accepted after closing")
	}
}

func TestParseTokens(t *testing.T) {
	good := strings.Repeat("a", TokenBytesMin)
	for text, ok := range map[string]bool{
		good: true, "n:" + good: true, "n: " + good + " \n# x\n\nm:" + good + "b": true, good + "==": true,
		"": false, "# only\n": false, good[1:]: false, "n:" + good[1:]: false, ":" + good: false, "n m:" + good: false,
		"n:" + good + "\nn:" + good + "b": false, "n:" + good + "\nm:" + good: false, good + " b": false,
		strings.Repeat("a", TokenBytesMax+1): false, "n:" + good + "\u00e9": false,
	} {
		tokens, err := ParseTokens(strings.NewReader(text))
		if (err == nil) != ok || ok == tokens.Empty() {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), good[1:]) {
			t.Errorf("the error tells the token: %v", err)
		}
	}
	if _, ok := (Tokens{}).principal(""); ok {
		t.Error("no tokens take the empty one")
	}
}

func TestReadTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	check(t, os.WriteFile(path, []byte("n:"+tokenOne), 0o600))
	tokens, err := ReadTokens(path)
	check(t, err)
	if name, ok := tokens.principal(tokenOne); !ok || name != "n" {
		t.Fatalf("%q %v", name, ok)
	}
	if runtime.GOOS != "windows" {
		check(t, os.Chmod(path, 0o640))
		if _, err := ReadTokens(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Fatalf("a file that others can read: %v", err)
		}
	}
	if _, err := ReadTokens(filepath.Dir(path)); err == nil {
		t.Error("a folder is no token file")
	}
	if bytes.Contains(fmt.Append(nil, tokens), []byte(tokenOne)) {
		t.Error("tokens are kept in plain text")
	}
}

// TestSessionsAreBounded: one more than the limit is refused, and one that ends makes room.
func TestSessionsAreBounded(t *testing.T) {
	d := newDesk(t)
	s := d.serve(HTTPConfig{})
	var last string
	for i := range SessionsMax {
		status, session, _ := post(t, s.URL, initialize)
		if status != http.StatusOK || session == "" {
			t.Fatalf("session %d: status %d", i, status)
		}
		last = session
	}
	if status, session, text := post(t, s.URL, initialize); status != http.StatusServiceUnavailable || session != "" || !strings.Contains(text, "too many sessions") {
		t.Errorf("one more: status %d, session %q, %s", status, session, text)
	}
	r, err := http.NewRequest(http.MethodDelete, s.URL, nil)
	check(t, err)
	r.Header.Set(headerSession, last)
	res, err := http.DefaultClient.Do(r)
	check(t, err)
	check(t, res.Body.Close())
	if status, _, text := post(t, s.URL, initialize); status != http.StatusOK {
		t.Errorf("after an end: status %d, %s", status, text)
	}
}
