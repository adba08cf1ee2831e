package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/door/mcpproxy"
	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// standin speaks as Alpaca's own MCP server does, to the fake broker, and can be made to
// misbehave. Its answers have that server's shapes.
type standin struct {
	url, key, secret string
	in               io.Reader
	out              io.WriteCloser
	mu               sync.Mutex // guards out and tools
	tools            []string   // definitions
	// before is asked before a tool's call is carried out, after with its answer; false ends
	// the server there.
	before func(tool string) bool
	after  func(tool string, id json.RawMessage, line string) (lines []string, on bool)
	calls  map[string]int
}

func definition(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"n":{"type":"number","default":1.50}}},"x-vendor":{"big":12345678901234567890.10}}`, name, description)
}

func alpacaTools() (out []string) {
	for _, name := range []string{
		"get_account_info", "get_all_positions", "get_orders", "get_account_activities_by_type", "get_stock_latest_quote", "get_asset", "get_clock",
		"get_order_by_client_id", "get_open_position", "place_stock_order", "place_crypto_order", "replace_order_by_id", "cancel_order_by_id", "cancel_all_orders",
		"close_position", "close_all_positions", "update_account_config", "get_news", "something_else",
	} {
		out = append(out, definition(name, "does "+name))
	}
	return out
}

func (s *standin) write(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, line+"\n") // the proxy may be gone
}

func (s *standin) run() {
	defer s.out.Close()
	lines := bufio.NewReaderSize(s.in, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"Alpaca MCP Server","version":"0"}}}`)
		case "tools/list":
			s.mu.Lock()
			list := strings.Join(s.tools, ",")
			s.mu.Unlock()
			s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"tools":[` + list + `],"_meta":{"pi":3.140}}}`)
		case "tools/call":
			s.mu.Lock()
			s.calls[m.Params.Name]++
			s.mu.Unlock()
			if s.before != nil && !s.before(m.Params.Name) {
				return
			}
			answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + s.call(m.Params.Name, m.Params.Arguments) + `}`
			if s.after != nil {
				lines, on := s.after(m.Params.Name, m.ID, answer)
				for _, l := range lines {
					s.write(l)
				}
				if !on {
					return
				}
				continue
			}
			s.write(answer)
		default:
			s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"echo":` + strings.TrimSpace(string(line)) + `}}`)
		}
	}
}

// call carries a tool out at the fake.
func (s *standin) call(tool string, args map[string]any) string {
	text := func(name string) string { t, _ := args[name].(string); return t }
	query := url.Values{}
	for k, v := range args {
		query.Set(k, fmt.Sprint(v))
	}
	get := func(path string) string { return s.generated(tool, http.MethodGet, path, nil) }
	switch tool {
	case "get_account_info":
		return get("/v2/account")
	case "get_all_positions":
		return get("/v2/positions")
	case "get_orders":
		return get("/v2/orders?" + query.Encode())
	case "get_account_activities_by_type":
		return get("/v2/account/activities/FILL?" + query.Encode())
	case "get_stock_latest_quote":
		return get("/v2/stocks/quotes/latest?" + query.Encode())
	case "get_asset":
		return get("/v2/assets/" + text("symbol_or_asset_id"))
	case "get_clock":
		return get("/v2/clock")
	case "get_order_by_client_id":
		return get("/v2/orders:by_client_order_id?" + query.Encode())
	case "cancel_order_by_id":
		return s.generated(tool, http.MethodDelete, "/v2/orders/"+text("order_id"), nil)
	case "replace_order_by_id":
		id := text("order_id")
		delete(args, "order_id")
		return s.generated(tool, http.MethodPatch, "/v2/orders/"+id, args)
	case "place_stock_order":
		return s.place(args)
	}
	return `{"content":[{"type":"text","text":"done"}],"isError":false}`
}

func (s *standin) send(method, path string, body any) (status int, raw []byte, err error) {
	b, _ := json.Marshal(body)
	var r *http.Request
	if body == nil {
		b = nil
	}
	if r, err = http.NewRequest(method, s.url+path, bytes.NewReader(b)); err != nil {
		return 0, nil, err
	}
	r.Header.Set("APCA-API-KEY-ID", s.key)
	r.Header.Set("APCA-API-SECRET-KEY", s.secret)
	client := http.Client{Timeout: 2 * time.Second}
	a, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	raw, err = io.ReadAll(a.Body)
	return a.StatusCode, raw, err
}

