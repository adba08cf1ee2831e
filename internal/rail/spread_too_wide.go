package rail

func spreadTooWideRail() Rail {
	return Rail{
		ID: SpreadTooWide, Family: familyCollar, Keys: []string{"collar.max_spread"},
		Exempt: ExemptAll, Check: spreadTooWide,
	}
}

// spreadTooWide denies an order while the spread of its quote is over the maximum.
//
// It stops orders in a book too thin for its quote to mean anything. A spread at the
// maximum passes; it is compared over the mid, by cross-multiplication. Without a valid
// quote it is a fault. Reducing orders pass.
//
// Source: FIA 2024 market data reasonability.
func spreadTooWide(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(SpreadTooWide, missing)
	}
	limit := &f.Figures.Collar.MaxSpread
	switch {
	case !limit.Set:
		return unset(SpreadTooWide, "collar.max_spread")
	case !limit.On:
		return off(SpreadTooWide)
	case f.spared():
		return pass(SpreadTooWide)
	case !f.PricingOK:
		return fault(SpreadTooWide, "a valid quote")
	}
	return guardedSpread(f, limit.Value, SpreadTooWide)
}
