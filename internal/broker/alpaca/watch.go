package alpaca

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/market"
)

// How the stream is kept.
const (
	// PingEvery finds a connection out that stays open and says nothing.
	PingEvery     = 10 * time.Second
	PongWithin    = 5 * time.Second
	ConnectWithin = 10 * time.Second
	// AgainMin and AgainMax bound the wait before the next try, which doubles each time.
	AgainMin = 500 * time.Millisecond
	AgainMax = 30 * time.Second
	// FrameBytesMax bounds one message of the stream: an order and its legs.
	FrameBytesMax = 256 << 10
)

var errStream = errors.New("the stream did not let us listen")

// Run listens for what rings and compares calendars, until ctx ends.
func (b *Broker) Run(ctx context.Context) {
	var tasks sync.WaitGroup
	tasks.Go(func() { b.keepListening(ctx) })
	tasks.Go(func() { b.keepComparing(ctx) })
	tasks.Wait()
}

// Listening reports whether the stream is up.
func (b *Broker) Listening() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up
}

func (b *Broker) keepListening(ctx context.Context) {
	wait := AgainMin
	for ctx.Err() == nil {
		begun := time.Now()
		err := b.listen(ctx)
		b.setUp(false)
		if ctx.Err() != nil {
			return
		}
		b.log.Warn("the stream of trade updates ended; events are asked for until it is back", "error", err)
		if time.Since(begun) > AgainMax {
			wait = AgainMin
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait = min(2*wait, AgainMax)
	}
}

// setUp notes the stream's state. Either way something may have been missed: the next look
// comes at once.
func (b *Broker) setUp(up bool) {
	b.mu.Lock()
	b.up, b.rung = up, true
	b.mu.Unlock()
}

// listen holds one connection until it ends. What is said on it is not believed, only heard.
func (b *Broker) listen(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	conn, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	b.setUp(true)
	var pings sync.WaitGroup
	defer pings.Wait() // it ends with ctx, which end ends first
	defer end()
	pings.Go(func() {
		defer end() // a connection without a pong is given up
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(b.o.Ping):
			}
			within, cancel := context.WithTimeout(ctx, min(PongWithin, b.o.Ping))
			err := conn.Ping(within)
			cancel()
			if err != nil {
				return
			}
		}
	})
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return cause(err)
		}
		b.ring()
	}
}

// connect opens the stream, shows the keys and asks for trade updates.
func (b *Broker) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectWithin)
	defer cancel()
	at := *b.c.trading
	at.Scheme, at.Path = strings.Replace(at.Scheme, "http", "ws", 1), "/stream"
	//nolint:bodyclose // the library closes it
	conn, _, err := websocket.Dial(ctx, at.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: b.c.http.Transport, CheckRedirect: b.c.http.CheckRedirect}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("stream: %w", cause(err))
	}
	conn.SetReadLimit(FrameBytesMax)
	if err = b.greet(ctx, conn); err != nil {
		_ = conn.CloseNow()
		return nil, err
	}
	return conn, nil
}

func (b *Broker) greet(ctx context.Context, conn *websocket.Conn) error {
	auth, err := json.Marshal(map[string]string{"action": "auth", "key": b.c.keys.id, "secret": b.c.keys.secret})
	if err != nil {
		return errStream
	}
	if err := say(ctx, conn, auth, "authorization", `"authorized"`); err != nil {
		return err
	}
	return say(ctx, conn, []byte(`{"action":"listen","data":{"streams":["trade_updates"]}}`), "listening", `"trade_updates"`)
}

// say writes a message and waits for the answer of that name, which must hold a word.
func say(ctx context.Context, conn *websocket.Conn, text []byte, answer, word string) error {
	if err := conn.Write(ctx, websocket.MessageText, text); err != nil {
		return cause(err)
	}
	const answersMax = 64 // updates may come before the answer does
	for range answersMax {
		_, got, err := conn.Read(ctx)
		if err != nil {
			return cause(err)
		}
		var m struct {
			Stream string `json:"stream"`
		}
		if json.Unmarshal(got, &m) == nil && m.Stream == answer {
			if !strings.Contains(string(got), word) {
				return errStream
			}
			return nil
		}
	}
	return errStream
}

// How calendars and clocks are compared.
const (
	CompareEvery = time.Hour
	CompareAgain = time.Minute // after a comparison that could not be made, or found something
	CompareDays  = 10
	SkewMax      = 5 * time.Second
)

func (b *Broker) keepComparing(ctx context.Context) {
	for {
		wait := CompareEvery
		if err := b.CompareCalendar(ctx); err != nil && ctx.Err() == nil {
			b.log.Error("the broker's calendar closes the market for us", "error", err)
			wait = CompareAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// CompareCalendar holds the broker's calendar of the coming days, and its clock, against
// ours. A disagreement, also one that could not be ruled out, closes the market: every
// quote then says that trading is halted, until a comparison finds none.
func (b *Broker) CompareCalendar(ctx context.Context) error {
	err := b.compareDays(ctx)
	if err == nil {
		err = b.compareClocks(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disagree = ""
	if err != nil {
		b.disagree = err.Error()
	}
	return err
}

func (b *Broker) compareDays(ctx context.Context) error {
	first := market.NewYork(b.o.Clock.Read().Market).Date
	last := first
	for range CompareDays {
		next, ok := b.o.Calendar.NextTradeDate(last)
		if !ok {
			break // ours ends; the gate says so itself
		}
		last = next
	}
	var days []struct {
		Date  string `json:"date"`
		Open  string `json:"open"`
		Close string `json:"close"`
	}
	if err := b.c.read(ctx, "/v2/calendar", query("start", first.String(), "end", last.String()), &days); err != nil {
		return err
	}
	theirs := map[string]string{}
	for _, d := range days {
		theirs[d.Date] = d.Open + "-" + d.Close
	}
	for d := first; d <= last; d++ {
		if ours := b.hours(d); theirs[d.String()] != ours {
			return fmt.Errorf("on %s the broker trades %q, we know %q", d, theirs[d.String()], ours)
		}
	}
	return nil
}

// hours are the regular hours of a day as the service writes them; empty on a closed day.
func (b *Broker) hours(d market.TradeDate) string {
	opens, ok1 := b.o.Calendar.RegularOpen(d)
	closes, ok2 := b.o.Calendar.RegularClose(d)
	if !ok1 || !ok2 {
		return ""
	}
	at := func(t time.Time) string {
		since := t.Sub(market.FromNewYork(d, 0))
		return fmt.Sprintf("%02d:%02d", int(since.Hours()), int(since.Minutes())%60)
	}
	return at(opens) + "-" + at(closes)
}

// compareClocks refuses a broker whose clock is far from ours: its times order events.
func (b *Broker) compareClocks(ctx context.Context) error {
	at, err := b.Time(ctx)
	if err != nil {
		return err
	}
	if apart := at.Sub(b.o.Clock.Read().Market); apart > SkewMax || apart < -SkewMax {
		return fmt.Errorf("the broker's clock is %s from ours", apart.Round(time.Millisecond))
	}
	return nil
}

// Time is what the broker's clock shows.
func (b *Broker) Time(ctx context.Context) (time.Time, error) {
	var c struct {
		At time.Time `json:"timestamp"`
	}
	err := b.c.read(ctx, "/v2/clock", nil, &c)
	if err == nil && c.At.IsZero() {
		err = fmt.Errorf("clock: %w", errUnreadable)
	}
	return c.At.UTC(), err
}
