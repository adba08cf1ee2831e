package mcpserver

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
)

// windowShown is one counter of the limits document. Limit and Headroom are absent
// when the limit is off.
type windowShown struct {
	Rail     string `json:"rail"`
	Used     string `json:"used"`
	Limit    string `json:"limit,omitempty"`
	Headroom string `json:"headroom,omitempty"`
}

type limitsShown struct {
	InForce     bool            `json:"in_force"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	Mode        string          `json:"mode"`
	Valid       bool            `json:"valid"`
	Document    json.RawMessage `json:"document,omitempty"`
	Off         []string        `json:"off"`
	Windows     []windowShown   `json:"windows"`
	Practice    bool            `json:"practice"`
}

func (s *Server) getLimits(ctx context.Context, _ normalize.Query) (any, error) {
	out := limitsShown{Practice: s.cfg.Practice}
	err := s.view(ctx, func(v gate.View) {
		out.Mode, out.Valid = v.Mode.String(), !v.LimitsInvalid
		if v.Limits == nil {
			return
		}
		out.InForce, out.Fingerprint, out.Off = true, v.Limits.Fingerprint, v.Limits.Off()
		out.Document = json.RawMessage(append([]byte(nil), v.Limits.Canonical...))
		out.Windows = windowsOf(&v)
	})
	return out, err
}

// minute is the length of the sliding windows of the session section.
const minute = time.Minute

func windowsOf(v *gate.View) []windowShown {
	st, doc, now, day := v.State, v.Limits, v.Now, v.State.DayAt(v.Now)
	open := st.OpenOrders()
	return []windowShown{
		counted("max_orders_per_minute", doc.Session.MaxOrdersPerMinute, st.Rate.Count(now, account.BucketOpen)),
		summed("max_notional_per_minute", doc.Session.MaxNotionalPerMinute, st.Turnover.Sum(now, minute)),
		counted("max_messages_per_minute", doc.Session.MaxMessagesPerMinute, st.Messages.Count(now, account.BucketOpen)),
		counted("max_orders_per_day", doc.Session.MaxOrdersPerDay, day.OrdersInAll()),
		summed("max_notional_per_day", doc.Session.MaxNotionalPerDay, day.Notional),
		counted("max_open_orders", doc.Position.MaxOpenOrders, open),
		counted("order_in_doubt", doc.Position.MaxInDoubt, st.InDoubtCount(now)),
		denials(v),
		cycles(v),
	}
}

func counted(id string, limit limits.Limit[int], used int) windowShown {
	w := windowShown{Rail: id, Used: strconv.Itoa(used)}
	if limit.On {
		w.Limit, w.Headroom = strconv.Itoa(limit.Value), strconv.Itoa(max(0, limit.Value-used))
	}
	return w
}

func summed(id string, limit limits.Limit[money.Notional], used money.Notional) windowShown {
	w := windowShown{Rail: id, Used: used.String()}
	if limit.On {
		w.Limit = limit.Value.String()
		left, ok := limit.Value.Sub(used)
		if !ok || left.IsNegative() {
			left = money.Notional{}
		}
		w.Headroom = left.String()
	}
	return w
}

func denials(v *gate.View) windowShown {
	storm := v.Limits.Session.DenialStorm
	if !storm.On {
		return windowShown{Rail: "denial_storm", Used: "0"}
	}
	on := limits.Limit[int]{Set: true, On: true, Value: storm.Value.Denials}
	return counted("denial_storm", on, v.State.Denials.Count(v.Now, storm.Value.Window))
}

func cycles(v *gate.View) windowShown {
	repeated := v.Limits.Session.RepeatedExecution
	if !repeated.On {
		return windowShown{Rail: "repeated_execution", Used: "0"}
	}
	on := limits.Limit[int]{Set: true, On: true, Value: repeated.Value.Cycles}
	return counted("repeated_execution", on, v.State.Cycles.Count(v.Now, repeated.Value.Window))
}

func limitsOutput() string {
	return object(
		must("in_force", flag("Whether limits were ever loaded. Without them every order is refused.")),
		may("fingerprint", text("SHA-256 of the canonical limits document, hex.")),
		must("mode", words("What orders may pass at all.", journal.ModeActive, journal.ModeReduceOnly, journal.ModeHalted)),
		must("valid", flag("False: the newest load failed, and only reducing orders pass.")),
		may("document", open("The limits in force. Figures are per order, per symbol or per account, as their names say; prices and notionals in the account's currency, collars and spreads in basis points.")),
		must("off", list("Limits that the operator has switched off.", text("A key of the document."))),
		must("windows", list("What the counters stand at.", object(
			must("rail", text("Id of the limit.")), must("used", text("Orders, messages or money.")),
			may("limit", text("The most that passes.")), may("headroom", text("What is left.")),
		))),
		must("practice", practiceField()),
	)
}
