package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixture is one tool that the suite calls. Names, and what must come back, are the
// suite's.
type fixture struct {
	name, about string
	schema      string // of its input; empty: any object
	body        mcp.ToolHandler
}

const anyObject = `{"type":"object"}`

// addTools adds every fixture and returns their names.
func addTools(s *mcp.Server) []string {
	list := append(contents(), asking()...)
	list = append(list, rounds()...)
	list = append(list, changing(s)...)
	names := make([]string, 0, len(list)+1)
	for _, f := range list {
		if f.schema == "" {
			f.schema = anyObject
		}
		s.AddTool(&mcp.Tool{Name: f.name, Description: f.about, InputSchema: json.RawMessage(f.schema)}, f.body)
		names = append(names, f.name)
	}
	return append(names, passing)
}

func texts(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// answers is a tool that always answers the same.
func answers(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

// contents are the tools that answer with each kind of content, and those that report
// while they run.
func contents() []fixture {
	picture := &mcp.ImageContent{Data: pixel(), MIMEType: "image/png"}
	return []fixture{
		{name: "test_simple_text", about: "answers with text", body: answers(&mcp.TextContent{Text: "plain text"})},
		{name: "test_image_content", about: "answers with a picture", body: answers(picture)},
		{name: "test_audio_content", about: "answers with sound", body: answers(&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"})},
		{name: "test_embedded_resource", about: "answers with a resource", body: answers(embedded("test://embedded-resource"))},
		{
			name: "test_multiple_content_types", about: "answers with text, a picture and a resource",
			body: answers(&mcp.TextContent{Text: "three contents"}, picture, embedded("test://mixed-content-resource")),
		},
		{name: "test_error_handling", about: "fails", body: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := texts("this tool always fails")
			r.IsError = true
			return r, nil
		}},
		{name: "test_tool_with_logging", about: "logs while it runs", body: logging(3)},
		{name: "test_logging_tool", about: "logs, which only those who asked may see", body: logging(1)},
		{name: "test_tool_with_progress", about: "reports progress", body: progress},
		{name: "test_streaming_elicitation", about: "answers on a stream without asking", body: answers(&mcp.TextContent{Text: "nothing was asked"})},
		{name: "test_missing_capability", about: "needs sampling", body: needsSampling},
		{name: "test_reconnection", about: "closes its stream and answers on the next one", body: reconnects},
		{name: "json_schema_2020_12_tool", about: "has a schema with what draft 2020-12 brought", schema: schema2020, body: answers(&mcp.TextContent{Text: "called"})},
		{
			name: "test_x_mcp_header", about: "has an argument that a header repeats", body: answers(&mcp.TextContent{Text: "called"}),
			schema: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
		},
	}
}

// schema2020 uses each keyword that must come through a listing unchanged.
const schema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"}, "email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]},
	"additionalProperties": false
}`

// pause stands for the work between two reports.
const pause = 50 * time.Millisecond

func logging(times int) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range times {
			if i > 0 {
				time.Sleep(pause)
			}
			if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprintf("step %d", i+1)}); err != nil {
				return nil, err
			}
		}
		return texts("logged"), nil
	}
}

func progress(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
			return nil, err
		}
		time.Sleep(pause)
	}
	return texts(fmt.Sprint(token)), nil
}

func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return texts("the client samples"), nil
	}
	detail, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must be able to sample", Data: detail}
}

func reconnects(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: pause})
	}
	time.Sleep(2 * pause)
	return texts("answered after the stream was closed"), nil
}

// passing is the name of what the changing tools add and replace.
const passing = "passing_tool"

// changing are the tools that change what is listed, so that listeners are told.
func changing(s *mcp.Server) []fixture {
	return []fixture{
		{name: "test_trigger_tool_change", about: "changes the list of tools", body: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: passing, Description: "is there after a change", InputSchema: json.RawMessage(anyObject)}, answers())
			return texts("changed"), nil
		}},
		{name: "test_trigger_prompt_change", about: "changes the list of prompts", body: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "passing_prompt", Description: "is there after a change"}, says("", &mcp.TextContent{Text: "changed"}))
			return texts("changed"), nil
		}},
	}
}
