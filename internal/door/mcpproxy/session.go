package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/door/wire"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// Errors of a session.
var (
	// ErrNotSent says that a call did not leave.
	ErrNotSent     = errors.New("the call was not sent")
	errLeft        = errors.New("the agent left")
	errServerEnded = errors.New("the broker's server ended")
	errJunk        = errors.New("the broker's server sends what is not the protocol")
	errBusy        = errors.New("too many calls are in flight")
	errLongReply   = errors.New("the reply is too long or not sound")
	errRefusedCall = errors.New("the server answered with an error")
)

// session is one agent's session and the server's that belongs to it.
type session struct {
	*Proxy

	ctx           context.Context // ends with the session
	cancel        context.CancelCauseFunc
	agent, server Link
	principal     string
	tasks         sync.WaitGroup

	mu       sync.Mutex // guards all below
	next     int64
	waiting  map[int64]*waiting // calls of ours and of the agent at the server
	agents   map[string]int64   // the agent's calls, by its id's JSON text
	judging  map[string]bool    // its tool calls that did not get there yet, or never will
	closed   bool               // no further task is started
	asked    map[string]bool    // ids of the server's calls to the agent
	junk     int
	greeted  bool // the handshake was answered
	list     listing
	listed   bool
	beginErr error

	begun     chan struct{} // closed when calls may be served, or never will
	beginOnce sync.Once
	listing   sync.Mutex // one listing at a time
	end       func()     // of Begin; set before begun is closed
}

// waiting is a call without an answer yet.
type waiting struct {
	agentID string // JSON text; empty: ours
	method  string
	done    chan answered // of ours
}

// answered is what came of a call of ours.
type answered struct {
	result, fault jsontext.Value
	err           error
}

func newSession(ctx context.Context, cancel context.CancelCauseFunc, p *Proxy, agent, server Link, principal string) *session {
	return &session{
		Proxy: p, ctx: ctx, cancel: cancel, agent: agent, server: server, principal: principal,
		waiting: map[int64]*waiting{}, agents: map[string]int64{}, judging: map[string]bool{}, asked: map[string]bool{},
		begun: make(chan struct{}),
	}
}

// finish ends both links and waits for what is on its way: an order that was sent is
// recorded before the session is gone.
func (s *session) finish() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.failAll(errServerEnded)
	s.beginOnce.Do(func() { s.beginErr = errEnded; close(s.begun) })
	_ = s.agent.Close()  // its end is the caller's to know
	_ = s.server.Close() // the same
	s.tasks.Wait()
	<-s.begun
	if s.end != nil {
		s.end()
	}
}

// spawn starts a task that finish waits for; none is started once the session closes.
func (s *session) spawn(task func()) (started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.tasks.Go(task)
	}
	return !s.closed
}

// toAgent writes to the agent; one that does not read ends the session.
func (s *session) toAgent(message []byte) {
	if err := s.agent.Write(message); err != nil {
		s.cancel(fmt.Errorf("to the agent: %w", err))
	}
}

// place takes a call into flight and returns the id that the server will see.
func (s *session) place(w *waiting) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) >= CallsInFlightMax {
		return 0, errBusy
	}
	if w.agentID != "" {
		if _, taken := s.agents[w.agentID]; taken {
			return 0, errors.New("the id is that of a call still in flight")
		}
	}
	s.next++
	s.waiting[s.next] = w
	if w.agentID != "" {
		s.agents[w.agentID] = s.next
	}
	return s.next, nil
}

// take ends the wait for a call.
func (s *session) take(id int64) *waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[id]
	if w != nil {
		delete(s.waiting, id)
		if w.agentID != "" {
			delete(s.agents, w.agentID)
		}
	}
	return w
}

