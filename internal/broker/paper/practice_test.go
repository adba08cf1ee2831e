package paper_test

import (
	"context"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
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
	for _, side := range []order.Side{order.Buy, order.Sell} {
		bounds := filled(t, side, func(q *quotes.Paper) gate.Quotes { return q })
		seconds := filled(t, side, func(q *quotes.Paper) gate.Quotes { return blind{q} })
		if len(bounds) < 5 || len(bounds) != len(seconds) {
			t.Fatalf("%s: %d and %d fills", side, len(bounds), len(seconds))
		}
		for i := range bounds {
			if bounds[i] != seconds[i] {
				t.Errorf("%s: fill %d: %+v and %+v", side, i, bounds[i], seconds[i])
			}
		}
	}
}

// filled lets a ladder of orders on one side rest for three days.
func filled(t *testing.T, side order.Side, look func(*quotes.Paper) gate.Quotes) []paper.Execution {
	t.Helper()
	calendar, wall := market.XNYS(), clock.NewVirtual(clock.PracticeStart())
	b, err := paper.OpenMemory(
		paper.Start{Seed: 7, Cash: paper.StartingCash(), Market: clock.PracticeStart()},
		paper.Options{Clock: wall, Quotes: look(quotes.NewPaper(7, calendar)), Calendar: calendar, AllowShort: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	for cents := int64(192_00); cents <= 208_00; cents += 40 {
		price, _ := money.NotionalFromInt(cents).Per(money.QuantityFromInt(100), money.Up)
		rest(t, b, "AAPL", side, price.String())
	}
	wall.Advance(72 * time.Hour)
	if _, err := b.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	x, err := b.Ledger().Executions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return x
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
