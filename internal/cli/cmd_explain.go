package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

type explainView struct {
	Schema   string        `json:"schema"`
	Decision decisionView  `json:"decision"`
	Note     string        `json:"note,omitzero"`
	Limits   string        `json:"limits"` // fingerprint it was judged by
	Mode     string        `json:"mode"`
	Reducing bool          `json:"reducing"`
	Quote    *quoteView    `json:"quote,omitzero"`
	Price    string        `json:"risk_price,omitzero"`
	Notional string        `json:"notional,omitzero"`
	Equity   string        `json:"equity,omitzero"`
	Findings []findingView `json:"findings"`
	// Rederived is same, different, or other_engine when the rules have changed since.
	Rederived string `json:"rederived"`
}

type quoteView struct {
	Bid   string `json:"bid,omitzero"`
	Ask   string `json:"ask,omitzero"`
	AgeMS int64  `json:"age_ms"`
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain ID", Short: "Show one decision rail by rail, judged again from the journal",
		Args: exactly(1, "one decision id, such as paper/12"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withDeck(c.Context(), looking, func(d *deck) error { return a.explain(c.Context(), d, args[0]) })
		},
	}
}

// decisionSeq reads account/seq, or a seq alone.
func decisionSeq(account, id string) (uint64, error) {
	number := id
	if at := strings.LastIndexByte(id, '/'); at >= 0 {
		if id[:at] != account {
			return 0, usage("name its account with --account "+quoted(id[:at]), "%s is not a decision of account %s", id, account)
		}
		number = id[at+1:]
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 {
		return 0, usage("ids are listed by: rails decisions", "%q is not the id of a decision", id)
	}
	return seq, nil
}

// decisionOf is the decision that an entry answers, 0 if it answers none.
func decisionOf(e *journal.Entry) uint64 {
	if e.Kind != journal.KindOutcome {
		return 0
	}
	body, err := journal.DecodeBody[journal.Outcome](e)
	if err != nil {
		return 0
	}
	return body.Decision
}

func (a *app) explain(ctx context.Context, d *deck, id string) error {
	seq, err := decisionSeq(d.account, id)
	if err != nil {
		return err
	}
	state, since, err := stateBefore(ctx, d, seq)
	if err != nil {
		return err
	}
	switch since[0].Kind {
	case journal.KindDecision:
	case journal.KindRefusal:
		return a.explainRefusal(&since[0])
	default:
		hint := "ids are listed by: rails decisions"
		if of := decisionOf(&since[0]); of > 0 {
			hint = fmt.Sprintf("the decision that it belongs to: rails explain %s/%d", d.account, of)
		}
		return usage(hint, "%s/%d is an entry of kind %s, not a decision", d.account, seq, since[0].Kind)
	}
	v := explainView{Schema: "rails.explain/v1"}
	views, err := decisionViews(since[:1], since)
	if err != nil {
		return err
	}
	v.Decision = views[0]
	if err := v.rederive(d, state, &since[0]); err != nil {
		return err
	}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		err = a.printExplain(&v)
	}
	if err == nil && v.Rederived == "different" {
		err = &failure{
			code: exitAudit, what: v.Decision.ID + " does not come to its recorded findings again",
			hint: "verify the whole journal with: rails audit-verify",
		}
	}
	return err
}

// refusalView is a call that never became an order: no rail has judged it.
type refusalView struct {
	Schema  string       `json:"schema"`
	Refusal decisionView `json:"refusal"`
	Text    string       `json:"text"`
}

func (a *app) explainRefusal(e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Refusal](e)
	if err != nil {
		return err
	}
	seen, err := viewDecision(e)
	if err != nil {
		return err
	}
	v := refusalView{Schema: "rails.explain-refusal/v1", Refusal: seen, Text: body.Text}
	if a.flags.json {
		return a.out.json(v)
	}
	p := a.out
	p.line(p.strong(seen.ID), "  ", p.verdict(seen.Verdict), "  ", seen.asked())
	p.field("at", marketTime(seen.At), " New York")
	p.field("from", dash(seen.Agent), p.dim("  through "+seen.Door))
	p.field("reason", seen.why(), ": ", body.Text)
	p.field("judged", "by no rail: the call was no order")
	return p.failed
}

