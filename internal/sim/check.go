package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Check is one thing that must hold at the broker.
type Check string

// Checks.
const (
	CheckDecided     Check = "decided_before"      // no message without an earlier durable decision on just these terms
	CheckOnce        Check = "sent_once"           // no message twice
	CheckSession     Check = "regular_session"     // no message and no fill outside it
	CheckSymbol      Check = "symbol_and_type"     // what is traded is on the lists, in whole units and price steps
	CheckQuantity    Check = "order_quantity"      // units of one order
	CheckNotional    Check = "order_notional"      // of one order, at its risk price
	CheckCollar      Check = "price_collar"        // a limit price through the market
	CheckPosition    Check = "position_quantity"   // held and on order, of one instrument
	CheckGross       Check = "gross_exposure"      // held and on order, at the ask
	CheckShort       Check = "no_short"            // nothing sold that is not held
	CheckMinute      Check = "orders_per_minute"   // new orders and replaces that open
	CheckExits       Check = "exits_per_minute"    // those that reduce
	CheckMinuteValue Check = "notional_per_minute" // at every message that opens
	CheckDay         Check = "orders_per_day"      // at every new order that opens
	CheckOpen        Check = "open_orders"
	CheckLoss        Check = "daily_loss"   // nothing opens on a date whose loss is reached
	CheckCash        Check = "cash"         // never below zero
	CheckLedger      Check = "ledger_sums"  // the broker's positions and cash are what its executions come to
	CheckFills       Check = "fills_within" // an order fills up to its quantity, at its limit or better
)

// Checks returns all checks, in the order of reports.
func Checks() []Check {
	return []Check{
		CheckDecided, CheckOnce, CheckSession, CheckSymbol, CheckQuantity, CheckNotional, CheckCollar, CheckPosition, CheckGross,
		CheckShort, CheckMinute, CheckExits, CheckMinuteValue, CheckDay, CheckOpen, CheckLoss, CheckCash, CheckLedger, CheckFills,
	}
}

// Decision is an allowed decision as it stands in the journal.
type Decision struct {
	ClientOrderID string
	Intent        order.Intent
}

// Look is what can newly be seen at one instant.
type Look struct {
	At         time.Time
	Messages   []paper.Message
	Executions []paper.Execution
	Orders     []paper.Order // all that are live, and those that the new messages and executions are of
	Positions  []journal.Position
	Cash       money.Notional
	Judged     bool // an order was judged at this instant
}

// Violation is one thing that did not hold.
type Violation struct {
	At    time.Time `json:"at"`
	Check Check     `json:"check"`
	Text  string    `json:"text"`
}

// ViolationsMax bounds how many violations are kept; all are counted.
const ViolationsMax = 100

// Window is the span of the limits per minute: half-open, (t - Window, t].
const Window = time.Minute

// Prices is where the checker reads quotes itself.
type Prices interface {
	Bid(symbol string, at time.Time) (money.Price, bool)
	Ask(symbol string, at time.Time) (money.Price, bool)
}

// Tally is how often a check was made, how often it failed and what came closest to its
// cap; Peak is empty where there is nothing to measure.
type Tally struct {
	Made   int
	Failed int
	Peak   Peak
}

// Checker holds a broker's record against caps. It keeps its own positions, cash and
// windows, from the record alone.
type Checker struct {
	caps     Caps
	prices   Prices
	calendar market.Calendar

	decided map[string]Decision
	sent    map[string]bool
	known   map[string]paper.Order // live, as last seen
	held    map[string]money.Quantity
	cash    money.Notional
	minute  []sending
	day     day

	Tallies    map[Check]*Tally
	Violations []Violation
	// LateOver counts fills that the broker booked after it had said that their order
	// ended, and that took position or cash beyond what the limits allow.
	LateOver  int
	lateFills map[string]money.Quantity // by symbol, as far as they are still beyond the cap
}

