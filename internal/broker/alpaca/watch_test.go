package alpaca_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run listens in the background until the test ends.
func (d *desk) run() {
	d.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); d.broker.Run(ctx) }()
	d.t.Cleanup(func() { stop(); <-ended })
	d.await("listening", func() bool { return d.broker.Listening() && d.fake.Streams() > 0 })
}

func (d *desk) await(what string, true func() bool) {
	d.t.Helper()
	for end := time.Now().Add(8 * time.Second); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("not %s in time", what)
		}
	}
}

// heard reports whether a tick, as Run of the gate does each second, brings the order to
// its end.
func (d *desk) heard(id string) func() bool {
	return func() bool {
		if err := d.gate.Tick(context.Background()); err != nil {
			d.t.Fatal(err)
		}
		_, open := d.order(id)
		return !open
	}
}

func cheaper() fakealpaca.Quote {
	return fakealpaca.Quote{Bid: money.MustPrice("199.38"), Ask: money.MustPrice("199.42"), Last: money.MustPrice("199.4")}
}

// What the stream rings for is read at once, in text and binary frames, and whatever
// becomes of its events: the ledger is what counts.
func TestTheStreamRings(t *testing.T) {
	for _, kind := range []string{"", "binary", "event_lost", "event_twice", "event_late", "event_unknown"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, fakealpaca.Options{Binary: kind == "binary"})
			d.begin("session: {duplicate_window: off}")
			d.run()
			id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
			if strings.HasPrefix(kind, "event_") {
				inject(t, d.fake, fakealpaca.Fault{Kind: kind, On: "fill"})
			}
			d.fake.SetQuote("AAPL", cheaper())
			if kind == "event_lost" || kind == "event_late" {
				d.fake.PlaceByHand("MSFT", "buy", money.QuantityFromInt(1), money.Price{}) // the next event rings for it
			}
			d.await("filled", d.heard(id))
			d.reconcile()
			d.agrees()
		})
	}
}

// However the stream ends, it is found out and begun again, and what happened meanwhile is
// caught up with.
func TestTheStreamComesBack(t *testing.T) {
	for _, how := range []string{"stream_close", "stream_cut", "stream_half_open"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "session: {duplicate_window: off}")
			d.run()
			id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
			d.fake.HangUp(how)
			d.fake.SetQuote("AAPL", cheaper())
			d.await("filled", d.heard(id))
			d.await("listening again", func() bool { return d.broker.Listening() && d.fake.Streams() > 0 })
			d.reconcile()
			d.agrees()
		})
	}
}

// A day that the broker ends early, or a clock far from ours, closes the market; an order
// that works can still be canceled.
func TestFailClosedCalendarDisagrees(t *testing.T) {
	for name, change := range map[string]func(d *desk){
		"early close": func(d *desk) { d.fake.CloseEarly(mustDate("2026-03-18")) },
		"skew":        func(d *desk) { d.fake.Skew(6 * time.Second) },
		"back":        func(d *desk) { d.fake.Skew(-6 * time.Second) },
		"not read":    func(d *desk) { inject(d.t, d.fake, fakealpaca.Fault{Kind: "error_before", On: "GET /v2/calendar"}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "session: {duplicate_window: off}")
			if err := d.broker.CompareCalendar(t.Context()); err != nil {
				t.Fatal(err)
			}
			id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
			change(d)
			if d.broker.CompareCalendar(t.Context()) == nil {
				t.Error("nothing was found")
			}
			d.clock.Advance(time.Second)
			if j, _ := d.do("place_order", limitOrder("AAPL", "buy", "6", "200.02")); j.Allowed() {
				t.Error("an order passed")
			}
			d.must("cancel_order", `{"order_id":"`+id+`"}`)
			if n := d.derived(); n != 1 {
				t.Errorf("%d orders at the broker", n)
			}
		})
	}
}

func mustDate(text string) market.TradeDate {
	d, err := market.ParseTradeDate(text)
	if err != nil {
		panic(err)
	}
	return d
}

// A minute's calls are not used up by reads: the last are left to orders and cancels.
func TestReadsLeaveCallsToOrders(t *testing.T) {
	d := deskOf(t, fakealpaca.Options{RateMax: 200})
	d.begin("session: {duplicate_window: off}")
	id := d.must("place_order", limitOrder("AAPL", "buy", "5", "199.50"))
	var err error
	for range 100 {
		if _, err = d.broker.Account(t.Context()); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("reads went on")
	}
	if used := d.fake.Ledger().Requests; used > 200-alpaca.ReadsLeaveMin+10 {
		t.Errorf("%d calls were used", used)
	}
	// The gate cannot decide without the account; a message that it released still leaves.
	d.clock.Advance(61 * time.Second)
	d.must("cancel_order", `{"order_id":"`+id+`"}`)
}

// Keys print as nothing, and come from a file that only its owner can read.
func TestKeysStayHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	const text = "export APCA_API_KEY_ID=PKSECRETSECRET\nAPCA_API_SECRET_KEY='hushhushhush'\n"
	write(text, 0o600)
	k, err := alpaca.ReadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "keys", k, "options", fmt.Sprintf("%v %+v %#v %s", k, k, k, k))
	_, err = k.MarshalText()
	for _, shown := range []string{log.String(), fmt.Sprint(err)} {
		if strings.Contains(shown, "SECRETSECRET") || strings.Contains(shown, "hush") {
			t.Errorf("shown: %s", shown)
		}
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o666} {
		write(text, mode)
		if _, err := alpaca.ReadKeys(path); err == nil {
			t.Errorf("keys of mode %04o were read", mode)
		}
	}
	for _, bad := range []string{"", "APCA_API_KEY_ID=x", "APCA_API_KEY_ID=a b\nAPCA_API_SECRET_KEY=c", "APCA_API_KEY_ID=a\nAPCA_API_SECRET_KEY=\x01"} {
		write(bad, 0o600)
		if _, err := alpaca.ReadKeys(path); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if _, err := alpaca.ReadKeys(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

// A cursor that this broker did not write is refused, and one of another process is read.
func TestCursors(t *testing.T) {
	d := newDesk(t, "")
	d.must("place_order", limitOrder("AAPL", "buy", "5", "200.02"))
	for _, bad := range []string{"", "a1/", "a1/x/y", "12", "a1/-5/x", "a2/5/x"} {
		if _, err := d.broker.Events(t.Context(), bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	b := d.newBroker(fakeNumber)
	first, err := b.Events(t.Context(), d.taken.Cursor)
	if err != nil || len(first) != 1 || first[0].Kind != gate.EventFill {
		t.Fatalf("%+v, %v", first, err)
	}
	if none, err := b.Events(t.Context(), first[0].Cursor); err != nil || len(none) != 0 {
		t.Errorf("told again to the same process: %+v, %v", none, err)
	}
	again, err := d.newBroker(fakeNumber).Events(t.Context(), first[0].Cursor)
	// It may have heard of other things before it: what lies within the overlap is told again.
	if err != nil || len(again) != 1 || again[0].ID != first[0].ID || again[0].Cursor == first[0].Cursor {
		t.Errorf("%+v, %v", again, err)
	}
}
