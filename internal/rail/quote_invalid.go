package rail

// quoteInvalid denies an order whose quote has a price that is zero or negative, or
// whose bid is above its ask.
//
// It stops orders priced by a broken feed. A locked market, bid equal to ask, is valid.
// A quote that is absent, or lacks a side, is a fault. It cannot be switched off.
// Reducing orders pass, priced by the last valid quote.
//
// Source: FIA 2024 market data reasonability.
func quoteInvalid(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(QuoteInvalid, missing)
	}
	quote := &f.Quote
	switch {
	case f.spared():
		return pass(QuoteInvalid)
	case !quote.TwoSided():
		return fault(QuoteInvalid, "a quote with both sides")
	case quote.Valid():
		return pass(QuoteInvalid)
	}
	observed := "bid " + cents(quote.Bid) + ", ask " + cents(quote.Ask)
	return deny(QuoteInvalid, observed, "0 < bid <= ask", "",
		"The quote is not valid: "+observed+".", RetryLater)
}
