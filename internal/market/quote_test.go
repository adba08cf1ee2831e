package market_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// quote is the base quote of the cases with these sides; an empty side is absent.
func quote(t testing.TB, bid, ask string) market.Quote {
	q := market.Quote{
		Symbol: "AAPL", Currency: "USD", Feed: "paper", Present: true,
		At:   utc(t, "2026-03-18T14:59:59Z"),
		Last: money.MustPrice("200.00"), HasLast: true,
	}
	if bid != "" {
		q.Bid, q.HasBid = money.MustPrice(bid), true
	}
	if ask != "" {
		q.Ask, q.HasAsk = money.MustPrice(ask), true
	}
	return q
}

func TestQuoteValid(t *testing.T) {
	for _, c := range []struct {
		id, bid, ask    string
		twoSided, valid bool
	}{
		{"base", "199.98", "200.02", true, true},
		{"locked", "200.00", "200.00", true, true},
		{"one step crossed", "200.000000001", "200.00", true, false},
		{"MKT-02 crossed", "200.10", "200.00", true, false},
		{"MKT-04 zero bid", "0", "200.02", true, false},
		{"MKT-04 zero ask", "199.98", "0", true, false},
		{"MKT-04 both -100", "-100.0", "-100.0", true, false},
		{"MKT-04 both -1", "-1", "-1", true, false},
		{"both zero", "0", "0", true, false},
		{"least bid", "0.000000001", "200.02", true, true},
		{"MKT-13 no sides", "", "", false, false},
		{"no bid", "", "200.02", false, false},
		{"no ask", "199.98", "", false, false},
	} {
		q := quote(t, c.bid, c.ask)
		if q.TwoSided() != c.twoSided || q.Valid() != c.valid {
			t.Errorf("%s: two-sided %t and valid %t, want %t and %t", c.id, q.TwoSided(), q.Valid(), c.twoSided, c.valid)
		}
		q.Present = false
		if q.TwoSided() || q.Valid() {
			t.Errorf("%s: taken although it is not present", c.id)
		}
	}
}

func TestFailClosedZeroQuote(t *testing.T) {
	var q market.Quote
	now := utc(t, "2026-03-18T15:00:00Z")
	if q.Valid() || q.TwoSided() || q.FreshAt(now, 1<<63-1) || q.FreshAt(time.Time{}, 1<<63-1) || q.Age(now) != 1<<63-1 {
		t.Error("the zero quote counts for something")
	}
	q.Present = true
	if q.FreshAt(now, 1<<63-1) || q.FreshAt(time.Time{}, time.Hour) {
		t.Error("a quote without a time is fresh")
	}
}

func TestQuoteFreshAt(t *testing.T) {
	now := utc(t, "2026-03-18T15:00:00Z")
	const max = 5 * time.Second
	for _, c := range []struct {
		id  string
		age time.Duration
		max time.Duration
		ok  bool
	}{
		{"base", time.Second, max, true},
		{"at the limit", max, max, true},
		{"one step older", max + 1, max, false},
		{"MKT-01 six weeks", 41 * 24 * time.Hour, max, false},
		{"MKT-06 ten minutes ahead", -10 * time.Minute, max, false},
		{"ahead by the tolerance", -market.QuoteFutureMax, max, true},
		{"one step further ahead", -market.QuoteFutureMax - 1, max, false},
		{"ahead, and any age allowed", -2 * time.Second, 1<<63 - 1, false},
		{"no age, none allowed", 0, 0, true},
		{"one step, none allowed", 1, 0, false},
		{"negative max", 0, -1, false},
		{"negative max, ahead", -time.Second, -time.Millisecond, false},
	} {
		q := quote(t, "199.98", "200.02")
		q.At = now.Add(-c.age)
		if got := q.FreshAt(now, c.max); got != c.ok || q.Age(now) != c.age {
			t.Errorf("%s: got %t at age %s, want %t at %s", c.id, got, q.Age(now), c.ok, c.age)
		}
	}
	q := quote(t, "199.98", "200.02")
	if q.Present = false; q.FreshAt(now, max) {
		t.Error("an absent quote is fresh")
	}
	q.Present = true
	for _, at := range []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} { // ages beyond a duration
		if q.At = at; q.FreshAt(now, 1<<63-2) {
			t.Errorf("a quote of %s is fresh", at)
		}
	}
}

func TestQuoteJSON(t *testing.T) {
	q := quote(t, "0", "200.02")
	b, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var back market.Quote
	if err := json.Unmarshal(b, &back, json.RejectUnknownMembers(true)); err != nil || back != q {
		t.Errorf("%s came back as %+v (%v)", b, back, err)
	}
	if b, err := json.Marshal(market.Quote{}); err != nil || string(b) != "{}" {
		t.Errorf("the zero quote is written %s (%v)", b, err)
	}
}
