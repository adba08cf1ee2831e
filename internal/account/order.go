package account

import (
	"slices"
	"sort"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Remaining is what can still fill. With a pending replace it is the larger of what the
// old and the new total leave if the broker replaces in one step, else their sum.
func (o *Order) Remaining() money.Quantity {
	left := unfilled(o.Quantity, o.Filled)
	if o.Pending == nil {
		return left
	}
	coming := unfilled(o.Pending.Terms.Quantity, o.Filled)
	if o.Pending.Atomic {
		return money.MaxQuantity(left, coming)
	}
	// That the sum is in range was checked when the replace was applied, and fills only
	// lower it.
	sum, _ := left.Add(coming)
	return sum
}

func unfilled(total, filled money.Quantity) money.Quantity {
	left, ok := total.Sub(filled)
	if !ok || left.IsNegative() {
		return money.Quantity{}
	}
	return left
}

// InDoubt reports whether it is unknown if the order, or a replace of it, is at the
// broker: the journal says so, or the time for a reply is over. From ReplyBy on it is
// in doubt. A cancel without an answer is not doubt of this kind: until its end is
// proved the order counts in full.
func (o *Order) InDoubt(now time.Time) bool { return !o.DoubtSince(now).IsZero() }

// DoubtSince returns when the order became in doubt, the later of both if the order and
// a replace are; the zero time if it is not in doubt.
func (o *Order) DoubtSince(now time.Time) time.Time {
	var since time.Time
	switch {
	case o.Stage == Doubtful:
		since = o.DoubtAt
	case o.Stage == Reserved && !now.Before(o.ReplyBy):
		since = o.ReplyBy
	}
	if p := o.Pending; p != nil {
		at := p.ReplyBy
		if p.Doubtful {
			at = o.DoubtAt
		} else if now.Before(p.ReplyBy) {
			return since
		}
		if at.After(since) {
			since = at
		}
	}
	return since
}

// Status returns the open order's status at now.
func (o *Order) Status(now time.Time) string {
	switch {
	case o.InDoubt(now):
		return StatusInDoubt
	case o.Stage == Reserved:
		return StatusReserved
	case o.Filled.IsPositive():
		return StatusPartiallyFilled
	}
	return StatusWorking
}

// Order returns the open order with the id; nil if there is none.
func (s *State) Order(id string) *Order { return s.side.bySeq[id] }

// OpenOrders returns how many orders are open: reserved, working and in doubt, external
// ones too, exits too.
func (s *State) OpenOrders() int { return len(s.Orders) }

// InDoubtCount returns how many orders are in doubt at now.
func (s *State) InDoubtCount(now time.Time) int {
	n := 0
	for _, o := range s.Orders {
		if o.InDoubt(now) {
			n++
		}
	}
	return n
}

// InDoubtIn reports whether an order of the instrument is in doubt at now.
func (s *State) InDoubtIn(symbol string, now time.Time) bool {
	if h := s.Holding(symbol); h != nil {
		for _, o := range h.Orders {
			if o.InDoubt(now) {
				return true
			}
		}
	}
	return false
}

// change is a new state of one order, worked out and not yet made.
type change struct {
	order     *Order
	next      Order
	gone      bool
	status    string         // why it is gone
	buy, sell money.Quantity // of its holding, after it
}

// planChange works out what an order's change does to its holding. An order that has
// nothing left to fill is gone.
//
// ended says why the order has ended otherwise, and is empty if it has not.
func (s *State) planChange(o *Order, next Order, ended string) (change, error) {
	remaining := next.Remaining()
	c := change{order: o, next: next, gone: ended != "" || remaining.IsZero(), status: ended}
	if c.gone {
		remaining = money.Quantity{}
		if ended == "" {
			c.status = StatusFilled
		}
	}
	h := s.Holding(o.Symbol)
	if h == nil {
		return c, broken("open order without a holding")
	}
	var ok bool
	if c.buy, c.sell, ok = h.openWith(o, next.Group, remaining); !ok {
		return c, errOutOfRange
	}
	return c, nil
}

// make applies a planned change. The holding stays, even if it is left empty.
func (st *step) make(c *change) {
	s := st.state
	h := s.Holding(c.order.Symbol)
	h.OpenBuy, h.OpenSell = c.buy, c.sell
	*c.order = c.next
	if !c.gone {
		return
	}
	s.Orders = without(s.Orders, c.order)
	h.Orders = without(h.Orders, c.order)
	delete(s.side.bySeq, c.order.ID)
	if !c.order.External {
		s.side.remember(ended{
			seq: c.order.Seq, clientOrderID: c.order.ClientOrderID, brokerID: c.order.BrokerID,
			instrument: h.Instrument, side: c.order.Side, quantity: c.order.Quantity,
			filled: c.order.Filled, status: c.status, date: st.date,
		})
	}
}

// without takes an order out of a list sorted by seq.
func without(list []*Order, o *Order) []*Order {
	i := sort.Search(len(list), func(i int) bool { return list[i].Seq >= o.Seq })
	for i < len(list) && list[i] != o {
		i++
	}
	if i == len(list) {
		return list
	}
	return slices.Delete(list, i, i+1)
}

// addOrder puts a new order in, whose seq is the newest, with its holding's open
// quantities after it.
func (s *State) addOrder(o *Order, in order.Instrument, buy, sell money.Quantity) {
	h := s.holdingFor(in)
	h.OpenBuy, h.OpenSell = buy, sell
	h.Orders = append(h.Orders, o)
	s.Orders = append(s.Orders, o)
	if s.side.bySeq == nil {
		s.side.bySeq = make(map[string]*Order)
	}
	s.side.bySeq[o.ID] = o
}

// planOrder works out the open quantities of the instrument with a new order in it.
func (s *State) planOrder(o *Order) (buy, sell money.Quantity, err error) {
	none := Holding{}
	h := s.Holding(o.Symbol)
	if h == nil {
		h = &none
	}
	buy, sell, ok := h.openWith(o, o.Group, o.Remaining())
	if !ok {
		return buy, sell, errOutOfRange
	}
	return buy, sell, nil
}

// Statuses of an order. StatusFilled is of one that filled up; other ended orders have the
// result of an outcome, or of a resolution.
const (
	StatusReserved        = "reserved"
	StatusWorking         = "working"
	StatusPartiallyFilled = "partially_filled" // and working
	StatusInDoubt         = "in_doubt"
	StatusFilled          = "filled"
)

// EndedOrder is an order of ours that is no longer open.
type EndedOrder struct {
	OrderID  string
	BrokerID string
	Quantity money.Quantity // the total as it last was
	Filled   money.Quantity // late fills included
	Status   string
}

// Ended returns an order that ended on this trade date or the one before, if it is
// among the last EndedMax.
func (s *State) Ended(orderID string) (EndedOrder, bool) {
	e := s.endedOrder(orderID)
	if e == nil {
		return EndedOrder{}, false
	}
	return EndedOrder{
		OrderID: orderID, BrokerID: e.brokerID, Quantity: e.quantity, Filled: e.filled, Status: e.status,
	}, true
}

// ended is what is kept of an order that is no longer open: what a late fill needs,
// and what an agent that asks again is told.
type ended struct {
	seq           uint64
	clientOrderID string
	brokerID      string
	instrument    order.Instrument
	side          order.Side
	quantity      money.Quantity
	filled        money.Quantity
	status        string
	date          tradeDate
}

func (c *sidecar) remember(e ended) {
	if len(c.ended) >= EndedMax {
		// A tenth at once, so that the copy is paid for by many.
		c.ended = dropFront(c.ended, EndedMax/10)
	}
	c.ended = append(c.ended, e)
}

// findEnded returns the order that the decision made, if it is remembered.
func (c *sidecar) findEnded(seq uint64) *ended {
	if seq == 0 {
		return nil
	}
	for i := len(c.ended) - 1; i >= 0; i-- {
		if c.ended[i].seq == seq {
			return &c.ended[i]
		}
	}
	if c.behind != nil {
		if e := c.behind.findEnded(seq); e != nil {
			// A copy, since what is behind a fork must not change.
			copied := *e
			return &copied
		}
	}
	return nil
}