// failAll ends every wait: the server will answer no more.
func (s *session) failAll(err error) {
	s.mu.Lock()
	ids := make([]int64, 0, len(s.waiting))
	for id := range s.waiting {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	slices.Sort(ids)
	for _, id := range ids {
		s.fail(id, err)
	}
}

func (s *session) fail(id int64, err error) {
	w := s.take(id)
	switch {
	case w == nil:
	case w.done != nil:
		w.done <- answered{err: err}
	default:
		_ = s.agent.Write(failure(w.agentID, fault(wire.CodeBusy, err.Error()))) // it may be gone
	}
}

// pass sends a call of the agent on, with its params as they came.
func (s *session) pass(agentID, method string, params []byte) {
	id, err := s.place(&waiting{agentID: agentID, method: method})
	if err != nil {
		s.toAgent(failure(agentID, fault(wire.CodeBusy, err.Error())))
		return
	}
	if err := s.server.Write(request(strconv.FormatInt(id, 10), method, params)); err != nil {
		s.fail(id, errServerEnded)
		s.cancel(fmt.Errorf("to the broker's server: %w", err))
	}
}

// ask puts a question of ours to the server.
func (s *session) ask(ctx context.Context, method string, params []byte) (jsontext.Value, error) {
	w := &waiting{method: method, done: make(chan answered, 1)}
	id, err := s.place(w)
	if err != nil {
		return nil, errors.Join(ErrNotSent, err)
	}
	if s.ctx.Err() != nil {
		s.take(id)
		return nil, ErrNotSent
	}
	if err := s.server.Write(request(strconv.FormatInt(id, 10), method, params)); err != nil {
		s.take(id)
		return nil, errors.Join(ErrNotSent, err)
	}
	late := time.NewTimer(AnswerWithin)
	defer late.Stop()
	select {
	case a := <-w.done:
		if a.err == nil && a.fault != nil {
			a.err = errRefusedCall
		}
		return a.result, a.err
	case <-ctx.Done():
		s.take(id)
		return nil, ctx.Err()
	case <-late.C:
		s.take(id)
		return nil, context.DeadlineExceeded
	}
}

// Call calls a tool for the gate: the arguments are ours.
func (s *session) Call(ctx context.Context, tool string, arguments []byte) (profile.Reply, string, error) {
	reply, _, digest, err := s.call(ctx, tool, arguments)
	return reply, digest, err
}

func (s *session) call(ctx context.Context, tool string, arguments []byte) (reply profile.Reply, raw []byte, digest string, err error) {
	params := append([]byte(`{"name":`), quote(tool)...)
	params = append(append(append(params, `,"arguments":`...), arguments...), '}')
	result, err := s.ask(ctx, wire.MethodCallTool, params)
	if err != nil {
		return reply, nil, "", err
	}
	sum := sha256.Sum256(result)
	reply, err = readReply(result)
	return reply, result, hex.EncodeToString(sum[:]), err
}

// readReply takes a tool's result apart.
func readReply(result jsontext.Value) (out profile.Reply, err error) {
	ms, err := members(result)
	if err != nil {
		return out, err
	}
	out.IsError = string(find(ms, "isError")) == "true"
	if v := find(ms, "structuredContent"); v != nil && v.Kind() == '{' {
		out.Structured = v
	}
	if v := find(ms, "content"); v != nil {
		blocks, err := elements(v, 1024)
		if err != nil {
			return out, err
		}
		for _, b := range blocks {
			ms, err := members(b)
			if err != nil || text(find(ms, "type")) != "text" {
				out.Other = true
				continue
			}
			out.Texts = append(out.Texts, text(find(ms, "text")))
		}
	}
	return out, nil
}

// fromServer reads the server until it ends.
func (s *session) fromServer() {
	for {
		raw, err := s.server.Read()
		var long *LongError
		switch {
		case errors.As(err, &long):
			s.unsound(long.Head)
		case err != nil:
			if errors.Is(err, io.EOF) {
				err = errServerEnded
			} else {
				err = fmt.Errorf("%w: %w", errServerEnded, err)
			}
			s.failAll(errServerEnded)
			s.cancel(err)
			return
		default:
			s.heard(raw)
		}
		if s.ctx.Err() != nil {
			return
		}
	}
}

// unsound ends the call that an unreadable answer was for, if that much can be read.
func (s *session) unsound(raw []byte) {
	if id, err := strconv.ParseInt(salvageID(raw), 10, 64); err == nil {
		s.fail(id, errLongReply)
		return
	}
	s.spoiled()
}

// spoiled counts what is not the protocol's.
func (s *session) spoiled() {
	s.mu.Lock()
	s.junk++
	n := s.junk
	s.mu.Unlock()
	if n == 1 {
		s.log.Warn("the broker's server wrote something that is not a message; it was dropped")
	}
	if n > JunkMax {
		s.cancel(errJunk)
	}
}

func (s *session) heard(raw []byte) {
	e, err := readEnvelope(raw)
	switch {
	case err != nil:
		s.unsound(raw)
	case e.method != "" && (e.result != nil || e.fault != nil):
		s.spoiled() // a client might take it for the answer to a call that ends here
	case e.method != "" && e.id != "":
		s.serverAsks(&e)
	case e.method != "":
		s.serverTells(&e)
	case e.id != "" && (e.result != nil) != (e.fault != nil):
		s.serverAnswers(&e)
	default:
		s.spoiled()
	}
}

// serverAsks passes a call of the server on, of those that a client may serve. Only the
// members that were read go on: a client that does not mind the letters' form of a name
// would find an answer in the others.
func (s *session) serverAsks(e *envelope) {
	switch e.method {
	case "ping", "sampling/createMessage", "elicitation/create", "roots/list":
	default:
		_ = s.server.Write(failure(e.id, fault(wire.CodeNoMethod, "no such method"))) // its end is found by reading
		return
	}
	s.mu.Lock()
	full := len(s.asked) >= CallsInFlightMax || s.asked[e.id]
	if !full {
		s.asked[e.id] = true
	}
	s.mu.Unlock()
	if full {
		_ = s.server.Write(failure(e.id, fault(wire.CodeBusy, errBusy.Error()))) // its end is found by reading
		return
	}
	s.toAgent(request(e.id, e.method, e.params))
}

func (s *session) serverTells(e *envelope) {
	if e.method == "notifications/tools/list_changed" {
		s.mu.Lock()
		s.listed = false
		s.mu.Unlock()
	}
	s.toAgent(notification(e.method, e.params))
}

// serverAnswers hands an answer to whoever asked. An answer to nothing, or under an id that
// is not a number of ours, proves nothing and is dropped.
func (s *session) serverAnswers(e *envelope) {
	id, err := strconv.ParseInt(e.id, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != e.id {
		s.spoiled()
		return
	}
	w := s.take(id)
	switch {
	case w == nil:
		s.spoiled()
	case w.done != nil:
		w.done <- answered{result: e.result, fault: e.fault}
	case e.fault != nil:
		s.toAgent(failure(w.agentID, e.fault))
	case w.method == methodInitialize:
		s.greet(w.agentID, e.result)
	case w.method == "tools/list":
		s.showTools(w.agentID, e.result)
	default:
		s.toAgent(response(w.agentID, e.result))
	}
}

const methodInitialize = "initialize"
