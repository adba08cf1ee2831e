package account

import (
	"slices"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func (st *step) decision() error {
	body, err := journal.DecodeBody[journal.Decision](st.entry)
	if err != nil {
		return err
	}
	d := &body
	switch d.Verdict {
	case journal.VerdictDenied, journal.VerdictError:
		if d.Reservation != nil {
			return broken("a reservation without leave")
		}
		if !st.commit() {
			return nil
		}
		st.countDecision(d)
		if d.Verdict == journal.VerdictDenied {
			st.state.Denials.add(st.ns, 1, money.Notional{}, DenialsMax+1)
		}
		return nil
	case journal.VerdictAllowed:
	default:
		return broken("verdict is not known")
	}
	if d.Intent.Account != st.state.Account {
		return broken("intent is of another account")
	}
	switch d.Intent.Action {
	case order.ActionNew:
		return st.allowNew(d)
	case order.ActionReplace:
		return st.allowReplace(d)
	case order.ActionCancel:
		return st.allowCancel(d)
	}
	return broken("intent without an action")
}

// countDecision makes what every decision makes: a message, a clock reading, and a peak
// if the equity it was judged by is one.
func (st *step) countDecision(d *journal.Decision) {
	s := st.state
	bucket := journal.BucketOpen
	switch {
	case d.Intent.Action == order.ActionCancel:
		bucket = journal.BucketExit
	case d.Reservation != nil:
		bucket = d.Reservation.Bucket
	case d.Reducing:
		bucket = journal.BucketExit
	}
	s.Messages.add(st.ns, bucket, 1, MessagesMax+1)
	s.Clock = d.Clock
	if d.Equity != nil {
		s.Peak.raise(*d.Equity)
	}
}

func (p *Peak) raise(equity money.Notional) {
	if !p.Known || equity.Cmp(p.Equity) > 0 {
		*p = Peak{Known: true, Equity: equity}
	}
}

// checkAllowed checks what an allowed order or replace has to have, and that its
// figures can be counted. It returns the terms and the day with it in.
func (st *step) checkAllowed(d *journal.Decision) (Terms, Day, error) {
	in, r := &d.Intent, d.Reservation
	day := st.day
	switch {
	case r == nil:
		return Terms{}, day, broken("allowed without a reservation")
	case r.Bucket != journal.BucketOpen && r.Bucket != journal.BucketExit:
		return Terms{}, day, broken("bucket is not known")
	case !in.Quantity.IsPositive() || r.Quantity != in.Quantity:
		return Terms{}, day, broken("reservation is not of the intent's quantity")
	case r.Notional.IsNegative() || r.Cost.IsNegative() || r.Price.IsNegative():
		return Terms{}, day, broken("reservation with a negative figure")
	case d.ReplyBy.Before(st.at):
		return Terms{}, day, broken("reply_by is not after the decision")
	}
	if in.ClientOrderID != "" {
		if _, _, known := st.state.ClientID(in.ClientOrderID); known {
			return Terms{}, day, broken("client order id was used before")
		}
	}
	var ok bool
	if day.Notional, ok = day.Notional.Add(r.Notional); !ok || !st.turnoverFits(r.Notional) {
		return Terms{}, day, errOutOfRange
	}
	return Terms{
		Type: in.Type, Quantity: in.Quantity, LimitPrice: in.LimitPrice, StopPrice: in.StopPrice,
		TimeInForce: in.TimeInForce, ExtendedHours: in.ExtendedHours, ExpireAt: in.ExpireAt,
		RiskPrice: r.Price, Cost: r.Cost,
	}, day, nil
}

// countAllowed counts an allowed order or replace, and remembers it.
func (st *step) countAllowed(d *journal.Decision, orderID string, mark TwinMark) {
	s := st.state
	st.countDecision(d)
	s.Rate.add(st.ns, d.Reservation.Bucket, 1, OrdersPerMinuteMax+1)
	s.Turnover.add(st.ns, 1, d.Reservation.Notional, 0)
	st.addTwin(orderID, mark)
	if id := d.Intent.ClientOrderID; id != "" {
		rec := clientRecord{seq: st.entry.Seq, digest: IntentDigest(&d.Intent)}
		s.ids.addClient(keyOf(clientKind, id), rec, st.date)
	}
}

func (st *step) allowNew(d *journal.Decision) error {
	in := &d.Intent
	terms, day, err := st.checkAllowed(d)
	switch {
	case err != nil:
		return err
	case in.Side == order.SideNone || in.Type == order.TypeNone:
		return broken("order without side or type")
	case in.Symbol == "" || d.Instrument.Symbol != in.Symbol:
		return broken("order is of another instrument")
	case !d.Instrument.Multiplier.IsPositive():
		return broken("instrument without a multiplier")
	}
	s := st.state
	seq := st.entry.Seq
	o := &Order{
		ID: s.orderID(seq), Seq: seq, ClientOrderID: journal.ClientOrderID(s.Account, seq, st.hash),
		AgentID: in.ClientOrderID, Terms: terms, Side: in.Side, Symbol: in.Symbol,
		Reducing: d.Reservation.Bucket == journal.BucketExit,
		Stage:    Reserved, DecidedAt: st.at, ReplyBy: d.ReplyBy.Time,
	}
	buy, sell, err := s.planOrder(o)
	if err != nil {
		return err
	}
	if o.Reducing {
		day.ExitOrders++
	} else {
		day.Orders++
	}
	st.day = day
	if !st.commit() {
		return nil
	}
	st.countAllowed(d, o.ID, MarkOf(o.Symbol, o.Side, &terms))
	s.addOrder(o, d.Instrument, buy, sell)
	return nil
}

func (st *step) allowReplace(d *journal.Decision) error {
	terms, day, err := st.checkAllowed(d)
	if err != nil {
		return err
	}
	s := st.state
	o := s.Order(d.Intent.Target)
	switch {
	case o == nil:
		return ErrUnknownOrder
	case o.Pending != nil:
		return broken("the order has a replace pending already")
	case terms.Quantity.Cmp(o.Filled) < 0:
		return broken("new total is below what is filled")
	}
	if terms.Type == order.TypeNone {
		terms.Type = o.Type
	}
	if terms.TimeInForce == order.TimeInForceNone {
		terms.TimeInForce = o.TimeInForce
	}
	next := *o
	next.Pending = &Pending{
		Seq: st.entry.Seq, Terms: terms, ReplyBy: d.ReplyBy.Time,
		Atomic: slices.Contains(d.Flags, journal.FlagAtomicReplace),
	}
	if _, ok := o.Quantity.Add(terms.Quantity); !ok {
		return errOutOfRange
	}
	c, err := s.planChange(o, next, "")
	if err != nil {
		return err
	}
	st.day = day
	if !st.commit() {
		return nil
	}
	st.countAllowed(d, o.ID, MarkOf(o.Symbol, o.Side, &terms))
	st.make(&c)
	return nil
}

func (st *step) allowCancel(d *journal.Decision) error {
	o := st.state.Order(d.Intent.Target)
	switch {
	case o == nil:
		return ErrUnknownOrder
	case d.ReplyBy.Before(st.at):
		return broken("reply_by is not after the decision")
	}
	if !st.commit() {
		return nil
	}
	st.countDecision(d)
	o.Canceling = &Pending{Seq: st.entry.Seq, ReplyBy: d.ReplyBy.Time}
	return nil
}
