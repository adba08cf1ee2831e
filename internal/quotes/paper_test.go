package quotes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// open is Wednesday 2026-03-18, 11:00 in New York.
var open = time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)

func quoteAt(t testing.TB, p *Paper, symbol string, now time.Time) market.Quote {
	t.Helper()
	q, err := p.Quote(t.Context(), symbol, now)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A change here moves every practice market that exists: fills that were recorded then
// no longer agree with the quotes of their seconds.
func TestQuotesAreTheSameEverywhere(t *testing.T) {
	p := NewPaper(7, market.XNYS())
	h := sha256.New()
	for _, symbol := range Symbols() {
		for i := range 200 {
			q := quoteAt(t, p, symbol, open.Add(time.Duration(i*i)*time.Second))
			fmt.Fprintln(h, q.Symbol, q.Bid, q.Ask, q.Last, q.At.Unix())
		}
	}
	const want = "9f8b16ad5ad869aa6c2f7eb745af1578b179606661e8d4f8e7bb98671c0b22a9"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the quotes is %s, want %s", got, want)
	}
}

func TestQuoteDependsOnTheWholeSecondOnly(t *testing.T) {
	a, b := NewPaper(7, market.XNYS()), NewPaper(7, market.XNYS())
	q := quoteAt(t, a, "AAPL", open)
	if quoteAt(t, b, "AAPL", open.Add(time.Second-1).In(time.FixedZone("x", 3600))) != q {
		t.Error("another quote within the second")
	}
	if other := quoteAt(t, NewPaper(8, market.XNYS()), "AAPL", open); other == q {
		t.Error("another seed gives the same quote")
	}
	moved := false
	for i := range 60 {
		moved = moved || quoteAt(t, a, "AAPL", open.Add(time.Duration(i)*time.Second)).Bid != q.Bid
	}
	if !moved {
		t.Error("the market stood still for a minute")
	}
}

func TestQuotesAreOrderly(t *testing.T) {
	calendar := market.XNYS()
	cent := money.MustPrice("0.01")
	rapid.Check(t, func(rt *rapid.T) {
		p := NewPaper(rapid.Uint64().Draw(rt, "seed"), calendar)
		l := listing[rapid.IntRange(0, len(listing)-1).Draw(rt, "symbol")]
		now := time.Unix(rapid.Int64Range(1_293_840_000, 1_830_000_000).Draw(rt, "second"), 0).UTC()
		q := quoteAt(t, p, l.symbol, now)
		if !q.Valid() || !q.Bid.MultipleOf(cent) || !q.Ask.MultipleOf(cent) || q.Currency != "USD" || q.Symbol != l.symbol || q.Halted {
			rt.Fatalf("quote %+v", q)
		}
		spread, _ := q.Ask.Sub(q.Bid)
		if spread.Cmp(cent) < 0 || spread.Cmp(money.MustPrice("0.04")) > 0 || q.Last.Cmp(q.Bid) < 0 || q.Last.Cmp(q.Ask) > 0 {
			rt.Fatalf("quote %+v", q)
		}
		if far, _ := q.Bid.FurtherFromMidThan(cents(l.cents-2), cents(l.cents+2), money.BasisPointsFromInt(380)); far {
			rt.Fatalf("%s is far from its level: %+v", l.symbol, q)
		}
		session := market.Session(now, calendar)
		if age := q.Age(now); age < 0 || session.Kind != market.Closed && age >= time.Second || session.Kind == market.Closed && age > 5*24*time.Hour {
			rt.Fatalf("%s at %s is %s old", session.Kind, now, age)
		}
		again, err := p.LastValid(t.Context(), l.symbol, now, q.At)
		if err != nil || again != q {
			rt.Fatalf("last valid %+v, %v", again, err)
		}
		if none, err := p.LastValid(t.Context(), l.symbol, now, q.At.Add(1)); err != nil || none.Present {
			rt.Fatalf("last valid %+v is older than asked for, %v", none, err)
		}
	})
}

