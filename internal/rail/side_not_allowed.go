package rail

import "slices"

func sideNotAllowedRail() Rail {
	return Rail{
		ID: SideNotAllowed, Family: familyInstrument, Keys: []string{"instrument.sides"},
		Exempt: ExemptNone, Check: sideNotAllowed,
	}
}

// sideNotAllowed denies an order on a side that the operator did not list.
//
// An empty list allows nothing. Reducing orders are judged too: who lists only buy
// keeps all selling to people.
//
// Source: FIA 2024, order type controls; the operator's choice.
func sideNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(SideNotAllowed, missing)
	}
	side := f.Intent.Side
	if side != 0 && slices.Contains(f.Limits.Instrument.Sides, side) {
		return pass(SideNotAllowed)
	}
	limit := wordList(f.Limits.Instrument.Sides)
	return deny(SideNotAllowed, orNone(side.String()), limit, limit,
		"Side "+orNone(side.String())+" is not among those allowed ("+limit+").", RetryChanged)
}
