package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// BenchmarkPlaceOrder compares place_order, on the memory store and the paper broker,
// with a tool that does nothing on the bare SDK: both over an in-memory session, turn
// and turn about in the same run. It reports the medians and their ratio.
func BenchmarkPlaceOrder(b *testing.B) {
	d := newDesk(b, option{limits: func(s string) string {
		for from, to := range map[string]string{
			"max_orders_per_minute: 10": "max_orders_per_minute: off", `max_notional_per_minute: "50000.00"`: "max_notional_per_minute: off",
			"max_messages_per_minute: 60": "max_messages_per_minute: off", "max_orders_per_day: 200": "max_orders_per_day: off",
			"duplicate_window: 10s": "duplicate_window: off", "max_position_qty: 500": "max_position_qty: off",
			`max_gross_exposure: "250000.00"`: "max_gross_exposure: off", "repeated_execution: {cycles: 50, window: 1h}": "repeated_execution: off",
		} {
			if !strings.Contains(s, from) {
				b.Fatalf("the shipped limits have no %q", from)
			}
			s = strings.Replace(s, from, to, 1)
		}
		return s
	}})
	ours := connect(b, d.server.mcp)
	theirs := connect(b, bare(&mcp.CallToolResult{}))
	var placed, nothing []time.Duration
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		side := []string{"buy", "sell"}[i%2]
		price := []string{"200.02", "199.98"}[i%2]
		i++
		if i%16 == 0 && i < 40_000 { // ten orders a second, until before the close
			d.pass(1600 * time.Millisecond)
		}
		arguments := fmt.Sprintf(`{"symbol":"AAPL","side":%q,"order_type":"limit","quantity":"1","limit_price":%q,"time_in_force":"day"}`, side, price)
		nothing = append(nothing, took(b, theirs, "noop", arguments))
		placed = append(placed, took(b, ours, "place_order", arguments))
	}
	compare(b, "place_p50_us", placed, nothing)
}

// BenchmarkAnswerAlone is the same comparison for a tool that does nothing on the bare SDK
// but answers what place_order does: the least that place_order could come to.
func BenchmarkAnswerAlone(b *testing.B) {
	s := connect(b, bare((&Server{}).accepted(&ordered{
		OrderID: "paper/12", Decision: "paper/12", Result: journal.ResultAccepted, Status: "filled", Quantity: "1", Filled: "1",
		BrokerOrderID: "paper-o1", ClientOrderID: journal.ClientOrderID("paper", 12, journal.Hash{1}),
	})))
	const arguments = `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"1","limit_price":"200.02","time_in_force":"day"}`
	var answered, nothing []time.Duration
	for b.Loop() {
		nothing = append(nothing, took(b, s, "noop", arguments))
		answered = append(answered, took(b, s, "answer", arguments))
	}
	compare(b, "answer_p50_us", answered, nothing)
}

// bare is a server of the SDK alone: noop does nothing, answer gives the same answer to all.
func bare(answer *mcp.CallToolResult) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	for name, r := range map[string]*mcp.CallToolResult{
		"noop": {Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, "answer": answer,
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "Does nothing.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, nil })
	}
	return s
}

func compare(b *testing.B, name string, all, nothing []time.Duration) {
	slices.Sort(all)
	slices.Sort(nothing)
	p, n := all[len(all)/2], nothing[len(nothing)/2]
	b.ReportMetric(float64(p.Microseconds()), name)
	b.ReportMetric(float64(n.Microseconds()), "noop_p50_us")
	b.ReportMetric(float64(p)/float64(n), "ratio")
}

func took(b *testing.B, s *mcp.ClientSession, tool, arguments string) time.Duration {
	b.Helper()
	from := time.Now()
	r, err := s.CallTool(b.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	took := time.Since(from)
	if err != nil || r.IsError {
		text, _ := json.Marshal(r)
		b.Fatalf("%v %s", err, text)
	}
	return took
}

func connect(b *testing.B, server *mcp.Server) *mcp.ClientSession {
	b.Helper()
	near, far := mcp.NewInMemoryTransports()
	_, err := server.Connect(b.Context(), far, nil)
	check(b, err)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil).Connect(b.Context(), near,
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	check(b, err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}
