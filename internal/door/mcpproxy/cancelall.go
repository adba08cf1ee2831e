package mcpproxy

import (
	"fmt"
	"strings"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// CancelsMax bounds the orders that one call cancels.
const CancelsMax = 500

// cancelAll cancels each open order of the account by itself: judged, recorded and sent
// one by one, so that what became of each is known. The server's own tool for it is not
// called.
func (s *session) cancelAll(agentID string, c *call) {
	type open struct{ id, brokerID, symbol string }
	var list []open
	err := s.cfg.Gate().View(s.ctx, func(v gate.View) {
		for _, o := range v.State.Orders {
			if o.BrokerID != "" && len(list) < CancelsMax {
				list = append(list, open{o.ID, o.BrokerID, o.Symbol})
			}
		}
	})
	if err != nil {
		s.refuse(agentID, c, unread())
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d open orders; each is canceled by itself.\n", len(list))
	structured := []byte(`{"result":[`)
	for _, o := range list {
		r, refusal := s.cfg.Profile.CancelInstead(o.brokerID)
		if refusal == nil && s.quarantined(r.Tool) != "" {
			refusal = unread()
		}
		if refusal != nil {
			s.refuse(agentID, c, refusal)
			return
		}
		answer := s.carryOut(c, order.Intent{Action: order.ActionCancel, Target: o.id, Symbol: o.symbol}, &r)
		fmt.Fprintf(&b, "%s (%s): %s\n", o.id, o.brokerID, wordOf(answer))
		if len(structured) > len(`{"result":[`) {
			structured = append(structured, ',')
		}
		structured = append(append(structured, `{"id":`...), quote(o.brokerID)...)
		structured = append(append(structured, `,"result":`...), quote(wordOf(answer))...)
		structured = append(structured, '}')
	}
	s.toAgent(response(agentID, plain(b.String(), append(structured, `]}`...))))
}

// wordOf is the result that an answer of this package carries in its _meta.
func wordOf(answer []byte) string {
	ms, _ := members(answer) // our own
	meta, _ := members(find(ms, "_meta"))
	d, _ := members(find(meta, metaDecision))
	if w := text(find(d, "result")); w != "" {
		return w
	}
	if w := text(find(d, "verdict")); w != "" {
		return w
	}
	return risk.Error.String()
}

// plain is a result that is no refusal.
func plain(text string, structured []byte) []byte {
	out := append([]byte(`{"content":[{"type":"text","text":`), quote(strings.TrimRight(text, "\n"))...)
	out = append(append(out, `}],"structuredContent":`...), structured...)
	return append(out, `,"isError":false}`...)
}
