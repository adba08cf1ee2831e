package paper

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Reasons of rejections that others need to tell apart.
const (
	reasonCash     = "insufficient cash"
	reasonPosition = "insufficient position"
	reasonUnique   = "client_order_id must be unique"
	reasonUnknown  = "order not found"
	reasonFigure   = "figure out of range"
	reasonLate     = "the message came too late"
)

// reasonBytesMax bounds the reason of a reply.
const reasonBytesMax = 200

// doubt is the reply to a message of which the broker cannot say what became.
func doubt(err error) gate.Reply {
	why := err.Error()
	return gate.Reply{Reason: why[:min(len(why), reasonBytesMax)]}
}

// accept treats one message. Whatever goes wrong in the ledger itself leaves the reply
// in doubt: the broker states a rejection only where it decided one.
func (b *Broker) accept(ctx context.Context, m gate.Message) gate.Reply {
	var fault Fault
	reply, err := b.once(ctx, m, func(k *book) Fault { fault = k.next(m.Action); return fault })
	switch {
	case err != nil:
		return doubt(err)
	case fault.Kind == FaultDrop:
		<-ctx.Done()
		return doubt(ctx.Err())
	case fault.Kind == FaultTimeout || fault.Kind == FaultTimeoutAfter:
		return gate.Reply{Reason: "timeout"}
	case fault.Kind != FaultDelay:
		return reply
	}
	timer := time.NewTimer(fault.Delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return doubt(ctx.Err())
	case <-timer.C:
	}
	if reply, err = b.once(ctx, m, func(*book) Fault { return Fault{} }); err != nil {
		return doubt(err)
	}
	return reply
}

// once takes the message in one transaction, with the fault that is given to it.
func (b *Broker) once(ctx context.Context, m gate.Message, fault func(*book) Fault) (reply gate.Reply, err error) {
	_, err = b.change(ctx, func(k *book, now time.Time) (err error) {
		f := fault(k)
		switch f.Kind {
		case FaultTimeout, FaultDrop:
			k.log(m, gate.Reply{}, EffectLost, "", now)
			return nil
		case FaultDelay:
			return nil
		}
		reply, err = b.take(k, m, f, now)
		return err
	})
	return reply, err
}

// take decides a message, and keeps it with its effect.
func (b *Broker) take(k *book, m gate.Message, f Fault, now time.Time) (gate.Reply, error) {
	var o *Order
	var why string
	var err error
	booked := len(k.changed.executions)
	switch {
	case f.Kind == FaultReject:
		why = "rejected"
	case b.tooLate(m, now):
		why = reasonLate
	case m.Action == order.ActionNew:
		o, why, err = b.place(k, m, f, now)
	case m.Action == order.ActionReplace:
		o, why, err = b.replace(k, m, f, now)
	case m.Action == order.ActionCancel:
		o, why, err = b.cancel(k, m, f, now)
	default:
		why = "unknown action"
	}
	if err != nil {
		return gate.Reply{}, err
	}
	if why != "" {
		reply := gate.Reply{Result: gate.ReplyRejected, Reason: why, BrokerID: m.TargetBrokerID}
		k.log(m, reply, EffectRejected, why, now)
		return reply, nil
	}
	reply := gate.Reply{
		Result: gate.ReplyAccepted, BrokerID: o.BrokerID, Symbol: o.Instrument.Symbol,
		Side: o.Side, Quantity: o.Quantity, Ended: o.ended(),
	}
	for _, x := range k.changed.executions[booked:] {
		reply.Fills = append(reply.Fills, x.reported())
	}
	if f.Kind == FaultLateFill && m.Action != order.ActionCancel {
		reply.Ended = "" // the stream tells
	}
	k.log(m, reply, EffectTook, "", now)
	return reply, nil
}

// tooLate reports whether a message came after its time: its sender, stopped meanwhile,
// may have been told that it was not placed. The clock is read again, since now may be
// from before a long wait.
func (b *Broker) tooLate(m gate.Message, now time.Time) bool {
	return !m.SendBy.IsZero() && (now.After(m.SendBy) || b.now().After(m.SendBy))
}