func wrapped(data string) string {
	inner := `{"_alpaca_mcp_security":{"trust":"untrusted_tool_output"},"data":` + data + `}`
	q, _ := json.Marshal(inner)
	return `{"_meta":{"_alpaca_wrapped":true},"content":[{"type":"text","text":` + string(q) + `}],"structuredContent":` + inner + `,"isError":false}`
}

func toolError(tool, text string) string {
	q, _ := json.Marshal("Error calling tool '" + tool + "': " + text)
	return `{"content":[{"type":"text","text":` + string(q) + `}],"isError":true}`
}

// generated is a tool made from the service's description.
func (s *standin) generated(tool, method, path string, body any) string {
	status, raw, err := s.send(method, path, body)
	switch {
	case err != nil:
		return toolError(tool, "Request error")
	case status >= 400:
		var e struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &e) != nil {
			return toolError(tool, fmt.Sprintf("HTTP error %d: %s - %s", status, http.StatusText(status), raw))
		}
		return toolError(tool, fmt.Sprintf("HTTP error %d: %s - {'code': %d, 'message': '%s'}", status, http.StatusText(status), e.Code, e.Message))
	case !json.Valid(raw):
		q, _ := json.Marshal(string(raw))
		return wrapped(`{"text":` + string(q) + `}`)
	case raw[0] == '[':
		return wrapped(`{"result":` + string(raw) + `}`)
	}
	return wrapped(string(raw))
}

func (s *standin) place(args map[string]any) string {
	for k, v := range args {
		if v == nil {
			delete(args, k)
		}
	}
	status, raw, err := s.send(http.MethodPost, "/v2/orders", args)
	switch {
	case err != nil && strings.Contains(err.Error(), "Timeout"):
		return wrapped(`{"error":{"message":"Request was sent but timed out","timeout":true}}`)
	case err != nil, status < 400 && !json.Valid(raw):
		return toolError("place_stock_order", "the connection ended")
	case status >= 400 && !json.Valid(raw):
		return wrapped(fmt.Sprintf(`{"error":{"message":"API rejected the order","http_status":%d,"detail":{"raw":"page"}}}`, status))
	case status >= 400:
		return wrapped(fmt.Sprintf(`{"error":{"message":"API rejected the order","http_status":%d,"detail":%s}}`, status, raw))
	}
	return wrapped(string(raw))
}

// proxyWorld is a fake broker, the stand-in, the proxy as the command makes it, and agents.
type proxyWorld struct {
	t      *testing.T
	fake   *fakealpaca.Broker
	web    *httptest.Server
	folder string
	flags  proxyFlags
	d      *proxied
	errs   *bytes.Buffer
	tools  []string
	before func(tool string) bool
	after  func(tool string, id json.RawMessage, line string) ([]string, bool)
}

var proxyAt = time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)

