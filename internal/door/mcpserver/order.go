package mcpserver

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// ordered is the structured answer of the writing tools.
type ordered struct {
	Verdict       string `json:"verdict"`
	OrderID       string `json:"order_id"`
	Decision      string `json:"decision"`
	Result        string `json:"result"`
	Status        string `json:"status"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	BrokerOrderID string `json:"broker_order_id,omitempty"`
	ClientOrderID string `json:"client_order_id,omitempty"`
	Practice      bool   `json:"practice"`
}

// resultReplayed says that the same order stood already and nothing was sent.
const resultReplayed = "replayed"

// forwarded is the body of every writing tool: it hands the permit of its context to
// the gate. Without one there is nothing that it could do.
func (s *Server) forwarded(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := callFrom(ctx)
	if c == nil || c.judged == nil || !c.judged.Allowed() {
		return faultResult(gate.CodeInternalFault, ""), nil
	}
	c.sending.Store(true)
	// From here on a caller that gives up changes nothing: what is sent is journaled.
	out := s.cfg.Gate.Forward(context.WithoutCancel(ctx), c.judged.Permit)
	return s.outcome(c.judged, &out), nil
}

// outcome tells what became of an order. A broker's own text is data, in _meta only.
func (s *Server) outcome(j *gate.Judgement, out *gate.Outcome) *mcp.CallToolResult {
	d := decided{Verdict: risk.Allowed.String(), Decision: j.ID, Order: j.OrderID, Result: out.Result}
	switch out.Result {
	case journal.ResultAccepted:
		return s.accepted(&ordered{
			OrderID: j.OrderID, Decision: j.ID, Result: out.Result, Status: out.Status, Quantity: out.Quantity.String(),
			Filled: out.Filled.String(), BrokerOrderID: bounded(out.BrokerID), ClientOrderID: j.ClientOrderID,
		})
	case journal.ResultRejected:
		d.Retry = retryNo
		return errorResult(fmt.Sprintf("REJECTED order=%s decision=%s retry=no\n"+
			"It passed every limit, and the broker rejected it. Nothing works at the broker by it.", j.OrderID, j.ID), d)
	case journal.ResultNotSent:
		d.Retry = retryLater
		return errorResult(fmt.Sprintf("NOT_SENT order=%s decision=%s retry=later\nNothing was sent: %s.", j.OrderID, j.ID, out.Reason), d)
	}
	return inDoubt(j.OrderID, j.ID)
}

// replayed answers a repeated order with what became of the first.
func (s *Server) replayed(j *gate.Judgement) *mcp.CallToolResult {
	out := j.Replayed
	switch out.Status {
	case account.StatusInDoubt:
		return inDoubt(j.OrderID, j.ID)
	case account.StatusReserved:
		return errorResult(fmt.Sprintf("IN_FLIGHT order=%s decision=%s retry=no\n"+
			"The same order is being placed. Nothing was sent again: ask for its state with get_orders and this order_id.", j.OrderID, j.ID),
			decided{Verdict: risk.Allowed.String(), Decision: j.ID, Order: j.OrderID, Result: resultReplayed, Retry: retryNo})
	}
	return s.accepted(&ordered{
		OrderID: j.OrderID, Decision: j.ID, Result: resultReplayed, Status: out.Status,
		Quantity: out.Quantity.String(), Filled: out.Filled.String(), BrokerOrderID: bounded(out.BrokerID),
	})
}

// accepted answers with the decision in the structured content. There is no _meta beside
// it: it would say the same again, and both sides of a session take longest over it.
func (s *Server) accepted(o *ordered) *mcp.CallToolResult {
	o.Verdict, o.Practice = risk.Allowed.String(), s.cfg.Practice
	text := "ALLOWED order=" + o.OrderID + " decision=" + o.Decision + " status=" + o.Status +
		"\nFilled " + o.Filled + " of " + o.Quantity + "."
	if o.Result == resultReplayed {
		text += " The same order stood already: nothing was sent again."
	}
	if o.Practice {
		text += " Practice: clock and market are simulated."
	}
	return &mcp.CallToolResult{StructuredContent: o, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// idBytesMax bounds an id that comes from outside.
const idBytesMax = 128

func bounded(text string) string { return journal.BoundText(text, idBytesMax) }

// checkedOrder is the structured answer of check_order.
type checkedOrder struct {
	Verdict  string    `json:"verdict"`
	Findings []finding `json:"findings"`
	Passes   int       `json:"passes"`
	Off      int       `json:"off"`
	Reducing bool      `json:"reducing"`
	Practice bool      `json:"practice"`
}

// checked is the body of check_order.
func (s *Server) checked(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := callFrom(ctx)
	if c == nil {
		return faultResult(gate.CodeInternalFault, ""), nil
	}
	j := s.cfg.Gate.Check(ctx, c.order)
	if j.Fault != "" {
		return faultResult(j.Fault, j.ID), nil
	}
	return shown(checkedOrder{
		Verdict: j.Decision.Verdict.String(), Findings: findingsOf(&j.Decision), Passes: j.Decision.Passes,
		Off: j.Decision.Off, Reducing: j.Decision.Reducing, Practice: s.cfg.Practice,
	})
}