// sending is one new order or replace, by the instant of its decision.
type sending struct {
	at    time.Time
	opens bool
	value money.Notional
}

// day is what is counted by trade date.
type day struct {
	date    market.TradeDate
	opening money.Notional // equity at the first look
	orders  int
	lost    bool // the loss was reached when an order was judged
}

// NewChecker returns a checker of an account that starts with this cash and nothing held.
func NewChecker(caps Caps, prices Prices, calendar market.Calendar, cash money.Notional) *Checker {
	c := &Checker{
		caps: caps, prices: prices, calendar: calendar, cash: cash, decided: map[string]Decision{}, sent: map[string]bool{},
		known: map[string]paper.Order{}, held: map[string]money.Quantity{}, Tallies: map[Check]*Tally{},
		lateFills: map[string]money.Quantity{},
	}
	for _, check := range Checks() {
		c.Tallies[check] = &Tally{}
	}
	return c
}

// Failed is how many checks failed.
func (c *Checker) Failed() int {
	n := 0
	for _, t := range c.Tallies {
		n += t.Failed
	}
	return n
}

// Durable tells of a decision that is in the journal by now. It must be told before the
// broker gets the message: whoever calls it reads the journal, not the gate.
func (c *Checker) Durable(d Decision) { c.decided[d.ClientOrderID] = d }

// Look checks what is newly seen.
func (c *Checker) Look(l *Look) {
	c.turn(l.At)
	orders := make(map[string]*paper.Order, len(l.Orders))
	for i := range l.Orders {
		orders[l.Orders[i].BrokerID] = &l.Orders[i]
	}
	// What filled of other orders came before the messages of this look: a broker looks
	// at what rests before it takes a message, and there is one message a look.
	mine := map[string]bool{}
	for i := range l.Messages {
		mine[l.Messages[i].BrokerID] = true
	}
	var after []paper.Execution
	for _, x := range l.Executions {
		if mine[x.BrokerID] {
			after = append(after, x)
			continue
		}
		c.execute(x, orders[x.BrokerID])
	}
	opened := ""
	for i := range l.Messages {
		if m := &l.Messages[i]; c.message(m, orders[m.BrokerID]) && m.Effect == paper.EffectTook {
			opened = m.Symbol
		}
	}
	for _, x := range after {
		c.execute(x, orders[x.BrokerID])
	}
	c.remember(l)
	c.standing(l, opened)
	c.sums(l)
	if c.lossReached(l.At) && l.Judged {
		c.day.lost = true
	}
}

// turn begins a trade date.
func (c *Checker) turn(at time.Time) {
	date := market.Session(at, c.calendar).TradeDate
	if date != c.day.date {
		c.day = day{date: date, opening: c.Equity(at)}
	}
}

func (c *Checker) made(check Check, held bool, at time.Time, format string, args ...any) {
	t := c.Tallies[check]
	t.Made++
	if held {
		return
	}
	t.Failed++
	if len(c.Violations) < ViolationsMax {
		c.Violations = append(c.Violations, Violation{At: at, Check: check, Text: fmt.Sprintf(format, args...)})
	}
}

// message checks one message, and reports whether it opens.
func (c *Checker) message(m *paper.Message, o *paper.Order) (opens bool) {
	c.provenance(m)
	in := market.Session(m.At, c.calendar)
	c.made(CheckSession, m.Action == order.ActionCancel || in.Kind == market.Regular, m.At,
		"message %d went out while the session was %s", m.N, in.Kind)
	if m.Action == order.ActionCancel {
		return false
	}
	was, replaces := c.known[m.BrokerID]
	replaces = replaces && m.Action == order.ActionReplace
	opens = c.opens(m, was, replaces)
	c.form(m, o)
	c.size(m)
	c.counts(m, was, replaces, opens)
	if opens {
		c.made(CheckLoss, !c.day.lost && !c.lossReached(m.DecidedAt), m.At,
			"message %d opens although equity is %s, from %s at the open", m.N, c.Equity(m.DecidedAt), c.day.opening)
	}
	return opens
}

