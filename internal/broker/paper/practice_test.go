package paper_test

import (
	"context"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// rest leaves an open order at the broker, by the door that needs no gate.
func rest(t *testing.T, b *paper.Broker, symbol string, side order.Side, price string) string {
	t.Helper()
	in := order.Instrument{Symbol: symbol, Class: order.USEquity, Currency: "USD", Multiplier: money.QuantityFromInt(1), Active: true}
	id, err := b.ExternalOrder(t.Context(), journal.BrokerOrder{
		Instrument: in, Side: side, Type: order.Limit, TimeInForce: order.GTC, Quantity: money.QuantityFromInt(10), LimitPrice: money.MustPrice(price),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// blind hides the bounds of the practice quotes, so that every second is looked at.
type blind struct{ quotes *quotes.Paper }

func (b blind) Instrument(ctx context.Context, symbol string) (order.Instrument, bool, error) {
	return b.quotes.Instrument(ctx, symbol)
}
func (b blind) Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return b.quotes.Quote(ctx, symbol, now)
}
func (b blind) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	return b.quotes.LastValid(ctx, symbol, now, since)
}
func (b blind) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return b.quotes.PreviousClose(ctx, symbol, now)
}

func TestBoundsSkipNothingThatFills(t *testing.T) {
	calendar := market.XNYS()
	start := paper.Start{Seed: 7, Cash: paper.StartingCash(), Market: clock.PracticeStart()}
	fills := func(look func(*quotes.Paper) paper.Options) []paper.Execution {
		wall := clock.NewVirtual(clock.PracticeStart())
		o := look(quotes.NewPaper(7, calendar))
		o.Clock, o.Calendar = wall, calendar
		b, err := paper.OpenMemory(start, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, price := range []string{"190.00", "195.00", "197.00", "198.00", "199.00", "200.00"} {
			rest(t, b, "AAPL", order.Buy, price)
			rest(t, b, "MSFT", order.Sell, "4"+price[1:])
		}
		wall.Advance(20 * time.Hour)
		if _, err := b.Account(t.Context()); err != nil {
			t.Fatal(err)
		}
		x, err := b.Ledger().Executions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a := fills(func(q *quotes.Paper) paper.Options { return paper.Options{Quotes: q, AllowShort: true} })
	b := fills(func(q *quotes.Paper) paper.Options { return paper.Options{Quotes: blind{q}, AllowShort: true} })
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d fills", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("fill %d: %+v and %+v", i, a[i], b[i])
		}
	}
}

// awayMax is how long a person may wait for the first answer after a month away. The
// work takes a tenth of it on a quiet machine.
const awayMax = 2 * time.Second

func TestMonthAwayIsCaughtUpWith(t *testing.T) {
	ctx, calendar := t.Context(), market.XNYS()
	wall := clock.NewVirtual(time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC))
	l, err := paper.OpenFile(ctx, t.TempDir(), paper.Start{Seed: 7, Cash: paper.StartingCash(), Wall: wall.Now(), Market: clock.PracticeStart()})
	if err != nil {
		t.Fatal(err)
	}
	s := l.Start()
	practice, err := clock.NewPractice(wall, calendar, clock.Origin{Wall: s.Wall, Market: s.Market})
	if err != nil {
		t.Fatal(err)
	}
	b, err := paper.New(l, paper.Options{Clock: practice, Quotes: quotes.NewPaper(s.Seed, calendar), Calendar: calendar, AllowShort: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, symbol := range []string{"AAPL", "MSFT", "NVDA", "GOOGL", "AMZN", "SPY", "QQQ", "KO"} {
		rest(t, b, symbol, order.Buy, "1.00")
		rest(t, b, symbol, order.Sell, "5000.00")
	}
	rest(t, b, "AAPL", order.Buy, "199.50")
	wall.Advance(30 * 24 * time.Hour)
	began := time.Now()
	a, err := b.Account(ctx)
	if took := time.Since(began); err != nil || took > awayMax {
		t.Errorf("took %s, %v", took, err)
	}
	if len(a.Orders) < 16 || a.At.Before(clock.PracticeStart().Add(100*24*time.Hour)) || a.PreviousCloseEquity == nil {
		t.Errorf("account %+v", a)
	}
}
