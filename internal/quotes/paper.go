package quotes

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Paper is the practice market. It is immutable, needs no lock, and cannot fail: its
// errors are always nil. The zero Paper has no calendar and so no quotes.
type Paper struct {
	seed     uint64
	calendar market.Calendar
}

// feed is the name of the practice market in quotes.
const feed = "paper"

// NewPaper returns the practice market of this seed, open when the calendar says so.
func NewPaper(seed uint64, calendar market.Calendar) *Paper {
	return &Paper{seed: seed, calendar: calendar}
}

// Instrument resolves a symbol of the practice market, byte for byte.
func (p *Paper) Instrument(_ context.Context, symbol string) (order.Instrument, bool, error) {
	in, ok := shipped(symbol)
	return in, ok, nil
}

// Quote returns the quote of the whole second of now, from the opening of the extended
// hours to their close; after it the last one of the day, whose At is that close.
func (p *Paper) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	i, ok := find(symbol)
	if !ok {
		return market.Quote{}, nil
	}
	second, ok := p.openSecond(now)
	if !ok {
		return market.Quote{}, nil
	}
	return p.quote(i, second), nil
}

// LastValid is Quote, absent if that is older than since: every quote here is valid.
func (p *Paper) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	q, err := p.Quote(ctx, symbol, now)
	if err != nil || !q.Present || q.At.Before(since) {
		return market.Quote{}, err
	}
	return q, nil
}

// PreviousClose returns the quote at the regular close of the trade date before the one
// that now belongs to.
func (p *Paper) PreviousClose(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	i, ok := find(symbol)
	if !ok {
		return market.Quote{}, nil
	}
	day, ok := p.calendar.PreviousTradeDate(market.Session(now, p.calendar).TradeDate)
	if !ok {
		return market.Quote{}, nil
	}
	closes, ok := p.calendar.RegularClose(day)
	if !ok {
		return market.Quote{}, nil
	}
	return p.quote(i, closes.Unix()), nil
}

// Within bounds the quotes of the whole seconds from first to last: no bid is below low
// and no ask above high. Whoever looks for a price can pass over a stretch that cannot
// hold it. It is false for an unknown symbol, or if last is before first.
func (p *Paper) Within(symbol string, first, last time.Time) (low, high money.Price, ok bool) {
	i, ok := find(symbol)
	if !ok || last.Before(first) {
		return money.Price{}, money.Price{}, false
	}
	l, h := centsWithin(stream(p.seed, symbol), listing[i].cents, first.Unix(), last.Unix())
	return cents(l), cents(h), true
}

// openSecond is the newest second at or before now that the market quotes.
func (p *Paper) openSecond(now time.Time) (int64, bool) {
	info := market.Session(now, p.calendar)
	switch {
	case !info.Known || info.ExtendedClosesAt.IsZero():
		return 0, false
	case info.Kind != market.Closed:
		return now.Unix(), true
	case !now.Before(info.ExtendedClosesAt):
		return info.ExtendedClosesAt.Unix(), true
	}
	day, ok := p.calendar.PreviousTradeDate(info.TradeDate)
	if !ok {
		return 0, false
	}
	opens, ok := p.calendar.RegularOpen(day)
	if !ok {
		return 0, false
	}
	return market.Session(opens, p.calendar).ExtendedClosesAt.Unix(), true
}

func (p *Paper) quote(i int, second int64) market.Quote {
	l := listing[i]
	key := stream(p.seed, l.symbol)
	bid, ask := centsAt(key, l.cents, second)
	last := bid
	if draw(key, saltLast, second)&1 == 1 {
		last = ask
	}
	return market.Quote{
		Symbol: l.symbol, Currency: currency, Feed: feed,
		Bid: cents(bid), Ask: cents(ask), Last: cents(last),
		At:      time.Unix(second, 0).UTC(),
		Present: true, HasBid: true, HasAsk: true, HasLast: true,
	}
}

// cents is exact: a hundredth has two decimals, and levels are far below the range.
func cents(n int64) money.Price {
	p, _ := money.NotionalFromInt(n).Per(money.QuantityFromInt(100), money.Down)
	return p
}
