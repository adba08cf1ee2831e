package rail

func symbolNotAllowedRail() Rail {
	return Rail{
		ID: SymbolNotAllowed, Family: familyInstrument, Keys: []string{"instrument.symbols"},
		Exempt: ExemptAll, Check: symbolNotAllowed,
	}
}

// symbolNotAllowed denies an order for a symbol that is not on the operator's list.
//
// It keeps the agent to the instruments that the operator chose. Letters are folded to
// upper case in ASCII only. An empty list allows nothing. An order that reduces a
// holding passes, so that a symbol taken off the list can still be sold.
//
// Source: RTS 6 art. 15(5); 15c3-5(c)(2)(ii).
func symbolNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(SymbolNotAllowed, missing)
	}
	if listed(f.Limits.Instrument.Symbols, f.Intent.Symbol) || f.spared() {
		return pass(SymbolNotAllowed)
	}
	return deny(SymbolNotAllowed, "not listed", "instrument.symbols", "",
		"The symbol is not on the operator's list of symbols.", RetryChanged)
}
