package quotes

import (
	"errors"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

var (
	_ gate.Quotes = (*Paper)(nil)
	_ gate.Quotes = (*Scripted)(nil)
)

func two(symbol, bid, ask string) market.Quote {
	return market.Quote{Symbol: symbol, Bid: money.MustPrice(bid), Ask: money.MustPrice(ask), HasBid: true, HasAsk: true}
}

func said(t *testing.T, s *Scripted, symbol string) market.Quote {
	t.Helper()
	q, err := s.Quote(t.Context(), symbol, open)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestScriptedSaysWhatItWasTold(t *testing.T) {
	s := NewScripted(market.XNYS())
	if q := said(t, s, "AAPL"); q.Present {
		t.Errorf("untold %+v", q)
	}
	s.Tell(two("AAPL", "199.98", "200.02"), open, 3*time.Second)
	if q := said(t, s, "AAPL"); !q.Valid() || q.Age(open) != 3*time.Second || q.Currency != "USD" || q.Age(open.Add(time.Minute)) != 63*time.Second {
		t.Errorf("told %+v", q)
	}
	s.Tell(two("AAPL", "199.98", "200.02"), open, -2*time.Second)
	if q := said(t, s, "AAPL"); q.Age(open) != -2*time.Second {
		t.Errorf("from the future %+v", q)
	}
	s.Tell(market.Quote{Symbol: "AAPL", HasBid: true, Bid: money.MustPrice("1"), Halted: true, Currency: "EUR"}, open, 0)
	if q := said(t, s, "AAPL"); q.TwoSided() || !q.Halted || !q.Present || q.HasAsk || q.Currency != "EUR" {
		t.Errorf("one-sided %+v", q)
	}
	s.Silence("AAPL")
	if q := said(t, s, "AAPL"); q.Present {
		t.Errorf("silenced %+v", q)
	}
}

func TestScriptedRemembersValidQuotes(t *testing.T) {
	ctx, s := t.Context(), NewScripted(market.XNYS())
	yesterday := open.Add(-24 * time.Hour)
	s.Tell(two("AAPL", "190.00", "190.02"), yesterday, 0)
	s.Tell(two("AAPL", "191.00", "191.02"), yesterday.Add(time.Hour), 0)
	s.Tell(two("AAPL", "200.00", "200.02"), open, 0)
	s.Tell(two("AAPL", "300.00", "299.00"), open.Add(time.Second), 0) // crossed
	s.Tell(two("AAPL", "400.00", "400.02"), open, -time.Hour)         // from the future
	bid := func(q market.Quote, err error) string {
		if err != nil || !q.Present {
			return "none"
		}
		return q.Bid.String()
	}
	if got := bid(s.LastValid(ctx, "AAPL", open.Add(time.Minute), yesterday)); got != "200" {
		t.Errorf("last valid %s", got)
	}
	if got := bid(s.LastValid(ctx, "AAPL", open.Add(time.Minute), open.Add(time.Second))); got != "none" {
		t.Errorf("last valid since a second later %s", got)
	}
	if got := bid(s.PreviousClose(ctx, "AAPL", open)); got != "191" {
		t.Errorf("previous close %s", got)
	}
	s.TellClose(two("AAPL", "195.00", "195.02"))
	if got := bid(s.PreviousClose(ctx, "AAPL", open)); got != "195" {
		t.Errorf("previous close as told %s", got)
	}
	if got := bid(s.PreviousClose(ctx, "MSFT", open)); got != "none" {
		t.Errorf("previous close of MSFT %s", got)
	}
}

func TestScriptedInstruments(t *testing.T) {
	ctx, s := t.Context(), NewScripted(market.XNYS())
	if in, ok, err := s.Instrument(ctx, "AAPL"); !ok || err != nil || !in.Active {
		t.Errorf("shipped %+v %v %v", in, ok, err)
	}
	s.List(order.Instrument{Symbol: "TSTH", Class: order.USEquity, Currency: "EUR"})
	if in, ok, err := s.Instrument(ctx, "TSTH"); !ok || err != nil || in.Currency != "EUR" || in.Active {
		t.Errorf("listed %+v %v %v", in, ok, err)
	}
	other := s.Copy()
	s.Delist("AAPL")
	if _, ok, _ := s.Instrument(ctx, "AAPL"); ok {
		t.Error("delisted, and still there")
	}
	if _, ok, _ := other.Instrument(ctx, "AAPL"); !ok {
		t.Error("a copy was changed")
	}
	down := errors.New("down")
	s.Fail(down)
	if _, _, err := s.Instrument(ctx, "TSTH"); !errors.Is(err, down) {
		t.Errorf("instrument: %v", err)
	}
	_, err1 := s.Quote(ctx, "AAPL", open)
	_, err2 := s.LastValid(ctx, "AAPL", open, open)
	_, err3 := s.PreviousClose(ctx, "AAPL", open)
	if !errors.Is(err1, down) || !errors.Is(err2, down) || !errors.Is(err3, down) {
		t.Errorf("%v, %v, %v", err1, err2, err3)
	}
}

func TestScriptedForgetsTheOldest(t *testing.T) {
	s := NewScripted(market.XNYS())
	for i := range ToldMax + 5 {
		s.Tell(two("AAPL", "1.00", "1.02"), open.Add(time.Duration(i)*time.Second), 0)
	}
	if n := len(s.quotes["AAPL"].valid); n != ToldMax {
		t.Errorf("remembers %d", n)
	}
}
