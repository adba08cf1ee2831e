package paper

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

const (
	// stepsMax is how many seconds of orders one transaction looks at: some 20 ms of work,
	// so that other processes get their turn while a long absence is caught up with.
	stepsMax = 50_000
	// blockSeconds is the longest stretch that is passed over at once when no price in it
	// can reach an order. A power of two.
	blockSeconds = 512
	// idleSeconds is how far looking may run ahead of what the ledger says it looked at,
	// while nothing happens: a reader need not write each second.
	idleSeconds = 300
	// Displayed sizes, in units.
	displayedMin  = 50
	displayedSpan = 351
	// MarketableMax is how much of a marketable order fills at once, in units.
	MarketableMax = 1_000
)

// bounded is a source of quotes that can bound them over a stretch of time.
type bounded interface {
	Within(symbol string, first, last time.Time) (low, high money.Price, ok bool)
}

// stretch is a run of whole seconds in one session, without an expiry or a late fill
// but at its first second.
type stretch struct {
	first, last int64
	session     market.SessionInfo
}

// evaluate looks at the resting orders for every second up to now's, stepsMax at most,
// and reports whether it came to the end.
func (b *Broker) evaluate(ctx context.Context, k *book, now time.Time) (done bool, err error) {
	until, was := now.Unix(), k.evaluated
	steps := stepsMax
	for k.evaluated < until && steps > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		s := b.stretch(k, k.evaluated+1, until)
		steps--
		if err := b.due(k, time.Unix(s.first, 0).UTC()); err != nil {
			return false, err
		}
		reached := s.last
		if orders := b.tradable(k, s.session.Kind); len(orders) > 0 {
			if reached, err = b.scan(ctx, k, s, orders, &steps); err != nil {
				return false, err
			}
		}
		k.evaluated = reached
		if s.session.Kind == market.Regular && reached == s.session.ClosesAt.Unix()-1 {
			if err := b.keepClose(ctx, k, s.session); err != nil {
				return false, err
			}
		}
	}
	done = k.evaluated >= until
	if done {
		if err := b.due(k, now); err != nil {
			return false, err
		}
	}
	if !done || k.evaluated-was >= idleSeconds {
		k.changed.any = true
	}
	return done, nil
}

// stretch is the next run of seconds that can be treated alike.
func (b *Broker) stretch(k *book, first, until int64) stretch {
	at := time.Unix(first, 0).UTC()
	info := market.Session(at, b.options.Calendar)
	end := until
	switch {
	case !info.Known:
	case info.Kind == market.Pre:
		end = info.OpensAt.Unix() - 1
	case info.Kind == market.Regular:
		end = info.ClosesAt.Unix() - 1
	case info.Kind == market.Post:
		end = info.ExtendedClosesAt.Unix() - 1
	case at.Before(info.ExtendedOpensAt):
		end = info.ExtendedOpensAt.Unix() - 1
	default: // after the last session of the day
		end = market.FromNewYork(info.TradeDate.AddDays(1), 0).Unix() - 1
	}
	for _, o := range k.live {
		for _, t := range [...]time.Time{o.LateAt, o.expiry()} {
			if s := ceilSecond(t); !t.IsZero() && s > first {
				end = min(end, s-1)
			}
		}
	}
	return stretch{first: first, last: min(end, until), session: info}
}

// expiry is when an open order expires; zero for one that does not, or has ended.
func (o *Order) expiry() time.Time {
	if !o.open() {
		return time.Time{}
	}
	return o.ExpireAt
}

func ceilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// due expires orders and books late fills whose time has come.
func (b *Broker) due(k *book, now time.Time) error {
	for _, o := range slices.Clone(k.live) {
		if at := o.expiry(); !at.IsZero() && !at.After(now) {
			k.end(o, Expired, at, "")
		}
		if at := o.LateAt; !at.IsZero() && !at.After(now) {
			o.LateAt = time.Time{}
			k.touch(o)
			if o.left().IsZero() {
				continue
			}
			if _, err := k.trade(o, o.left(), o.LatePrice, at, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// tradable are the open orders that may fill in a session, by symbol and arrival.
func (b *Broker) tradable(k *book, session market.SessionKind) []*Order {
	if b.options.ManualFills || session == market.Closed {
		return nil
	}
	var out []*Order
	for _, o := range k.live {
		if o.open() && o.tradesIn(session) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(x, y *Order) int {
		return cmp.Or(strings.Compare(x.Instrument.Symbol, y.Instrument.Symbol), cmp.Compare(x.N, y.N))
	})
	return out
}

// tradesIn reports whether the order may fill in a session.
func (o *Order) tradesIn(session market.SessionKind) bool {
	switch session {
	case market.Regular:
		return true
	case market.Pre, market.Post:
		return o.ExtendedHours && o.Type == order.Limit
	}
	return false
}

// scan looks at orders second by second and returns the last second that it finished.
func (b *Broker) scan(ctx context.Context, k *book, s stretch, orders []*Order, steps *int) (int64, error) {
	for t := s.first; t <= s.last; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end := min(s.last, t|(blockSeconds-1))
		if !b.reachable(orders, t, end) {
			*steps -= len(orders)
			t = end + 1
		}
		for ; t <= end && *steps > 0; t++ {
			*steps -= len(orders)
			if err := b.second(ctx, k, orders, time.Unix(t, 0).UTC()); err != nil {
				return 0, err
			}
		}
		orders = slices.DeleteFunc(orders, func(o *Order) bool { return !o.open() })
		if len(orders) == 0 {
			return s.last, nil
		}
		if *steps <= 0 {
			return t - 1, nil
		}
	}
	return s.last, nil
}

// reachable reports whether any of the orders might trade or trigger in the seconds
// from first to last.
func (b *Broker) reachable(orders []*Order, first, last int64) bool {
	quotes, ok := b.options.Quotes.(bounded)
	if !ok {
		return true
	}
	var symbol string
	var low, high money.Price
	for _, o := range orders {
		if o.Instrument.Symbol != symbol {
			symbol = o.Instrument.Symbol
			if low, high, ok = quotes.Within(symbol, time.Unix(first, 0).UTC(), time.Unix(last, 0).UTC()); !ok {
				return true
			}
		}
		if o.reachable(low, high) {
			return true
		}
	}
	return false
}

// reachable reports whether the order might trade or trigger while no bid is below low
// and no ask above high.
func (o *Order) reachable(low, high money.Price) bool {
	buys := o.Side == order.Buy
	switch {
	case o.Type.HasStop() && !o.Triggered && buys:
		return high.Cmp(o.StopPrice) >= 0
	case o.Type.HasStop() && !o.Triggered:
		return low.Cmp(o.StopPrice) <= 0
	case o.Type.HasLimit() && buys:
		return low.Cmp(o.LimitPrice) <= 0
	case o.Type.HasLimit():
		return high.Cmp(o.LimitPrice) >= 0
	}
	return true
}

// second looks at orders, sorted by symbol, in one second.
func (b *Broker) second(ctx context.Context, k *book, orders []*Order, at time.Time) error {
	var q market.Quote
	var bids, asks money.Quantity // what is left of the displayed sizes
	for _, o := range orders {
		if !o.open() {
			continue
		}
		if symbol := o.Instrument.Symbol; q.Symbol != symbol {
			var err error
			if q, err = b.options.Quotes.Quote(ctx, symbol, at); err != nil {
				return err
			}
			q.Symbol = symbol // also of an absent quote: it is asked for once
			asks = displayed(k.start.Seed, symbol, at)
			bids = asks
		}
		price, ok := k.takes(o, q)
		side := &asks
		if o.Side == order.Sell {
			side = &bids
		}
		quantity := money.MinQuantity(o.left(), *side)
		if !ok || !quantity.IsPositive() {
			continue
		}
		if why, err := b.payable(k, o, quantity, price); err != nil {
			return err
		} else if why != "" {
			k.end(o, Canceled, at, why)
			continue
		}
		*side, _ = side.Sub(quantity) // it is not below zero
		if _, err := k.trade(o, quantity, price, at, ""); err != nil {
			return err
		}
	}
	return nil
}

// takes returns the price at which the order trades against a quote, and triggers its
// stop if the quote reaches it.
func (k *book) takes(o *Order, q market.Quote) (money.Price, bool) {
	if !q.Valid() || q.Halted {
		return money.Price{}, false
	}
	price, beyond := q.Ask, 1
	if o.Side == order.Sell {
		price, beyond = q.Bid, -1
	}
	if o.Type.HasStop() && !o.Triggered {
		if price.Cmp(o.StopPrice)*beyond < 0 {
			return money.Price{}, false
		}
		o.Triggered = true
		k.touch(o)
	}
	if o.Type.HasLimit() && price.Cmp(o.LimitPrice)*beyond > 0 {
		return money.Price{}, false
	}
	return price, true
}

// payable says why a trade of a resting order cannot be paid or delivered, though it
// could when it was placed: a stop may trade beyond what it held back, and cash or
// shares may have gone elsewhere.
func (b *Broker) payable(k *book, o *Order, quantity money.Quantity, price money.Price) (why string, err error) {
	if o.Side == order.Sell {
		if !b.options.AllowShort && quantity.Cmp(k.position(o.Instrument.Symbol)) > 0 {
			return reasonPosition, nil
		}
		return "", nil
	}
	cost, ok := price.TimesMultiplied(quantity, o.Instrument.Multiplier, money.Up)
	free, ok2 := k.freeCash(o)
	if !ok || !ok2 {
		return "", errFigure
	}
	if cost.Cmp(free) > 0 {
		return reasonCash, nil
	}
	return "", nil
}

// displayed is the size that a side shows in a second.
func displayed(seed uint64, symbol string, at time.Time) money.Quantity {
	h := seed ^ uint64(at.Unix())*0x9e3779b97f4a7c15
	for i := range len(symbol) {
		h = (h ^ uint64(symbol[i])) * 0x100000001b3
	}
	// The finalizer of SplitMix64.
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return money.QuantityFromInt(displayedMin + int64((h^h>>31)%displayedSpan))
}

// keepClose keeps the equity at a regular close, for the next trade date's previous-close
// equity. It is unknown if something that is held has no valid quote.
func (b *Broker) keepClose(ctx context.Context, k *book, s market.SessionInfo) error {
	k.changed.any = true
	k.closeDate, k.closeKnown, k.closeEquity = s.TradeDate, false, money.Notional{}
	equity := k.cash
	for _, p := range k.held {
		if p.Quantity.IsZero() {
			continue
		}
		q, err := b.options.Quotes.Quote(ctx, p.Instrument.Symbol, s.ClosesAt.Add(-time.Second))
		if err != nil {
			return err
		}
		if !q.Valid() {
			return nil
		}
		price := q.Bid
		if p.Quantity.IsNegative() {
			price = q.Ask
		}
		value, ok := price.TimesMultiplied(p.Quantity, p.Instrument.Multiplier, money.Down)
		if !ok {
			return nil
		}
		if equity, ok = equity.Add(value); !ok {
			return nil
		}
	}
	k.closeKnown, k.closeEquity = true, equity
	return nil
}
