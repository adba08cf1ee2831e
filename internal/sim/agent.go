package sim

import (
	"context"
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// hand is what the agent can do: what any agent can at the tool door.
type hand interface {
	call(ctx context.Context, in order.Intent) (answer, error)
	quote(symbol string) (bid, ask money.Price)
	held(symbol string) money.Quantity
}

// answer is what the agent is told.
type answer struct {
	allowed  bool
	orderID  string
	refusing []string
}

// agent trades on every tick, at the largest size that it may, and tries what it may not.
// All that it does follows from its seed and the answers.
type agent struct {
	hand    hand
	caps    Caps
	chance  chance
	ticks   int
	calls   int
	selling bool
	full    int // denials of the current accumulation in a row
	symbol  string
	resting string // its one resting order
	rested  order.Intent
	age     int // ticks that the resting order has been up
}

// chance is a deterministic source of choices: SplitMix64.
type chance struct{ state uint64 }

func (c *chance) below(n int) int {
	c.state += 0x9e3779b97f4a7c15
	x := c.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}

// unlisted is an instrument of the practice market that the shipped limits do not list.
const unlisted = "TSLA"

// Every how many ticks the agent does what takes a minute's budget at once.
const (
	burstEvery = 40
	floodEvery = 320 // in the place of a burst
	burstSize  = 15
	floodSize  = 65
)

func newAgent(h hand, caps Caps, seed uint64) *agent {
	return &agent{hand: h, caps: caps, chance: chance{seed ^ 0x6772656564790000}}
}

// tick is one look at the market.
func (a *agent) tick(ctx context.Context) error {
	a.ticks++
	steps := []func(context.Context) error{a.trade, a.probe, a.rest}
	switch {
	case a.ticks%floodEvery == 0:
		steps = append(steps, a.flood)
	case a.ticks%burstEvery == 0:
		steps = append(steps, a.burst)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) pick() string { return a.caps.Symbols[a.chance.below(len(a.caps.Symbols))] }

// limit is a limit order with the agent's next id.
func (a *agent) limit(side order.Side, symbol string, quantity money.Quantity, price money.Price) order.Intent {
	a.calls++
	return order.Intent{
		Action: order.ActionNew, ClientOrderID: "greedy-" + strconv.Itoa(a.calls), Symbol: symbol, Side: side,
		Type: order.Limit, TimeInForce: order.Day, Quantity: quantity, LimitPrice: price,
	}
}

// largest is the most units that one order may be for at a price.
func (a *agent) largest(price money.Price) money.Quantity {
	one := money.QuantityFromInt(1)
	q, ok := a.caps.OrderNotional.LargestQuantity(price, one, one)
	if !ok {
		return one
	}
	return money.MinQuantity(q, a.caps.OrderQuantity)
}

// trade buys one instrument at the cap until something refuses, then sells everything.
func (a *agent) trade(ctx context.Context) error {
	if a.selling {
		return a.sell(ctx)
	}
	if a.symbol == "" || a.chance.below(12) == 0 {
		a.symbol = a.pick()
	}
	_, ask := a.hand.quote(a.symbol)
	in := a.limit(order.Buy, a.symbol, a.largest(ask), ask)
	got, err := a.hand.call(ctx, in)
	if err != nil {
		return err
	}
	if !got.allowed {
		// It insists before it gives way, and then looks for room elsewhere first.
		if a.full++; a.full > 3 {
			a.selling, a.full = true, 0
		} else if slices.Contains(got.refusing, "max_position_qty") {
			a.symbol = a.pick()
		}
		return nil
	}
	a.full = 0
	return a.again(ctx, in)
}

// again tries to get more out of an order that was just allowed.
func (a *agent) again(ctx context.Context, in order.Intent) error {
	switch a.chance.below(6) {
	case 0: // the same at once
		in.ClientOrderID = ""
	case 1: // the same under its own id
	case 2: // another under its id
		in.Quantity = money.QuantityFromInt(1)
	case 3, 4: // doubled, and once more
		for range 2 {
			price, _ := in.LimitPrice.Add(money.MustPrice("0.01"))
			in = a.limit(in.Side, in.Symbol, a.largest(price), price)
			if _, err := a.hand.call(ctx, in); err != nil {
				return err
			}
		}
		return nil
	default:
		return nil
	}
	_, err := a.hand.call(ctx, in)
	return err
}

func (a *agent) sell(ctx context.Context) error {
	for _, symbol := range a.caps.Symbols {
		held := a.hand.held(symbol)
		if !held.IsPositive() {
			continue
		}
		bid, _ := a.hand.quote(symbol)
		_, err := a.hand.call(ctx, a.limit(order.Sell, symbol, money.MinQuantity(held, a.largest(bid)), bid))
		return err
	}
	a.selling, a.symbol = false, a.pick()
	return nil
}

// probe asks for something that must be refused.
func (a *agent) probe(ctx context.Context) error {
	symbol := a.pick()
	bid, ask := a.hand.quote(symbol)
	one := money.QuantityFromInt(1)
	over := func(q money.Quantity) money.Quantity { more, _ := q.Add(one); return more }
	in := a.limit(order.Buy, symbol, one, ask)
	switch a.chance.below(12) {
	case 0: // a unit above the cap on quantity, the cap on notional or both
		in.Quantity = over(a.caps.OrderQuantity)
	case 1:
		in.Quantity = over(a.largest(ask))
	case 2:
		in.Side, in.LimitPrice, in.Quantity = order.Sell, bid, over(a.hand.held(symbol))
	case 3:
		in.Symbol = unlisted
		_, in.LimitPrice = a.hand.quote(unlisted)
	case 4:
		in.Type, in.LimitPrice = order.Market, money.Price{}
	case 5:
		in.LimitPrice, _ = money.HighestWithinBandAbove(ask, money.BasisPointsFromInt(300), cent())
	case 6:
		in.LimitPrice, _ = ask.Add(money.MustPrice("0.001"))
	case 7:
		in.Quantity = money.MustQuantity("0.5")
	case 8:
		in.TimeInForce, in.ExtendedHours = order.GTD, true
	case 9: // twice the whole account
		in.Quantity = money.QuantityFromInt(2_000)
	case 10:
		in.Quantity = money.Quantity{}
	case 11:
		if a.resting == "" {
			in.Quantity = over(a.caps.PositionQuantity)
			break
		}
		in = order.Intent{Action: order.ActionReplace, Target: a.resting, Quantity: over(a.caps.OrderQuantity)}
	}
	_, err := a.hand.call(ctx, in)
	return err
}

// rest keeps one order in the book: doubles it, moves it, takes it out, places the next.
func (a *agent) rest(ctx context.Context) error {
	if a.resting == "" {
		symbol := a.pick()
		bid, _ := a.hand.quote(symbol)
		below, _ := bid.Sub(money.PriceFromInt(1))
		in := a.limit(order.Buy, symbol, money.QuantityFromInt(5), below)
		got, err := a.hand.call(ctx, in)
		if got.allowed {
			a.resting, a.rested, a.age = got.orderID, in, 0
		}
		return err
	}
	a.age++
	change := order.Intent{Action: order.ActionReplace, Target: a.resting}
	switch a.age {
	case 1:
		change.Quantity = money.QuantityFromInt(10)
	case 2:
		change.Quantity, _ = a.caps.OrderQuantity.Add(a.caps.OrderQuantity)
	case 3:
		change.LimitPrice, _ = a.rested.LimitPrice.Add(money.MustPrice("0.25"))
	case 4:
		change.Quantity = money.QuantityFromInt(4)
	default:
		a.resting = ""
		change = order.Intent{Action: order.ActionCancel, Target: change.Target}
	}
	got, err := a.hand.call(ctx, change)
	if slices.Contains(got.refusing, "conflicting_fields") {
		a.resting = "" // it filled, or is gone
	}
	return err
}

// burst is as many orders as fast as possible; prices differ, so that none repeats one.
func (a *agent) burst(ctx context.Context) error {
	symbol := a.pick()
	_, price := a.hand.quote(symbol)
	for range burstSize {
		if _, err := a.hand.call(ctx, a.limit(order.Buy, symbol, money.QuantityFromInt(1), price)); err != nil {
			return err
		}
		price, _ = price.Add(money.MustPrice("0.01"))
	}
	return nil
}

// flood is as many calls as fast as possible, of an order that is refused.
func (a *agent) flood(ctx context.Context) error {
	for range floodSize {
		_, price := a.hand.quote(unlisted)
		if _, err := a.hand.call(ctx, a.limit(order.Buy, unlisted, money.QuantityFromInt(1), price)); err != nil {
			return err
		}
	}
	return nil
}
