package rail

func quoteInvalidRail() Rail {
	return Rail{
		ID: QuoteInvalid, Family: familyCollar,
		Exempt: ExemptAll, Check: quoteInvalid,
	}
}

// quoteInvalid denies an order whose quote has a price that is zero or negative, the
// last trade's too, whose bid is above its ask, or that is in another currency than the
// limits, as pence are for pounds.
//
// It stops orders priced by a broken feed. A locked market, bid equal to ask, is valid.
// A quote that is absent, or lacks a side, is a fault; one without a last trade is not.
// It cannot be switched off. Reducing orders pass, priced by the last valid quote.
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
	case quote.Currency != "" && quote.Currency != f.Limits.Currency:
		return deny(QuoteInvalid, "another currency", f.Limits.Currency, "",
			"The quote is not in "+f.Limits.Currency+", the currency of the limits.", RetryLater)
	case quote.Valid() && (!quote.HasLast || quote.Last.IsPositive()):
		return pass(QuoteInvalid)
	}
	observed := "bid " + cents(quote.Bid) + ", ask " + cents(quote.Ask)
	if quote.HasLast {
		observed += ", last " + cents(quote.Last)
	}
	return deny(QuoteInvalid, observed, "0 < bid <= ask", "",
		"The quote is not valid: "+observed+".", RetryLater)
}
