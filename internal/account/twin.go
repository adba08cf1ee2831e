package account

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
)

// MarkOf returns what two orders must share to be duplicates.
func MarkOf(symbol string, side order.Side, t *Terms) TwinMark {
	return TwinMark{
		Symbol: symbol, Side: side, Type: t.Type, Quantity: t.Quantity,
		LimitPrice: t.LimitPrice, StopPrice: t.StopPrice,
	}
}

func (st *step) addTwin(orderID string, mark TwinMark) {
	s := st.state
	t := Twin{At: st.at, OrderID: orderID, Mark: mark}
	s.side.twins += mixTwin(&t)
	s.Recent = append(s.Recent, t)
}

// pruneTwins forgets what is at or before cutoff, and the oldest over TwinsMax.
func (s *State) pruneTwins(cutoff time.Time) {
	if s.side.behind != nil {
		return // a fork: its twins are another state's
	}
	n := 0
	for n < len(s.Recent) && (!s.Recent[n].At.After(cutoff) || len(s.Recent)-n > TwinsMax) {
		s.side.twins -= mixTwin(&s.Recent[n])
		n++
	}
	if n == 0 {
		return
	}
	clear(s.Recent[:n])
	s.Recent = s.Recent[n:]
	if len(s.Recent) == 0 {
		s.Recent = nil
	}
}

func mixTwin(t *Twin) uint64 {
	var buf [256]byte
	w := wire{b: buf[:0]}
	w.twin(t)
	return mixBytes(0, w.b)
}
