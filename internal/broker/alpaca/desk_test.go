package alpaca_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/fakealpaca"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

// start is Wednesday 2026-03-18, 11:00 in New York.
func start() time.Time { return time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC) }

const fakeNumber = "PA0FAKE00001"

// wire counts what reaches the fake.
type wire struct {
	next http.Handler
	mu   sync.Mutex // guards seen
	seen map[string]int
	hook func(next http.Handler, rw http.ResponseWriter, r *http.Request) bool // answers itself if true
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen[r.Method]++
	hook := w.hook
	w.mu.Unlock()
	if hook == nil || !hook(w.next, rw, r) {
		w.next.ServeHTTP(rw, r)
	}
}

func (w *wire) set(hook func(next http.Handler, rw http.ResponseWriter, r *http.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

func (w *wire) count(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[method]
}

// desk is a gate before the broker, and the fake behind it.
type desk struct {
	t      testing.TB
	fake   *fakealpaca.Broker
	wire   *wire
	url    string
	taken  alpaca.Takeover
	broker *alpaca.Broker
	gate   *gate.Gate
	store  *memory.Store
	clock  *clock.Virtual
	calls  int
}

func newDesk(t testing.TB, over string) *desk {
	t.Helper()
	d := bareDesk(t)
	d.begin(over)
	return d
}

// bareDesk has a fake and no account yet.
func bareDesk(t testing.TB) *desk {
	t.Helper()
	return deskOf(t, fakealpaca.Options{})
}

func deskOf(t testing.TB, o fakealpaca.Options) *desk {
	t.Helper()
	d := &desk{t: t, clock: clock.NewVirtual(start()), store: memory.New()}
	var err error
	o.Now, o.AlwaysOpen = d.clock.Now, true
	if o.RateMax == 0 {
		o.RateMax = 1_000_000
	}
	d.fake, err = fakealpaca.New(o)
	if err != nil {
		t.Fatal(err)
	}
	d.wire = &wire{next: d.fake.Handler(), seen: map[string]int{}}
	server := httptest.NewServer(d.wire)
	d.url = server.URL
	t.Cleanup(func() { d.fake.Close(); server.CloseClientConnections(); server.Close() })
	return d
}

func (d *desk) begin(over string) {
	d.t.Helper()
	look := d.newBroker("")
	var err error
	if d.taken, err = look.Takeover(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.broker = d.newBroker(d.taken.Seen.AccountID)
	err = gate.Create(d.t.Context(), d.config(), journal.Genesis{
		Broker: "alpaca", Cash: d.taken.Seen.Cash, Currency: "USD", Who: "operator", Cursor: d.taken.Cursor,
		Positions: d.taken.Seen.Positions, Orders: d.taken.Seen.Orders,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.open()
	d.limits(over)
	d.reconcile()
}

func (d *desk) keys() alpaca.Keys {
	id, secret := d.fake.Keys()
	k, err := alpaca.KeysFrom(func(name string) string {
		return map[string]string{alpaca.KeyName: id, alpaca.SecretName: secret}[name]
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return k
}

func (d *desk) newBroker(account string) *alpaca.Broker {
	d.t.Helper()
	b, err := alpaca.New(alpaca.Options{
		Trading: d.url, Data: d.url, Feed: alpaca.FeedIEX, Keys: d.keys(), Calendar: market.XNYS(), Clock: d.clock,
		AccountID: account, Began: d.taken.Began, Known: d.taken.Known, NotFoundFor: time.Millisecond, Within: time.Second, Ping: 100 * time.Millisecond,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(b.Close)
	return b
}

func (d *desk) config() gate.Config {
	return gate.Config{
		Account: "paper", Store: d.store, Broker: d.broker, Quotes: d.broker, Clock: d.clock, Calendar: market.XNYS(), Version: "test",
	}
}

// open starts a new gate on the same journal; restart does so with a new broker too.
func (d *desk) open() {
	d.t.Helper()
	var err error
	if d.gate, err = gate.Open(d.t.Context(), d.config()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) restart() {
	d.t.Helper()
	d.broker = d.newBroker(fakeNumber)
	d.open()
}

func (d *desk) limits(over string) {
	d.t.Helper()
	text := limits.Template("paper")
	if over != "" {
		base, err := limits.Load("shipped", text)
		if err != nil {
			d.t.Fatal(err)
		}
		doc, err := limits.Over(base, "over", []byte(over))
		if err != nil {
			d.t.Fatal(err)
		}
		text = doc.Canonical
	}
	if _, err := d.gate.LoadLimits(d.t.Context(), "limits", text, "operator"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) reconcile() gate.Reconciliation {
	d.t.Helper()
	found, err := d.gate.Reconcile(d.t.Context(), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return found
}

// settle lets time pass and reconciles until nothing is in doubt.
func (d *desk) settle() {
	d.t.Helper()
	for range 8 {
		d.clock.Advance(gate.ReplyWithin + time.Second)
		time.Sleep(2 * time.Millisecond) // what is missing must be so for a while
		found, err := d.gate.Reconcile(d.t.Context(), nil)
		if err == nil && len(found.StillDoubt) == 0 {
			return
		}
	}
	d.t.Error("still in doubt")
}

func (d *desk) call(tool, arguments string) gate.Call {
	d.t.Helper()
	n, refusal := normalize.Call(tool, []byte(arguments))
	if refusal != nil {
		d.t.Fatalf("%s %s: %v", tool, arguments, refusal)
	}
	d.calls++
	sum := sha256.Sum256([]byte(arguments))
	return gate.Call{
		Intent: n.Intent, Door: "test", Agent: "agent", CallID: fmt.Sprint("c", d.calls), RawDigest: hex.EncodeToString(sum[:]),
	}
}

// do decides and forwards what is allowed.
func (d *desk) do(tool, arguments string) (gate.Judgement, gate.Outcome) {
	d.t.Helper()
	j := d.gate.Decide(context.Background(), d.call(tool, arguments))
	if !j.Allowed() {
		return j, gate.Outcome{}
	}
	return j, d.gate.Forward(context.Background(), j.Permit)
}

// must is do for a call that is allowed and accepted.
func (d *desk) must(tool, arguments string) string {
	d.t.Helper()
	j, out := d.do(tool, arguments)
	if !j.Allowed() || out.Result != journal.ResultAccepted {
		d.t.Fatalf("%s: refused by %v %v %s, outcome %+v", arguments, j.Decision.Refusing(), j.Decision.Faults(), j.Fault, out)
	}
	return j.OrderID
}

func limitOrder(symbol, side, quantity, price string) string {
	return fmt.Sprintf(`{"symbol":%q,"side":%q,"order_type":"limit","quantity":%q,"limit_price":%q,"time_in_force":"day"}`, symbol, side, quantity, price)
}

func (d *desk) order(id string) (o account.Order, open bool) {
	d.t.Helper()
	d.view(func(v gate.View) {
		if p := v.State.Order(id); p != nil {
			o, open = *p, true
		}
	})
	return o, open
}

func (d *desk) view(look func(gate.View)) {
	d.t.Helper()
	if err := d.gate.View(context.Background(), look); err != nil {
		d.t.Fatal(err)
	}
}

// agrees holds the journal's account against the fake's ledger, and the journal against
// itself.
func (d *desk) agrees() {
	d.t.Helper()
	ledger := d.fake.Ledger()
	d.view(func(v gate.View) {
		if v.State.Cash != ledger.Cash {
			d.t.Errorf("the journal has cash %s, the ledger %s", v.State.Cash, ledger.Cash)
		}
		held := map[string]money.Quantity{}
		for i := range v.State.Holdings {
			if h := &v.State.Holdings[i]; !h.Position.IsZero() {
				held[h.Instrument.Symbol] = h.Position
			}
		}
		for _, p := range ledger.Positions {
			if held[p.Symbol] != p.Quantity {
				d.t.Errorf("the journal has %s of %s, the ledger %s", held[p.Symbol], p.Symbol, p.Quantity)
			}
			delete(held, p.Symbol)
		}
		if len(held) > 0 {
			d.t.Errorf("only the journal has %v", held)
		}
		var ours, theirs []string
		for _, o := range v.State.Orders {
			ours = append(ours, o.BrokerID)
		}
		for i := range ledger.Orders {
			if o := &ledger.Orders[i]; slices.Contains([]string{"new", "accepted", "partially_filled"}, o.Status) {
				theirs = append(theirs, o.ID)
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			d.t.Errorf("open in the journal %v, in the ledger %v", ours, theirs)
		}
	})
	report, err := audit.Verify(context.Background(), func(ctx context.Context, each func(audit.Item) error) error {
		return d.store.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Bytes: s.Bytes, Stored: s.Hash})
		})
	}, audit.Options{Calendar: market.XNYS()})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range report.Failed() {
		d.t.Errorf("audit: %v", f)
	}
}

// derived counts the ledger's orders of each client order id that a gate derived.
func (d *desk) derived() (n int) {
	for _, o := range d.fake.Ledger().Orders {
		if strings.HasPrefix(o.ClientOrderID, "br-") {
			n++
		}
	}
	return n
}
