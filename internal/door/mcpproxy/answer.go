package mcpproxy

import (
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// metaDecision is the key of a result's _meta under which a decision stands.
const metaDecision = "broker-rails/decision"

type finding struct {
	Rail     string `json:"rail"`
	Status   string `json:"status"`
	Observed string `json:"observed,omitzero"`
	Limit    string `json:"limit,omitzero"`
	Passes   string `json:"passes,omitzero"`
	Text     string `json:"text,omitzero"`
	Retry    string `json:"retry,omitzero"`
}

type decided struct {
	Verdict       string    `json:"verdict"`
	Decision      string    `json:"decision,omitzero"`
	Order         string    `json:"order,omitzero"`
	ClientOrderID string    `json:"client_order_id,omitzero"` // as the broker knows it
	Result        string    `json:"result,omitzero"`
	Retry         string    `json:"retry,omitzero"`
	Findings      []finding `json:"findings,omitzero"`
}

// Words of retry: whether the order could pass, unchanged or not.
const (
	retryNo      = "no"
	retryChanged = "changed"
	retryLater   = "later"
)

func findingsOf(d *risk.Decision) (out []finding) {
	if d.Integrity != "" {
		f := finding{Rail: d.Integrity, Status: "deny", Text: d.IntegrityText, Retry: retryChanged}
		if d.Verdict == risk.Error {
			f.Status, f.Retry = "fault", retryLater
		}
		out = append(out, f)
	}
	for _, status := range []rail.Status{rail.Deny, rail.Fault} {
		for i := range d.Findings {
			r := &d.Findings[i]
			if r.Status != status {
				continue
			}
			f := finding{Rail: string(r.Rail), Status: r.Status.String(), Retry: retryWord(r.Retry)}
			if r.Detail != nil {
				f.Observed, f.Limit, f.Passes, f.Text = r.Observed, r.Limit, r.Passes, r.Text
			}
			out = append(out, f)
		}
	}
	return out
}

func retryWord(r rail.Retry) string {
	switch r {
	case rail.RetryChanged:
		return retryChanged
	case rail.RetryLater:
		return retryLater
	}
	return retryNo
}

// overall is what could make the whole order pass: the least hopeful of its findings.
func overall(findings []finding) string {
	out := retryLater
	for _, f := range findings {
		switch f.Retry {
		case retryNo:
			return retryNo
		case retryChanged:
			out = retryChanged
		}
	}
	return out
}

func deniedAnswer(j *gate.Judgement) []byte {
	findings := findingsOf(&j.Decision)
	if len(findings) == 0 { // the zero decision: refused, and nobody said why
		return faultAnswer(gate.CodeInternalFault, "Nothing was sent.", j.ID)
	}
	var b strings.Builder
	for i := range findings {
		writeFinding(&b, &findings[i], j.ID)
	}
	return ours(b.String(), decided{Verdict: j.Decision.Verdict.String(), Decision: j.ID, Retry: overall(findings), Findings: findings})
}

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

// refusedAnswer is a call that never became an intent; entry is its refusal's id.
func refusedAnswer(code, sentence, entry string) []byte {
	f := finding{Rail: code, Status: "deny", Text: sentence + ".", Retry: retryChanged}
	if code == "unknown_tool" || code == "class_denied" || code == codeQuarantined {
		f.Retry = retryNo
	}
	var b strings.Builder
	writeFinding(&b, &f, entry)
	return ours(b.String(), decided{Verdict: risk.Denied.String(), Decision: entry, Retry: f.Retry, Findings: []finding{f}})
}

// faultAnswer is a call that could not be served.
func faultAnswer(code, sentence, entry string) []byte {
	f := finding{Rail: code, Status: "fault", Text: sentence, Retry: retryLater}
	var b strings.Builder
	writeFinding(&b, &f, entry)
	return ours(b.String(), decided{Verdict: risk.Error.String(), Decision: entry, Retry: f.Retry, Findings: []finding{f}})
}

// outcomeAnswer is what became of an order that was allowed. Of a reply that proves it,
// the server's own result goes to the agent, with the decision in its _meta; of one that
// does not, nothing does: it may look like success.
func outcomeAnswer(j *gate.Judgement, out *gate.Outcome, raw []byte) []byte {
	d := decided{
		Verdict: risk.Allowed.String(), Decision: j.ID, Order: j.OrderID, ClientOrderID: j.ClientOrderID, Result: out.Result, Retry: retryNo,
	}
	head := fmt.Sprintf("order=%s decision=%s client_order_id=%s", j.OrderID, j.ID, j.ClientOrderID)
	switch {
	case out.Result == journal.ResultAccepted && !out.Unrecorded && raw != nil:
		return decorated(raw, d, false)
	case out.Result == journal.ResultRejected && raw != nil:
		d.Retry = retryChanged
		return decorated(raw, d, true)
	case out.Result == journal.ResultRejected:
		d.Retry = retryLater
		return ours("NOT_SENT "+head+" retry=later\nNothing was sent to the broker.", d)
	case out.Result == journal.ResultNotSent:
		d.Retry = retryLater
		return ours("NOT_SENT "+head+" retry=later\nNothing was sent: "+out.Reason+".", d)
	}
	d.Result = journal.ResultInDoubt
	return ours("IN_DOUBT "+head+" retry=no\nIt may have taken effect. Do not send it again: ask for its state by this client_order_id.", d)
}

// replayedAnswer tells what became of the same order under the same client order id.
func replayedAnswer(j *gate.Judgement) []byte {
	out := j.Replayed
	d := decided{Verdict: risk.Allowed.String(), Decision: j.ID, Order: j.OrderID, Result: out.Status, Retry: retryNo}
	return ours(fmt.Sprintf("REPLAYED order=%s decision=%s status=%s filled=%s retry=no\n"+
		"This order was sent before under the same client order id; it was not sent again.", j.OrderID, j.ID, out.Status, out.Filled), d)
}

// decorated is the server's result with the decision in its _meta.
func decorated(raw []byte, d decided, failed bool) []byte {
	ms, err := members(raw)
	if err != nil { // it was read before
		return ours("the server's result cannot be shown", d)
	}
	meta, _ := members(find(ms, "_meta")) // none, or not an object: ours alone
	raw = with(ms, "_meta", with(meta, metaDecision, marshal(d)))
	if !failed {
		return raw
	}
	if ms, err = members(raw); err != nil {
		return ours("the server's result cannot be shown", d)
	}
	return with(ms, "isError", []byte("true"))
}

// ours is a result of our own, which is an error to the agent.
func ours(text string, d decided) []byte {
	out := append([]byte(`{"content":[{"type":"text","text":`), quote(strings.TrimRight(text, "\n"))...)
	out = append(out, `}],"isError":true,"_meta":`...)
	return append(append(out, with(nil, metaDecision, marshal(d))...), '}')
}

func marshal(d decided) []byte {
	b, err := jsonv2.Marshal(d, jsonv2.Deterministic(true))
	if err != nil { // structs of texts always marshal
		return []byte("{}")
	}
	return b
}
