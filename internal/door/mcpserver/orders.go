package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

var (
	errNoQuotes  = errors.New("the server has no source of quotes")
	errNoJournal = errors.New("the server has no reader of the journal")
)

type orderShown struct {
	OrderID       string `json:"order_id"`
	Status        string `json:"status"`
	Symbol        string `json:"symbol,omitempty"`
	Side          string `json:"side,omitempty"`
	OrderType     string `json:"order_type,omitempty"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	LimitPrice    string `json:"limit_price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	TimeInForce   string `json:"time_in_force,omitempty"`
	ClientOrderID string `json:"client_order_id,omitempty"`
	External      bool   `json:"external"`
}

type ordersShown struct {
	Orders   []orderShown `json:"orders"`
	Practice bool         `json:"practice"`
}

func (s *Server) getOrders(ctx context.Context, q normalize.Query) (any, error) {
	out := ordersShown{Practice: s.cfg.Practice}
	err := s.view(ctx, func(v gate.View) {
		for _, o := range v.State.Orders {
			status := o.Status(v.Now)
			if (q.OrderID == "" || o.ID == q.OrderID) && (q.Status == "" || status == q.Status) {
				out.Orders = append(out.Orders, showOrder(o, status))
			}
		}
		if q.OrderID == "" || q.Status != "" || len(out.Orders) > 0 {
			return
		}
		if e, ok := v.State.Ended(q.OrderID); ok {
			out.Orders = append(out.Orders, orderShown{
				OrderID: q.OrderID, Status: e.Status, Quantity: e.Quantity.String(), Filled: e.Filled.String(),
			})
		}
	})
	return out, err
}

func showOrder(o *account.Order, status string) orderShown {
	out := orderShown{
		OrderID: o.ID, Status: status, Symbol: o.Symbol, Side: o.Side.String(), OrderType: o.Type.String(),
		Quantity: o.Quantity.String(), Filled: o.Filled.String(), TimeInForce: o.TimeInForce.String(),
		ClientOrderID: bounded(o.AgentID), External: o.External,
	}
	if !o.LimitPrice.IsZero() {
		out.LimitPrice = o.LimitPrice.String()
	}
	if !o.StopPrice.IsZero() {
		out.StopPrice = o.StopPrice.String()
	}
	return out
}

func ordersOutput() string {
	return object(
		must("orders", list("Orders, oldest first.", object(
			must("order_id", orderIDField()),
			must("status", text("reserved, working, partially_filled, in_doubt; of an ended order filled, canceled, expired, rejected or not_sent.")),
			may("symbol", text("The symbol.")), may("side", text("buy or sell.")), may("order_type", text("limit, market, stop or stop_limit.")),
			must("quantity", text("Shares of the whole order.")), must("filled", text("Shares filled so far.")),
			may("limit_price", text("Per share.")), may("stop_price", text("Per share.")),
			may("time_in_force", text("day, gtc or ioc.")), may("client_order_id", text("The agent's own id of the order.")),
			must("external", flag("The order did not come through this gate.")),
		))),
		must("practice", practiceField()),
	)
}

type decisionShown struct {
	ID       string    `json:"id"`
	At       string    `json:"at"`
	Kind     string    `json:"kind"`
	Verdict  string    `json:"verdict"`
	Action   string    `json:"action,omitempty"`
	Symbol   string    `json:"symbol,omitempty"`
	Side     string    `json:"side,omitempty"`
	Quantity string    `json:"quantity,omitempty"`
	Limit    string    `json:"limit_price,omitempty"`
	Count    int       `json:"count"`
	Findings []finding `json:"findings"`
}

type decisionsShown struct {
	Decisions []decisionShown `json:"decisions"`
	Practice  bool            `json:"practice"`
}

// recentDecisions shows entries without their notes and names: those are a caller's
// texts, and another caller's model would read them.
func (s *Server) recentDecisions(ctx context.Context, q normalize.Query) (any, error) {
	if s.cfg.Journal == nil {
		return nil, unreadable(errNoJournal)
	}
	entries, err := s.cfg.Journal.Decisions(ctx, q.Limit)
	if err != nil {
		return nil, unreadable(err)
	}
	out := decisionsShown{Practice: s.cfg.Practice}
	for i := range entries[:min(len(entries), q.Limit)] {
		d, err := showDecision(&entries[i])
		if err != nil {
			return nil, unreadable(err)
		}
		out.Decisions = append(out.Decisions, d)
	}
	return out, nil
}

func showDecision(e *journal.Entry) (decisionShown, error) {
	out := decisionShown{ID: fmt.Sprintf("%s/%d", e.Account, e.Seq), At: instant(e.At.Time), Kind: string(e.Kind), Count: 1}
	switch e.Kind {
	case journal.KindRefusal:
		body, err := journal.DecodeBody[journal.Refusal](e)
		if err != nil {
			return out, err
		}
		out.Verdict, out.Count = journal.VerdictError, body.Count
		status := "fault"
		if body.Denial {
			out.Verdict, status = journal.VerdictDenied, "deny"
		}
		out.Findings = []finding{{Rail: body.Code, Status: status, Text: body.Text}}
	default:
		body, err := journal.DecodeBody[journal.Decision](e)
		if err != nil {
			return out, err
		}
		in := &body.Intent
		out.Verdict, out.Action, out.Symbol, out.Side = body.Verdict, in.Action.String(), in.Symbol, in.Side.String()
		if !in.Quantity.IsZero() {
			out.Quantity = in.Quantity.String()
		}
		if !in.LimitPrice.IsZero() {
			out.Limit = in.LimitPrice.String()
		}
		for _, f := range body.Findings {
			out.Findings = append(out.Findings, finding{
				Rail: f.Rail, Status: f.Status, Observed: f.Observed, Limit: f.Limit, Passes: f.Passes, Text: f.Text,
			})
		}
	}
	return out, nil
}

func decisionsOutput() string {
	return object(
		must("decisions", list("Newest first.", object(
			must("id", text("Id of the entry.")), must("at", text("RFC 3339, UTC.")),
			must("kind", text("decision; or refusal, of a call that was no order.")),
			must("verdict", words("What it came to.", journal.VerdictAllowed, journal.VerdictDenied, journal.VerdictError)),
			may("action", text("new, replace or cancel.")), may("symbol", text("The symbol.")), may("side", text("buy or sell.")),
			may("quantity", text("Shares.")), may("limit_price", text("Per share.")),
			must("count", whole("How many calls one entry stands for.")),
			must("findings", list("What refused.", findingSchema())),
		))),
		must("practice", practiceField()),
	)
}