func newProxyWorld(t *testing.T) *proxyWorld {
	t.Helper()
	ahead := time.Until(proxyAt)
	fake, err := fakealpaca.New(fakealpaca.Options{AlwaysOpen: true, RateMax: 100_000, Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		t.Fatal(err)
	}
	w := &proxyWorld{t: t, fake: fake, folder: t.TempDir(), flags: proxyFlags{profile: "alpaca-v2", clock: clockBroker}, tools: alpacaTools()}
	w.web = httptest.NewServer(fake.Handler())
	t.Cleanup(func() { w.stop(); w.web.Close(); fake.Close() })
	return w
}

// open makes what the command makes.
func (w *proxyWorld) open() *proxied {
	w.t.Helper()
	p, err := loadProfile(w.flags.profile)
	if err != nil {
		w.t.Fatal(err)
	}
	w.errs = &bytes.Buffer{}
	a := &app{in: strings.NewReader(""), out: newPrinter(io.Discard, nil), errs: newPrinter(w.errs, nil)}
	a.flags.data, a.flags.limits = filepath.Join(w.folder, "data"), filepath.Join(w.folder, "limits.yaml")
	d, err := a.openProxied(w.t.Context(), &w.flags, p, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	w.d = d
	return d
}

func (w *proxyWorld) stop() {
	if w.d != nil {
		if err := w.d.close(context.Background()); err != nil {
			w.t.Error(err)
		}
		w.d = nil
	}
}

// agent is one agent's session.
type agent struct {
	t       *testing.T
	in      io.WriteCloser
	out     *bufio.Reader
	n       int
	ended   chan error
	standin *standin
	heard   []string // messages that answered nothing
}

// connect starts a session without a handshake.
func (w *proxyWorld) connect() *agent {
	w.t.Helper()
	if w.d == nil {
		w.open()
	}
	agentIn, toProxy := io.Pipe()
	fromProxy, agentOut := io.Pipe()
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	key, secret := w.fake.Keys()
	s := &standin{
		url: w.web.URL, key: key, secret: secret, in: serverIn, out: serverOut, tools: w.tools, calls: map[string]int{},
		before: w.before, after: w.after,
	}
	go s.run()
	a := &agent{t: w.t, in: toProxy, out: bufio.NewReaderSize(fromProxy, 1<<20), ended: make(chan error, 1), standin: s}
	door := w.d.door()
	go func() {
		a.ended <- door.Serve(w.d.ended,
			mcpproxy.Lines(agentIn, agentOut, func() error { return agentOut.Close() }),
			mcpproxy.Lines(fromServer, toServer, func() error { return errors.Join(toServer.Close(), fromServer.Close()) }), "")
	}()
	w.t.Cleanup(func() { a.leave() })
	return a
}

// begin connects and shakes hands.
func (w *proxyWorld) begin() *agent {
	a := w.connect()
	a.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}`)
	a.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a *agent) leave() { _ = a.in.Close() }

func (a *agent) say(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// read returns the next message; empty at the end.
func (a *agent) read() string {
	line, err := a.out.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

// ask sends a call and returns the whole answer's line.
func (a *agent) ask(method, params string) string {
	a.t.Helper()
	a.n++
	id := fmt.Sprintf(`"a-%d"`, a.n)
	a.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return a.answer(id)
}

func (a *agent) answer(id string) string {
	for {
		line := a.read()
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if line == "" || json.Unmarshal([]byte(line), &m) == nil && m.Method == "" && string(m.ID) == id {
			return line
		}
		a.heard = append(a.heard, line)
	}
}

func (a *agent) call(tool, arguments string) toolAnswer {
	a.t.Helper()
	return parseAnswer(a.ask("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`))
}

// toolAnswer is a tool's answer as a test looks at it.
type toolAnswer struct {
	line     string
	isError  bool
	text     string
	verdict  string
	outcome  string
	rail     string // of the first finding
	clientID string
	brokerID string
}

func parseAnswer(line string) toolAnswer {
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Structured struct {
				Data struct {
					ID string `json:"id"`
				} `json:"data"`
			} `json:"structuredContent"`
			IsError bool `json:"isError"`
			Meta    map[string]json.RawMessage
		} `json:"result"`
	}
	var meta struct {
		Result struct {
			Meta struct {
				D struct {
					Verdict       string `json:"verdict"`
					Result        string `json:"result"`
					ClientOrderID string `json:"client_order_id"`
					Findings      []struct {
						Rail string `json:"rail"`
					} `json:"findings"`
				} `json:"broker-rails/decision"`
			} `json:"_meta"`
		} `json:"result"`
	}
	_ = json.Unmarshal([]byte(line), &m)    // a test looks at what is missing
	_ = json.Unmarshal([]byte(line), &meta) // the same
	d := meta.Result.Meta.D
	out := toolAnswer{line: line, isError: m.Result.IsError, verdict: d.Verdict, outcome: d.Result, clientID: d.ClientOrderID, brokerID: m.Result.Structured.Data.ID}
	if len(m.Result.Content) > 0 {
		out.text = m.Result.Content[0].Text
	}
	if len(d.Findings) > 0 {
		out.rail = d.Findings[0].Rail
	}
	return out
}

const buyTwo = `{"symbol":"AAPL","side":"buy","qty":"2","type":"limit","limit_price":"200.10","time_in_force":"day"}`

// resting is an order that does not trade.
func resting(symbol, price string) string {
	return `{"symbol":"` + symbol + `","side":"buy","qty":"1","type":"limit","limit_price":"` + price + `"}`
}

// entries are the journal's entries of a kind.
func entries[T any](w *proxyWorld, kind journal.Kind) (out []T) {
	w.t.Helper()
	err := w.d.deck.store.Read(w.t.Context(), w.d.account, 0, func(s gate.Stored) error {
		e, err := journal.Envelope(s.Bytes)
		if err != nil || e.Kind != kind {
			return err
		}
		body, err := journal.DecodeBody[T](&e)
		out = append(out, body)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func refusalCodes(w *proxyWorld) (codes []string) {
	for _, r := range entries[journal.Refusal](w, journal.KindRefusal) {
		codes = append(codes, r.Code)
	}
	return codes
}

// ordersAt are the fake's orders.
func (w *proxyWorld) ordersAt() []fakealpaca.Order { return w.fake.Ledger().Orders }
