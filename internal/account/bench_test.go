package account_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// ordinary writes a journal as a busy account has it: of ten entries about four are
// decisions, one of those denied, three outcomes, two fills and one a refusal.
func ordinary(t testing.TB, entries int) *script {
	c := begin(t)
	symbols := []string{"AAPL", "AMZN", "GOOGL", "MSFT", "NVDA", "QQQ", "SPY"}
	for i := 0; len(c.bytes) < entries; i++ {
		c.now = c.now.Add(700 * time.Millisecond)
		symbol, side := symbols[i%len(symbols)], order.Buy
		if i%2 == 1 {
			side, symbol = order.Sell, symbols[(i-1)%len(symbols)]
		}
		d := c.decision(intent(side, symbol, "10", "199.98"))
		d.Intent.ClientOrderID = "agent-" + strconv.Itoa(i)
		d.Agent, d.CallID, d.Passes, d.Off = "claude", strconv.Itoa(i), 37, 8
		d.RawDigest, d.StateDigest, d.Calendar = journal.Hash{1}.String(), journal.Hash{2}.String(), journal.Hash{3}.String()
		bid, ask, last := money.MustPrice("199.97"), money.MustPrice("199.99"), money.MustPrice("199.98")
		d.Quote = &journal.Quote{Ask: &ask, At: journal.At(c.now), Bid: &bid, Currency: "USD", Feed: "paper", Last: &last}
		d.Broker = &journal.BrokerFigures{At: journal.At(c.now), BuyingPower: money.NotionalFromInt(100_000), Cash: money.NotionalFromInt(100_000)}
		equity := money.NotionalFromInt(100_000)
		d.Equity = &equity
		for _, other := range symbols[:3] {
			d.Marks = append(d.Marks, journal.Mark{Ask: ask, At: journal.At(c.now), Bid: bid, Symbol: other})
		}
		reserve(&d, journal.BucketOpen)
		id := "paper/" + strconv.FormatUint(c.must(journal.KindDecision, d), 10)
		c.outcome(id, journal.ResultAccepted)
		if i%3 == 0 {
			c.fill(id, "4", "199.98")
			c.fill(id, "6", "199.98")
		} else {
			c.fill(id, "10", "199.98")
		}
		if i%2 == 0 {
			c.must(journal.KindRefusal, journal.Refusal{Code: "malformed_call", Count: 1, Denial: true, Door: "test", Message: true, RawBytes: 80})
		}
		if i%3 == 0 {
			c.deny()
		}
	}
	return c
}

func BenchmarkFold(b *testing.B) {
	c := ordinary(b, 20_000)
	total := 0
	for _, e := range c.bytes {
		total += len(e)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		s := account.New("paper")
		for _, e := range c.bytes {
			if err := s.Apply(e, journal.HashOf(e)); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(c.bytes))*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkVerify reads the same entries as an auditor does.
func BenchmarkVerify(b *testing.B) {
	c := ordinary(b, 10_000)
	b.ResetTimer()
	for b.Loop() {
		var chain journal.Chain
		for _, e := range c.bytes {
			if err := chain.Next("paper", e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(c.bytes))*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkDigest is of an account with 50 holdings and 20 open orders.
func BenchmarkDigest(b *testing.B) {
	c := begin(b)
	for i := range 50 {
		id := c.working(order.Buy, fmt.Sprintf("SYM%d", i), "10", "100")
		if i%5 > 1 {
			c.fill(id, "10", "100")
		} else {
			c.fill(id, "5", "100")
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		c.s.Digest()
	}
}

// BenchmarkRestore is of what a journal of a million entries comes to: 220,000 orders
// with an id of the agent's, 290,000 executions.
func BenchmarkRestore(b *testing.B) {
	c := begin(b)
	for i := range 220_000 {
		c.s.Remember(strconv.Itoa(i), i < 70_000)
	}
	text := snapshot(b, c.s)
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	for b.Loop() {
		if _, err := account.Restore(text); err != nil {
			b.Fatal(err)
		}
	}
}
