package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

// call is one tool call on its way to its tool's body, in the call's context.
type call struct {
	id, agent, tool string
	digest          string // SHA-256 of the raw call
	bytes           int
	query           normalize.Query // of a reading tool
	order           gate.Call       // of a writing tool, and of check_order
	judged          *gate.Judgement // of a writing tool: allowed, with its permit
	sending         atomic.Bool     // the permit was handed to the gate: whatever happens now, it may be sent
}

type callKey struct{}

func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// recovering is the outermost layer: a panic below it refuses the call, is recorded,
// and the server goes on. The SDK itself would let it end the process.
func (s *Server) recovering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		c := &call{id: s.nextCall(), agent: s.principal(ctx, req)}
		defer func() {
			if p := recover(); p != nil {
				result, err = s.panicked(ctx, method, c, p)
			}
		}()
		return next(context.WithValue(ctx, callKey{}, c), method, req)
	}
}

func (s *Server) panicked(ctx context.Context, method string, c *call, p any) (mcp.Result, error) {
	s.log.Error("panic while serving a call", "method", method, "call", c.id, "panic", p, "stack", string(debug.Stack()))
	id, recorded := s.record(ctx, c, journal.Refusal{
		Code: gate.CodeInternalFault, Text: "a fault inside the server", Message: true, Tool: boundName(c.tool),
	})
	switch {
	case method != wire.MethodCallTool:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal fault"}
	case c.sending.Load():
		return inDoubt(c.judged.OrderID, c.judged.ID), nil
	case recorded != nil:
		return faultResult(gate.CodeJournalUnavailable, ""), nil
	}
	return faultResult(gate.CodeInternalFault, id), nil
}

// admitting lets a tool call through to its body only when it is sound, and when it
// writes only with a permit of the gate.
func (s *Server) admitting(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != wire.MethodCallTool {
			return next(ctx, method, req)
		}
		c := callFrom(ctx)
		s.seen(req)
		p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || p == nil {
			return s.malformed(ctx, c, "params are missing")
		}
		c.tool, c.digest, c.bytes = p.Name, digest(p.Name, p.Arguments), len(p.Arguments)
		t := s.tools[p.Name]
		switch {
		case t.reach == none && s.cfg.Fixtures.has(p.Name):
			return next(ctx, method, req)
		case t.reach == none:
			return s.protocolError(ctx, c, string(normalize.UnknownTool), "unknown tool")
		case p.RequestState != "" || len(p.InputResponses) > 0:
			// We never ask for input: an answer to a question that was not put is not ours.
			return s.malformed(ctx, c, "the call answers a question that was not asked")
		case !shapedRight(p.Arguments):
			return s.malformed(ctx, c, "arguments are not a JSON object")
		}
		if refused := s.readArguments(ctx, c, t.reach, p.Arguments); refused != nil {
			return refused, nil
		}
		if t.reach == writes {
			if refused := s.judge(ctx, c); refused != nil {
				return refused, nil
			}
		}
		return next(ctx, method, req)
	}
}

// seen tells the HTTP tap that a call came this far: what becomes of it is recorded
// here.
func (s *Server) seen(req mcp.Request) {
	if extra := req.GetExtra(); extra != nil && extra.Header != nil {
		s.expected.Delete(extra.Header.Get(headerCall))
	}
}

// shapedRight reports whether arguments are an object, absent, or null. The last two
// are refused by what the tool needs, as a result that the model sees.
func shapedRight(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) == 0 || raw[0] == '{' || string(bytes.TrimRight(raw, " \t\r\n")) == "null"
}

// readArguments normalizes the arguments, or says why they are refused.
func (s *Server) readArguments(ctx context.Context, c *call, r reach, raw []byte) *mcp.CallToolResult {
	var refusal *normalize.Refusal
	if r == reads {
		c.query, refusal = normalize.Ask(c.tool, raw)
	} else {
		var n normalize.Normalized
		n, refusal = normalize.Call(c.tool, raw)
		n.Intent.Account = s.cfg.Gate.Account()
		c.order = gate.Call{
			Intent: n.Intent, Door: door, Agent: c.agent, CallID: c.id, RawDigest: c.digest, Note: n.Note,
		}
	}
	if refusal == nil {
		return nil
	}
	sentence := refusal.Problem
	if refusal.Field != "" {
		sentence = refusal.Field + " " + refusal.Problem
	}
	id, err := s.record(ctx, c, journal.Refusal{
		Code: string(refusal.Code), Text: sentence, Denial: true, Message: true, Tool: boundName(c.tool),
	})
	if err != nil {
		return faultResult(gate.CodeJournalUnavailable, "")
	}
	return integrityResult(string(refusal.Code), sentence, id)
}

