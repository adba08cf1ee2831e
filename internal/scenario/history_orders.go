package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// buy brings the positions in, as trades that did not come through the gate.
func (b *beforehand) buy(ctx context.Context) error {
	for i := range b.s.account.positions {
		p := &b.s.account.positions[i]
		if p.quantity.IsZero() {
			continue
		}
		price, err := b.priceOf(p)
		if err != nil {
			return err
		}
		in, err := b.instrument(ctx, p.symbol)
		if err != nil {
			return err
		}
		side := order.Buy
		if p.quantity.IsNegative() {
			side = order.Sell
		}
		b.say(in, price)
		fill := journal.ExternalFill{Instrument: in, Price: price, Quantity: p.quantity.Abs(), Side: side}
		if _, err := b.paper.ExternalFill(ctx, fill); err != nil {
			return fmt.Errorf("the position in %s: %w", p.symbol, err)
		}
	}
	return b.gate.Tick(ctx)
}

// say gives the history's market a price: locked, so that it fits every order there.
func (b *beforehand) say(in order.Instrument, price money.Price) {
	b.quotes.List(in)
	b.quotes.Tell(market.Quote{
		Symbol: in.Symbol, Bid: price, Ask: price, HasBid: true, HasAsk: true, Currency: in.Currency,
	}, b.clock.Now(), 0)
}

// place puts the account's open orders of one time in force to work.
func (b *beforehand) place(ctx context.Context, tif order.TimeInForce) error {
	for i := range b.s.account.orders {
		o := &b.s.account.orders[i]
		if o.intent.TimeInForce != tif {
			continue
		}
		in, err := b.instrument(ctx, o.symbol)
		if err != nil {
			return err
		}
		price := o.intent.LimitPrice
		if !o.intent.Type.HasLimit() {
			price = o.intent.StopPrice
		}
		if !price.IsPositive() {
			return fmt.Errorf("open order %s: a market order does not stay open", strict.Printable(o.id))
		}
		b.say(in, price)
		k, err := b.send(ctx, o.intent)
		if err != nil {
			return fmt.Errorf("open order %s: %w", strict.Printable(o.id), err)
		}
		if _, twice := b.world.orders[o.id]; twice {
			return fmt.Errorf("open order %s is named twice", strict.Printable(o.id))
		}
		b.world.orders[o.id] = k
	}
	return nil
}

// send puts one order through the history's gate.
func (b *beforehand) send(ctx context.Context, in order.Intent) (known, error) {
	j, err := b.decide(ctx, in)
	if err != nil {
		return known{}, err
	}
	if out := b.gate.Forward(ctx, j.Permit); out.Result != journal.ResultAccepted {
		return known{}, fmt.Errorf("could not have been placed: %s %s", out.Result, out.Reason)
	}
	return known{orderID: j.OrderID, brokerID: j.ClientOrderID}, nil
}

// decide has the history's gate allow an intent.
func (b *beforehand) decide(ctx context.Context, in order.Intent) (*gate.Judgement, error) {
	b.orders++
	j := b.gate.Decide(ctx, gate.Call{Intent: in, Door: "scenario", Agent: "history", CallID: fmt.Sprint("earlier-", b.orders), RawDigest: digest(nil)})
	if !j.Allowed() {
		return nil, fmt.Errorf("could not have been allowed: %v %v %s %s", j.Decision.Refusing(), j.Decision.Faults(), j.Fault, j.Decision.IntegrityText)
	}
	return &j, nil
}

// today opens the trade date with its equity, and uses up what of its figures was used.
func (b *beforehand) today(ctx context.Context) error {
	b.clock.Set(b.midnight())
	if err := b.openDay(ctx); err != nil {
		return err
	}
	if err := b.spend(ctx); err != nil {
		return err
	}
	if opens, ok := b.options.Calendar.RegularOpen(market.Session(b.s.at, b.options.Calendar).TradeDate); ok && b.dayOrders() > 0 {
		if !opens.Before(b.s.at) {
			return fmt.Errorf("a day order cannot be open before the market: make it gtc")
		}
		b.clock.Set(opens)
	}
	return b.place(ctx, order.Day)
}

func (b *beforehand) dayOrders() int {
	n := 0
	for i := range b.s.account.orders {
		if b.s.account.orders[i].intent.TimeInForce == order.Day {
			n++
		}
	}
	return n
}

// openDay captures the equity at the open. A figure of the scenario's own is entered as
// the broker's previous close.
func (b *beforehand) openDay(ctx context.Context) error {
	equity, err := b.equity(ctx)
	if err != nil {
		return err
	}
	own, control, err := b.store.Heads(ctx, b.world.doc.Account)
	if err != nil {
		return err
	}
	date := market.Session(b.s.at, b.options.Calendar).TradeDate
	body := journal.Open{Equity: equity, Source: "previous_close", TradeDate: date.String()}
	text, hash, err := journal.Seal(b.world.doc.Account, own.Seq+1, own.Hash, b.clock.Now(), b.doc.Fingerprint, journal.KindOpen, body)
	if err != nil {
		return err
	}
	return b.store.Append(ctx, &gate.Batch{
		Account: b.world.doc.Account, Expect: own, Control: &control,
		Entries: []gate.Stored{{Account: b.world.doc.Account, Seq: own.Seq + 1, Hash: hash, Bytes: text}},
	})
}

