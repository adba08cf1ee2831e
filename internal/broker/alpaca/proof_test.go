package alpaca_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// answered has the service, or something before it, answer the next orders so: after they
// were taken when taken is set, else without them.
func (d *desk) answered(status int, header, body string, taken bool) {
	d.wire.set(func(next http.Handler, rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		if taken {
			next.ServeHTTP(&discarded{header: http.Header{}}, r)
		}
		if name, value, found := strings.Cut(header, ": "); found {
			rw.Header().Set(name, value)
		}
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
		return true
	})
}

type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(int)             {}

// A refusal without the broker's own code may be of something before it: the order may
// have been taken, and is in doubt until it is found.
func TestARefusalWithoutACodeProvesNothing(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusUnauthorized, http.StatusUnprocessableEntity, http.StatusBadRequest} {
		d := newDesk(t, "")
		d.answered(status, "", `{"message":"Forbidden"}`, true)
		if _, out := d.do("place_order", limitOrder("AAPL", "buy", "10", "200.02")); out.Result != journal.ResultInDoubt {
			t.Errorf("%d: %+v", status, out)
		}
		d.wire.set(nil)
		d.reconcile()
		if n := len(d.fake.Ledger().Orders); n != 1 {
			t.Errorf("%d orders", n)
		}
		d.agrees()
	}
}

// A refusal for too many calls whose end is over, or not told, pauses all the same.
func TestARateLimitWithoutAnEndPauses(t *testing.T) {
	for _, header := range []string{"X-RateLimit-Reset: 0", "X-RateLimit-Reset: soon", ""} {
		d := newDesk(t, "session: {duplicate_window: off}")
		d.answered(http.StatusTooManyRequests, header, `{"code":42910000,"message":"rate limit exceeded"}`, false)
		for _, quantity := range []string{"10", "11", "12"} {
			_, _ = d.do("place_order", limitOrder("AAPL", "buy", quantity, "200.02"))
		}
		if n := d.wire.count(http.MethodPost); n != 1 {
			t.Errorf("%q: %d orders were sent", header, n)
		}
	}
}

// The keys go to the address of the market data, and its quotes price orders: it is the
// service's own, or both are on this machine.
func TestFailClosedDataAddress(t *testing.T) {
	d := newDesk(t, "")
	good := alpaca.Options{Trading: d.url, Data: d.url, Feed: alpaca.FeedIEX, Keys: d.keys(), Clock: d.clock, Calendar: d.config().Calendar}
	for _, c := range []struct {
		trading, data string
		taken         bool
	}{
		{d.url, d.url, true},
		{d.url, alpaca.DataURL, true},
		{alpaca.PaperURL, alpaca.DataURL, true},
		{alpaca.PaperURL, d.url, false},
		{alpaca.PaperURL, alpaca.LiveURL, false},
		{alpaca.PaperURL, "https://example.org", false},
		{d.url, "https://example.org", false},
	} {
		o := good
		o.Trading, o.Data = c.trading, c.data
		if _, err := alpaca.New(o); (err == nil) != c.taken {
			t.Errorf("%s with %s: %v", c.trading, c.data, err)
		}
	}
}

// Cash that is booked for a day to come hides no fill: looks go on from now.
func TestAnActivityOfTomorrowHidesNoFill(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	ahead := d.clock.Now().AddDate(0, 0, 2).UTC()
	d.wire.set(func(_ http.Handler, rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v2/account/activities" || strings.Contains(r.URL.Query().Get("activity_types"), "FILL") {
			return false
		}
		_, _ = io.WriteString(rw, `[{"id":"`+ahead.Format("20060102")+`000000000::ahead","activity_type":"DIV","date":"`+ahead.Format("2006-01-02")+
			`","net_amount":"1.00","symbol":"AAPL","status":"executed"}]`)
		return true
	})
	d.clock.Advance(time.Hour / 2)
	d.reconcile()
	d.wire.set(nil)
	d.clock.Advance(time.Minute)
	d.fake.FillHalf(1)
	id := d.must("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	_, _ = d.do("cancel_order", `{"order_id":"`+id+`"}`)
	d.clock.Advance(time.Second)
	d.reconcile()
	d.view(func(v gate.View) {
		for i := range v.State.Holdings {
			if h := &v.State.Holdings[i]; h.Instrument.Symbol == "AAPL" && h.Position == money.QuantityFromInt(5) {
				return
			}
		}
		t.Errorf("the journal does not have the 5 that filled: %+v", v.State.Holdings)
	})
}
