package upstream

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// quoted is what the server last said of a symbol.
type quoted struct {
	asked  time.Time // monotonic
	newest market.Quote
	valid  market.Quote // the newest that was valid
}

// resolved is an instrument as the server resolved it; not known: it said that there is none.
type resolved struct {
	asked      time.Time
	instrument order.Instrument
	known      bool
}

// Instrument asks the server for the symbol. What it cannot be asked, or answers in
// another way than by the profile, is an error: the rails then refuse.
func (b *Broker) Instrument(ctx context.Context, symbol string) (order.Instrument, bool, error) {
	b.mu.Lock()
	r := b.symbols[symbol]
	b.mu.Unlock()
	if r != nil && time.Since(r.asked) < InstrumentFor {
		return r.instrument, r.known, nil
	}
	asked := time.Now()
	rows, err := b.rows(ctx, profile.InstrumentFigures, symbol, nil)
	if err != nil {
		return order.Instrument{}, false, err
	}
	row := rows[0]
	if row.Get("symbol") != symbol {
		return order.Instrument{}, false, nil
	}
	in, err := b.instrument(row)
	if err != nil {
		return order.Instrument{}, false, err
	}
	if s := row.Get("status"); s != "" && s != "active" {
		in.Active = false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.symbols) >= SymbolsMax {
		clear(b.symbols)
	}
	b.symbols[symbol] = &resolved{asked: asked, instrument: in, known: true}
	return in, true, nil
}

// Quote asks for the newest quote.
func (b *Broker) Quote(ctx context.Context, symbol string, _ time.Time) (market.Quote, error) {
	q, err := b.quote(ctx, symbol, QuoteFor)
	if err != nil {
		return market.Quote{}, err
	}
	return q.newest, nil
}

// LastValid is the newest valid quote that was seen, asked for anew when it is old.
func (b *Broker) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	q, err := b.quote(ctx, symbol, MarkFor)
	if err != nil {
		return market.Quote{}, err
	}
	if q.valid.At.Before(since) || q.valid.At.After(now.Add(market.QuoteFutureMax)) {
		return market.Quote{}, nil
	}
	return q.valid, nil
}

// PreviousClose is absent: no such figure is asked for.
func (b *Broker) PreviousClose(context.Context, string, time.Time) (market.Quote, error) {
	return market.Quote{}, nil
}

func (b *Broker) quote(ctx context.Context, symbol string, within time.Duration) (quoted, error) {
	b.mu.Lock()
	if q := b.quotes[symbol]; q != nil && time.Since(q.asked) < within {
		defer b.mu.Unlock()
		return *q, nil
	}
	b.mu.Unlock()
	asked := time.Now()
	rows, err := b.rows(ctx, profile.QuoteFigures, symbol, nil)
	if err != nil {
		return quoted{}, err
	}
	newest, err := b.priced(symbol, rows[0])
	if err != nil {
		return quoted{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.quotes) >= SymbolsMax {
		clear(b.quotes)
	}
	q := b.quotes[symbol]
	if q == nil {
		q = &quoted{}
		b.quotes[symbol] = q
	}
	q.asked, q.newest = asked, newest
	if newest.Valid() {
		q.valid = newest
	}
	return *q, nil
}

func (b *Broker) priced(symbol string, row profile.Row) (q market.Quote, err error) {
	q = market.Quote{Symbol: symbol, Currency: b.o.Currency, Feed: "upstream", Present: true}
	if q.Bid, err = money.ParsePrice(row.Get("bid")); err != nil {
		return market.Quote{}, err
	}
	if q.Ask, err = money.ParsePrice(row.Get("ask")); err != nil {
		return market.Quote{}, err
	}
	q.HasBid, q.HasAsk = true, true
	if t := row.Get("last"); t != "" {
		if q.Last, err = money.ParsePrice(t); err != nil {
			return market.Quote{}, err
		}
		q.HasLast = true
	}
	q.At, err = time.Parse(time.RFC3339Nano, row.Get("at"))
	return q, err
}

var _ gate.Quotes = (*Broker)(nil)