func TestWithinBoundsEverySecond(t *testing.T) {
	p := NewPaper(3, market.XNYS())
	rapid.Check(t, func(rt *rapid.T) {
		l := listing[rapid.IntRange(0, len(listing)-1).Draw(rt, "symbol")]
		first := open.Unix() + rapid.Int64Range(0, 5_000_000).Draw(rt, "first")
		last := first + rapid.Int64Range(0, 600).Draw(rt, "length")
		low, high, ok := p.Within(l.symbol, time.Unix(first, 0), time.Unix(last, 0))
		if !ok {
			rt.Fatal("no bounds")
		}
		key := stream(3, l.symbol)
		for s := first; s <= last; s++ {
			bid, ask := centsAt(key, l.cents, s)
			if cents(bid).Cmp(low) < 0 || cents(ask).Cmp(high) > 0 {
				rt.Fatalf("second %d of %d to %d: %d/%d is not within %s to %s", s, first, last, bid, ask, low, high)
			}
		}
		// Bounds that say nothing would be right as well.
		if wide, _ := high.ExceedsBandAbove(low, money.BasisPointsFromInt(150)); wide && l.cents > 10_000 {
			rt.Fatalf("%s to %s is too wide to be of use", low, high)
		}
	})
	if _, _, ok := p.Within("AAPL", open, open.Add(-time.Second)); ok {
		t.Error("bounds of nothing")
	}
}

// A collar of 150 bps must mean something: a market that moves that much in a minute, or
// never moves, would make every example of one a lie.
func TestAMinuteMovesAFewBasisPoints(t *testing.T) {
	p := NewPaper(7, market.XNYS())
	for _, symbol := range []string{"AAPL", "SPY", "TSLA"} {
		most, sum, n := int64(0), int64(0), int64(0)
		for i := range 300 {
			a := centsOf(t, p, symbol, open.Add(time.Duration(i)*time.Minute))
			b := centsOf(t, p, symbol, open.Add(time.Duration(i+1)*time.Minute))
			moved := (b - a) * 100_000 / a
			moved = max(moved, -moved)
			most, sum, n = max(most, moved), sum+moved, n+1
		}
		if most < 40 || most > 300 || sum/n < 10 || sum/n > 80 {
			t.Errorf("%s moves up to %d tenths of a bps a minute, %d on average", symbol, most, sum/n)
		}
	}
}

func centsOf(t *testing.T, p *Paper, symbol string, at time.Time) int64 {
	i, ok := find(symbol)
	if !ok {
		t.Fatal(symbol)
	}
	bid, _ := centsAt(stream(p.seed, symbol), listing[i].cents, at.Unix())
	return bid
}

func TestClosedMarketShowsItsLastQuote(t *testing.T) {
	p := NewPaper(7, market.XNYS())
	evening := time.Date(2026, time.March, 21, 0, 0, 0, 0, time.UTC) // Friday the 20th, 20:00 in New York
	for _, c := range []struct {
		name string
		now  time.Time
		at   time.Time
	}{
		{"Friday at 19:59:59", evening.Add(-time.Second), evening.Add(-time.Second)},
		{"Friday at 23:00", evening.Add(3 * time.Hour), evening},
		{"Sunday", evening.Add(40 * time.Hour), evening},
		{"Monday at 03:59", evening.Add(56*time.Hour - time.Minute), evening},
		{"Monday at 04:00", evening.Add(56 * time.Hour), evening.Add(56 * time.Hour)},
		{"after an early close", time.Date(2026, time.November, 28, 1, 0, 0, 0, time.UTC), time.Date(2026, time.November, 27, 22, 0, 0, 0, time.UTC)},
	} {
		if q := quoteAt(t, p, "AAPL", c.now); !q.Valid() || !q.At.Equal(c.at) {
			t.Errorf("%s: quote of %s, want %s", c.name, q.At, c.at)
		}
	}
}

