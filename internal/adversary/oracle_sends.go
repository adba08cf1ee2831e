package adversary

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/sim"
)

// Checks that the oracle makes beside those of a session, each on a message that reached
// the broker.
const (
	checkMode         sim.Check = "operator_mode"      // nothing while halted; nothing that opens while reducing
	checkQuote        sim.Check = "fresh_quote"        // nothing opens on a quote that is old, unsound, absent or wide
	checkPaused       sim.Check = "instrument_halted"  // nothing in an instrument that is halted
	checkDayValue     sim.Check = "notional_per_day"   // at every message that opens
	checkTwin         sim.Check = "sent_twice"         // the same terms within the window
	checkDoubt        sim.Check = "opened_in_doubt"    // nothing opens while a message in the instrument is lost
	checkListed       sim.Check = "side_and_time"      // sides and times in force are on the lists, and no symbol is restricted
	checkSmall        sim.Check = "smallest_order"     // in money
	checkWorth        sim.Check = "position_notional"  // held and on order, at the order's price
	checkPassive      sim.Check = "passive_collar"     // a price far from the market on the other side
	checkCross        sim.Check = "self_cross"         // nothing that trades with an order of its own
	checkAgentID      sim.Check = "agent_id"           // one order under an id of the agent
	checkTradingHours sim.Check = "trading_window"     // nothing opens outside the operator's hours
	checkFold         sim.Check = "fold_equals_broker" // what the journal comes to is what the broker holds
)

// exitTwinFor is the window of duplicate_order for what reduces.
const exitTwinFor = 2 * time.Second

// sends checks a message on its arrival; live and held are as they were before it.
func (o *oracle) sends(m *paper.Message, orders []paper.Order) {
	if m.Action == order.ActionCancel {
		o.lost(m)
		return
	}
	var was *paper.Order
	for i := range o.live {
		if o.live[i].BrokerID == m.BrokerID {
			was = &o.live[i]
		}
	}
	opens := m.Side == order.Buy
	if m.Action == order.ActionReplace && was != nil && m.Quantity.Cmp(was.Quantity) < 0 && m.LimitPrice == was.LimitPrice {
		opens = false
	}
	if m.Side == order.Buy && m.Quantity.Cmp(o.held[m.Symbol].Neg()) <= 0 {
		opens = false // it buys back what a late fill sold short
	}
	if o.told == "halted" || o.told == "reduce_only" && opens {
		o.fail(checkMode, "message %d: %s of %s while the mode is %s", m.N, m.Side, m.Symbol, o.told)
	}
	o.quoted(m, opens)
	o.money(m, was, opens)
	o.repeats(m, opens)
	o.crosses(m, was)
	o.listed(m, orders)
	o.lost(m)
}

// quoted: what the market said when the order was decided.
func (o *oracle) quoted(m *paper.Message, opens bool) {
	q, err := o.stage.quotes().Quote(context.Background(), m.Symbol, m.DecidedAt)
	if err != nil {
		o.fail(checkQuote, "message %d: %v", m.N, err)
		return
	}
	c := &o.doc.Collar
	if q.Halted {
		o.fail(checkPaused, "message %d is in %s, which is halted", m.N, m.Symbol)
	}
	if opens {
		age := m.DecidedAt.Sub(q.At)
		switch {
		case !q.Present || !q.Valid():
			o.fail(checkQuote, "message %d opens in %s, of which there is no sound quote", m.N, m.Symbol)
		case c.MaxQuoteAge.On && age > c.MaxQuoteAge.Value || age < -time.Second:
			o.fail(checkQuote, "message %d opens on a quote that is %s old", m.N, age)
		case c.MaxSpread.On && wider(q.Bid, q.Ask, c.MaxSpread.Value.String()):
			o.fail(checkQuote, "message %d opens between %s and %s", m.N, q.Bid, q.Ask)
		}
	}
	if c.PassivePriceCollar.On && q.Present && q.Valid() {
		if far, ok := m.LimitPrice.FurtherFromMidThan(q.Bid, q.Ask, c.PassivePriceCollar.Value); !ok || far {
			o.fail(checkPassive, "message %d is at %s, between %s and %s", m.N, m.LimitPrice, q.Bid, q.Ask)
		}
	}
	if w := o.doc.Session.TradingWindow; w.On && opens {
		at := market.NewYork(m.DecidedAt).SinceMidnight
		if at < w.Value.From || at >= w.Value.To {
			o.fail(checkTradingHours, "message %d opens at %s in New York", m.N, at)
		}
	}
}

// wider reports whether the spread over the mid is more than bps.
func wider(bid, ask money.Price, bps string) bool {
	b, ok1 := new(big.Rat).SetString(bid.String())
	a, ok2 := new(big.Rat).SetString(ask.String())
	most, ok3 := new(big.Rat).SetString(bps)
	if !ok1 || !ok2 || !ok3 {
		return true
	}
	spread := new(big.Rat).Mul(new(big.Rat).Sub(a, b), big.NewRat(20_000, 1))
	return spread.Cmp(most.Mul(most, new(big.Rat).Add(a, b))) > 0
}

