package rail

import "slices"

func assetClassNotAllowedRail() Rail {
	return Rail{
		ID: AssetClassNotAllowed, Family: familyInstrument, Keys: []string{"instrument.asset_classes"},
		Exempt: ExemptNone, Check: assetClassNotAllowed,
	}
}

// assetClassNotAllowed denies an order whose instrument is of a class that the operator
// did not list.
//
// It goes by the class of the resolved instrument, never by the name of the tool that
// was called. An empty list allows nothing. Without a resolved instrument it is a
// fault. Reducing orders are judged too.
//
// Source: RTS 6 art. 15(5).
func assetClassNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(AssetClassNotAllowed, missing)
	}
	if !f.Request.InstrumentKnown {
		return fault(AssetClassNotAllowed, "the resolved instrument")
	}
	class := f.Instrument.Class
	if class != 0 && slices.Contains(f.Limits.Instrument.AssetClasses, class) {
		return pass(AssetClassNotAllowed)
	}
	observed := class.String()
	if observed == "" {
		observed = "unknown"
	}
	limit := wordList(f.Limits.Instrument.AssetClasses)
	return deny(AssetClassNotAllowed, observed, limit, "",
		"Asset class "+observed+" is not among those allowed ("+limit+").", RetryNo)
}
