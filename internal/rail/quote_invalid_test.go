package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

func TestQuoteInvalid(t *testing.T) {
	of := func(bid, ask string) func(f *Facts) {
		return func(f *Facts) { f.Quote.Bid, f.Quote.Ask = prc(bid), prc(ask) }
	}
	run(t, QuoteInvalid, quoteInvalid, []check{
		{"bid below ask", of("199.99", "200"), Pass},
		{"locked is valid", of("200", "200"), Pass},
		{"crossed by one unit of least precision", of("200.000000001", "200"), Deny},
		{"zero bid", of("0", "200"), Deny},
		{"zero ask", of("0", "0"), Deny},
		{"negative bid", of("-1", "200"), Deny},
		{"a last trade", func(f *Facts) { f.Quote.Last, f.Quote.HasLast = prc("1"), true }, Pass},
		{"a last trade at zero", func(f *Facts) { f.Quote.Last, f.Quote.HasLast = prc("0"), true }, Deny},
		{"a last trade below zero", func(f *Facts) { f.Quote.Last, f.Quote.HasLast = prc("-1"), true }, Deny},
		{"another currency", func(f *Facts) { f.Quote.Currency = "GBX" }, Deny},
		{"no currency told", func(f *Facts) { f.Quote.Currency = "" }, Pass},
		{"no quote", func(f *Facts) { f.Quote = market.Quote{} }, Fault},
		{"one side missing", func(f *Facts) { f.Quote.Bid, f.Quote.HasBid = money.Price{}, false }, Fault},
		{"the other side missing", func(f *Facts) { f.Quote.Ask, f.Quote.HasAsk = money.Price{}, false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10"); of("0", "0")(f) }, Pass},
	})
}