// money: what the message is worth, of the order, the day and the position.
func (o *oracle) money(m *paper.Message, was *paper.Order, opens bool) {
	if date := market.Session(m.DecidedAt, market.XNYS()).TradeDate; date != o.date {
		o.date, o.today = date, money.Notional{}
	}
	adds := m.Quantity
	if m.Action == order.ActionReplace && was != nil {
		adds, _ = adds.Sub(was.Quantity)
		adds = money.MaxQuantity(adds, money.Quantity{})
	}
	price := m.LimitPrice
	if bid, ok := (lastTold{o.stage, o.doc.Collar.MaxQuoteAge.Value}).Bid(m.Symbol, m.DecidedAt); ok && m.Side == order.Sell {
		price = money.MaxPrice(price, bid)
	}
	value, _ := price.Times(adds, money.Up)
	o.today, _ = o.today.Add(value)
	if most := o.doc.Session.MaxNotionalPerDay; most.On && opens && o.today.Cmp(most.Value) > 0 {
		o.fail(checkDayValue, "message %d makes it %s today, the cap is %s", m.N, o.today, most.Value)
	}
	whole, _ := price.Times(m.Quantity, money.Up)
	if least := o.doc.Size.MinOrderNotional; least.On && m.Side == order.Buy && whole.Cmp(least.Value) < 0 {
		o.fail(checkSmall, "message %d is for %s, the least is %s", m.N, whole, least.Value)
	}
	if most := o.doc.Position.MaxPositionNotional; most.On && opens {
		worst := o.held[m.Symbol]
		for i := range o.live {
			if l := &o.live[i]; l.Instrument.Symbol == m.Symbol && l.Side == order.Buy && l.BrokerID != m.BrokerID {
				left, _ := l.Quantity.Sub(l.Filled)
				worst, _ = worst.Add(left)
			}
		}
		left := m.Quantity
		if was != nil {
			left, _ = left.Sub(was.Filled)
		}
		worst, _ = worst.Add(left)
		if worth, ok := price.Times(worst, money.Up); !ok || worth.Cmp(most.Value) > 0 {
			o.fail(checkWorth, "message %d makes it %s of %s, worth %s; the cap is %s", m.N, worst, m.Symbol, worth, most.Value)
		}
	}
}

// repeats: the same terms within the window, and what opens where a message was lost.
func (o *oracle) repeats(m *paper.Message, opens bool) {
	if opens && o.doubt[m.Symbol] {
		o.fail(checkDoubt, "message %d opens in %s, where an order is in doubt", m.N, m.Symbol)
	}
	window := o.doc.Session.DuplicateWindow
	if m.Action != order.ActionNew || !window.On {
		return
	}
	within := window.Value
	if m.Side == order.Sell {
		within = min(within, exitTwinFor)
	}
	now := twin{m.DecidedAt, m.Symbol, m.Side, m.Quantity, m.LimitPrice}
	for i := range o.sent {
		t := o.sent[i]
		t.at = now.at
		if t == now && m.DecidedAt.Sub(o.sent[i].at) < within {
			o.fail(checkTwin, "message %d: %s %s of %s at %s was sent %s before", m.N, m.Side, m.Quantity, m.Symbol, m.LimitPrice, m.DecidedAt.Sub(o.sent[i].at))
			break
		}
	}
	o.sent = append(o.sent, now)
}

// crosses: an order of the other side that this one would trade with.
func (o *oracle) crosses(m *paper.Message, was *paper.Order) {
	if o.doc.Position.AllowSelfCross {
		return
	}
	for i := range o.live {
		l := &o.live[i]
		if l == was || l.Instrument.Symbol != m.Symbol || l.Side == m.Side {
			continue
		}
		apart := m.LimitPrice.Cmp(l.LimitPrice)
		if m.Side == order.Buy && apart >= 0 || m.Side == order.Sell && apart <= 0 {
			o.fail(checkCross, "message %d: %s at %s meets the account's own order at %s", m.N, m.Side, m.LimitPrice, l.LimitPrice)
			return
		}
	}
}

// listed: what the document's lists allow.
func (o *oracle) listed(m *paper.Message, orders []paper.Order) {
	in := &o.doc.Instrument
	if slices.Contains(in.RestrictedSymbols, m.Symbol) || !slices.Contains(in.Sides, m.Side) {
		o.fail(checkListed, "message %d: %s of %s", m.N, m.Side, m.Symbol)
	}
	for i := range orders {
		if ord := &orders[i]; ord.BrokerID == m.BrokerID && m.Action == order.ActionNew && !slices.Contains(in.TimesInForce, ord.TimeInForce) {
			o.fail(checkListed, "message %d is %s", m.N, ord.TimeInForce)
		}
	}
}

// lost notes a message that never arrived. It is in doubt from the end of the step on:
// while calls race, the next may have been decided before anybody knew.
func (o *oracle) lost(m *paper.Message) {
	if m.Effect == paper.EffectLost {
		o.lately = append(o.lately, m.Symbol)
	}
}
