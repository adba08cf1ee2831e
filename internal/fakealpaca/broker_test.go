package fakealpaca_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/alpacahq/alpaca-trade-api-go/v3/alpaca"
	"github.com/shopspring/decimal"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/money"
)

// desk is a fake broker on loopback and the official client pointed at it.
func desk(t *testing.T, o fakealpaca.Options) (*fakealpaca.Broker, *alpaca.Client) {
	t.Helper()
	o.AlwaysOpen = true
	b, err := fakealpaca.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b.Handler())
	t.Cleanup(func() { b.Close(); server.Close() })
	key, secret := b.Keys()
	return b, alpaca.NewClient(alpaca.ClientOpts{APIKey: key, APISecret: secret, BaseURL: server.URL, RetryLimit: 1, RetryDelay: time.Millisecond})
}

func whole(n int64) *decimal.Decimal { d := decimal.NewFromInt(n); return &d }

// The official client places, changes, cancels and reads; the ledger agrees each time.
func TestOfficialClient(t *testing.T) {
	b, c := desk(t, fakealpaca.Options{})
	filled, err := c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "AAPL", Qty: whole(10), Side: alpaca.Buy, Type: alpaca.Market, TimeInForce: alpaca.Day, ClientOrderID: "a-1"})
	if err != nil || filled.Status != "filled" || filled.FilledAvgPrice.String() != "200.02" {
		t.Fatalf("%+v, %v", filled, err)
	}
	resting, err := c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "MSFT", Qty: whole(5), Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.Day, LimitPrice: whole(400), ClientOrderID: "a-2"})
	if err != nil || resting.Status != "new" {
		t.Fatalf("%+v, %v", resting, err)
	}
	if _, err := c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "MSFT", Qty: whole(5), Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.Day, LimitPrice: whole(400), ClientOrderID: "a-2"}); err == nil {
		t.Error("one client order id was taken twice")
	}
	changed, err := c.ReplaceOrder(resting.ID, alpaca.ReplaceOrderRequest{Qty: whole(3)})
	if err != nil || changed.ID == resting.ID || *changed.Replaces != resting.ID {
		t.Fatalf("%+v, %v", changed, err)
	}
	if err := c.CancelOrder(changed.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.CancelOrder(changed.ID); err == nil {
		t.Error("a canceled order was canceled again")
	}
	byID, err := c.GetOrderByClientOrderID("a-1")
	if err != nil || byID.ID != filled.ID {
		t.Errorf("%+v, %v", byID, err)
	}
	account, err := c.GetAccount()
	if err != nil || account.Cash.String() != "97999.8" || account.TradingBlocked {
		t.Errorf("%+v, %v", account, err)
	}
	held, err := c.GetPosition("AAPL")
	if err != nil || held.Qty.String() != "10" || held.AvgEntryPrice.String() != "200.02" {
		t.Errorf("%+v, %v", held, err)
	}
	if clock, err := c.GetClock(); err != nil || !clock.IsOpen {
		t.Errorf("%+v, %v", clock, err)
	}
	days, err := c.GetCalendar(alpaca.GetCalendarRequest{Start: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)})
	if err != nil || len(days) != 1 || days[0].Close != "13:00" {
		t.Errorf("%+v, %v", days, err)
	}
	if _, err := c.ClosePosition("AAPL", alpaca.ClosePositionRequest{}); err != nil {
		t.Error(err)
	}
	ledger := b.Ledger()
	if len(ledger.Orders) != 4 || len(ledger.Fills) != 2 || len(ledger.Positions) != 0 || ledger.Cash.Cmp(money.MustNotional("99999.6")) != 0 {
		t.Errorf("ledger %+v", ledger)
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	b, _ := desk(t, fakealpaca.Options{})
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	c := alpaca.NewClient(alpaca.ClientOpts{APIKey: "x", APISecret: "y", BaseURL: server.URL})
	if _, err := c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "AAPL", Qty: whole(1), Side: alpaca.Buy, Type: alpaca.Market, TimeInForce: alpaca.Day}); err == nil {
		t.Error("an order without keys was taken")
	}
	if n := len(b.Ledger().Orders); n != 0 {
		t.Errorf("%d orders", n)
	}
}

// Each fault of a new order leaves in the ledger what its name says.
func TestFaultsBeforeAndAfter(t *testing.T) {
	for kind := range fakealpaca.Kinds() {
		var want int
		switch {
		case len(kind) > 7 && kind[len(kind)-7:] == "_before", kind == "rate_limit":
			want = 0
		case len(kind) > 6 && kind[len(kind)-6:] == "_after":
			want = 1
		default:
			continue
		}
		t.Run(kind, func(t *testing.T) {
			b, c := desk(t, fakealpaca.Options{})
			if err := b.Inject(fakealpaca.Fault{Kind: kind, On: "POST /v2/orders", For: 2 * time.Second, Times: 1}); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = c.PlaceOrder(alpaca.PlaceOrderRequest{Symbol: "AAPL", Qty: whole(1), Side: alpaca.Buy, Type: alpaca.Market, TimeInForce: alpaca.Day, ClientOrderID: "f-1"})
			}()
			select {
			case <-done:
			case <-time.After(500 * time.Millisecond): // a delay: the client still waits
			}
			if n := len(b.Ledger().Orders); n != want {
				t.Errorf("%d orders in the ledger, want %d", n, want)
			}
			if left := b.Pending(); len(left) != 0 {
				t.Errorf("%v did not fire", left)
			}
			<-done
		})
	}
	if err := new(fakealpaca.Broker).Inject(fakealpaca.Fault{Kind: "no such"}); err == nil {
		t.Error("an unknown fault was taken")
	}
}
