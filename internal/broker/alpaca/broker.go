package alpaca

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
)

// Addresses of the service.
const (
	PaperURL = "https://paper-api.alpaca.markets"
	LiveURL  = "https://api.alpaca.markets"
	DataURL  = "https://data.alpaca.markets"
)

// Feeds of market data that can be asked for by name.
const (
	FeedIEX = "iex"
	FeedSIP = "sip"
)

// paperPrefix begins the number of every paper account.
const paperPrefix = "PA"

// Options of a broker. All but those that say so are required.
type Options struct {
	Trading, Data string // addresses; there is no default
	Feed          string // FeedIEX or FeedSIP; it stands in each quote
	Keys          Keys
	Calendar      market.Calendar
	Clock         gate.Clock
	// AccountID is the number that the broker must show. Empty only for a look that sends
	// nothing: without it no message leaves.
	AccountID string
	// Began is when the journal took the account over, and Known the ids of what had
	// happened shortly before: none of it is told as an event.
	Began time.Time
	Known []string
	// NotFoundFor is how long an order must be missing before the broker is believed that
	// it has none; zero is NotFoundFor of the package.
	NotFoundFor time.Duration
	// Within bounds one request; zero is RequestWithin.
	Within time.Duration
	// Ping is how often the stream is asked for a sign of life; zero is PingEvery.
	Ping time.Duration
	Log  *slog.Logger // nil discards
}

// Broker is one account. Its methods may be called from many goroutines.
type Broker struct {
	o      Options
	c      *client
	log    *slog.Logger
	quotes quotes

	// reading is held by whoever asks the broker what happened: a channel, so that waiting
	// for it ends with a context. It guards the picture.
	reading chan struct{}
	picture picture

	mu       sync.Mutex      // guards below
	rung     bool            // something may have happened since the last look
	up       bool            // the stream is listened to
	shown    bool            // the broker showed the account's number
	sent     []string        // broker ids of orders that were accepted and are not in the picture yet
	missing  map[string]miss // orders that the broker did not find
	disagree string          // why the broker's calendar closes the market; empty: it agrees
}

// New returns the broker. It asks nothing yet.
func New(o Options) (*Broker, error) {
	trading, err := address(o.Trading)
	if err != nil {
		return nil, err
	}
	data, err := address(o.Data)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Feed != FeedIEX && o.Feed != FeedSIP:
		return nil, fmt.Errorf("feed %q is neither %s nor %s", o.Feed, FeedIEX, FeedSIP)
	case !o.Keys.usable():
		return nil, errNoKeys
	case o.Clock == nil || o.Calendar.MIC() == "":
		return nil, errors.New("alpaca: a clock and a calendar are needed")
	case !isPaper(trading):
		return nil, fmt.Errorf("%s trades real money, which this version does not", trading.Host)
	case "https://"+data.Host != DataURL && !(onThisMachine(data) && onThisMachine(trading)):
		return nil, fmt.Errorf("%s is not where this account's market data is: the keys go there, and its quotes price orders", data.Host)
	case o.AccountID != "" && !strings.HasPrefix(o.AccountID, paperPrefix):
		return nil, fmt.Errorf("account %q is not a paper account", o.AccountID)
	}
	b := &Broker{o: o, c: newClient(trading, data, o.Keys, o.Clock), log: o.Log, reading: make(chan struct{}, 1), missing: map[string]miss{}}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.o.NotFoundFor <= 0 {
		b.o.NotFoundFor = NotFoundFor
	}
	if b.o.Ping <= 0 {
		b.o.Ping = PingEvery
	}
	if o.Within > 0 {
		b.c.within = o.Within
	}
	var run [6]byte
	if _, err := rand.Read(run[:]); err != nil {
		return nil, err
	}
	b.picture.run = hex.EncodeToString(run[:])
	b.picture.init()
	b.quotes.init()
	return b, nil
}

// isPaper reports whether an address can only be of paper accounts: the service's own for
// them, or one on this machine.
func isPaper(u *url.URL) bool {
	return "https://"+u.Host == PaperURL || onThisMachine(u)
}

// Close ends idle connections.
func (b *Broker) Close() { b.c.http.CloseIdleConnections() }

// read waits for the picture, and returns what gives it back.
func (b *Broker) read(ctx context.Context) (done func(), err error) {
	select {
	case b.reading <- struct{}{}:
		return func() { <-b.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ring says that something may have happened.
func (b *Broker) ring() {
	b.mu.Lock()
	b.rung = true
	b.mu.Unlock()
}

var (
	_ gate.Broker = (*Broker)(nil)
	_ gate.Quotes = (*Broker)(nil)
)