// log keeps a message.
func (k *book) log(m gate.Message, r gate.Reply, effect, reason string, now time.Time) {
	k.changed.any = true
	k.messageCount++
	id := r.BrokerID
	if id == "" {
		id = m.TargetBrokerID
	}
	k.changed.messages = append(k.changed.messages, Message{
		N: k.messageCount, At: now, DecidedAt: m.At.Round(0).UTC(), Action: m.Action, ClientOrderID: m.ClientOrderID,
		BrokerID: id, Symbol: m.Instrument.Symbol, Side: m.Side, Quantity: m.Quantity,
		LimitPrice: m.LimitPrice, Effect: effect, Reason: reason,
	})
}

// place takes a new order, or says why not.
func (b *Broker) place(k *book, m gate.Message, f Fault, now time.Time) (*Order, string, error) {
	if why := malformed(m, now); why != "" {
		return nil, why, nil
	}
	if used, err := k.used(m.ClientOrderID); err != nil || used {
		return nil, reasonUnique, err
	}
	o := &Order{
		ClientOrderID: m.ClientOrderID, Instrument: m.Instrument, Side: m.Side, Type: m.Type,
		TimeInForce: m.TimeInForce, Quantity: m.Quantity, LimitPrice: m.LimitPrice, StopPrice: m.StopPrice,
		ExtendedHours: m.ExtendedHours, PlacedAt: now, State: Open,
	}
	var ok bool
	if o.ExpireAt, ok = b.expiryOf(o, m.ExpireAt, now); !ok {
		return nil, "the calendar does not know this date", nil
	}
	if why := b.covered(k, o, m.Quote); why != "" {
		return nil, why, nil
	}
	o.DuplicateNext = f.Kind == FaultDuplicateFill
	k.add(o)
	return o, "", b.meet(k, o, m.Quote, f, now)
}

// malformed says what is wrong with the form of a new order.
func malformed(m gate.Message, now time.Time) string {
	switch {
	case m.ClientOrderID == "":
		return "client_order_id is required"
	case !instrumentOK(m.Instrument):
		return "unknown instrument"
	case m.Side != order.Buy && m.Side != order.Sell:
		return "unknown side"
	case m.Type == order.TypeNone || m.Type > order.StopLimit:
		return "unknown order type"
	case !m.Quantity.IsPositive():
		return "quantity must be above zero"
	case m.Type.HasLimit() && !m.LimitPrice.IsPositive():
		return "limit_price must be above zero"
	case m.Type.HasStop() && !m.StopPrice.IsPositive():
		return "stop_price must be above zero"
	case m.TimeInForce == order.TimeInForceNone || m.TimeInForce > order.GTD:
		return "unknown time in force"
	case m.TimeInForce == order.IOC && m.Type.HasStop():
		return "a stop cannot be ioc"
	case m.TimeInForce == order.GTD && !m.ExpireAt.After(now):
		return "the order has expired"
	case m.Type == order.Market && !m.Quote.Valid():
		return "no valid quote for a market order"
	}
	return ""
}

// used reports whether an order, or a message that took effect, bears this id.
func (k *book) used(clientOrderID string) (bool, error) {
	if o, err := k.find(byClientID, clientOrderID); err != nil || o != nil {
		return o != nil, err
	}
	sent, err := k.rows.messages(clientOrderID)
	for _, m := range sent {
		if m.Effect == EffectTook && m.Action != order.ActionCancel {
			return true, err
		}
	}
	return false, err
}