var errEnough = errors.New("enough")

// explainAhead is how many entries after the decision are read for its outcome.
const explainAhead = 10_000

// stateBefore folds the journal up to the entry before seq, and returns the entries
// from seq on.
func stateBefore(ctx context.Context, d *deck, seq uint64) (*account.State, []journal.Entry, error) {
	state := account.New(d.account)
	var since []journal.Entry
	err := d.store.Read(ctx, d.account, 0, func(s gate.Stored) error {
		if s.Seq < seq {
			return state.Apply(s.Bytes, s.Hash)
		}
		e, err := journal.Decode(s.Bytes)
		if err != nil {
			return err
		}
		since = append(since, e)
		if len(since) > explainAhead {
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return nil, nil, err
	case len(since) == 0:
		return nil, nil, usage("ids are listed by: rails decisions", "account %s has no entry %d", d.account, seq)
	}
	return state, since, nil
}

// rederive judges the recorded request again on the folded state.
func (v *explainView) rederive(d *deck, state *account.State, e *journal.Entry) error {
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil {
		return err
	}
	req, err := record.Request(e, &body)
	if err != nil {
		return err
	}
	var doc *limits.Document
	if state.LimitsText != "" {
		if doc, err = limits.Load("limits of "+v.Decision.ID, []byte(state.LimitsText)); err != nil {
			return err
		}
	}
	again := risk.Decide(state, doc, &req, d.calendar)
	v.Limits, v.Mode, v.Note, v.Reducing = e.Limits, body.Mode, body.Note, body.Reducing
	if q := body.Quote; q != nil && !q.Absent {
		v.Quote = &quoteView{AgeMS: e.At.Sub(q.At.Time).Milliseconds()}
		if q.Bid != nil {
			v.Quote.Bid = cents(q.Bid.String())
		}
		if q.Ask != nil {
			v.Quote.Ask = cents(q.Ask.String())
		}
	}
	if !again.RiskPrice.IsZero() {
		v.Price, v.Notional = cents(again.RiskPrice.String()), dollars(again.Notional)
	}
	if again.EquityOK {
		v.Equity = dollars(again.Equity)
	}
	v.Findings = findingsOf(&again)
	v.Rederived = "same"
	switch {
	case body.Engine != risk.Engine || body.Calendar != d.calendar.Digest():
		v.Rederived = "other_engine"
	case again.Verdict.String() != body.Verdict || !slices.Equal(record.FindingsOf(&again), body.Findings) ||
		again.Passes != body.Passes || again.Off != body.Off:
		v.Rederived = "different"
	}
	return nil
}

func (a *app) printExplain(v *explainView) error {
	p := a.out
	p.line(p.strong(v.Decision.ID), "  ", p.verdict(v.Decision.Verdict), "  ", v.Decision.asked())
	p.field("at", marketTime(v.Decision.At), " New York")
	p.field("from", dash(v.Decision.Agent), p.dim("  through "+v.Decision.Door))
	if v.Note != "" {
		p.field("note", strconv.QuoteToASCII(v.Note))
	}
	p.field("limits", short(v.Limits), p.dim("  mode "+v.Mode))
	if q := v.Quote; q != nil {
		p.field("quote", "bid ", dash(q.Bid), ", ask ", dash(q.Ask), p.dim("  "+strconv.FormatInt(q.AgeMS, 10)+" ms old"))
	}
	if v.Price != "" {
		p.field("priced at", v.Price, ", notional ", v.Notional)
	}
	if v.Reducing {
		p.field("reducing", "yes")
	}
	if v.Decision.Outcome != "" {
		p.field("outcome", v.Decision.why())
	}
	p.field("judged again", p.verdict(v.Rederived))
	p.line("")
	a.findingTable(v.Findings)
	return p.failed
}
