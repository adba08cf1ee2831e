package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// desk is a whole installation in memory: gate, journal, paper broker and server.
type desk struct {
	t      testing.TB
	clock  *clock.Virtual
	quotes *quotes.Scripted
	store  *frail
	broker *watched
	gate   *gate.Gate
	server *Server
	bodies sync.Map // runs of a tool's body, by its name
}

// watched counts what reaches the broker, and can make it slow or faulty.
type watched struct {
	*paper.Broker
	sends  atomic.Int64
	during func() // runs in Send, before the broker takes the message
}

func (w *watched) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	w.sends.Add(1)
	if w.during != nil {
		w.during()
	}
	return w.Broker.Send(ctx, s)
}

// frail is a store that can be made to fail.
type frail struct {
	*memory.Store
	failing atomic.Bool
}

func (f *frail) Append(ctx context.Context, b *gate.Batch) error {
	if f.failing.Load() {
		return io.ErrShortWrite
	}
	return f.Store.Append(ctx, b)
}

// option changes how a desk is set up.
type option struct {
	limits func(string) string
	config func(*Config)
	wrap   func(name string, body mcp.ToolHandler) mcp.ToolHandler
}

func newDesk(t testing.TB, options ...option) *desk {
	t.Helper()
	d := &desk{t: t, clock: clock.NewVirtual(clock.PracticeStart()), store: &frail{Store: memory.New()}}
	calendar := market.XNYS()
	d.quotes = quotes.NewScripted(calendar)
	d.tell("AAPL", "199.98", "200.02")
	d.tell("MSFT", "199.98", "200.02")
	broker, err := paper.OpenMemory(
		paper.Start{Seed: 1, Cash: paper.StartingCash(), Wall: d.clock.Now(), Market: d.clock.Now()},
		paper.Options{Clock: d.clock, Quotes: d.quotes, Calendar: calendar})
	check(t, err)
	d.broker = &watched{Broker: broker}
	cfg := gate.Config{
		Account: "paper", Store: d.store, Broker: d.broker, Quotes: d.quotes, Clock: d.clock, Calendar: calendar,
		Paper: true, AtomicReplace: true, Version: "test", Log: testLog(t),
	}
	ctx := context.Background()
	check(t, gate.Create(ctx, cfg, journal.Genesis{
		Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "test",
	}))
	d.gate, err = gate.Open(ctx, cfg)
	check(t, err)
	document := string(limits.Template("paper"))
	server := Config{Gate: d.gate, Quotes: d.quotes, Journal: d, Name: "rails", Version: "test", Agent: "tester", Log: testLog(t)}
	wrap := d.counting
	for _, o := range options {
		if o.limits != nil {
			document = o.limits(document)
		}
		if o.config != nil {
			o.config(&server)
		}
		if o.wrap != nil {
			outer, inner := o.wrap, wrap
			wrap = func(name string, body mcp.ToolHandler) mcp.ToolHandler { return inner(name, outer(name, body)) }
		}
	}
	_, err = d.gate.LoadLimits(ctx, "limits.yaml", []byte(document), "test")
	check(t, err)
	check(t, d.gate.Start(ctx))
	d.server = build(server, wrap)
	return d
}

// counting notes each run of a tool's body.
func (d *desk) counting(name string, body mcp.ToolHandler) mcp.ToolHandler {
	runs := new(atomic.Int64)
	d.bodies.Store(name, runs)
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		runs.Add(1)
		return body(ctx, req)
	}
}

func (d *desk) bodyRuns(name string) int64 {
	runs, ok := d.bodies.Load(name)
	if !ok {
		d.t.Fatalf("no tool %s", name)
	}
	return runs.(*atomic.Int64).Load()
}

func (d *desk) tell(symbol, bid, ask string) {
	d.quotes.Tell(market.Quote{
		Symbol: symbol, Bid: money.MustPrice(bid), Ask: money.MustPrice(ask), Last: money.MustPrice(bid),
		HasBid: true, HasAsk: true, HasLast: true,
	}, d.clock.Now(), time.Second)
}

// pass lets time run, with quotes that keep up.
func (d *desk) pass(by time.Duration) {
	d.clock.Advance(by)
	d.tell("AAPL", "199.98", "200.02")
	d.tell("MSFT", "199.98", "200.02")
}

// entries returns the account's entries of one kind, oldest first.
func (d *desk) entries(kind journal.Kind) (out []journal.Entry) {
	d.t.Helper()
	check(d.t, d.store.Read(context.Background(), "paper", 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err == nil && e.Kind == kind {
			out = append(out, e)
		}
		return err
	}))
	return out
}

