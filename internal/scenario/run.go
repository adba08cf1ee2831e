package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

// StepResult is what a step came to. For a step that is not a call the verdict is empty.
type StepResult struct {
	Scenario  string   `json:"scenario"`
	Step      int      `json:"step"` // from 0
	Verdict   string   `json:"verdict"`
	Rails     []string `json:"rails"`  // that refused, integrity refusals too
	Faults    []string `json:"faults"` // that could not decide
	Outcome   string   `json:"outcome"`
	Forwarded int      `json:"forwarded"` // messages that went to the broker
}

// Result is what a scenario came to.
type Result struct {
	Scenario string
	File     string
	Steps    []StepResult
	Asked    []bool // which steps expected something
	Kinds    []string
	State    State
	Failures []Failure
	Decided  int // decisions that were derived again
}

// Failure is an expectation that was not met, or a step that could not be made. Step is
// -1 for what concerns the end.
type Failure struct {
	Step int    `json:"step"`
	Line int    `json:"line"` // in the file; 0 for the end
	Text string `json:"text"`
}

// Passed reports whether nothing failed.
func (r *Result) Passed() bool { return len(r.Failures) == 0 }

func (r *Result) fail(step, line int, format string, args ...any) {
	r.Failures = append(r.Failures, Failure{Step: step, Line: line, Text: fmt.Sprintf(format, args...)})
}

// Run plays a scenario. The error says that it could not be begun: its limits are not
// valid, or its account cannot be. What goes wrong later is a failure of the result.
func Run(ctx context.Context, s Scenario, o Options) (Result, error) {
	r := Result{Scenario: s.Name, File: s.File}
	w, err := newWorld(ctx, &s, o)
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.Name, err)
	}
	for i := range s.steps {
		st := &s.steps[i]
		before, err := w.sent(ctx)
		if err != nil {
			return r, err
		}
		out := StepResult{Scenario: s.Name, Step: i, Rails: []string{}, Faults: []string{}}
		err = w.step(ctx, st, &out)
		after, err2 := w.sent(ctx)
		if err2 != nil {
			return r, err2
		}
		out.Forwarded = after - before
		r.Steps, r.Asked, r.Kinds = append(r.Steps, out), append(r.Asked, st.expect != nil), append(r.Kinds, string(st.kind))
		if err != nil {
			r.fail(i, st.line, "%s: %v", st.kind, err)
			break
		}
		st.expect.compare(&r, i, st.line, &out)
	}
	return r, w.finish(ctx, &r)
}

// step plays one step.
func (w *world) step(ctx context.Context, s *step, out *StepResult) error {
	if s.kind.calls() {
		return w.call(ctx, s, out)
	}
	if err := w.happen(ctx, s, out); err != nil {
		return err
	}
	return w.gate.Tick(ctx)
}

// call plays a tool call: normalized, judged and forwarded as a door would do it.
func (w *world) call(ctx context.Context, s *step, out *StepResult) error {
	raw := w.arguments(s)
	crash := s.crash
	if w.crash != "" {
		crash, w.crash = w.crash, ""
	}
	if _, refused := normalize.Ask(s.tool, raw); refused == nil {
		out.Verdict = journal.VerdictAllowed // reading is not judged
		return nil
	} else if refused.Code != normalize.UnknownTool {
		return w.refuse(ctx, s, raw, refused, out)
	}
	n, refused := normalize.Call(s.tool, raw)
	if refused != nil {
		return w.refuse(ctx, s, raw, refused, out)
	}
	c := gate.Call{
		Intent: n.Intent, Note: n.Note, Door: "scenario", Agent: "agent", CallID: fmt.Sprint("step-", out.Step), RawDigest: digest(raw),
	}
	if s.tool == normalize.CheckOrder {
		j := w.gate.Check(ctx, c)
		judged(&j, out)
		return nil
	}
	return w.place(ctx, &c, crash, out)
}

func (w *world) place(ctx context.Context, c *gate.Call, crash string, out *StepResult) error {
	j := w.gate.Decide(ctx, *c)
	judged(&j, out)
	switch {
	case j.Replayed != nil:
		return nil
	case !j.Allowed():
		if crash == "" {
			return nil
		}
	default:
		w.remember(c, &j)
	}
	switch {
	case crash == crashBeforeSend || crash != "" && !j.Allowed():
		w.process.gone.Store(true)
	case crash == crashAfterSend:
		w.process.dies.Store(true)
		w.gate.Forward(ctx, j.Permit)
		w.process.gone.Store(true)
	default:
		o := w.gate.Forward(ctx, j.Permit)
		out.Outcome = o.Result
		return nil
	}
	if j.Allowed() {
		out.Outcome = OutcomeInFlight
	}
	return w.open(ctx)
}

// remember lets later steps name the order by the agent's own id.
func (w *world) remember(c *gate.Call, j *gate.Judgement) {
	if id := c.Intent.ClientOrderID; id != "" {
		w.orders[id] = known{orderID: j.OrderID, brokerID: j.ClientOrderID}
	}
}

// arguments are the call's bytes, with the gate's id of an order in the place of the
// scenario's own name for it.
func (w *world) arguments(s *step) []byte {
	switch s.kind {
	case kindCancel, kindReplace:
		return withOrderID(s.raw, w.find(s.target).orderID)
	case kindCall:
		return w.named(s)
	}
	return s.raw
}

// refuse records a call that is no intent.
func (w *world) refuse(ctx context.Context, s *step, raw []byte, refused *normalize.Refusal, out *StepResult) error {
	_, err := w.gate.Refuse(ctx, journal.Refusal{
		Agent: "agent", CallID: fmt.Sprint("step-", out.Step), Code: string(refused.Code), Count: 1, Denial: true, Door: "scenario",
		Message: true, RawBytes: len(raw), RawDigest: digest(raw), Text: refused.Error(), Tool: normalize.Plain(s.tool),
	})
	out.Verdict, out.Rails = journal.VerdictDenied, []string{string(refused.Code)}
	if err != nil {
		out.Verdict, out.Rails, out.Faults = journal.VerdictError, []string{}, []string{gate.CodeJournalUnavailable}
	}
	return nil
}

// judged puts a judgement into a step's line.
func judged(j *gate.Judgement, out *StepResult) {
	switch {
	case j.Replayed != nil:
		out.Verdict, out.Outcome = journal.VerdictAllowed, replayedAs(j.Replayed)
		return
	case j.Fault != "":
		out.Verdict, out.Faults = journal.VerdictError, []string{j.Fault}
		return
	}
	out.Verdict = j.Decision.Verdict.String()
	out.Rails = append(out.Rails, j.Decision.Refusing()...)
	out.Faults = append(out.Faults, j.Decision.Faults()...)
}

// replayedAs is the first outcome of an order that was sent again, in the words of
// outcomes.
func replayedAs(o *gate.Outcome) string {
	switch o.Status {
	case account.StatusWorking, account.StatusPartiallyFilled, account.StatusFilled:
		return journal.ResultAccepted
	case account.StatusReserved:
		return OutcomeInFlight
	}
	return o.Status
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