// provenance: decided before, on these terms, and once.
func (c *Checker) provenance(m *paper.Message) {
	d, ok := c.decided[m.ClientOrderID]
	c.made(CheckDecided, ok, m.At, "message %d was at the broker before a decision on it was durable", m.N)
	if ok {
		in := &d.Intent
		same := in.Action == m.Action && in.Symbol == m.Symbol
		if m.Action != order.ActionCancel {
			same = same && in.Side == m.Side && in.Quantity == m.Quantity && in.LimitPrice == m.LimitPrice
		}
		c.made(CheckDecided, same, m.At, "message %d is %s %s %s of %s at %s, which was not decided",
			m.N, m.Action, m.Side, m.Quantity, m.Symbol, m.LimitPrice)
	}
	c.made(CheckOnce, !c.sent[m.ClientOrderID], m.At, "message %d was sent before as %s", m.N, m.ClientOrderID)
	c.sent[m.ClientOrderID] = true
}

// opens reports whether a message adds risk: a buy does, unless it only lowers the
// quantity of one; a sell of what is held does not, and any other is a short.
func (c *Checker) opens(m *paper.Message, was paper.Order, replaces bool) bool {
	if m.Side == order.Buy {
		if free, _ := c.held[m.Symbol].Add(c.onOrder(m.Symbol, order.Buy, m.BrokerID)); m.Quantity.Cmp(free.Neg()) <= 0 {
			return false // it buys back what a late fill sold short
		}
		lowers := replaces && m.Quantity.Cmp(was.Quantity) < 0 && m.LimitPrice == was.LimitPrice
		return !lowers
	}
	claimed := c.onOrder(m.Symbol, order.Sell, m.BrokerID)
	asked := m.Quantity
	if replaces {
		asked, _ = asked.Sub(was.Filled)
	}
	free, _ := c.held[m.Symbol].Sub(claimed)
	covered := asked.Cmp(free) <= 0
	c.made(CheckShort, covered, m.At, "message %d sells %s of %s, of which %s are free", m.N, asked, m.Symbol, free)
	return !covered
}

// form: the lists, whole units, price steps and the collar.
func (c *Checker) form(m *paper.Message, o *paper.Order) {
	listed := slices.Contains(c.caps.Symbols, m.Symbol) && (o == nil || slices.Contains(c.caps.Types, o.Type))
	stepped := m.Quantity.IsWhole() && m.LimitPrice.MultipleOf(cent()) && m.LimitPrice.IsPositive()
	c.made(CheckSymbol, listed && stepped, m.At, "message %d: %s of %s at %s", m.N, m.Quantity, m.Symbol, m.LimitPrice)
	bid, ok1 := c.prices.Bid(m.Symbol, m.DecidedAt)
	ask, ok2 := c.prices.Ask(m.Symbol, m.DecidedAt)
	var beyond, ok3 bool
	if m.Side == order.Buy {
		beyond, ok3 = m.LimitPrice.ExceedsBandAbove(ask, c.caps.BuyCollar)
	} else {
		beyond, ok3 = m.LimitPrice.ExceedsBandBelow(bid, c.caps.SellCollar)
	}
	c.made(CheckCollar, ok1 && ok2 && ok3 && !beyond, m.At, "message %d: limit %s, bid %s, ask %s", m.N, m.LimitPrice, bid, ask)
}

func cent() money.Price { return money.MustPrice("0.01") }

// size: units and notional of the whole resulting order.
func (c *Checker) size(m *paper.Message) {
	c.made(CheckQuantity, m.Quantity.Cmp(c.caps.OrderQuantity) <= 0, m.At,
		"message %d is for %s, the cap is %s", m.N, m.Quantity, c.caps.OrderQuantity)
	c.Tallies[CheckQuantity].Peak.units(m.Quantity)
	value, ok := c.price(m).Times(m.Quantity, money.Up)
	c.made(CheckNotional, ok && value.Cmp(c.caps.OrderNotional) <= 0, m.At,
		"message %d is for %s, the cap is %s", m.N, value, c.caps.OrderNotional)
	c.Tallies[CheckNotional].Peak.money(value)
}

