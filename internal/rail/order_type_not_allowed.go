package rail

import "slices"

func orderTypeNotAllowedRail() Rail {
	return Rail{
		ID: OrderTypeNotAllowed, Family: familyInstrument, Keys: []string{"instrument.order_types"},
		Exempt: ExemptNone, Check: orderTypeNotAllowed,
	}
}

// orderTypeNotAllowed denies an order of a type that the operator did not list.
//
// Market orders are off as shipped: they name no worst price. An empty list allows
// nothing. Reducing orders are judged too.
//
// Source: FIA 2024, order type controls.
func orderTypeNotAllowed(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(OrderTypeNotAllowed, missing)
	}
	kind := f.Intent.Type
	if kind != 0 && slices.Contains(f.Limits.Instrument.OrderTypes, kind) {
		return pass(OrderTypeNotAllowed)
	}
	limit := wordList(f.Limits.Instrument.OrderTypes)
	return deny(OrderTypeNotAllowed, orNone(kind.String()), limit, limit,
		"Order type "+orNone(kind.String())+" is not among those allowed ("+limit+").", RetryChanged)
}