func TestPreviousClose(t *testing.T) {
	p := NewPaper(7, market.XNYS())
	for now, at := range map[time.Time]time.Time{
		open: time.Date(2026, time.March, 17, 20, 0, 0, 0, time.UTC),
		time.Date(2026, time.March, 22, 15, 0, 0, 0, time.UTC):    time.Date(2026, time.March, 20, 20, 0, 0, 0, time.UTC),
		time.Date(2026, time.November, 30, 15, 0, 0, 0, time.UTC): time.Date(2026, time.November, 27, 18, 0, 0, 0, time.UTC),
	} {
		q, err := p.PreviousClose(t.Context(), "AAPL", now)
		if err != nil || !q.At.Equal(at) || q != quoteAt(t, p, "AAPL", at) {
			t.Errorf("at %s: %+v, %v", now, q, err)
		}
	}
}

func TestFailClosedPaperKnowsNothing(t *testing.T) {
	ctx, p := t.Context(), NewPaper(7, market.XNYS())
	for _, symbol := range []string{"", "aapl", "AAPL ", "TSTX", "AAPL\x00"} {
		if _, ok, err := p.Instrument(ctx, symbol); ok || err != nil {
			t.Errorf("instrument %q, %v", symbol, err)
		}
		if q := quoteAt(t, p, symbol, open); q.Present {
			t.Errorf("quote %+v", q)
		}
		if q, err := p.PreviousClose(ctx, symbol, open); q.Present || err != nil {
			t.Errorf("close %+v, %v", q, err)
		}
		if _, _, ok := p.Within(symbol, open, open); ok {
			t.Errorf("bounds of %q", symbol)
		}
	}
	for _, now := range []time.Time{{}, time.Date(2009, time.December, 31, 15, 0, 0, 0, time.UTC), time.Date(2028, time.January, 3, 15, 0, 0, 0, time.UTC)} {
		if q := quoteAt(t, p, "AAPL", now); q.Present {
			t.Errorf("quote %+v outside the calendar", q)
		}
	}
	if q := quoteAt(t, &Paper{}, "AAPL", open); q.Present {
		t.Errorf("the zero market quotes %+v", q)
	}
}

func TestListingIsSortedAndResolves(t *testing.T) {
	symbols := Symbols()
	for i, s := range symbols {
		if i > 0 && symbols[i-1] >= s {
			t.Errorf("%s after %s", s, symbols[i-1])
		}
		in, ok, err := NewPaper(7, market.XNYS()).Instrument(t.Context(), s)
		want := order.Instrument{Symbol: s, Class: order.USEquity, Currency: "USD", Multiplier: money.QuantityFromInt(1), Active: true}
		if in != want || !ok || err != nil {
			t.Errorf("%s: %+v %v %v", s, in, ok, err)
		}
	}
	for _, s := range []string{"AAPL", "MSFT", "NVDA", "GOOGL", "AMZN", "SPY", "QQQ", "BRK.B"} {
		if _, ok := find(s); !ok {
			t.Errorf("%s is not listed", s)
		}
	}
}

func BenchmarkQuote(b *testing.B) {
	p, ctx := NewPaper(7, market.XNYS()), b.Context()
	b.ReportAllocs()
	for i := range b.N {
		if q, _ := p.Quote(ctx, "MSFT", open.Add(time.Duration(i%10_000)*time.Second)); !q.Present {
			b.Fatal("no quote")
		}
	}
}

func BenchmarkWithin(b *testing.B) {
	p := NewPaper(7, market.XNYS())
	for i := range b.N {
		from := open.Add(time.Duration(i%10_000) * time.Second)
		if _, _, ok := p.Within("MSFT", from, from.Add(511*time.Second)); !ok {
			b.Fatal("no bounds")
		}
	}
}
