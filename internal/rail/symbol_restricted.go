package rail

func symbolRestrictedRail() Rail {
	return Rail{
		ID: SymbolRestricted, Family: familyInstrument, Keys: []string{"instrument.restricted_symbols"},
		Exempt: ExemptNone, Check: symbolRestricted,
	}
}

// symbolRestricted denies an order for a restricted symbol, or for one whose underlying
// is restricted.
//
// It keeps the account out of instruments that its owner must not trade. Restricted
// wins over allowed. Reducing orders are denied too. Without a resolved instrument the
// underlying is not known, which is a fault.
//
// Source: 15c3-5(c)(2)(ii).
func symbolRestricted(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(SymbolRestricted, missing)
	}
	restricted := f.Limits.Instrument.RestrictedSymbols
	switch {
	case len(restricted) == 0:
		return pass(SymbolRestricted)
	case listed(restricted, f.Intent.Symbol), listed(restricted, f.Instrument.Symbol):
		return deny(SymbolRestricted, "restricted", "instrument.restricted_symbols", "",
			"The symbol is on the operator's list of restricted symbols.", RetryNo)
	case !f.Request.InstrumentKnown:
		return fault(SymbolRestricted, "the resolved instrument")
	case listed(restricted, f.Instrument.Underlying):
		return deny(SymbolRestricted, "underlying restricted", "instrument.restricted_symbols", "",
			"The underlying "+f.Instrument.Underlying+" is on the operator's list of restricted symbols.", RetryNo)
	}
	return pass(SymbolRestricted)
}