// price is the most that a unit can cost, or for a sell what it is worth.
func (c *Checker) price(m *paper.Message) money.Price {
	if bid, ok := c.prices.Bid(m.Symbol, m.DecidedAt); ok && m.Side == order.Sell {
		return money.MaxPrice(m.LimitPrice, bid)
	}
	return m.LimitPrice
}

// counts: the sliding minute that ends with this message, and the trade date.
func (c *Checker) counts(m *paper.Message, was paper.Order, replaces, opens bool) {
	adds := m.Quantity
	if replaces {
		adds, _ = m.Quantity.Sub(was.Quantity)
		adds = money.MaxQuantity(adds, money.Quantity{})
	}
	value, _ := c.price(m).Times(adds, money.Up)
	c.minute = slices.DeleteFunc(c.minute, func(s sending) bool { return !s.at.After(m.DecidedAt.Add(-Window)) })
	c.minute = append(c.minute, sending{at: m.DecidedAt, opens: opens, value: value})
	entries, exits, sum := 0, 0, money.Notional{}
	for _, s := range c.minute {
		if s.opens {
			entries++
		} else {
			exits++
		}
		sum, _ = sum.Add(s.value)
	}
	if !opens {
		c.made(CheckExits, exits <= c.caps.OrdersPerMinute, m.At, "message %d is the %dth exit in a minute", m.N, exits)
		c.Tallies[CheckExits].Peak.count(exits)
	} else {
		c.made(CheckMinute, entries <= c.caps.OrdersPerMinute, m.At, "message %d is the %dth order in a minute", m.N, entries)
		c.Tallies[CheckMinute].Peak.count(entries)
		c.made(CheckMinuteValue, sum.Cmp(c.caps.NotionalPerMinute) <= 0, m.At,
			"message %d makes it %s in a minute, the cap is %s", m.N, sum, c.caps.NotionalPerMinute)
		c.Tallies[CheckMinuteValue].Peak.money(sum)
	}
	if m.Action != order.ActionNew {
		return
	}
	c.day.orders++
	if opens {
		c.made(CheckDay, c.day.orders <= c.caps.OrdersPerDay, m.At, "message %d opens as the %dth order of %s", m.N, c.day.orders, c.day.date)
		c.Tallies[CheckDay].Peak.count(c.day.orders)
	}
}

// onOrder is what open orders but one may still trade on a side.
func (c *Checker) onOrder(symbol string, side order.Side, but string) money.Quantity {
	var sum money.Quantity
	for id, o := range c.known {
		if id == but || o.State != paper.Open || o.Side != side || o.Instrument.Symbol != symbol {
			continue
		}
		left, _ := o.Quantity.Sub(o.Filled)
		sum, _ = sum.Add(left)
	}
	return sum
}

// remember takes over the orders as the broker holds them now.
func (c *Checker) remember(l *Look) {
	clear(c.known)
	open := 0
	for i := range l.Orders {
		o := l.Orders[i]
		if o.State == paper.Open || !o.LateAt.IsZero() {
			c.known[o.BrokerID] = o
		}
		if o.State == paper.Open {
			open++
		}
	}
	c.made(CheckOpen, open <= c.caps.OpenOrders+ExitSlots, l.At, "%d orders are open, the cap is %d", open, c.caps.OpenOrders+ExitSlots)
	c.Tallies[CheckOpen].Peak.count(open)
}

// symbols are those held or on order, sorted.
func (c *Checker) symbols() []string {
	all := map[string]bool{}
	for s := range c.held {
		all[s] = true
	}
	for _, o := range c.known {
		all[o.Instrument.Symbol] = true
	}
	return slices.Sorted(maps.Keys(all))
}