// judge has the gate decide. Nil means that the call holds a permit. A caller that has
// given up before is not judged; one that gives up later is not heard: what was decided
// is carried out and recorded.
func (s *Server) judge(ctx context.Context, c *call) *mcp.CallToolResult {
	if ctx.Err() != nil {
		id, err := s.record(ctx, c, journal.Refusal{
			Code: codeCanceled, Text: "canceled before it was judged", Message: true, Tool: boundName(c.tool),
		})
		if err != nil {
			return faultResult(gate.CodeJournalUnavailable, "")
		}
		return faultResult(codeCanceled, id)
	}
	j := s.cfg.Gate.Decide(context.WithoutCancel(ctx), c.order)
	c.judged = &j
	switch {
	case j.Fault != "":
		return faultResult(j.Fault, j.ID)
	case j.Replayed != nil:
		return s.replayed(&j)
	case !j.Allowed():
		return refusedResult(&j)
	}
	return nil
}

// malformed refuses a call whose params have the wrong shape.
func (s *Server) malformed(ctx context.Context, c *call, problem string) (mcp.Result, error) {
	return s.protocolError(ctx, c, string(normalize.MalformedCall), problem)
}

func (s *Server) protocolError(ctx context.Context, c *call, code, problem string) (mcp.Result, error) {
	id, err := s.record(ctx, c, journal.Refusal{Code: code, Text: problem, Denial: true, Message: true, Tool: boundName(c.tool)})
	if err != nil {
		return faultResult(gate.CodeJournalUnavailable, ""), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: problem, Data: protocolData(code, problem, id)}
}

// record journals a refusal of a call, whether or not its caller is still there. id is
// the entry's, empty when the refusal was only counted.
func (s *Server) record(ctx context.Context, c *call, r journal.Refusal) (id string, err error) {
	r.Agent, r.CallID, r.Door, r.Count = c.agent, c.id, door, 1
	r.RawDigest, r.RawBytes = c.digest, c.bytes
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	id, err = s.cfg.Gate.Refuse(ctx, r)
	if err != nil {
		s.log.Error("refusal not recorded", "code", r.Code, "call", c.id, "error", err)
	}
	return id, err
}

// violated journals a message that the wire tap refused.
func (s *Server) violated(ctx context.Context, v *wire.Violation, agent string) {
	sum := sha256.Sum256(v.Raw)
	c := &call{id: s.nextCall(), agent: agent, digest: hex.EncodeToString(sum[:]), bytes: v.Bytes}
	tool := v.Tool
	if tool == "" {
		tool = v.Method
	}
	// An error is in the diagnostic log; the message is refused in any case.
	_, _ = s.record(ctx, c, journal.Refusal{
		Code: string(normalize.MalformedCall), Text: v.Problem, Denial: !v.Benign, Message: true, Tool: boundName(tool),
	})
}

// nameBytesMax bounds a caller's name for a tool or method in entries.
const nameBytesMax = 64

func boundName(name string) string { return journal.BoundText(name, nameBytesMax) }

// digest is the SHA-256, in hex, of the tool's name, a line feed and the arguments as
// they came.
func digest(name string, arguments []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", name)
	h.Write(arguments)
	return hex.EncodeToString(h.Sum(nil))
}

// principal is who calls: the token's, else the connection's, else the one that the server
// was told.
func (s *Server) principal(ctx context.Context, req mcp.Request) string {
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil && extra.TokenInfo.UserID != "" {
		return extra.TokenInfo.UserID
	}
	if agent, ok := ctx.Value(agentKey{}).(string); ok {
		return agent
	}
	return s.cfg.Agent
}
