package gate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// oddBroker tells odd things, or nothing at all.
type oddBroker struct {
	gate.Broker
	events func(ctx context.Context, cursor string) ([]gate.Event, error)
}

func (b *oddBroker) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	return b.events(ctx, cursor)
}

// A broker that tells without end, on the spot or page after page, ends the call.
func TestEndlessEventsEndTheCall(t *testing.T) {
	for name, next := range map[string]func(page int) string{
		"on the spot":     func(int) string { return "same" },
		"page after page": func(page int) string { return fmt.Sprint(page) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			pages := 0
			d.broker = &oddBroker{Broker: d.paper, events: func(context.Context, string) ([]gate.Event, error) {
				pages++
				page := make([]gate.Event, gate.EventsPerBatchMax+1)
				for i := range page {
					page[i].Cursor = next(pages)
				}
				return page, nil
			}}
			d.open()
			j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
			if j.Allowed() || j.Fault != gate.CodeAccountUnavailable {
				t.Errorf("allowed %v, fault %q", j.Allowed(), j.Fault)
			}
			if pages > gate.EventPagesMax {
				t.Errorf("%d pages were read", pages)
			}
		})
	}
}

// A broker that hangs holds a call up for AskWithin, and then nothing is sent.
func TestAHangingBrokerEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "")
		d.broker = &oddBroker{Broker: d.paper, events: func(ctx context.Context, _ string) ([]gate.Event, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		d.open()
		begun := time.Now()
		j := d.gate.Decide(context.Background(), d.call("place_order", limitOrder("AAPL", "buy", "10", "200.00")))
		if j.Allowed() || j.Fault != gate.CodeAccountUnavailable || time.Since(begun) != gate.AskWithin {
			t.Errorf("allowed %v, fault %q, after %s", j.Allowed(), j.Fault, time.Since(begun))
		}
	})
}

// mixedQuotes answers with the quote of another symbol.
type mixedQuotes struct{ gate.Quotes }

func (q mixedQuotes) Quote(ctx context.Context, _ string, now time.Time) (market.Quote, error) {
	return q.Quotes.Quote(ctx, "MSFT", now)
}

// A quote of another symbol is none, for the verdict and for who judges it again.
func TestFailClosedQuoteOfAnotherSymbol(t *testing.T) {
	d := newDesk(t, "")
	d.cfg.Quotes = mixedQuotes{d.quotes}
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if j.Allowed() || !slices.Contains(j.Decision.Faults(), "quote_stale") {
		t.Errorf("allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
	}
	d.verify()
}

// backClock is a boot-time clock that can go back.
type backClock struct {
	gate.Clock
	back time.Duration
}

func (c *backClock) Read() gate.Reading {
	r := c.Clock.Read()
	r.Boot -= c.back
	return r
}

func TestABootClockThatGoesBackIsSuspect(t *testing.T) {
	d := newDesk(t, "")
	c := &backClock{Clock: d.clock}
	d.cfg.Clock = c
	d.open()
	d.buy("1", "200.00")
	c.back = time.Hour
	place := func(quantity string) []string {
		d.advance(100 * time.Millisecond)
		j := d.decide("place_order", limitOrder("AAPL", "buy", quantity, "200.00"))
		return j.Decision.Refusing()
	}
	if got := place("2"); !slices.Contains(got, "clock_suspect") {
		t.Errorf("refused by %v", got)
	}
	d.advance(10 * time.Second)
	if got := place("3"); len(got) != 0 {
		t.Errorf("after 10 s of agreement refused by %v", got)
	}
	d.verify()
}

// oddLast changes the last valid quote, and gives no other.
type oddLast struct {
	gate.Quotes
	symbol string // whose newest quote is absent
	change func(q *market.Quote)
}

func (o oddLast) Quote(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	if symbol == o.symbol {
		return market.Quote{}, nil
	}
	return o.Quotes.Quote(ctx, symbol, now)
}

func (o oddLast) LastValid(ctx context.Context, symbol string, now, since time.Time) (market.Quote, error) {
	q, err := o.Quotes.LastValid(ctx, symbol, now, since)
	o.change(&q)
	return q, err
}

func (o oddLast) PreviousClose(ctx context.Context, symbol string, now time.Time) (market.Quote, error) {
	return market.Quote{}, nil
}

// What is held is not valued by a price in another currency, as pence are for pounds, or
// by another symbol's.
func TestFailClosedMarkOfAnotherCurrencyOrSymbol(t *testing.T) {
	for name, change := range map[string]func(q *market.Quote){
		"currency": func(q *market.Quote) { q.Currency = "GBX" },
		"symbol":   func(q *market.Quote) { q.Symbol = "MSFT" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "session: {duplicate_window: off}")
			d.fill(d.buy("10", "200.00"), "10", "200.00")
			d.cfg.Quotes = oddLast{Quotes: d.quotes, change: change}
			d.open()
			j := d.decide("place_order", limitOrder("MSFT", "buy", "10", "200.00"))
			if j.Allowed() || !slices.Contains(j.Decision.Faults(), "max_gross_exposure") {
				t.Errorf("opening: allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
			}
			d.cfg.Quotes = oddLast{Quotes: d.quotes, symbol: "AAPL", change: change}
			d.open()
			j = d.decide("place_order", limitOrder("AAPL", "sell", "10", "199.98"))
			if j.Allowed() || !slices.Contains(j.Decision.Faults(), "limit_price_collar") {
				t.Errorf("exit: allowed %v, faults %v", j.Allowed(), j.Decision.Faults())
			}
			d.verify()
		})
	}
}

