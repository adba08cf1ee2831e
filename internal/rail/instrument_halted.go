package rail

func instrumentHaltedRail() Rail {
	return Rail{
		ID: InstrumentHalted, Family: familyInstrument,
		Exempt: ExemptNone, Check: instrumentHalted,
	}
}

// instrumentHalted denies an order in an instrument that its exchange has halted or
// paused.
//
// It stops orders that would wait through a halt and trade at the price after it. The
// quote tells of the halt; without one it is a fault. A reducing order without a quote
// is judged by the last valid one, which also prices it. Reducing orders are judged
// too: a halted instrument trades for nobody.
//
// Source: 15c3-5(c)(2)(i).
func instrumentHalted(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(InstrumentHalted, missing)
	}
	quote := &f.Quote
	if !quote.Present && f.spared() && f.PricingOK {
		quote = &f.PricingQuote
	}
	switch {
	case !quote.Present:
		return fault(InstrumentHalted, "a quote")
	case quote.Halted:
		return deny(InstrumentHalted, "halted", "trading", "", "The exchange has halted trading in the instrument.", RetryLater)
	}
	return pass(InstrumentHalted)
}
