package account

import (
	"github.com/broker-rails/broker-rails/internal/journal"
)

func (st *step) outcome() error {
	body, err := journal.DecodeBody[journal.Outcome](st.entry)
	if err != nil {
		return err
	}
	s := st.state
	out := &body
	if out.Decision == 0 || out.Decision >= st.entry.Seq {
		return broken("outcome of no decision before it")
	}
	o, asked := s.asked(out)
	var next Order
	var ended string // why the order has ended by this, if it has
	if o != nil {
		next = *o
	}
	switch out.Result {
	case journal.ResultAccepted, journal.ResultRejected, journal.ResultNotSent, journal.ResultInDoubt:
		if o == nil {
			// The order has ended meanwhile, filled up or canceled: nothing is left to change.
			break
		}
		if ended, err = st.answer(&next, asked, out); err != nil {
			return err
		}
	case journal.ResultCanceled, journal.ResultExpired:
		if o == nil {
			break
		}
		if endOrder(&next) {
			ended = out.Result
		}
	default:
		return broken("result is not known")
	}
	if o == nil {
		if !st.commit() {
			return nil
		}
		st.cursor(out.Cursor)
		return nil
	}
	c, err := s.planChange(o, next, ended)
	if err != nil {
		return err
	}
	if !st.commit() {
		return nil
	}
	st.cursor(out.Cursor)
	st.make(&c)
	s.dropIfEmpty(next.Symbol)
	return nil
}

// asked says what of an order a decision asked for.
type asked uint8

const (
	askedNothing asked = iota
	askedOrder
	askedReplace
	askedCancel
)

// asked finds the open order that an outcome is about; nil if it has ended.
func (s *State) asked(out *journal.Outcome) (*Order, asked) {
	if out.OrderID != "" {
		o := s.Order(out.OrderID)
		return o, o.askedBy(out.Decision)
	}
	if o := s.Order(s.orderID(out.Decision)); o != nil {
		return o, askedOrder
	}
	for _, o := range s.Orders {
		if what := o.askedBy(out.Decision); what != askedNothing {
			return o, what
		}
	}
	return nil, askedNothing
}

func (o *Order) askedBy(seq uint64) asked {
	switch {
	case o == nil:
		return askedNothing
	case o.Pending != nil && o.Pending.Seq == seq:
		return askedReplace
	case o.Canceling != nil && o.Canceling.Seq == seq:
		return askedCancel
	case o.Seq == seq && !o.External:
		return askedOrder
	}
	return askedNothing
}

// answer changes the order by the answer to what was asked, and says why it has ended if it has.
func (st *step) answer(o *Order, what asked, out *journal.Outcome) (ended string, err error) {
	switch what {
	case askedOrder:
		return st.answerOrder(o, out)
	case askedReplace:
		st.answerReplace(o, out)
	case askedCancel:
		switch out.Result {
		case journal.ResultRejected, journal.ResultNotSent:
			o.Canceling = nil
		case journal.ResultInDoubt:
			o.Canceling = &Pending{Seq: o.Canceling.Seq, ReplyBy: o.Canceling.ReplyBy, Doubtful: true}
		}
		// Accepted proves that the cancel was taken, not that the order has ended.
	}
	return "", nil
}

func (st *step) answerOrder(o *Order, out *journal.Outcome) (ended string, err error) {
	switch out.Result {
	case journal.ResultAccepted:
		o.Stage = Working
		if out.BrokerID != "" {
			o.BrokerID = out.BrokerID
		}
	case journal.ResultRejected:
		return out.Result, nil
	case journal.ResultNotSent:
		if o.Stage == Working {
			return "", broken("not sent, but the broker has it")
		}
		return out.Result, nil
	case journal.ResultInDoubt:
		// What is proved to be at the broker is not in doubt for want of one reply.
		if o.Stage == Reserved {
			o.Stage, o.DoubtAt = Doubtful, st.at
		}
	}
	return "", nil
}

func (st *step) answerReplace(o *Order, out *journal.Outcome) {
	switch out.Result {
	case journal.ResultAccepted:
		o.takePending()
		if out.BrokerID != "" {
			o.BrokerID = out.BrokerID
		}
	case journal.ResultRejected, journal.ResultNotSent:
		o.Pending = nil
	case journal.ResultInDoubt:
		p := *o.Pending
		p.Doubtful = true
		o.Pending, o.DoubtAt = &p, st.at
	}
}

// takePending puts the terms of the pending replace in force.
func (o *Order) takePending() {
	o.Terms, o.Pending, o.Stage = o.Pending.Terms, nil, Working
}

// endOrder ends an order, canceled or expired, and says if nothing of it is left. When
// the broker replaces in two steps, the end of the old order is not the end of the new
// one: its terms stay reserved until the replace is answered.
func endOrder(o *Order) (ended bool) {
	if o.Pending == nil || o.Pending.Atomic || o.Quantity == o.Filled {
		return true
	}
	o.Quantity, o.Canceling = o.Filled, nil
	return false
}

func (st *step) cursor(text string) {
	if text != "" {
		st.state.Cursor = text
	}
}
