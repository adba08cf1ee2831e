package rail

import "github.com/broker-rails/broker-rails/internal/money"

func maxConcentrationRail() Rail {
	return Rail{
		ID: MaxConcentration, Family: familyPosition, Keys: []string{"position.max_concentration"},
		Exempt: ExemptAll, Check: maxConcentration,
	}
}

// maxConcentration denies an order with which one instrument could come to more than a
// share of the account's equity now.
//
// It keeps one name from carrying the account. The instrument's worst side x the
// higher of risk price and ask is compared with limit percent of equity, by
// cross-multiplication: at the share passes, anything more is denied, and an account
// without equity passes nothing. Without equity now or a price it is a fault. Reducing
// orders pass.
//
// Source: RTS 6 art. 15(4) (limits from capital); SEC rule 15c3-5(c)(1)(i).
func maxConcentration(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxConcentration, missing)
	}
	limit := f.Figures.Position.MaxConcentration
	switch {
	case !limit.Set:
		return unset(MaxConcentration, "position.max_concentration")
	case !limit.On:
		return off(MaxConcentration)
	case f.spared():
		return pass(MaxConcentration)
	case !f.OwnOK:
		return fault(MaxConcentration, "the position and its price")
	case !f.EquityOK:
		return fault(MaxConcentration, "equity now")
	}
	exceeds, ok := f.Own.ExceedsPercentOf(f.Equity, limit.Value)
	switch {
	case !ok:
		return fault(MaxConcentration, inRange)
	case !exceeds:
		return pass(MaxConcentration)
	}
	return denyConcentration(f)
}

func denyConcentration(f *Facts) Finding {
	limit := f.Figures.Position.MaxConcentration.Value
	passes := ""
	if room, ok := f.Equity.Share(limit, money.Down); ok {
		passes = f.quantityWorth(room, f.valuation())
	}
	observed, most := f.Own.String(), limit.String()+"%"
	return deny(MaxConcentration, observed, most, passes,
		"With all open orders the position could be worth "+observed+", above "+most+" of equity "+
			f.Equity.String()+quantityPasses(passes), changed(passes))
}
