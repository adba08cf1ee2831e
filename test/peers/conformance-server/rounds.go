package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rounds are the tools of SEP-2322: they answer with what they need, and are called
// again with it. Rails' own tools refuse such calls, since they never ask.
func rounds() []fixture {
	const about = "asks for input in its answer: "
	name, greeting, roots := map[string]question{"user_name": askName}, map[string]question{"greeting": askModel}, map[string]question{"client_roots": askRoots}
	return []fixture{
		{name: "test_input_required_result_elicitation", about: about + "a name", body: round(name, "")},
		{name: "test_input_required_result_sampling", about: about + "a completion", body: round(map[string]question{"capital_question": askModel}, "")},
		{name: "test_input_required_result_list_roots", about: about + "the roots", body: round(roots, "")},
		{name: "test_input_required_result_multiple_inputs", about: about + "three things", body: round(join(name, greeting, roots), seal("inputs"))},
		{name: "test_input_required_result_request_state", about: about + "a confirmation, with a state", body: sealedRound},
		{name: "test_input_required_result_tampered_state", about: about + "a confirmation, with a state that must come back", body: sealedRound},
		{name: "test_input_required_result_multi_round", about: about + "a name, then a color", body: twoRounds},
		{name: "test_input_required_result_capabilities", about: about + "what the client can give", body: whatClientCan},
	}
}

// question is one thing to ask of the client.
type question func() mcp.InputRequest

func form(field, kind string) mcp.InputRequest {
	return &mcp.ElicitParams{
		Message: "Please fill in",
		RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"` + field + `":{"type":"` + kind + `"}},"required":["` + field + `"]}`),
	}
}

func askName() mcp.InputRequest  { return form("name", "string") }
func askModel() mcp.InputRequest { return prompt("What is the capital of France?") }
func askRoots() mcp.InputRequest { return &mcp.ListRootsParams{} }

func join(all ...map[string]question) map[string]question {
	out := map[string]question{}
	for _, one := range all {
		for key, q := range one {
			out[key] = q
		}
	}
	return out
}

// given reports whether a response is there and says yes.
func given(r mcp.InputResponse) bool {
	switch r := r.(type) {
	case nil:
		return false
	case *mcp.ElicitResult:
		if r == nil || r.Action != "accept" {
			return false
		}
		for _, v := range r.Content {
			if v == "" || v == nil {
				return false
			}
		}
		return len(r.Content) > 0
	}
	return true
}

func asks(questions map[string]question, state string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}, RequestState: state}
	for key, q := range questions {
		r.InputRequests[key] = q()
	}
	return r
}

// round asks, with a state if there is one, until every question has its answer.
func round(questions map[string]question, state string) mcp.ToolHandler {
	return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for key := range questions {
			if !given(req.Params.InputResponses[key]) {
				return asks(questions, state), nil
			}
		}
		return texts("complete"), nil
	}
}

// stateKey seals states against change; a new one for each process would do as well.
const stateKey = "conformance"

func seal(state string) string {
	m := hmac.New(sha256.New, []byte(stateKey))
	m.Write([]byte(state))
	return state + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// unseal returns a state that we sealed, and whether we did.
func unseal(sealed string) (string, bool) {
	at := strings.LastIndexByte(sealed, '.')
	if at < 0 || !hmac.Equal([]byte(seal(sealed[:at])), []byte(sealed)) {
		return "", false
	}
	return sealed[:at], true
}

func tampered() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not ours"}
}

func sealedRound(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answered := given(req.Params.InputResponses["confirm"])
	if sealed := req.Params.RequestState; sealed != "" || answered {
		if _, ours := unseal(sealed); !ours {
			return nil, tampered()
		}
		if answered {
			return texts("state-ok"), nil
		}
	}
	confirm := func() mcp.InputRequest { return form("ok", "boolean") }
	return asks(map[string]question{"confirm": confirm}, seal("confirm")), nil
}

func twoRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asks(map[string]question{"step1": askName}, seal("1")), nil
	}
	at, ours := unseal(req.Params.RequestState)
	switch {
	case !ours:
		return nil, tampered()
	case at == "1":
		color := func() mcp.InputRequest { return form("color", "string") }
		return asks(map[string]question{"step2": color}, seal("2")), nil
	}
	return texts("complete"), nil
}

func whatClientCan(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return texts("complete"), nil
	}
	questions := map[string]question{}
	if c := req.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			questions["user_name"] = askName
		}
		if c.Sampling != nil {
			questions["greeting"] = askModel
		}
		if c.RootsV2 != nil || c.Roots.ListChanged {
			questions["client_roots"] = askRoots
		}
	}
	if len(questions) == 0 {
		return texts("the client can give nothing"), nil
	}
	return asks(questions, ""), nil
}
