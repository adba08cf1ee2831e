package account

import (
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// externalPrefix begins the id of an order that did not come through the gate.
const externalPrefix = "ext/"

func (st *step) external() error {
	body, err := journal.DecodeBody[journal.External](st.entry)
	if err != nil {
		return err
	}
	x := &body
	parts := 0
	for _, set := range []bool{x.Cash != nil, x.Ended != nil, x.Fill != nil, x.Order != nil} {
		if set {
			parts++
		}
	}
	if x.ID == "" || parts != 1 {
		return broken("external event without an id, or not of one part")
	}
	key := keyOf(eventKind, x.ID)
	finish := func() {}
	if !st.state.ids.has(key) {
		switch {
		case x.Cash != nil:
			finish, err = st.cashFlow(x.Cash)
		case x.Ended != nil:
			finish, err = st.externalEnd(x.Ended)
		case x.Fill != nil:
			finish, err = st.externalFill(x.Fill)
		default:
			finish, err = st.externalOrder(x.Order)
		}
		if err != nil {
			return err
		}
		first := finish
		finish = func() { first(); st.state.ids.addSeen(key, st.date) }
	}
	if !st.commit() {
		return nil
	}
	st.cursor(x.Cursor)
	finish()
	return nil
}

// cashFlow, externalEnd, externalFill and externalOrder check and work out one part,
// and return what makes it.

func (st *step) cashFlow(f *journal.CashFlow) (func(), error) {
	s := st.state
	cash, ok1 := s.Cash.Add(f.Amount)
	flows, ok2 := st.day.Flows.Add(f.Amount)
	peak, ok3 := s.Peak, true
	if peak.Known {
		peak.Equity, ok3 = peak.Equity.Add(f.Amount)
	}
	if !ok1 || !ok2 || !ok3 {
		return nil, errOutOfRange
	}
	return func() { s.Cash, s.Day.Flows, s.Peak = cash, flows, peak }, nil
}

func (st *step) externalEnd(end *journal.ExternalEnd) (func(), error) {
	switch end.Result {
	case journal.ResultCanceled, journal.ResultExpired, journal.ResultRejected, "filled":
	default:
		return nil, broken("result is not known")
	}
	o := st.state.Order(externalPrefix + end.BrokerID)
	if o == nil {
		return func() {}, nil
	}
	c, err := st.state.planChange(o, *o, end.Result)
	if err != nil {
		return nil, err
	}
	return func() {
		st.make(&c)
		st.state.dropIfEmpty(c.next.Symbol)
	}, nil
}

func (st *step) externalFill(f *journal.ExternalFill) (func(), error) {
	if f.Instrument.Symbol == "" {
		return nil, broken("external fill without an instrument")
	}
	booked, err := st.book(&execution{
		instrument: f.Instrument, side: f.Side, quantity: f.Quantity, price: f.Price, fees: f.Fees,
	})
	if err != nil {
		return nil, err
	}
	p := filling{booking: booked}
	o := st.state.Order(externalPrefix + f.BrokerID)
	if o != nil && f.BrokerID != "" && o.Symbol == f.Instrument.Symbol {
		next := *o
		var ok bool
		if next.Filled, ok = o.Filled.Add(f.Quantity); !ok {
			return nil, errOutOfRange
		}
		p.open = true
		if p.change, err = st.state.planChange(o, next, ""); err != nil {
			return nil, err
		}
	}
	return func() { st.makeFill(&p) }, nil
}

// externalOrder takes in an order as the broker shows it: a new one, or new terms of
// one that is open, ours too if someone changed it at the broker.
func (st *step) externalOrder(b *journal.BrokerOrder) (func(), error) {
	s := st.state
	fresh, err := externalFrom(b, st)
	if err != nil {
		return nil, err
	}
	if o := s.shownAs(b); o != nil {
		if o.Symbol != fresh.Symbol || o.Side != fresh.Side {
			return nil, broken("broker shows an open order with another symbol or side")
		}
		next := *o
		next.Terms, next.Group, next.Stage = fresh.Terms, fresh.Group, Working
		if o.External {
			next.Filled = fresh.Filled
		} else {
			// What the broker does not show stays as it was judged.
			next.ExtendedHours, next.ExpireAt = o.ExtendedHours, o.ExpireAt
			next.Cost = money.MaxNotional(o.Cost, fresh.Cost)
			next.RiskPrice = money.MaxPrice(o.RiskPrice, fresh.RiskPrice)
		}
		c, err := s.planChange(o, next, "")
		if err != nil {
			return nil, err
		}
		return func() {
			st.make(&c)
			s.dropIfEmpty(next.Symbol)
		}, nil
	}
	if fresh.Remaining().IsZero() {
		return func() {}, nil
	}
	buy, sell, err := s.planOrder(fresh)
	if err != nil {
		return nil, err
	}
	return func() { s.addOrder(fresh, b.Instrument, buy, sell) }, nil
}

// shownAs returns the open order that a broker's order is; nil if there is none.
func (s *State) shownAs(b *journal.BrokerOrder) *Order {
	if o := s.Order(externalPrefix + b.BrokerID); o != nil {
		return o
	}
	for _, o := range s.Orders {
		if o.BrokerID == b.BrokerID || b.ClientOrderID != "" && o.ClientOrderID == b.ClientOrderID {
			return o
		}
	}
	return nil
}

// externalFrom reads a broker's order. Its risk price is what it says of prices; a
// market order has none, and is valued at the ask like every order elsewhere.
func externalFrom(b *journal.BrokerOrder, st *step) (*Order, error) {
	switch {
	case b.BrokerID == "" || b.Instrument.Symbol == "":
		return nil, broken("external order without an id or instrument")
	case b.Side != order.Buy && b.Side != order.Sell || b.Type == order.TypeNone:
		return nil, broken("external order without side or type")
	case !b.Quantity.IsPositive() || b.Filled.IsNegative():
		return nil, broken("external order without a quantity")
	case !b.Instrument.Multiplier.IsPositive():
		return nil, broken("instrument without a multiplier")
	case b.LimitPrice.IsNegative() || b.StopPrice.IsNegative():
		return nil, broken("external order with a negative price")
	}
	price := b.LimitPrice
	if !b.Type.HasLimit() {
		price = b.StopPrice
	}
	var cost money.Notional
	if b.Side == order.Buy {
		var ok bool
		if cost, ok = price.TimesMultiplied(b.Quantity, b.Instrument.Multiplier, money.Up); !ok {
			return nil, errOutOfRange
		}
	}
	return &Order{
		ID: externalPrefix + b.BrokerID, Seq: st.entry.Seq, External: true, ClientOrderID: b.ClientOrderID,
		BrokerID: b.BrokerID, Group: b.Group, Side: b.Side, Symbol: b.Instrument.Symbol, Filled: b.Filled,
		Stage: Working, DecidedAt: st.at,
		Terms: Terms{
			Type: b.Type, Quantity: b.Quantity, LimitPrice: b.LimitPrice, StopPrice: b.StopPrice,
			TimeInForce: b.TimeInForce, RiskPrice: price, Cost: cost,
		},
	}, nil
}
