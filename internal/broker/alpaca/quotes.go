package alpaca

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// How instruments and quotes are asked for.
const (
	// InstrumentFor is how long what the service says of an instrument is believed.
	InstrumentFor = 10 * time.Minute
	// AskEvery is the shortest time between two requests for quotes: at most 150 a minute
	// of the 200 that the smallest plan grants. What is older a rail judges by its own time.
	AskEvery = 400 * time.Millisecond
	// WatchFor is how long a symbol is asked for along with others after it was wanted.
	WatchFor = 10 * time.Minute
	// SymbolsMax bounds the symbols of one request, and how many are remembered.
	SymbolsMax = 200
)

// quotes is what is known of the market.
type quotes struct {
	mu          sync.Mutex // guards below; not held while the service is asked
	instruments map[string]listed
	last        map[string]sighting
	asking      chan struct{} // held by whoever asks
}

type listed struct {
	in   order.Instrument
	ok   bool
	when time.Time
}

type sighting struct {
	newest, valid market.Quote
	wanted, asked time.Time
}

func (q *quotes) init() {
	q.instruments, q.last, q.asking = map[string]listed{}, map[string]sighting{}, make(chan struct{}, 1)
}

// plain reports whether a text may stand in a request as a symbol.
func plain(symbol string) bool {
	if symbol == "" || len(symbol) > order.SymbolBytesMax {
		return false
	}
	for _, c := range []byte(symbol) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return strings.Trim(symbol, ".") != ""
}

// Instrument resolves a symbol, byte for byte, by the service's list of assets.
func (b *Broker) Instrument(ctx context.Context, symbol string) (order.Instrument, bool, error) {
	if !plain(symbol) {
		return order.Instrument{}, false, nil
	}
	q := &b.quotes
	q.mu.Lock()
	known, have := q.instruments[symbol]
	q.mu.Unlock()
	if have && b.young(known.when, InstrumentFor) {
		return known.in, known.ok, nil
	}
	var a struct {
		Symbol   string `json:"symbol"`
		Class    string `json:"class"`
		Status   string `json:"status"`
		Tradable bool   `json:"tradable"`
	}
	err := b.c.read(ctx, "/v2/assets/"+symbol, nil, &a)
	if err != nil && !notFound(err) {
		return order.Instrument{}, false, err
	}
	known = listed{when: b.now()}
	if err == nil && a.Symbol == symbol {
		known.in, known.ok = instrument(symbol, a.Class), true
		known.in.Active = a.Status == "active" && a.Tradable
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.instruments) >= SymbolsMax {
		clear(q.instruments)
	}
	q.instruments[symbol] = known
	return known.in, known.ok, nil
}

// Quote returns the newest quote of the feed. Bid and ask are the feed's own: with iex one
// exchange's, which may be far from the market's best. While the broker's calendar
// disagrees with ours every quote says that trading is halted.
func (b *Broker) Quote(ctx context.Context, symbol string, _ time.Time) (market.Quote, error) {
	s, err := b.sighted(ctx, symbol)
	return b.closedBy(s.newest), err
}

// LastValid returns the newest valid quote that this process has seen, if it is not older
// than since and not after now.
func (b *Broker) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	s, err := b.sighted(ctx, symbol)
	if err != nil || s.valid.At.Before(since) || s.valid.At.After(now.Add(market.QuoteFutureMax)) {
		return market.Quote{}, err
	}
	return b.closedBy(s.valid), nil
}

// PreviousClose knows none: the service gives a day's last price without its two sides.
func (b *Broker) PreviousClose(context.Context, string, time.Time) (market.Quote, error) {
	return market.Quote{}, nil
}

func (b *Broker) closedBy(q market.Quote) market.Quote {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Present && b.disagree != "" {
		q.Halted = true
	}
	return q
}