func (d *desk) refusals() (out []journal.Refusal) {
	d.t.Helper()
	for _, e := range d.entries(journal.KindRefusal) {
		body, err := journal.DecodeBody[journal.Refusal](&e)
		check(d.t, err)
		out = append(out, body)
	}
	return out
}

// Decisions implements Journal.
func (d *desk) Decisions(ctx context.Context, n int) (out []journal.Entry, err error) {
	err = d.store.Read(ctx, "paper", 0, func(s gate.Stored) error {
		e, err := journal.Decode(s.Bytes)
		if err == nil && (e.Kind == journal.KindDecision || e.Kind == journal.KindRefusal) {
			out = append(out, e)
		}
		return err
	})
	slices.Reverse(out)
	return out[:min(n, len(out))], err
}

// filled is how many executions the broker's own ledger holds.
func (d *desk) filled() int {
	d.t.Helper()
	x, err := d.broker.Ledger().Executions(context.Background())
	check(d.t, err)
	return len(x)
}

// line is a session over streams, with a client that is only bytes.
type line struct {
	t    testing.TB
	in   *io.PipeWriter
	out  chan map[string]any
	done chan error
}

func (d *desk) stdio() *line {
	d.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	l := &line{t: d.t, in: inW, out: make(chan map[string]any, 64), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		l.done <- d.server.ServeStdio(ctx, inR, outW)
		_ = outW.Close()
	}()
	go func() {
		defer close(l.out)
		r := bufio.NewReader(outR)
		for {
			b, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				m = map[string]any{"unreadable": string(b)}
			}
			l.out <- m
		}
	}()
	d.t.Cleanup(func() {
		_ = inW.Close()
		select {
		case <-l.done:
		case <-time.After(10 * time.Second):
			d.t.Error("the session did not end with its input")
		}
		cancel()
	})
	return l
}

func (l *line) send(raw string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, raw+"\n"); err != nil {
		l.t.Fatalf("writing: %v", err)
	}
}

func (l *line) receive() map[string]any {
	l.t.Helper()
	select {
	case m, ok := <-l.out:
		if !ok {
			l.t.Fatal("the session ended")
		}
		return m
	case <-time.After(10 * time.Second):
		l.t.Fatal("no answer")
	}
	return nil
}

func (l *line) silent() {
	l.t.Helper()
	select {
	case m := <-l.out:
		l.t.Fatalf("an answer where there is none: %v", m)
	case <-time.After(30 * time.Millisecond):
	}
}

func (l *line) handshake() *line {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if m := l.receive(); m["result"] == nil {
		l.t.Fatalf("handshake: %v", m)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return l
}

// call sends one tool call and returns its answer.
func (l *line) call(id, tool, arguments string) answer {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
	return read(l.t, l.receive())
}

// answer is a JSON-RPC answer, as far as tests look at it.
type answer struct {
	ID    any
	Error int // code; 0: none
	Text  string
	Bad   bool // isError
	Meta  map[string]any
	Shown map[string]any
	raw   string
}

func read(t testing.TB, m map[string]any) (a answer) {
	t.Helper()
	b, _ := json.Marshal(m)
	a.raw, a.ID = string(b), m["id"]
	if e, ok := m["error"].(map[string]any); ok {
		a.Error = int(e["code"].(float64))
		a.Text, _ = e["message"].(string)
		return a
	}
	r, ok := m["result"].(map[string]any)
	if !ok {
		t.Fatalf("neither result nor error: %v", m)
	}
	a.Bad, _ = r["isError"].(bool)
	a.Shown, _ = r["structuredContent"].(map[string]any)
	if meta, ok := r["_meta"].(map[string]any); ok {
		a.Meta, _ = meta[metaDecision].(map[string]any)
	}
	if content, ok := r["content"].([]any); ok && len(content) > 0 {
		a.Text, _ = content[0].(map[string]any)["text"].(string)
	}
	return a
}

func (a answer) firstLine() string { first, _, _ := strings.Cut(a.Text, "\n"); return first }

// Arguments of orders that tests start from.
const (
	goodOrder = `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.02","time_in_force":"day"}`
	restOrder = `{"symbol":"MSFT","side":"buy","order_type":"limit","quantity":"10","limit_price":"199.00","time_in_force":"day"}`
	hugeOrder = `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"99999","limit_price":"200.02","time_in_force":"day"}`
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testLog sends the diagnostic log to the test's own.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}
