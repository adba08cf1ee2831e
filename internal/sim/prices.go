package sim

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// feed is the practice market, asked by the checker on its own account.
type feed struct{ paper *quotes.Paper }

// Bid implements Prices.
func (f feed) Bid(symbol string, at time.Time) (money.Price, bool) {
	q, err := f.paper.Quote(context.Background(), symbol, at)
	return q.Bid, err == nil && q.Valid()
}

// Ask implements Prices.
func (f feed) Ask(symbol string, at time.Time) (money.Price, bool) {
	q, err := f.paper.Quote(context.Background(), symbol, at)
	return q.Ask, err == nil && q.Valid()
}