// equity is the scenario's figure, or cash and positions by the first quotes, else by
// what the positions cost.
func (b *beforehand) equity(ctx context.Context) (money.Notional, error) {
	a := &b.s.account
	if a.equityAtOpen != nil {
		return *a.equityAtOpen, nil
	}
	sum := a.cash
	for i := range a.positions {
		p := &a.positions[i]
		price, ok := b.firstQuote(p.symbol, p.quantity.IsNegative())
		if !ok {
			price = p.price
		}
		in, err := b.instrument(ctx, p.symbol)
		if err != nil {
			return sum, err
		}
		value, ok := price.TimesMultiplied(p.quantity, in.Multiplier, money.Down)
		if !ok {
			return sum, errRange
		}
		if sum, ok = sum.Add(value); !ok {
			return sum, errRange
		}
	}
	return sum, nil
}

// spend makes the orders that count today and left nothing behind: the broker rejected
// them. An order counts at least a billionth of the currency.
func (b *beforehand) spend(ctx context.Context) error {
	n := max(0, b.s.account.ordersToday-b.dayOrders()) // those that are open count today too
	least, turnover := leastNotional(), b.s.account.notionalToday
	for range n {
		in := b.spare()
		b.say(in, leastPrice())
		j, err := b.decide(ctx, spareIntent(leastPrice()))
		if err == nil {
			err = b.rejected(ctx, j)
		}
		if err != nil {
			return fmt.Errorf("today's orders: %w", err)
		}
		if left, ok := turnover.Sub(least); ok && !left.IsNegative() {
			turnover = left
		} else {
			b.dust, _ = b.dust.Add(least)
		}
	}
	if !turnover.IsPositive() {
		return nil
	}
	if err := b.turnOver(ctx, turnover); err != nil {
		return fmt.Errorf("today's turnover: %w", err)
	}
	return nil
}

func leastNotional() money.Notional { return money.MustNotional("0.000000001") }
func leastPrice() money.Price       { return money.MustPrice("0.000000001") }

// spare is the instrument of what was used up.
func (b *beforehand) spare() order.Instrument {
	return order.Instrument{
		Symbol: spareSymbol, Class: order.USEquity, Currency: b.world.doc.Currency, Multiplier: money.QuantityFromInt(1), Active: true,
	}
}

func spareIntent(price money.Price) order.Intent {
	return order.Intent{
		Action: order.ActionNew, Symbol: spareSymbol, Side: order.Buy, Type: order.Limit, Quantity: money.QuantityFromInt(1),
		LimitPrice: price, TimeInForce: order.GTC, ExtendedHours: true,
	}
}

// keepSpare leaves an order of the day before open, whose price turnOver raises.
func (b *beforehand) keepSpare(ctx context.Context) (err error) {
	if !b.s.account.notionalToday.IsPositive() {
		return nil
	}
	b.say(b.spare(), leastPrice())
	b.spareOrder, err = b.send(ctx, spareIntent(leastPrice()))
	return err
}

// turnOver asks for a replace that adds the value: it counts as turnover, and not as an
// order. The broker rejects it, and the order is taken out.
func (b *beforehand) turnOver(ctx context.Context, value money.Notional) error {
	sum, ok := value.Add(leastNotional())
	price, err := money.ParsePrice(sum.String())
	if !ok || err != nil {
		return errRange
	}
	b.say(b.spare(), price)
	j, err := b.decide(ctx, order.Intent{Action: order.ActionReplace, Target: b.spareOrder.orderID, LimitPrice: price})
	if err == nil {
		err = b.rejected(ctx, j)
	}
	if err != nil {
		return err
	}
	if j, err = b.decide(ctx, order.Intent{Action: order.ActionCancel, Target: b.spareOrder.orderID}); err != nil {
		return err
	}
	if out := b.gate.Forward(ctx, j.Permit); out.Result != journal.ResultAccepted {
		return fmt.Errorf("%s %s", out.Result, out.Reason)
	}
	return nil
}

// rejected forwards what the broker is told to refuse.
func (b *beforehand) rejected(ctx context.Context, j *gate.Judgement) error {
	if err := b.paper.Inject(ctx, paper.Fault{Kind: paper.FaultReject}); err != nil {
		return err
	}
	if out := b.gate.Forward(ctx, j.Permit); out.Result != journal.ResultRejected {
		return fmt.Errorf("%s %s", out.Result, out.Reason)
	}
	b.clock.Advance(min(time.Millisecond, b.s.at.Sub(b.clock.Now())))
	return nil
}
