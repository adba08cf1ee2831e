package adversary

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// event is what happens to time and market in a case. Where the attacked server is a
// process of its own, events stand in a file, one a line, and the server plays them too:
// both see the same market at the same instant.
type event struct {
	Kind       kind             `json:"kind"`
	ForNS      int64            `json:"for_ns,omitzero"` // advance, wall; the age of a quote
	Symbol     string           `json:"symbol,omitzero"`
	Bid        money.Price      `json:"bid,omitzero"`
	Ask        money.Price      `json:"ask,omitzero"`
	Halted     bool             `json:"halted,omitzero"`
	Instrument order.Instrument `json:"instrument,omitzero"` // of a kindList
}

// kindList is the event that lists an instrument; no step does so.
const kindList kind = "list"

// scene is the time and the market of a case.
type scene struct {
	clock  *clock.Virtual
	quotes *quotes.Scripted
	told   map[string]event // so that quotes keep up when time runs
	log    *os.File         // nil: nobody else plays it
}

func newScene(at time.Time) *scene {
	return &scene{clock: clock.NewVirtual(at), quotes: quotes.NewScripted(market.XNYS()), told: map[string]event{}}
}

// happen plays an event here, and tells of it.
func (s *scene) happen(e event) error {
	s.apply(e)
	if s.log == nil {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.log.Write(append(text, '\n')) // one write: a reader sees the whole line or none
	return err
}

func (s *scene) apply(e event) {
	switch e.Kind {
	case kindAdvance:
		s.clock.Advance(time.Duration(e.ForNS))
		for _, symbol := range sortedKeys(s.told) {
			s.tell(s.told[symbol])
		}
	case kindWall:
		s.clock.StepWallAlone(time.Duration(e.ForNS))
	case kindQuote:
		s.told[e.Symbol] = e
		s.tell(e)
	case kindSilence:
		delete(s.told, e.Symbol)
		s.quotes.Silence(e.Symbol)
	case kindList:
		s.quotes.List(e.Instrument)
	}
}

func (s *scene) tell(e event) {
	s.quotes.Tell(market.Quote{
		Symbol: e.Symbol, Bid: e.Bid, Ask: e.Ask, Last: e.Bid, HasBid: true, HasAsk: true, HasLast: true, Halted: e.Halted,
	}, s.clock.Now(), time.Duration(e.ForNS))
}

func eventOf(q quote) event {
	return event{Kind: kindQuote, Symbol: q.symbol, Bid: q.bid, Ask: q.ask, ForNS: int64(q.age), Halted: q.halted}
}

// sceneBytesMax bounds what is read of a scene's file at once.
const sceneBytesMax = 1 << 20

// follower is a scene that another process tells of, in a file that only grows. It is
// the clock and the market of the attacked server.
type follower struct {
	mu    sync.Mutex // guards all below
	scene *scene
	file  *os.File
	at    int64 // bytes that were played
	err   error // what ended it; quotes then fail, which refuses
}

// catchUp plays what was told since the last look.
func (f *follower) catchUp() *scene {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.scene
	}
	text, err := io.ReadAll(io.NewSectionReader(f.file, f.at, sceneBytesMax))
	if err != nil {
		f.fail(err)
	}
	for len(text) > 0 && f.err == nil {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		var e event
		if err := json.Unmarshal(text[:end], &e, json.RejectUnknownMembers(true)); err != nil {
			f.fail(err)
			break
		}
		f.scene.apply(e)
		f.at += int64(end + 1)
		text = text[end+1:]
	}
	return f.scene
}

func (f *follower) fail(err error) {
	f.err = errors.Join(errors.New("the scene of the case cannot be read"), err)
	f.scene.quotes.Fail(f.err)
}

// Read implements gate.Clock.
func (f *follower) Read() gate.Reading { return f.catchUp().clock.Read() }

// Instrument implements gate.Quotes.
func (f *follower) Instrument(ctx context.Context, symbol string) (order.Instrument, bool, error) {
	return f.catchUp().quotes.Instrument(ctx, symbol)
}

// Quote implements gate.Quotes.
func (f *follower) Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return f.catchUp().quotes.Quote(ctx, symbol, now)
}

// LastValid implements gate.Quotes.
func (f *follower) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	return f.catchUp().quotes.LastValid(ctx, symbol, now, since)
}

// PreviousClose implements gate.Quotes.
func (f *follower) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return f.catchUp().quotes.PreviousClose(ctx, symbol, now)
}