// expiryOf is when the order expires; zero for never. A day order that comes after its
// session's close is the next trading day's. It is false past the calendar.
func (b *Broker) expiryOf(o *Order, expireAt, now time.Time) (time.Time, bool) {
	switch o.TimeInForce {
	case order.GTD:
		return expireAt.Round(0).UTC(), true
	case order.Day:
	default:
		return time.Time{}, true
	}
	c := b.options.Calendar
	info := market.Session(now, c)
	for range 2 {
		closes := info.ClosesAt
		if o.ExtendedHours {
			closes = info.ExtendedClosesAt
		}
		if now.Before(closes) {
			return closes, true
		}
		day, ok := c.NextTradeDate(info.TradeDate)
		if !ok {
			break
		}
		opens, _ := c.RegularOpen(day) // the calendar has just named it
		info = market.Session(opens, c)
	}
	return time.Time{}, false
}

// covered sets what the order holds back, and says why cash or position does not cover it.
func (b *Broker) covered(k *book, o *Order, q market.Quote) string {
	if o.Side == order.Sell {
		free, ok := k.freeShares(o.Instrument.Symbol, o)
		switch {
		case b.options.AllowShort:
			return ""
		case !ok:
			return reasonFigure
		case o.left().Cmp(free) > 0:
			return reasonPosition
		}
		return ""
	}
	o.HoldPrice = o.LimitPrice
	if !o.Type.HasLimit() {
		o.HoldPrice = o.StopPrice
		if q.Valid() {
			o.HoldPrice = money.MaxPrice(o.StopPrice, q.Ask)
		}
	}
	hold, ok := o.HoldPrice.TimesMultiplied(o.left(), o.Instrument.Multiplier, money.Up)
	free, ok2 := k.freeCash(o)
	switch {
	case !ok || !ok2:
		return reasonFigure
	case hold.Cmp(free) > 0:
		return reasonCash
	}
	return ""
}

// meet lets an order that was taken or replaced trade at once against the quote that it
// was judged by, as the fault says.
func (b *Broker) meet(k *book, o *Order, q market.Quote, f Fault, now time.Time) error {
	switch {
	case f.Kind == FaultLateFill:
		o.LateAt, o.LatePrice = now.Add(LateFillAfter), o.ownPrice(q)
		k.end(o, Canceled, now, "")
		return nil
	case f.Kind == FaultPartial:
		if half := halfOf(o.left()); half.IsPositive() {
			if _, err := k.trade(o, half, o.ownPrice(q), now, ""); err != nil {
				return err
			}
		}
	case !b.options.ManualFills && o.tradesIn(market.Session(now, b.options.Calendar).Kind):
		if price, ok := k.takes(o, q); ok {
			size := money.QuantityFromInt(MarketableMax)
			if b.options.PartialFills {
				size = displayed(k.start.Seed, o.Instrument.Symbol, now)
			}
			if _, err := k.trade(o, money.MinQuantity(o.left(), size), price, now, ""); err != nil {
				return err
			}
		}
	}
	if o.TimeInForce == order.IOC && o.open() {
		k.end(o, Canceled, now, "ioc")
	}
	return nil
}

// ownPrice is what a scripted fill trades at: the quote if the order's limit allows it,
// else the limit; without a quote the limit or the stop.
func (o *Order) ownPrice(q market.Quote) money.Price {
	switch {
	case !q.Valid() && o.Type.HasLimit():
		return o.LimitPrice
	case !q.Valid():
		return o.StopPrice
	case o.Side == order.Buy && o.Type.HasLimit():
		return money.MinPrice(o.LimitPrice, q.Ask)
	case o.Side == order.Buy:
		return q.Ask
	case o.Type.HasLimit():
		return money.MaxPrice(o.LimitPrice, q.Bid)
	}
	return q.Bid
}

// halfOf is half a quantity, rounded down to whole units if it is whole.
func halfOf(q money.Quantity) money.Quantity {
	step := money.QuantityFromInt(1)
	if !q.IsWhole() {
		step = money.MustQuantity("0.000000001")
	}
	whole, ok := money.PriceFromInt(1).Times(q, money.Down)
	if !ok {
		return money.Quantity{}
	}
	half, _ := whole.LargestQuantity(money.PriceFromInt(2), money.QuantityFromInt(1), step)
	return half
}
