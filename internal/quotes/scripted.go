package quotes

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
)

// ToldMax is how many valid quotes a scripted market remembers for each symbol, for
// LastValid and PreviousClose. The oldest are forgotten first.
const ToldMax = 10_000

// Scripted is a market that says what it was told. It starts with the instruments of
// the practice market and without a single quote. It may be used from many goroutines.
type Scripted struct {
	calendar market.Calendar

	mu          sync.RWMutex // guards all below
	instruments map[string]listedAs
	quotes      map[string]told
	failure     error
}

// listedAs is an instrument, or with ok false the word that there is none.
type listedAs struct {
	instrument order.Instrument
	ok         bool
}

// told is what was said of one symbol.
type told struct {
	quote  market.Quote   // the newest
	valid  []market.Quote // in the order in which they were told
	closes market.Quote   // of the previous trade date, if that was told
}

// NewScripted returns an empty market; the calendar tells it which trade date came
// before another.
func NewScripted(calendar market.Calendar) *Scripted {
	return &Scripted{calendar: calendar, instruments: map[string]listedAs{}, quotes: map[string]told{}}
}

// List adds an instrument, or replaces one, also a shipped one.
func (s *Scripted) List(in order.Instrument) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instruments[in.Symbol] = listedAs{in, true}
}

// Delist makes a symbol unknown, also a shipped one.
func (s *Scripted) Delist(symbol string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instruments[symbol] = listedAs{}
}

// Tell replaces the whole quote of q.Symbol. Its At is now less age: it grows old as
// time goes on, and a negative age is a quote from the future. Currency and Feed are
// filled in where q leaves them empty; Present is set, the Has flags stay as told.
func (s *Scripted) Tell(q market.Quote, now time.Time, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.Present = true
	q.At = now.Add(-age)
	if q.Currency == "" {
		q.Currency = currency
	}
	if q.Feed == "" {
		q.Feed = "scripted"
	}
	t := s.quotes[q.Symbol]
	t.quote = q
	if q.Valid() {
		if len(t.valid) >= ToldMax {
			t.valid = append(t.valid[:0:0], t.valid[1:]...)
		}
		t.valid = append(t.valid, q)
	}
	s.quotes[q.Symbol] = t
}

// Silence takes the quote of a symbol away; what was valid before is remembered.
func (s *Scripted) Silence(symbol string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.quotes[symbol]
	t.quote = market.Quote{}
	s.quotes[symbol] = t
}

// TellClose sets what PreviousClose answers for q.Symbol, its At as given.
func (s *Scripted) TellClose(q market.Quote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.Present = true
	t := s.quotes[q.Symbol]
	t.closes = q
	s.quotes[q.Symbol] = t
}

// Fail makes every question end in err, as a source that cannot be asked; nil ends it.
func (s *Scripted) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// Instrument resolves a symbol, byte for byte.
func (s *Scripted) Instrument(_ context.Context, symbol string) (order.Instrument, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.failure != nil {
		return order.Instrument{}, false, s.failure
	}
	if as, ok := s.instruments[symbol]; ok {
		return as.instrument, as.ok, nil
	}
	in, ok := shipped(symbol)
	return in, ok, nil
}

// Quote returns what was told last.
func (s *Scripted) Quote(_ context.Context, symbol string, _ time.Time) (market.Quote, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.quotes[symbol].quote, s.failure
}

// LastValid returns the newest valid quote told, by its time, from since to now.
func (s *Scripted) LastValid(_ context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.failure != nil {
		return market.Quote{}, s.failure
	}
	return newest(s.quotes[symbol].valid, func(at time.Time) bool { return !at.After(now) && !at.Before(since) }), nil
}

// PreviousClose returns what TellClose set, else the newest valid quote told of the
// trade date before that of now.
func (s *Scripted) PreviousClose(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.quotes[symbol]
	if s.failure != nil || t.closes.Present {
		return t.closes, s.failure
	}
	day, ok := s.calendar.PreviousTradeDate(market.Session(now, s.calendar).TradeDate)
	if !ok {
		return market.Quote{}, nil
	}
	return newest(t.valid, func(at time.Time) bool { return market.NewYork(at).Date == day }), nil
}

// Copy returns a market that says the same and then goes its own way.
func (s *Scripted) Copy() *Scripted {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := &Scripted{calendar: s.calendar, instruments: maps.Clone(s.instruments), quotes: maps.Clone(s.quotes), failure: s.failure}
	for symbol, t := range out.quotes {
		t.valid = append([]market.Quote(nil), t.valid...)
		out.quotes[symbol] = t
	}
	return out
}

// newest is the quote with the latest At that suits; of several, the one told last.
func newest(quotes []market.Quote, suits func(time.Time) bool) market.Quote {
	var best market.Quote
	for _, q := range quotes {
		if suits(q.At) && (!best.Present || !q.At.Before(best.At)) {
			best = q
		}
	}
	return best
}
