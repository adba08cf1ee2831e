package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func positionFlipRail() Rail {
	return Rail{
		ID: PositionFlip, Family: familyPosition, Keys: []string{"position.allow_flip"},
		Exempt: ExemptNone, Check: positionFlip,
	}
}

// positionFlip denies an order against the position that could carry it across zero.
//
// An exit that is larger than what is held opens a position on the other side, often
// by mistake: a stale position, or an exit that already works. Working, reserved and
// in-doubt exits count. Exactly to zero passes; one unit of least precision beyond is
// denied, as a whole and never split. From flat nothing flips: see short_not_allowed. An
// unknown position is a fault. A replace that only lowers a quantity passes.
//
// Source: no rule names it; engines that compare sides alone let an exit of 1,000 from
// a long of 10 open a short of 990.
func positionFlip(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(PositionFlip, missing)
	}
	switch {
	case f.Figures.Position.AllowFlip:
		return off(PositionFlip)
	case !f.PositionKnown:
		return fault(PositionFlip, "the position")
	case f.Intent.Side == order.SideNone:
		return fault(PositionFlip, "the order's side")
	case f.spared(), !f.crosses():
		return pass(PositionFlip)
	}
	own, _ := f.worst()
	observed, passes := own.String(), f.quantityOnSide(money.Quantity{})
	text := "Against a position of " + f.Position.String() + " the order and the exits that already work could open " +
		observed + " on the other side" + quantityPasses(passes)
	return deny(PositionFlip, observed, "0", passes, text, changed(passes))
}

// crosses reports whether the order stands against the position and its worst side
// lies beyond zero.
func (f *Facts) crosses() bool {
	switch f.Intent.Side {
	case order.Sell:
		return f.Position.IsPositive() && f.WorstShort.IsPositive()
	case order.Buy:
		return f.Position.IsNegative() && f.WorstLong.IsPositive()
	}
	return true
}