// An exit without a quote is denied by the halt that the last valid one tells of, and the
// journal holds what it was denied by.
func TestTheHaltOfTheLastQuoteIsRecorded(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.fill(d.buy("10", "200.00"), "10", "200.00")
	d.cfg.Quotes = oddLast{Quotes: d.quotes, symbol: "AAPL", change: func(q *market.Quote) { q.Halted = true }}
	d.open()
	j := d.decide("place_order", limitOrder("AAPL", "sell", "10", "199.98"))
	if j.Allowed() || !slices.Contains(j.Decision.Refusing(), "instrument_halted") {
		t.Errorf("allowed %v, refused by %v, faults %v", j.Allowed(), j.Decision.Refusing(), j.Decision.Faults())
	}
	d.verify()
}

// stepClock is a wall clock that can be stepped, under market time that runs on.
type stepClock struct {
	gate.Clock
	wall time.Duration
}

func (c *stepClock) Read() gate.Reading {
	r := c.Clock.Read()
	r.Wall = r.Wall.Add(c.wall)
	return r
}

// The figures of a suspect clock, each at its edge: a step of 2 s back and of 5 s apart
// passes, a nanosecond more does not; after 10 s of agreement the clocks are trusted.
func TestClockStepsAtTheirEdges(t *testing.T) {
	for name, c := range map[string]struct {
		step    time.Duration
		wait    time.Duration
		suspect bool
	}{
		"2 s back":             {-2 * time.Second, 0, false},
		"beyond 2 s back":      {-2*time.Second - 1, 0, true},
		"5 s forward":          {5 * time.Second, 0, false},
		"beyond 5 s forward":   {5*time.Second + 1, 0, true},
		"short of 10 s agreed": {time.Hour, 10*time.Second - 1, true},
		"10 s agreed":          {time.Hour, 10 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "session: {duplicate_window: off}")
			wall := &stepClock{Clock: d.clock}
			d.cfg.Clock = wall
			d.open()
			d.buy("1", "200.00")
			wall.wall = c.step
			must(t, d.gate.Tick(t.Context()))
			d.advance(c.wait)
			j := d.decide("place_order", limitOrder("AAPL", "buy", "2", "200.00"))
			if got := slices.Contains(j.Decision.Refusing(), "clock_suspect"); got != c.suspect {
				t.Errorf("suspect %v, want %v; refused by %v", got, c.suspect, j.Decision.Refusing())
			}
			d.verify()
		})
	}
}

// listening keeps what it is sent.
type listening struct {
	gate.Broker
	got []gate.Message
}

func (l *listening) Send(ctx context.Context, s gate.Sealed) gate.Reply {
	m, err := s.Open()
	if err == nil {
		l.got = append(l.got, m)
	}
	return l.Broker.Send(ctx, s)
}

