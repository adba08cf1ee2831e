package account

import (
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

func (st *step) fill() error {
	body, err := journal.DecodeBody[journal.Fill](st.entry)
	if err != nil {
		return err
	}
	f := &body
	if f.ExecutionID == "" {
		return broken("fill without an execution id")
	}
	key := keyOf(executionKind, f.ExecutionID)
	if st.state.ids.has(key) {
		if !st.commit() {
			return nil
		}
		st.cursor(f.Cursor)
		return nil
	}
	p, err := st.planFill(f)
	if err != nil {
		return err
	}
	if !st.commit() {
		return nil
	}
	st.cursor(f.Cursor)
	st.makeFill(&p)
	st.state.ids.addSeen(key, st.date)
	return nil
}

// filling is a fill of an order of ours, worked out and not yet made.
type filling struct {
	booking booking
	change  change // of the order, if it is open
	open    bool
	late    uint64 // seq of the order, if it is not
	filled  money.Quantity
}

// planFill works out a fill. It is booked also beyond the order's quantity and after
// its end: what the broker executed is so.
func (st *step) planFill(f *journal.Fill) (filling, error) {
	var p filling
	var err error
	ok := true
	s := st.state
	x := execution{quantity: f.Quantity, price: f.Price, fees: f.Fees, ours: true}
	o := s.Order(f.OrderID)
	switch {
	case o != nil && o.External:
		return p, broken("fill of an external order")
	case o != nil:
		h := s.Holding(o.Symbol)
		if h == nil {
			return p, broken("open order without a holding")
		}
		x.instrument, x.side = h.Instrument, o.Side
	default:
		e := s.endedOrder(f.OrderID)
		if e == nil {
			return p, ErrUnknownOrder
		}
		x.instrument, x.side, p.late = e.instrument, e.side, e.seq
		p.filled, ok = e.filled.Add(f.Quantity)
	}
	if !ok {
		return p, errOutOfRange
	}
	if p.booking, err = st.book(&x); err != nil || o == nil {
		return p, err
	}
	next := *o
	if next.Filled, ok = o.Filled.Add(f.Quantity); !ok {
		return p, errOutOfRange
	}
	// An execution proves that the order is at the broker.
	next.Stage = Working
	p.open = true
	p.change, err = s.planChange(o, next, "")
	return p, err
}

func (st *step) makeFill(p *filling) {
	if p.open {
		st.make(&p.change)
	}
	// Asked for again: a new trade date may have moved what is remembered.
	if e := st.state.side.findEnded(p.late); e != nil {
		e.filled = p.filled
	}
	st.post(&p.booking)
	st.state.dropIfEmpty(p.booking.instrument.Symbol)
}

// endedOrder finds a lately ended order of ours by its id; nil if it is not known.
func (s *State) endedOrder(id string) *ended {
	number, ok := strings.CutPrefix(id, s.Account+"/")
	if !ok {
		return nil
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || s.orderID(seq) != id {
		return nil
	}
	return s.side.findEnded(seq)
}