// sighted returns what is known of a symbol, and asks first if that is not of just now.
func (b *Broker) sighted(ctx context.Context, symbol string) (sighting, error) {
	if !plain(symbol) {
		return sighting{}, nil
	}
	q := &b.quotes
	if s, fresh := b.seen(symbol); fresh {
		return s, nil
	}
	select {
	case q.asking <- struct{}{}:
		defer func() { <-q.asking }()
	case <-ctx.Done():
		return sighting{}, ctx.Err()
	}
	if s, fresh := b.seen(symbol); fresh { // somebody else asked meanwhile
		return s, nil
	}
	if err := b.ask(ctx, b.wanted(symbol)); err != nil {
		return sighting{}, err
	}
	s, _ := b.seen(symbol)
	return s, nil
}

func (b *Broker) now() time.Time { return b.o.Clock.Read().Market }

// young reports whether less than most has passed; a clock that went back makes nothing young.
func (b *Broker) young(since time.Time, most time.Duration) bool {
	age := b.now().Sub(since)
	return age >= 0 && age < most
}

func (b *Broker) seen(symbol string) (s sighting, fresh bool) {
	q := &b.quotes
	q.mu.Lock()
	defer q.mu.Unlock()
	s, known := q.last[symbol]
	return s, known && b.young(s.asked, AskEvery)
}

// wanted are the symbols to ask for together: those that were wanted lately.
func (b *Broker) wanted(symbol string) []string {
	q := &b.quotes
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.last) >= SymbolsMax {
		clear(q.last)
	}
	s := q.last[symbol]
	s.wanted = b.now()
	q.last[symbol] = s
	var out []string
	for name, s := range q.last {
		if b.young(s.wanted, WatchFor) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// snapshot is the newest quote and trade of a symbol.
type snapshot struct {
	Quote *struct {
		At  time.Time `json:"t"`
		Bid figure    `json:"bp"`
		Ask figure    `json:"ap"`
	} `json:"latestQuote"`
	Trade *struct {
		Price figure `json:"p"`
	} `json:"latestTrade"`
}

func (b *Broker) ask(ctx context.Context, symbols []string) error {
	var found map[string]*snapshot
	q := url.Values{"symbols": {strings.Join(symbols, ",")}, "feed": {b.o.Feed}}
	if err := b.c.get(ctx, b.c.data, "/v2/stocks/snapshots", q, &found); err != nil {
		return err
	}
	all := &b.quotes
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, symbol := range symbols {
		s := all.last[symbol]
		s.asked, s.newest = b.now(), market.Quote{}
		if shot := found[symbol]; shot != nil && shot.Quote != nil {
			quote, err := shot.quote(symbol, b.o.Feed)
			if err != nil {
				b.log.Warn("a quote cannot be read", "symbol", symbol, "error", err)
			} else {
				s.newest = quote
			}
		}
		if s.newest.Valid() && !s.newest.At.Before(s.valid.At) {
			s.valid = s.newest
		}
		all.last[symbol] = s
	}
	return nil
}

// quote reads a snapshot. A side of zero is one that the feed did not have.
func (s *snapshot) quote(symbol, feed string) (market.Quote, error) {
	bid, errB := s.Quote.Bid.price()
	ask, errA := s.Quote.Ask.price()
	if errB != nil || errA != nil || s.Quote.At.IsZero() {
		return market.Quote{}, fmt.Errorf("quote of %s: %w", journal.BoundText(symbol, order.SymbolBytesMax), errUnreadable)
	}
	q := market.Quote{
		Symbol: symbol, Currency: currency, Feed: "alpaca-" + feed, Bid: bid, Ask: ask, At: s.Quote.At.UTC(),
		Present: true, HasBid: !bid.IsZero(), HasAsk: !ask.IsZero(),
	}
	if s.Trade != nil {
		if last, err := s.Trade.Price.price(); err == nil && last.IsPositive() {
			q.Last, q.HasLast = last, true
		}
	}
	return q, nil
}
