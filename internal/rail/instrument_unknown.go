package rail

func instrumentUnknownRail() Rail {
	return Rail{
		ID: InstrumentUnknown, Family: familyInstrument,
		Exempt: ExemptNone, Check: instrumentUnknown,
	}
}

// instrumentUnknown denies an order whose symbol is not exactly one active instrument,
// in the document's currency and with a multiplier.
//
// It stops orders for delisted, renamed or mistyped symbols, and figures that would be
// off by a currency or a contract's multiplier. The resolved symbol must be the order's
// own, its letters folded to upper case in ASCII only. When the source of instruments
// could not be asked it is a fault. Reducing orders are judged too.
//
// Source: 15c3-5(c)(2)(i); RTS 6 art. 15(5).
func instrumentUnknown(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(InstrumentUnknown, missing)
	}
	if !f.Request.InstrumentAsked {
		return fault(InstrumentUnknown, "an answer from the source of instruments")
	}
	in := &f.Instrument
	switch {
	case !f.Request.InstrumentKnown:
		return unknownInstrument("none or several", "The symbol is not exactly one active instrument.")
	case !FoldsTo(f.Intent.Symbol, in.Symbol):
		return unknownInstrument("another symbol", "The symbol was resolved to an instrument of another symbol.")
	case !in.Active:
		return unknownInstrument("not active", "Instrument "+in.Symbol+" is not active.")
	case in.Currency == "" || in.Currency != f.Limits.Currency:
		return unknownInstrument("another currency", "Instrument "+in.Symbol+" does not trade in "+f.Limits.Currency+", the currency of the limits.")
	case !in.Multiplier.IsPositive():
		return unknownInstrument("no multiplier", "Instrument "+in.Symbol+" has no multiplier.")
	}
	return pass(InstrumentUnknown)
}

func unknownInstrument(observed, text string) Finding {
	return deny(InstrumentUnknown, observed, "exactly one active instrument", "", text, RetryChanged)
}
