package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// call is one tool call of the agent.
type call struct {
	id, agent, tool string
	digest          string // SHA-256 of the raw call
	bytes           int
}

// Codes of refusals that are this door's own.
const (
	codeQuarantined = "tool_quarantined" // its definition waits for an operator
	codeNotServed   = "upstream_not_served"
)

// recordWithin bounds the wait for a refusal's entry.
const recordWithin = 5 * time.Second

// callTool serves one call: it is passed on, judged or refused. It ends with an answer to
// the agent.
func (s *session) callTool(agentID, tool string, params []byte) {
	c := &call{id: s.nextCall(), agent: s.principal, tool: tool}
	defer s.judged(agentID)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic while serving a call", "call", c.id, "panic", p, "stack", string(debug.Stack()))
			id, _ := s.record(c, journal.Refusal{Code: gate.CodeInternalFault, Text: "a fault inside the proxy", Message: true})
			s.toAgent(response(agentID, faultAnswer(gate.CodeInternalFault, "A fault inside the proxy; the call may have been sent.", id)))
		}
	}()
	ms, err := members(params)
	if err != nil { // wire.Read has read them already
		panic("mcpproxy: params that were read are not an object")
	}
	arguments := find(ms, "arguments")
	c.digest, c.bytes = digest(tool, arguments), len(arguments)
	if !s.ready(agentID, c) {
		return
	}
	reading, refusal := s.cfg.Profile.Read(tool, arguments)
	switch why := s.quarantined(tool); {
	case refusal != nil:
		s.refuse(agentID, c, refusal)
	case why != "":
		s.refuse(agentID, c, &profile.Refusal{
			Reason: codeQuarantined, Problem: "the tool is closed: its definition is " + why + " and waits for the operator (rails profile approve)",
		})
	case reading.Class == profile.Read:
		s.judged(agentID)
		s.pass(agentID, wire.MethodCallTool, params)
	default:
		s.order(agentID, c, &reading)
	}
}

// ready waits until calls can be served, and lists the tools anew if they changed.
func (s *session) ready(agentID string, c *call) bool {
	select {
	case <-s.begun:
	case <-s.ctx.Done():
	}
	err := s.ctx.Err()
	if err == nil {
		ctx, cancel := context.WithTimeout(s.ctx, BeginWithin)
		defer cancel()
		if err = s.relist(ctx); err == nil {
			return true
		}
	}
	id, _ := s.record(c, journal.Refusal{Code: codeNotServed, Text: "the broker's server cannot be used", Message: true})
	s.toAgent(response(agentID, faultAnswer(codeNotServed, "The broker's server cannot be used; the operator can find out why in the diagnostic log. Nothing was sent.", id)))
	return false
}

// refuse records a call that never became an intent, and answers it.
func (s *session) refuse(agentID string, c *call, r *profile.Refusal) {
	sentence := r.Problem
	switch {
	case r.Field != "":
		sentence = r.Field + " " + r.Problem
	case r.Reason == profile.NotJudged, r.Reason == profile.StandingOrder:
		sentence = "The order " + r.Problem
	}
	id, err := s.record(c, journal.Refusal{Code: string(r.Reason), Text: sentence, Denial: true, Message: true})
	if err != nil {
		s.toAgent(response(agentID, faultAnswer(gate.CodeJournalUnavailable, "The journal cannot be read or written. Nothing was sent.", "")))
		return
	}
	s.toAgent(response(agentID, refusedAnswer(string(r.Reason), sentence, id)))
}

// order has the gate judge a call, and carries it out if it is allowed.
func (s *session) order(agentID string, c *call, r *profile.Reading) {
	if r.Class == profile.CancelAll {
		s.cancelAll(agentID, c)
		return
	}
	in, explicit, refusal := s.intent(r)
	if refusal != nil {
		s.refuse(agentID, c, refusal)
		return
	}
	s.toAgent(response(agentID, s.carryOut(c, in, &explicit)))
}

// carryOut judges, records and sends one order, and returns the answer to the agent.
func (s *session) carryOut(c *call, in order.Intent, r *profile.Reading) []byte {
	g := s.cfg.Gate()
	// Once judged, an order is carried out and recorded, whether or not its caller stays.
	ctx := context.WithoutCancel(s.ctx)
	j := g.Decide(ctx, gate.Call{Intent: in, Door: door, Agent: c.agent, CallID: c.id, RawDigest: c.digest})
	switch {
	case j.Fault != "":
		return faultAnswer(j.Fault, "The order could not be judged. Nothing was sent.", j.ID)
	case j.Replayed != nil:
		return replayedAnswer(&j)
	case !j.Allowed():
		return deniedAnswer(&j)
	}
	way := &wayOut{session: s}
	out := g.Forward(s.cfg.Carry(ctx, way, r), j.Permit)
	return outcomeAnswer(&j, &out, way.raw)
}

// wayOut is the session as one order's way out; it keeps the reply for the agent.
type wayOut struct {
	session *session
	raw     []byte
}

// Call calls the tool and keeps the reply's bytes. A tool that changed while the order was
// judged, when the server is asked for figures, is not called.
func (w *wayOut) Call(ctx context.Context, tool string, arguments []byte) (profile.Reply, string, error) {
	if err := w.session.relist(ctx); err != nil || w.session.quarantined(tool) != "" {
		return profile.Reply{}, "", errors.Join(ErrNotSent, err)
	}
	reply, raw, digest, err := w.session.call(ctx, tool, arguments)
	w.raw = raw
	return reply, digest, err
}

// record journals a refusal. Before the account has a gate there is no journal to write
// to: the diagnostic log has it.
func (s *session) record(c *call, r journal.Refusal) (id string, err error) {
	r.Agent, r.CallID, r.Door, r.Count = c.agent, c.id, door, 1
	r.RawDigest, r.RawBytes, r.Tool = c.digest, c.bytes, journal.BoundText(c.tool, nameBytesMax)
	g := s.cfg.Gate()
	if g == nil {
		s.log.Warn("call refused before the account has a journal", "code", r.Code, "tool", r.Tool, "call", c.id)
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), recordWithin)
	defer cancel()
	id, err = g.Refuse(ctx, r)
	if err != nil {
		s.log.Error("refusal not recorded", "code", r.Code, "call", c.id, "error", err)
	}
	return id, err
}

// nameBytesMax bounds a caller's name for a tool or method in entries.
const nameBytesMax = 64

// digest is the SHA-256, in hex, of the tool's name, a line feed and the arguments as
// they came.
func digest(name string, arguments []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", name)
	h.Write(arguments)
	return hex.EncodeToString(h.Sum(nil))
}
