package audit

import (
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// count adds one entry to the report's figures.
func (c *chain) count(e *journal.Entry) error {
	r := c.report
	switch e.Kind {
	case journal.KindDecision:
		body, err := journal.DecodeBody[journal.Decision](e)
		if err != nil {
			return err
		}
		r.countDecision(&body)
	case journal.KindOutcome:
		body, err := journal.DecodeBody[journal.Outcome](e)
		if err != nil {
			return err
		}
		switch body.Result {
		case journal.ResultAccepted:
			if body.OrderID == "" {
				r.Orders++
			}
		case journal.ResultRejected:
			r.Rejected++
		}
	case journal.KindFill:
		r.Fills++
	case journal.KindRefusal:
		body, err := journal.DecodeBody[journal.Refusal](e)
		if err != nil {
			return err
		}
		r.Refusals += body.Count
		if body.Denial {
			r.DeniedBy[body.Code] += body.Count
		}
	}
	return nil
}

func (r *AccountReport) countDecision(body *journal.Decision) {
	if body.Intent.Action == order.ActionNone {
		return
	}
	r.Decisions++
	switch body.Verdict {
	case journal.VerdictAllowed:
		r.Allowed++
	case journal.VerdictDenied:
		r.Denied++
		for _, f := range body.Findings {
			if f.Status == "deny" {
				r.DeniedBy[f.Rail]++
			}
		}
	default:
		r.Errors++
	}
}
