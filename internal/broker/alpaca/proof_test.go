package alpaca_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// ask sends a request to the fake as the account's owner would, past the broker.
func (d *desk) ask(method, path, body string) string {
	d.t.Helper()
	req := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	id, secret := d.fake.Keys()
	req.Header.Set("APCA-API-KEY-ID", id)
	req.Header.Set("APCA-API-SECRET-KEY", secret)
	rec := httptest.NewRecorder()
	d.fake.Handler().ServeHTTP(rec, req)
	if rec.Code >= 300 {
		d.t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// changed lets the fake answer a method and writes other words into its answer.
func changed(method, old, other string) func(http.Handler, http.ResponseWriter, *http.Request) bool {
	return func(next http.Handler, rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != method {
			return false
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		rw.WriteHeader(rec.Code)
		_, _ = rw.Write(bytes.ReplaceAll(rec.Body.Bytes(), []byte(old), []byte(other)))
		return true
	}
}

// An answer that shows other terms or another id than was sent proves nothing.
func TestTheEchoIsWhole(t *testing.T) {
	for old, other := range map[string]string{
		`"limit_price":"199.5"`:  `"limit_price":"199.4"`,
		`"client_order_id":"br-`: `"client_order_id":"bx-`,
		`"type":"limit"`:         `"type":"stop"`,
		`"stop_price":null`:      `"stop_price":"1"`,
	} {
		d := newDesk(t, "")
		d.wire.set(changed("POST", old, other))
		_, out := d.do("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
		if out.Result != journal.ResultInDoubt {
			t.Errorf("%s: %+v", other, out)
		}
		d.wire.set(nil)
		d.settle()
		d.agrees()
	}
}

// An order that is there already, under our id, is ours if it is the same.
func TestAnOrderThatIsThereIsAdopted(t *testing.T) {
	for price, want := range map[string]string{"199.5": journal.ResultAccepted, "199.4": journal.ResultInDoubt} {
		d := newDesk(t, "")
		j := d.gate.Decide(t.Context(), d.call("place_order", limitOrder("AAPL", "buy", "5", "199.50")))
		if !j.Allowed() {
			t.Fatal(j.Decision.Refusing())
		}
		d.ask("POST", "/v2/orders", `{"symbol":"AAPL","qty":"5","side":"buy","type":"limit","time_in_force":"day","limit_price":"`+price+`","client_order_id":"`+j.ClientOrderID+`"}`)
		if out := d.gate.Forward(t.Context(), j.Permit); out.Result != want {
			t.Errorf("at %s: %+v", price, out)
		}
		if d.derived() != 1 {
			t.Errorf("%d orders", d.derived())
		}
	}
}

// A change that is answered with 200 and never made leaves the order as it was.
func TestAChangeThatWasNeverMade(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	before, _ := d.order(id)
	d.wire.set(func(_ http.Handler, rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		text, _ := io.ReadAll(r.Body)
		_, client, _ := strings.Cut(string(text), `"client_order_id":"`)
		_, _ = io.WriteString(rw, `{"id":"new","client_order_id":"`+strings.TrimRight(client, `"}`)+`","symbol":"AAPL","asset_class":"us_equity","qty":"4",
			"side":"buy","type":"limit","time_in_force":"day","limit_price":"199.6","status":"pending_new","replaces":"`+before.BrokerID+`"}`)
		return true
	})
	if _, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"4","limit_price":"199.60"}`); out.Result == journal.ResultAccepted {
		t.Errorf("%+v", out)
	}
	d.wire.set(nil)
	d.settle()
	after, open := d.order(id)
	if !open || after.BrokerID != before.BrokerID || after.Quantity != before.Quantity || after.LimitPrice != before.LimitPrice || after.Pending != nil {
		t.Errorf("%v %+v", open, after)
	}
	d.agrees()
}

// An order that filled in part is not changed.
func TestAPartlyFilledOrderIsNotChanged(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.fake.FillHalf(1)
	id := d.must("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	if _, out := d.do("replace_order", `{"order_id":"`+id+`","quantity":"8"}`); out.Result != journal.ResultRejected || d.wire.count("PATCH") != 0 {
		t.Errorf("%+v", out)
	}
	d.agrees()
}

// The end of an order is told after all that filled of it, however late that is listed.
func TestAnEndWaitsForItsFills(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	d.fake.FillHalf(1)
	d.wire.set(func(_ http.Handler, rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/activities/FILL") {
			return false
		}
		_, _ = io.WriteString(rw, "[]")
		return true
	})
	id := d.must("place_order", limitOrder("AAPL", "buy", "10", "200.02"))
	d.must("cancel_order", `{"order_id":"`+id+`"}`)
	if o, open := d.order(id); !open || !o.Filled.IsZero() {
		t.Errorf("its end was told before its fills: %v %+v", open, o)
	}
	d.wire.set(nil)
	d.reconcile()
	if _, open := d.order(id); open {
		t.Error("its end was not told")
	}
	d.agrees()
}

// What ended while nobody looked is found, also behind many later orders.
func TestAnEndBehindManyOrders(t *testing.T) {
	d := newDesk(t, "session: {duplicate_window: off}")
	id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	o, _ := d.order(id)
	d.clock.Advance(1)
	d.ask("DELETE", "/v2/orders/"+o.BrokerID, "")
	for range 60 {
		d.clock.Advance(1)
		d.fake.PlaceByHand("MSFT", "buy", money.QuantityFromInt(1), money.Price{})
	}
	d.restart()
	d.reconcile()
	if _, open := d.order(id); open {
		t.Error("its end was not found")
	}
	d.agrees()
}

// The broker is not believed at once that it has no such order.
func TestAMissingOrderIsLookedForAgain(t *testing.T) {
	d := newDesk(t, "")
	for try := range 2 {
		if s, err := d.broker.Find(t.Context(), "br-aaaaaaaaaaaaaaaaaaaaaaaa"); err == nil {
			t.Errorf("believed at try %d: %+v", try, s)
		}
	}
	inject(t, d.fake, fakealpaca.Fault{Kind: "html_before", On: "GET /v2/orders:by"})
	if s, err := d.broker.Find(t.Context(), "br-aaaaaaaaaaaaaaaaaaaaaaaa"); err == nil {
		t.Errorf("a page was believed: %+v", s)
	}
}
