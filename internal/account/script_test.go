package account_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// morning is Wednesday 2026-03-18, 11:00 in New York.
var morning = time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)

// script writes a journal entry by entry and folds it as it goes.
type script struct {
	t     testing.TB
	s     *account.State
	now   time.Time
	bytes [][]byte
	execs int
}

// stock is a share that everything in these tests can trade.
func stock(symbol string) order.Instrument {
	return order.Instrument{
		Active: true, Class: order.USEquity, Currency: "USD", Multiplier: money.QuantityFromInt(1), Symbol: symbol,
	}
}

// begin returns a script of an account with 100,000 in cash.
func begin(t testing.TB) *script {
	c := &script{t: t, s: account.New("paper"), now: morning}
	c.must(journal.KindGenesis, journal.Genesis{
		Broker: "paper", Cash: money.NotionalFromInt(100_000), Currency: "USD", Version: "test", Who: "test",
	})
	return c
}

// add seals the body as the next entry and folds it.
func (c *script) add(kind journal.Kind, body any) error {
	c.t.Helper()
	b, h, err := journal.Seal("paper", c.s.Seq+1, c.s.Head, c.now, c.s.Fingerprint, kind, body)
	if err != nil {
		c.t.Fatalf("seal %s: %v", kind, err)
	}
	short := c.s.Seq < 100 // of long scripts only the beginning is tried before it is applied
	fine := !short || c.tried(b, h)
	err = c.s.Apply(b, h)
	if short && fine != (err == nil) {
		c.t.Fatalf("%s %d: tried %v, applied: %v", kind, c.s.Seq, fine, err)
	}
	if err != nil {
		return err
	}
	c.bytes = append(c.bytes, b)
	return nil
}

// tried says whether the entry would fold, and asserts that asking changes nothing.
func (c *script) tried(b []byte, h journal.Hash) bool {
	c.t.Helper()
	e, err := journal.Envelope(b)
	if err != nil {
		c.t.Fatal(err)
	}
	before := c.s.Digest()
	fine := c.s.Try(&e, h, 0) == nil
	if c.s.Digest() != before {
		c.t.Fatalf("trying %s %d changed the state", e.Kind, e.Seq)
	}
	return fine
}

func (c *script) must(kind journal.Kind, body any) uint64 {
	c.t.Helper()
	if err := c.add(kind, body); err != nil {
		c.t.Fatal(err)
	}
	return c.s.Seq
}

// refused asserts that the body does not fold and that nothing changed.
func (c *script) refused(kind journal.Kind, body any) error {
	c.t.Helper()
	before := snapshot(c.t, c.s)
	err := c.add(kind, body)
	if err == nil {
		c.t.Fatalf("%s was applied: %+v", kind, body)
	}
	if string(snapshot(c.t, c.s)) != string(before) {
		c.t.Fatalf("a refused %s changed the state", kind)
	}
	return err
}

func snapshot(t testing.TB, s *account.State) []byte {
	t.Helper()
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decision returns an allowed decision with the parts that every one has.
func (c *script) decision(in order.Intent) journal.Decision {
	in.Account = "paper"
	return journal.Decision{
		Calendar: "cal", Clock: journal.Clock{BootNS: 1, Wall: journal.At(c.now)}, Door: "test", Engine: "1",
		Instrument: stock(in.Symbol), Intent: in, Mode: journal.ModeActive, RawDigest: "raw", StateDigest: "state",
		ReplyBy: journal.At(c.now.Add(30 * time.Second)), Verdict: journal.VerdictAllowed,
	}
}

func intent(side order.Side, symbol, quantity, price string) order.Intent {
	return order.Intent{
		Action: order.ActionNew, Symbol: symbol, Side: side, Type: order.Limit, TimeInForce: order.Day,
		Quantity: money.MustQuantity(quantity), LimitPrice: money.MustPrice(price),
	}
}

// reserve fills in what an allowed order reserves.
func reserve(d *journal.Decision, bucket string) {
	n, _ := d.Intent.LimitPrice.Times(d.Intent.Quantity, money.Up)
	d.Reservation = &journal.Reservation{
		Bucket: bucket, Cost: n, Notional: n, Price: d.Intent.LimitPrice, Quantity: d.Intent.Quantity,
	}
}

// place journals an allowed order and returns its id.
func (c *script) place(side order.Side, symbol, quantity, price string) string {
	c.t.Helper()
	d := c.decision(intent(side, symbol, quantity, price))
	reserve(&d, journal.BucketOpen)
	return "paper/" + strconv.FormatUint(c.must(journal.KindDecision, d), 10)
}

// working journals an allowed order and the broker's acceptance.
func (c *script) working(side order.Side, symbol, quantity, price string) string {
	c.t.Helper()
	id := c.place(side, symbol, quantity, price)
	c.outcome(id, journal.ResultAccepted)
	return id
}

func seqOf(id string) uint64 {
	n, _ := strconv.ParseUint(id[len("paper/"):], 10, 64)
	return n
}

func (c *script) outcome(id, result string) {
	c.t.Helper()
	c.must(journal.KindOutcome, journal.Outcome{Decision: seqOf(id), Result: result})
}

// replace journals an allowed replace and returns its decision's seq.
func (c *script) replace(id, quantity, price string, atomic bool) uint64 {
	c.t.Helper()
	o := c.s.Order(id)
	in := intent(o.Side, o.Symbol, quantity, price)
	in.Action, in.Target = order.ActionReplace, id
	d := c.decision(in)
	reserve(&d, journal.BucketOpen)
	if atomic {
		d.Flags = []string{journal.FlagAtomicReplace}
	}
	return c.must(journal.KindDecision, d)
}

func (c *script) cancel(id string) uint64 {
	c.t.Helper()
	return c.must(journal.KindDecision, c.decision(order.Intent{Action: order.ActionCancel, Symbol: c.s.Order(id).Symbol, Target: id}))
}

func (c *script) fillBody(id, quantity, price string) journal.Fill {
	c.execs++
	return journal.Fill{
		ExecutedAt: journal.At(c.now), ExecutionID: "x" + strconv.Itoa(c.execs), OrderID: id,
		Price: money.MustPrice(price), Quantity: money.MustQuantity(quantity),
	}
}

func (c *script) fill(id, quantity, price string) {
	c.t.Helper()
	c.must(journal.KindFill, c.fillBody(id, quantity, price))
}

func (c *script) deny() {
	c.t.Helper()
	d := c.decision(intent(order.Buy, "AAPL", "1", "10"))
	d.Verdict, d.ReplyBy = journal.VerdictDenied, journal.Time{}
	d.Findings = []journal.Finding{{Rail: "max_order_qty", Status: "deny", Observed: "1", Limit: "0", Text: "1 is above 0."}}
	c.must(journal.KindDecision, d)
}

// holding asserts position and what can still fill on each side; "" is not asserted.
func (c *script) holding(symbol, position, buy, sell string) {
	c.t.Helper()
	var got account.Holding
	if h := c.s.Holding(symbol); h != nil {
		got = *h
	}
	for _, f := range []struct {
		what string
		got  money.Quantity
		want string
	}{{"position", got.Position, position}, {"open buy", got.OpenBuy, buy}, {"open sell", got.OpenSell, sell}} {
		if f.want != "" && f.got.String() != f.want {
			c.t.Errorf("%s %s = %s, want %s", symbol, f.what, f.got, f.want)
		}
	}
}
