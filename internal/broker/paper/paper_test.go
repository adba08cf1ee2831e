package paper

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// at is Wednesday 2026-03-18, 11:00 in New York.
var at = time.Date(2026, time.March, 18, 15, 0, 0, 0, time.UTC)

// hand is a clock that a test moves by hand.
type hand struct{ now time.Time }

func (h *hand) Read() gate.Reading   { return gate.Reading{Market: h.now, Wall: h.now} }
func (h *hand) pass(d time.Duration) { h.now = h.now.Add(d) }
func (h *hand) to(t time.Time)       { h.now = t }
func clockTime(day, hour, min int) time.Time {
	return time.Date(2026, time.March, day, hour+4, min, 0, 0, time.UTC)
}

func share(symbol string) order.Instrument {
	return order.Instrument{Symbol: symbol, Class: order.USEquity, Currency: "USD", Multiplier: qty("1"), Active: true}
}
func qty(s string) money.Quantity { return money.MustQuantity(s) }
func px(s string) money.Price     { return money.MustPrice(s) }
func usd(s string) money.Notional { return money.MustNotional(s) }
func start() Start                { return Start{Seed: 7, Cash: StartingCash(), Wall: at, Market: at} }

// tape is a source of quotes that a test writes: in force from an instant on.
type tape struct {
	from []time.Time
	said []market.Quote
}

func (t *tape) say(from time.Time, bid, ask string) market.Quote {
	q := market.Quote{Symbol: "AAPL", Present: true, HasBid: true, HasAsk: true, Bid: px(bid), Ask: px(ask), At: from}
	t.from, t.said = append(t.from, from), append(t.said, q)
	return q
}

func (t *tape) Instrument(_ context.Context, symbol string) (order.Instrument, bool, error) {
	return share(symbol), true, nil
}

func (t *tape) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	var q market.Quote
	for i := range t.from {
		if !t.from[i].After(now) {
			q = t.said[i]
		}
	}
	if q.Present {
		q.Symbol = symbol
	}
	return q, nil
}

func (t *tape) LastValid(ctx context.Context, symbol string, now, _ time.Time) (market.Quote, error) {
	return t.Quote(ctx, symbol, now)
}

func (t *tape) PreviousClose(context.Context, string, time.Time) (market.Quote, error) {
	return market.Quote{}, nil
}

// desk is a broker with everything around it that a test moves.
type desk struct {
	*Broker
	t     *testing.T
	clock *hand
	tape  *tape
	n     int
}

// desks runs a test on both kinds of ledgers.
func desks(t *testing.T, o Options, run func(*desk)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { run(newDesk(t, InMemory(start()), o)) })
	t.Run("file", func(t *testing.T) {
		l, err := OpenFile(t.Context(), t.TempDir(), start())
		if err != nil {
			t.Fatal(err)
		}
		run(newDesk(t, l, o))
	})
}

func newDesk(t *testing.T, l *Ledger, o Options) *desk {
	t.Helper()
	d := &desk{t: t, clock: &hand{at}, tape: &tape{}}
	d.tape.say(at, "199.98", "200.02")
	o.Clock, o.Quotes, o.Calendar = d.clock, d.tape, market.XNYS()
	b, err := New(l, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	d.Broker = b
	return d
}

// limit is a day order at a limit, judged by the tape's quote of now.
func (d *desk) limit(side order.Side, quantity, price string) gate.Message {
	d.n++
	q, _ := d.tape.Quote(d.t.Context(), "AAPL", d.clock.now)
	return gate.Message{
		Action: order.ActionNew, ClientOrderID: fmt.Sprintf("c%d", d.n), Instrument: share("AAPL"), Side: side, Type: order.Limit,
		Quantity: qty(quantity), LimitPrice: px(price), TimeInForce: order.Day, Quote: q, At: d.clock.now,
	}
}

func (d *desk) sent(m gate.Message) gate.Reply { return d.accept(d.t.Context(), m) }

// took sends and requires that the broker takes it.
func (d *desk) took(m gate.Message) gate.Reply {
	d.t.Helper()
	r := d.sent(m)
	if r.Result != gate.ReplyAccepted {
		d.t.Fatalf("reply %+v, want accepted", r)
	}
	return r
}

// refused sends and requires a rejection for this reason.
func (d *desk) refused(m gate.Message, reason string) {
	d.t.Helper()
	if r := d.sent(m); r.Result != gate.ReplyRejected || r.Reason != reason {
		d.t.Fatalf("reply %+v, want rejected: %s", r, reason)
	}
}

func (d *desk) cash() money.Notional {
	d.t.Helper()
	c, err := d.Ledger().Cash(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) account() gate.BrokerAccount {
	d.t.Helper()
	a, err := d.Account(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

func (d *desk) position() money.Quantity {
	d.t.Helper()
	for _, p := range d.account().Positions {
		if p.Instrument.Symbol == "AAPL" {
			return p.Quantity
		}
	}
	return money.Quantity{}
}

func (d *desk) find(id string) gate.Standing {
	d.t.Helper()
	s, err := d.Find(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) events() []gate.Event {
	d.t.Helper()
	e, err := d.Events(d.t.Context(), "")
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

// tells returns the kinds and words of the whole stream.
func (d *desk) tells() (out []string) {
	d.t.Helper()
	names := [...]string{"none", "fill", "ended", "replaced", "order", "cash"}
	for i, e := range d.events() {
		if want := fmt.Sprintf("paper/%d", i+1); e.ID != want {
			d.t.Errorf("event %d is %s, want %s", i, e.ID, want)
		}
		text := names[e.Kind]
		switch e.Kind {
		case gate.EventFill:
			text += " " + e.Fill.Quantity.String() + "@" + e.Fill.Price.String()
		case gate.EventEnded:
			text += " " + e.Ended
		}
		out = append(out, text)
	}
	return out
}
