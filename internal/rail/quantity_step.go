package rail

func quantityStepRail() Rail {
	return Rail{
		ID: QuantityStep, Family: familySize, Keys: []string{"size.quantity_step"},
		Exempt: ExemptOwn, Check: quantityStep,
	}
}

// quantityStep denies a quantity that is not a whole multiple of the step.
//
// It keeps orders to the lots that the operator trades in. An order that closes all
// that can be closed passes, so that an odd remainder can be sold.
//
// Source: exchange lot sizes (FIX tag 561, round lot).
func quantityStep(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(QuantityStep, missing)
	}
	step := f.Figures.Size.QuantityStep
	q := f.Intent.Quantity
	switch {
	case !step.Set:
		return unset(QuantityStep, "size.quantity_step")
	case !step.On:
		return off(QuantityStep)
	case f.WholeClose, q.MultipleOf(step.Value):
		return pass(QuantityStep)
	}
	return deny(QuantityStep, q.String(), step.Value.String(), lowerMultiple(q, step.Value),
		"Quantity "+q.String()+" is not a multiple of "+step.Value.String()+".", RetryChanged)
}
