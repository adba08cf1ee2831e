package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// metaDecision is the key of a result's _meta under which a refusal stands.
const metaDecision = "broker-rails/decision"

// codeCanceled is a call whose caller gave up before it was judged.
const codeCanceled = "canceled"

// finding is a rail's refusal as a caller sees it.
type finding struct {
	Rail     string `json:"rail"`
	Status   string `json:"status"`
	Observed string `json:"observed,omitempty"`
	Limit    string `json:"limit,omitempty"`
	Passes   string `json:"passes,omitempty"`
	Text     string `json:"text,omitempty"`
	Retry    string `json:"retry,omitempty"` // empty in what is read back: entries do not keep it
}

// decided is what _meta says about a decision whose order was not accepted.
type decided struct {
	Verdict  string    `json:"verdict"`
	Decision string    `json:"decision,omitempty"`
	Order    string    `json:"order,omitempty"`
	Result   string    `json:"result,omitempty"`
	Retry    string    `json:"retry,omitempty"`
	Findings []finding `json:"findings,omitempty"`
}

// Words of retry: whether the order could pass, unchanged or not.
const (
	retryNo      = "no"
	retryChanged = "changed"
	retryLater   = "later"
)

func retryWord(r rail.Retry) string {
	switch r {
	case rail.RetryChanged:
		return retryChanged
	case rail.RetryLater:
		return retryLater
	}
	return retryNo
}

// findingsOf lists what refuses, then what could not decide, integrity first.
func findingsOf(d *risk.Decision) []finding {
	var denies, faults []finding
	if d.Integrity != "" {
		f := finding{Rail: d.Integrity, Status: "deny", Text: d.IntegrityText, Retry: retryChanged}
		if d.Verdict == risk.Error {
			f.Status, f.Retry = "fault", retryLater
			faults = append(faults, f)
		} else {
			denies = append(denies, f)
		}
	}
	for i := range d.Findings {
		r := &d.Findings[i]
		if r.Status != rail.Deny && r.Status != rail.Fault {
			continue // a finding that nobody made has no detail either
		}
		f := finding{Rail: string(r.Rail), Status: r.Status.String(), Retry: retryWord(r.Retry)}
		if r.Detail != nil {
			f.Observed, f.Limit, f.Passes, f.Text = r.Observed, r.Limit, r.Passes, r.Text
		}
		if r.Status == rail.Deny {
			denies = append(denies, f)
		} else {
			faults = append(faults, f)
		}
	}
	return append(denies, faults...)
}

// overall is what could make the whole order pass: the least hopeful of its findings.
func overall(findings []finding) string {
	out := retryLater
	for _, f := range findings {
		switch {
		case f.Retry == retryNo:
			return retryNo
		case f.Retry == retryChanged:
			out = retryChanged
		}
	}
	return out
}

// refusedResult is a decision that did not allow.
func refusedResult(j *gate.Judgement) *mcp.CallToolResult {
	findings := findingsOf(&j.Decision)
	if len(findings) == 0 { // the zero decision: refused, and nobody said why
		return faultResult(gate.CodeInternalFault, j.ID)
	}
	var b strings.Builder
	for i := range findings {
		writeFinding(&b, &findings[i], j.ID)
	}
	return errorResult(b.String(), decided{
		Verdict: j.Decision.Verdict.String(), Decision: j.ID, Retry: overall(findings), Findings: findings,
	})
}

// writeFinding writes a line for machines and a sentence.
func writeFinding(b *strings.Builder, f *finding, decision string) {
	word := "DENIED"
	if f.Status == "fault" {
		word = "FAULT"
	}
	fmt.Fprintf(b, "%s %s decision=%s retry=%s\n", word, f.Rail, orNone(decision), f.Retry)
	if f.Text != "" {
		b.WriteString(f.Text + "\n")
	}
}

func orNone(id string) string {
	if id == "" {
		return "none"
	}
	return id
}

// integrityResult is a call that never became an intent; entry is its refusal's id.
func integrityResult(code, sentence, entry string) *mcp.CallToolResult {
	f := finding{Rail: code, Status: "deny", Text: sentence + ".", Retry: retryChanged}
	if code == string(normalize.UnknownTool) {
		f.Retry = retryNo
	}
	var b strings.Builder
	writeFinding(&b, &f, entry)
	return errorResult(b.String(), decided{Verdict: risk.Denied.String(), Decision: entry, Retry: f.Retry, Findings: []finding{f}})
}

// protocolData is the data of a JSON-RPC error: the same as _meta of a result. It also
// tells the wire tap that the refusal is recorded.
func protocolData(code, problem, entry string) json.RawMessage {
	f := finding{Rail: code, Status: "deny", Text: problem + ".", Retry: retryNo}
	// Structs of strings always marshal.
	b, _ := json.Marshal(map[string]decided{metaDecision: {Verdict: risk.Denied.String(), Decision: entry, Retry: f.Retry, Findings: []finding{f}}})
	return b
}

// faultResult is a call that the server could not serve. Nothing was sent. entry is the
// id of what was journaled of it, empty for nothing.
func faultResult(code, entry string) *mcp.CallToolResult {
	f := finding{Rail: code, Status: "fault", Text: faultSentence(code) + " Nothing was sent.", Retry: retryLater}
	if code == gate.CodeInternalFault {
		f.Retry = retryNo
	}
	var b strings.Builder
	writeFinding(&b, &f, entry)
	return errorResult(b.String(), decided{Verdict: risk.Error.String(), Decision: entry, Retry: f.Retry, Findings: []finding{f}})
}

func faultSentence(code string) string {
	switch code {
	case gate.CodeJournalUnavailable:
		return "The journal cannot be read or written."
	case gate.CodeAccountUnavailable:
		return "The account cannot be read from the broker."
	case gate.CodeLimitsInvalid:
		return "The limits in force are not valid."
	case codeCanceled:
		return "The call was canceled before it was judged."
	}
	return "A fault inside the server; the operator can find it in the diagnostic log."
}

// inDoubt is an order of which nobody knows whether it was placed.
func inDoubt(orderID, decision string) *mcp.CallToolResult {
	b := fmt.Sprintf("IN_DOUBT order=%s decision=%s retry=no\n"+
		"It may have taken effect. Do not send it again: ask for its state with get_orders and this order_id.\n", orderID, orNone(decision))
	return errorResult(b, decided{
		Verdict: risk.Allowed.String(), Decision: decision, Order: orderID, Result: "in_doubt", Retry: retryNo,
	})
}

func errorResult(text string, d decided) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true, Meta: mcp.Meta{metaDecision: d},
		Content: []mcp.Content{&mcp.TextContent{Text: strings.TrimRight(text, "\n")}},
	}
}

// shown is a reading tool's answer: structured, and the same as text.
func shown(v any) (*mcp.CallToolResult, error) {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		StructuredContent: json.RawMessage(b), Content: []mcp.Content{&mcp.TextContent{Text: string(b)}},
	}, nil
}
