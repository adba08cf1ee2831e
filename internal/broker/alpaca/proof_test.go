package alpaca_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/journal"
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