// What is sent is what was judged, and the quote with it that the verdict went by; where
// there was none, the last valid one.
func TestTheMessageIsWhatWasJudged(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	broker := &listening{Broker: d.paper}
	d.broker = broker
	d.open()
	bought := d.buy("10", "200.00")
	d.fill(bought, "10", "200.00")
	d.cfg.Quotes = oddLast{Quotes: d.quotes, symbol: "AAPL", change: func(q *market.Quote) { q.Bid = money.MustPrice("199.97") }}
	d.open()
	if j, out := d.do("place_order", limitOrder("AAPL", "sell", "4", "199.99")); out.Result != journal.ResultAccepted {
		t.Fatalf("the exit: refused by %v %v, %+v", j.Decision.Refusing(), j.Decision.Faults(), out)
	}
	if len(broker.got) != 2 {
		t.Fatalf("%d messages", len(broker.got))
	}
	var decisions []journal.Entry
	for _, e := range d.entries() {
		if e.Kind == journal.KindDecision {
			decisions = append(decisions, e)
		}
	}
	for i, bid := range []string{"199.98", "199.97"} {
		m, e := &broker.got[i], &decisions[i]
		body, err := journal.DecodeBody[journal.Decision](e)
		must(t, err)
		text, err := journal.Encode(e)
		must(t, err)
		in := body.Intent
		want := gate.Message{
			Action: in.Action, ClientOrderID: journal.ClientOrderID("paper", e.Seq, journal.HashOf(text)), Instrument: body.Instrument,
			Side: in.Side, Type: in.Type, Quantity: in.Quantity, LimitPrice: in.LimitPrice, StopPrice: in.StopPrice,
			TimeInForce: in.TimeInForce, ExtendedHours: in.ExtendedHours, Quote: m.Quote,
			At: e.At.Time, SendBy: e.At.Add(gate.ReplyWithin),
		}
		if *m != want {
			t.Errorf("sent %+v\nwant %+v", *m, want)
		}
		if m.Quote.Bid.String() != bid || !m.Quote.Valid() || m.Quote.Symbol != "AAPL" {
			t.Errorf("sent with the quote %+v, want a bid of %s", m.Quote, bid)
		}
	}
}

// Equity at open is what the holdings are worth within a minute of the open, and the
// broker's previous close after it; once written it stands.
func TestEquityAtOpenIsCapturedOnce(t *testing.T) {
	opens := time.Date(2026, 3, 19, 13, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		after time.Duration
		want  string
	}{
		"at the open":     {0, "marks"},
		"after a minute":  {gate.OpenCaptureFor, "marks"},
		"a moment later":  {gate.OpenCaptureFor + 1, "previous_close"},
		"before the open": {-time.Hour, "previous_close"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "")
			must(t, d.gate.Tick(t.Context()))
			d.clock.Advance(opens.Add(c.after).Sub(d.clock.Now()))
			d.quote("AAPL", "199.98", "200.02", 0)
			must(t, d.gate.Tick(t.Context()))
			d.advance(30 * time.Minute)
			must(t, d.gate.Tick(t.Context()))
			must(t, d.otherProcess().Tick(t.Context()))
			var sources []string
			for _, e := range d.entries() {
				if e.Kind != journal.KindOpen {
					continue
				}
				body, err := journal.DecodeBody[journal.Open](&e)
				must(t, err)
				if body.TradeDate == "2026-03-19" {
					sources = append(sources, body.Source)
				}
			}
			if !slices.Equal(sources, []string{c.want}) {
				t.Errorf("written as %v, want %s", sources, c.want)
			}
		})
	}
}

// poorBroker shows another buying power than the ledger comes to.
type poorBroker struct {
	gate.Broker
	poor bool
}

func (b *poorBroker) Account(ctx context.Context) (gate.BrokerAccount, error) {
	seen, err := b.Broker.Account(ctx)
	if b.poor {
		seen.BuyingPower = money.MustNotional("100")
	}
	return seen, err
}

