package market

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// QuoteFutureMax is how far a quote's time may lie ahead of now and still count as
// fresh. It allows for the clocks of two machines, not for a wrong time stamp.
const QuoteFutureMax = time.Second

// Quote is the best bid and offer of one instrument at an instant. The zero value is
// an absent quote. A price counts only with its Has flag: a side that the feed gave
// as zero is present and bad, a side that it did not give is absent.
type Quote struct {
	Symbol   string      `json:"symbol,omitzero"`
	Bid      money.Price `json:"bid,omitzero"`
	Ask      money.Price `json:"ask,omitzero"`
	Last     money.Price `json:"last,omitzero"`
	At       time.Time   `json:"at,omitzero"`
	Currency string      `json:"currency,omitzero"` // ISO 4217
	Halted   bool        `json:"halted,omitzero"`   // the exchange has halted trading in the instrument
	Feed     string      `json:"feed,omitzero"`
	Present  bool        `json:"present,omitzero"` // there is a quote, good or bad
	HasBid   bool        `json:"has_bid,omitzero"`
	HasAsk   bool        `json:"has_ask,omitzero"`
	HasLast  bool        `json:"has_last,omitzero"`
}

// TwoSided reports whether the quote is present with both its sides. One that is not
// is a fault to the rails, where one that is present and bad is a denial.
func (q Quote) TwoSided() bool { return q.Present && q.HasBid && q.HasAsk }

// Valid reports whether both sides are there, the bid is above zero and the ask is
// not below it. A locked market is valid, a crossed one is not. Age and halts are
// asked for separately.
func (q Quote) Valid() bool {
	return q.TwoSided() && q.Bid.IsPositive() && q.Ask.Cmp(q.Bid) >= 0
}

// Age is now less the quote's time: negative for a quote from the future, and the
// longest duration for one without a time. Only wall time is compared, since a
// replay has no monotonic reading.
func (q Quote) Age(now time.Time) time.Duration {
	if q.At.IsZero() {
		return 1<<63 - 1
	}
	return now.Round(0).Sub(q.At.Round(0))
}

// FreshAt reports whether the quote is at most max old and at most QuoteFutureMax
// ahead of now. A quote that is absent or has no time is never fresh; a negative max
// allows none.
func (q Quote) FreshAt(now time.Time, max time.Duration) bool {
	if !q.Present || q.At.IsZero() || max < 0 {
		return false
	}
	age := q.Age(now)
	return age <= max && age >= -QuoteFutureMax
}
