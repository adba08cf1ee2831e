package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const watchedURI = "test://watched-resource"

// pixel is a picture of one red pixel, and silence a sound without samples.
func pixel() []byte {
	return decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
}

func silence() []byte {
	return decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
}

func decoded(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err) // a constant of this file
	}
	return b
}

func addResources(s *mcp.Server) {
	for _, r := range []struct{ name, uri, kind string }{
		{"static-text", "test://static-text", "text/plain"},
		{"static-binary", "test://static-binary", "image/png"},
		{"watched-resource", watchedURI, "text/plain"},
	} {
		s.AddResource(&mcp.Resource{Name: r.name, URI: r.uri, MIMEType: r.kind, Description: "for the suite"}, read(r.kind))
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json", Description: "for the suite",
	}, readTemplate)
}

func read(kind string) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: kind}
		if kind == "image/png" {
			c.Blob = pixel()
		} else {
			c.Text = "a text"
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
	}
}

func readTemplate(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: req.Params.URI, MIMEType: "application/json",
		Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id),
	}}}, nil
}

func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "for the suite"},
		says("a prompt", &mcp.TextContent{Text: "a simple prompt"}))
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_arguments", Description: "for the suite",
		Arguments: []*mcp.PromptArgument{
			{Name: "arg1", Description: "the first", Required: true}, {Name: "arg2", Description: "the second", Required: true},
		},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return said("with arguments", &mcp.TextContent{Text: "arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'"}), nil
	})
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "for the suite",
		Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Description: "what to embed", Required: true}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return said("with a resource", embedded(req.Params.Arguments["resourceUri"]), &mcp.TextContent{Text: "see above"}), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "for the suite"},
		says("with a picture", &mcp.ImageContent{Data: pixel(), MIMEType: "image/png"}, &mcp.TextContent{Text: "see above"}))
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "asks for input in its answer"}, askingPrompt)
}

func said(about string, content ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{Description: about}
	for _, c := range content {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return r
}

func says(about string, content ...mcp.Content) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return said(about, content...), nil
	}
}

func askingPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if given(req.Params.InputResponses["user_context"]) {
		return said("with what was given", &mcp.TextContent{Text: "thank you"}), nil
	}
	return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": form("context", "string")}}, nil
}
