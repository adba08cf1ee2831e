package mcpserver

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// inMemory connects the SDK's own client.
func (d *desk) inMemory() *mcp.ClientSession {
	d.t.Helper()
	near, far := mcp.NewInMemoryTransports()
	_, err := d.server.Connect(d.t.Context(), far)
	check(d.t, err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(d.t.Context(), near,
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	check(d.t, err)
	d.t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestToolsAreDescribed: which tools there are, and that a host can tell what each may
// do. Schemas are closed and have no defaults: a host that filled one in would send an
// order that nobody asked for.
func TestToolsAreDescribed(t *testing.T) {
	d := newDesk(t, option{config: func(c *Config) { c.Headlines = []string{"x"} }})
	list, err := d.inMemory().ListTools(t.Context(), nil)
	check(t, err)
	writes := []string{normalize.PlaceOrder, normalize.ReplaceOrder, normalize.CancelOrder}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		b, err := json.Marshal(tool)
		check(t, err)
		text, a := string(b), tool.Annotations
		if tool.Title == "" || len(tool.Description) < 20 || a == nil || tool.OutputSchema == nil {
			t.Errorf("%s is not described: %s", tool.Name, text)
		}
		write := slices.Contains(writes, tool.Name)
		if a.ReadOnlyHint == write || *a.DestructiveHint != write || a.OpenWorldHint == nil {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if strings.Contains(text, `"default"`) {
			t.Errorf("%s has a default", tool.Name)
		}
		input := tool.InputSchema.(map[string]any)
		if input["additionalProperties"] != false || input["type"] != "object" {
			t.Errorf("%s: the input is open", tool.Name)
		}
		properties, _ := input["properties"].(map[string]any)
		for name, p := range properties {
			if p.(map[string]any)["description"] == nil {
				t.Errorf("%s: %s is not described", tool.Name, name)
			}
		}
		if fields := normalize.Fields(tool.Name); fields != nil && len(fields) != len(properties) {
			t.Errorf("%s: the schema has %d arguments, normalize reads %v", tool.Name, len(properties), fields)
		}
	}
	slices.Sort(names)
	want := "cancel_order check_order get_account get_limits get_orders get_positions get_quote market_context place_order recent_decisions replace_order"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tools %s\nwant  %s", got, want)
	}
}

// TestAnswersFitTheirSchemas: clients that validate structured content take ours.
func TestAnswersFitTheirSchemas(t *testing.T) {
	d := newDesk(t, option{config: func(c *Config) { c.Headlines = []string{"x"} }})
	session := d.inMemory()
	list, err := session.ListTools(t.Context(), nil)
	check(t, err)
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		b, err := json.Marshal(tool.OutputSchema)
		check(t, err)
		var s jsonschema.Schema
		check(t, json.Unmarshal(b, &s))
		schemas[tool.Name], err = s.Resolve(nil)
		check(t, err)
	}
	ask := func(tool, arguments string) map[string]any {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		check(t, err)
		if r.IsError {
			t.Fatalf("%s %s: %s", tool, arguments, r.Content[0].(*mcp.TextContent).Text)
		}
		if err := schemas[tool].Validate(r.StructuredContent); err != nil {
			b, _ := json.Marshal(r.StructuredContent)
			t.Errorf("%s: %v\n%s", tool, err, b)
		}
		return r.StructuredContent.(map[string]any)
	}
	ask("place_order", goodOrder)
	id, _ := ask("place_order", strings.Replace(restOrder, "{", `{"client_order_id":"c-1","note":"n",`, 1))["order_id"].(string)
	ask("get_orders", `{}`)
	ask("get_orders", `{"status":"working"}`)
	ask("check_order", hugeOrder)
	ask("get_positions", `{}`)
	ask("get_account", `{}`)
	ask("get_quote", `{"symbol":"AAPL"}`)
	ask("get_quote", `{"symbol":"NONE"}`)
	ask("get_limits", `{}`)
	ask("market_context", `{}`)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(hugeOrder)})
	check(t, err)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(`{}`)})
	check(t, err)
	ask("replace_order", `{"order_id":"`+id+`","quantity":"4"}`)
	ask("cancel_order", `{"order_id":"`+id+`"}`)
	ask("get_orders", `{"order_id":"`+id+`"}`)
	decisions := ask("recent_decisions", `{"limit":100}`)
	if n := len(decisions["decisions"].([]any)); n != 6 {
		t.Errorf("%d decisions", n)
	}
	if b, _ := json.Marshal(decisions); strings.Contains(string(b), `"note"`) {
		t.Error("a caller's note is shown to another")
	}
}

// TestNoOtherDoorToABroker: this package knows neither brokers nor stores.
func TestNoOtherDoorToABroker(t *testing.T) {
	files, err := os.ReadDir(".")
	check(t, err)
	looked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		looked++
		b, err := os.ReadFile(f.Name())
		check(t, err)
		if m := regexp.MustCompile(`internal/(broker|store)/|\.Send\(`).Find(b); m != nil {
			t.Errorf("%s: %s", f.Name(), m)
		}
	}
	if looked < 5 {
		t.Fatalf("%d files", looked)
	}
}

// TestShownUseIsWhatTheRailsCompare: an agent that counts on its headroom is not denied
// by a figure that it was not shown. Exits count in the day's orders.
func TestShownUseIsWhatTheRailsCompare(t *testing.T) {
	d := newDesk(t)
	session := d.inMemory()
	place := func(side, price string) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(
			`{"symbol":"AAPL","side":"` + side + `","order_type":"limit","quantity":"10","limit_price":"` + price + `","time_in_force":"day"}`)})
		check(t, err)
		if r.IsError {
			t.Fatal(r.Content[0].(*mcp.TextContent).Text)
		}
	}
	place("buy", "200.10")
	place("sell", "199.90")
	var used string
	check(t, d.gate.View(t.Context(), func(v gate.View) {
		for _, w := range windowsOf(&v) {
			if w.Rail == string(rail.MaxOrdersPerDay) {
				used = w.Used
			}
		}
		if day := v.State.DayAt(v.Now); day.Orders != 1 || day.ExitOrders != 1 {
			t.Errorf("the fold counts %d and %d", day.Orders, day.ExitOrders)
		}
	}))
	if used != "2" {
		t.Errorf("shown as used: %q, want 2", used)
	}
}
