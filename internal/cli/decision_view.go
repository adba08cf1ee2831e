package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// decisionView is one decision or refusal, with what became of it.
type decisionView struct {
	ID         string    `json:"id"` // account/seq
	At         time.Time `json:"at"`
	Kind       string    `json:"kind"` // decision or refusal
	Verdict    string    `json:"verdict"`
	Action     string    `json:"action,omitzero"`
	Symbol     string    `json:"symbol,omitzero"`
	Side       string    `json:"side,omitzero"`
	OrderType  string    `json:"order_type,omitzero"`
	Quantity   string    `json:"quantity,omitzero"`
	LimitPrice string    `json:"limit_price,omitzero"`
	StopPrice  string    `json:"stop_price,omitzero"`
	Target     string    `json:"target,omitzero"`
	Rails      []string  `json:"rails"`  // that denied
	Faults     []string  `json:"faults"` // that could not decide
	Outcome    string    `json:"outcome,omitzero"`
	Filled     string    `json:"filled,omitzero"`
	Tool       string    `json:"tool,omitzero"`  // of a refusal
	Count      int       `json:"count,omitzero"` // of refusals in one entry
	Door       string    `json:"door"`
	Agent      string    `json:"agent,omitzero"`
	Hash       string    `json:"hash,omitzero"`
}

// outcomeNone is shown for an allowed decision of which no outcome is recorded yet.
const outcomeNone = "no_reply"

// decisionViews reads decisions and refusals; since holds all entries from the first
// of them on, which tell the outcomes.
func decisionViews(found, since []journal.Entry) ([]decisionView, error) {
	outcomes, filled, err := becameOf(since)
	if err != nil {
		return nil, err
	}
	out := make([]decisionView, 0, len(found))
	for i := range found {
		v, err := viewDecision(&found[i])
		if err != nil {
			return nil, err
		}
		if v.Kind == string(journal.KindDecision) && v.Verdict == journal.VerdictAllowed {
			if v.Outcome = outcomes[found[i].Seq]; v.Outcome == "" {
				v.Outcome = outcomeNone
			}
			if q := filled[v.ID]; !q.IsZero() {
				v.Filled = q.String()
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// becameOf gathers the newest outcome of each decision and the filled quantity of each
// order.
func becameOf(entries []journal.Entry) (map[uint64]string, map[string]money.Quantity, error) {
	outcomes, filled := map[uint64]string{}, map[string]money.Quantity{}
	for i := range entries {
		switch entries[i].Kind {
		case journal.KindOutcome:
			body, err := journal.DecodeBody[journal.Outcome](&entries[i])
			if err != nil {
				return nil, nil, err
			}
			outcomes[body.Decision] = body.Result
		case journal.KindFill:
			body, err := journal.DecodeBody[journal.Fill](&entries[i])
			if err != nil {
				return nil, nil, err
			}
			sum, ok := filled[body.OrderID].Add(body.Quantity)
			if !ok {
				return nil, nil, fmt.Errorf("fills of %s are out of range", body.OrderID)
			}
			filled[body.OrderID] = sum
		default:
			// Nothing else tells what became of a decision.
		}
	}
	return outcomes, filled, nil
}

func viewDecision(e *journal.Entry) (decisionView, error) {
	v := decisionView{ID: fmt.Sprintf("%s/%d", e.Account, e.Seq), At: e.At.Time, Kind: string(e.Kind)}
	if e.Kind == journal.KindRefusal {
		body, err := journal.DecodeBody[journal.Refusal](e)
		if err != nil {
			return v, err
		}
		v.Verdict, v.Rails, v.Count, v.Door, v.Agent = "refused", []string{body.Code}, body.Count, body.Door, body.Agent
		v.Tool = body.Tool
		return v, nil
	}
	body, err := journal.DecodeBody[journal.Decision](e)
	if err != nil {
		return v, err
	}
	in := &body.Intent
	v.Verdict, v.Door, v.Agent, v.Action = body.Verdict, body.Door, body.Agent, in.Action.String()
	v.Symbol, v.Side, v.OrderType, v.Target = in.Symbol, in.Side.String(), in.Type.String(), in.Target
	if !in.Quantity.IsZero() {
		v.Quantity = in.Quantity.String()
	}
	if !in.LimitPrice.IsZero() {
		v.LimitPrice = in.LimitPrice.String()
	}
	if !in.StopPrice.IsZero() {
		v.StopPrice = in.StopPrice.String()
	}
	for _, f := range body.Findings {
		if f.Status == "deny" {
			v.Rails = append(v.Rails, f.Rail)
		} else {
			v.Faults = append(v.Faults, f.Rail)
		}
	}
	return v, nil
}

// asked says in a few words what a decision was about.
func (v *decisionView) asked() string {
	if v.Kind == string(journal.KindRefusal) {
		if v.Count > 1 {
			return plural(v.Count, "call", "calls")
		}
		if v.Tool != "" {
			return "a call of " + v.Tool
		}
		return "a call"
	}
	parts := []string{}
	for _, p := range []string{v.Side, v.Quantity, v.Symbol, v.OrderType} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if v.LimitPrice != "" {
		parts = append(parts, "@ "+cents(v.LimitPrice))
	}
	if v.StopPrice != "" {
		parts = append(parts, "stop "+cents(v.StopPrice))
	}
	if v.Action != "new" {
		parts = append([]string{v.Action, v.Target}, parts...)
	}
	return strings.Join(parts, " ")
}

// why names what stood in the way, else what became of it.
func (v *decisionView) why() string {
	all := append(append([]string{}, v.Rails...), v.Faults...)
	if len(all) > 0 {
		return strings.Join(all, ", ")
	}
	if v.Filled != "" {
		return v.Outcome + ", filled " + v.Filled
	}
	return v.Outcome
}
