package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking are the tools that ask the client while their call is open.
func asking() []fixture {
	return []fixture{
		{name: "test_sampling", about: "has the client's model complete a prompt", body: samples, schema: requires("prompt")},
		{name: "test_elicitation", about: "asks the client's person for a name", schema: requires("message"), body: elicits(nameForm("username"))},
		{name: "test_elicitation_sep1034_defaults", about: "asks with a default for each kind of value", body: elicits(defaultsForm)},
		{name: "test_elicitation_sep1330_enums", about: "asks with each kind of choice", body: elicits(choicesForm)},
	}
}

func requires(field string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q]}`, field)
}

// argument returns a text argument; empty if it is not there.
func argument(req *mcp.CallToolRequest, name string) string {
	var all map[string]any
	if err := json.Unmarshal(req.Params.Arguments, &all); err != nil {
		return ""
	}
	text, _ := all[name].(string)
	return text
}

func prompt(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		MaxTokens: 100,
	}
}

func samples(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	//lint:ignore SA1019 the suite still asks for what older protocol versions have
	got, err := req.Session.CreateMessage(ctx, prompt(argument(req, "prompt")))
	if err != nil {
		return nil, err
	}
	text, _ := got.Content.(*mcp.TextContent)
	if text == nil {
		text = &mcp.TextContent{Text: "not a text"}
	}
	return texts("The model said: " + text.Text), nil
}

func elicits(form string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		message := argument(req, "message")
		if message == "" {
			message = "Please fill in"
		}
		got, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(form)})
		if err != nil {
			return nil, err
		}
		return texts(fmt.Sprintf("action=%s, content=%v", got.Action, got.Content)), nil
	}
}

func nameForm(field string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q]}`, field)
}

// The forms of SEP-1034 and SEP-1330; names, values and titles are the suite's.
const (
	defaultsForm = `{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},
		"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","default":true}}}`
	choicesForm = `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]}}}}`
)
