package rail

import (
	"strings"

	"github.com/broker-rails/broker-rails/internal/market"
)

func quoteStaleRail() Rail {
	return Rail{
		ID: QuoteStale, Family: familyCollar, Keys: []string{"collar.max_quote_age"},
		Exempt: ExemptAll, Check: quoteStale,
	}
}

// quoteStale denies an order whose quote is older than the maximum, or more than one
// second in the future, by the exchange's own stamp.
//
// It stops orders priced by a feed that has stopped. An age at the maximum passes.
// Without a quote, or one without a time, it is a fault. Reducing orders pass, priced
// by the last valid quote.
//
// Source: FIA 2024 market data reasonability.
func quoteStale(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(QuoteStale, missing)
	}
	limit := &f.Figures.Collar.MaxQuoteAge
	switch {
	case !limit.Set:
		return unset(QuoteStale, "collar.max_quote_age")
	case !limit.On:
		return off(QuoteStale)
	case f.spared():
		return pass(QuoteStale)
	case !f.Quote.Present:
		return fault(QuoteStale, "a quote")
	case f.Quote.At.IsZero():
		return fault(QuoteStale, "the time of the quote")
	}
	age := f.Quote.Age(f.Request.Now)
	switch {
	case age > limit.Value:
		observed := beyond(age)
		return deny(QuoteStale, observed, limit.Value.String(), "",
			"The quote is "+observed+" old; the most is "+limit.Value.String()+".", RetryLater)
	case age < -market.QuoteFutureMax:
		observed := beyond(age)
		return deny(QuoteStale, observed, (-market.QuoteFutureMax).String(), "",
			"The quote's time lies "+strings.TrimPrefix(observed, "-")+" in the future.", RetryLater)
	}
	return pass(QuoteStale)
}