// The broker's own figure is asked for again once it is older than FiguresAgeMax, and at
// once when something happened there.
func TestTheBrokersFiguresAreReadAgain(t *testing.T) {
	denied := func(d *desk, quantity string) bool {
		j := d.decide("place_order", limitOrder("MSFT", "buy", quantity, "200.00"))
		return slices.Contains(j.Decision.Refusing(), "insufficient_buying_power")
	}
	begin := func(t *testing.T) (*desk, *poorBroker, string) {
		d := newDesk(t, "session: {duplicate_window: off}")
		broker := &poorBroker{Broker: d.paper}
		d.broker = broker
		d.open()
		id := d.buy("10", "200.00")
		if denied(d, "1") {
			t.Fatal("denied by the figure that the ledger comes to")
		}
		broker.poor = true
		return d, broker, id
	}
	t.Run("by age", func(t *testing.T) {
		d, _, _ := begin(t)
		d.advance(gate.FiguresAgeMax)
		if denied(d, "2") {
			t.Error("read again although it is not too old")
		}
		d.advance(1)
		if !denied(d, "3") {
			t.Error("an old figure was taken")
		}
	})
	t.Run("by an event", func(t *testing.T) {
		d, _, id := begin(t)
		d.fill(id, "10", "200.00")
		if !denied(d, "2") {
			t.Error("a figure from before the event was taken")
		}
	})
}

// A repeated order counts as a message and as nothing else.
func TestAReplayIsAMessageOnly(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	place := `{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"10","limit_price":"200.00","time_in_force":"day","client_order_id":"c-1"}`
	d.do("place_order", place)
	if j := d.decide("place_order", place); j.Replayed == nil {
		t.Fatalf("not a replay: %+v", j)
	}
	d.view(func(v gate.View) {
		s := v.State
		if n := s.Messages.Count(v.Now, account.BucketOpen); n != 2 {
			t.Errorf("%d messages, want 2", n)
		}
		if n := s.Denials.Count(v.Now, time.Hour); n != 0 || s.Rate.Count(v.Now, account.BucketOpen) != 1 || s.DayAt(v.Now).Orders != 1 {
			t.Errorf("%d denials, %d orders of the minute, %d of the day", n, s.Rate.Count(v.Now, account.BucketOpen), s.DayAt(v.Now).Orders)
		}
	})
	if d.messages() != 1 {
		t.Errorf("%d messages at the broker", d.messages())
	}
	d.verify()
}

// A reconciliation of the paper broker that finds nothing new makes an entry every
// ReconcileQuietFor, and one that finds something makes it at once.
func TestQuietReconciliation(t *testing.T) {
	d := newDesk(t, "")
	count := func() (n int) {
		_, err := d.gate.Reconcile(t.Context(), nil)
		must(t, err)
		for _, k := range d.kinds() {
			if k == journal.KindReconcile {
				n++
			}
		}
		return n
	}
	for i, c := range []struct {
		wait time.Duration
		want int
	}{{0, 1}, {time.Second, 1}, {gate.ReconcileQuietFor - time.Second - 1, 1}, {1, 2}, {time.Second, 2}} {
		d.advance(c.wait)
		if n := count(); n != c.want {
			t.Errorf("%d: %d entries, want %d", i, n, c.want)
		}
	}
}

// tellingBroker tells all in its replies and nothing by events.
type tellingBroker struct{ gate.Broker }

func (tellingBroker) Events(context.Context, string) ([]gate.Event, error) { return nil, nil }

func (tellingBroker) Send(_ context.Context, s gate.Sealed) gate.Reply {
	m, err := s.Open()
	if err != nil {
		return gate.Reply{}
	}
	return gate.Reply{
		Result: gate.ReplyAccepted, BrokerID: "b-1", Symbol: m.Instrument.Symbol, Side: m.Side, Quantity: m.Quantity, Ended: "canceled",
		Fills: []gate.Execution{{ID: "x-1", Quantity: money.MustQuantity("4"), Price: m.LimitPrice, ExecutedAt: m.At}},
	}
}

// A reply that tells of fills and of the end leaves nothing reserved.
func TestAReplyTellsFillsAndEnd(t *testing.T) {
	d := newDesk(t, "")
	d.broker = tellingBroker{d.paper}
	d.open()
	j, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.00"))
	if !j.Allowed() || out.Result != journal.ResultAccepted || out.Status != journal.ResultCanceled || out.Filled.String() != "4" {
		t.Errorf("outcome %+v", out)
	}
	d.view(func(v gate.View) {
		if n := v.State.OpenOrders(); n != 0 {
			t.Errorf("%d orders are open", n)
		}
	})
	if p := d.position("AAPL"); p != "4" {
		t.Errorf("the account holds %s", p)
	}
}
