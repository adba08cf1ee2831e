package lint

import (
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/rail"
)

// floor is a lower bound on the steps of any scenario in which a rail denies, and why.
type floor struct {
	steps   int
	because string
}

// floorOf argues from what a scenario begins with: mode active, clocks that agree, nothing
// in doubt, nothing ordered, denied or sent in the windows of minutes, no order of today
// that the story's agent could repeat.
func floorOf(g *ground, id rail.ID) floor {
	t := &g.doc.Session
	switch id {
	case rail.KillSwitch:
		return floor{2, "a scenario begins in mode active, so one step changes it and one asks"}
	case rail.ClockSuspect:
		return floor{2, "a scenario begins with clocks that agree, so one step sets one and one asks"}
	case rail.DuplicateClientOrderID, rail.DuplicateOrder:
		return floor{2, "a scenario begins without an order of the agent's in the window, so one is taken and one repeats it"}
	case rail.OrderInDoubt:
		return floor{3, "an outcome is lost by a step, the order that loses it is one, and the order denied is one"}
	case rail.AccountUnreconciled:
		return floor{3, "the broker comes to differ in one step, a reconciliation reads it in one, and one asks"}
	case rail.MaxOrdersPerMinute:
		return counted(t.MaxOrdersPerMinute.Value, "orders in the last minute and each step makes one")
	case rail.MaxMessagesPerMinute:
		return counted(t.MaxMessagesPerMinute.Value, "messages in the last minute and each step sends one")
	case rail.MaxNotionalPerMinute:
		return g.turnoverFloor()
	case rail.DenialStorm:
		return g.stormFloor()
	case rail.RepeatedExecution:
		n := t.RepeatedExecution.Value.Cycles
		return floor{n + 2, fmt.Sprintf("a step fills one order, a fill ends at most one cycle and the first one ends none, and %d cycles are needed", n)}
	case rail.MaxDrawdown:
		return g.drawdownFloor()
	case rail.MaxDailyLoss:
		if d := t.MaxDrawdown; d.On && d.Value.Cmp(t.MaxDailyLoss.Value) <= 0 {
			return floor{3, "an account that lost that much is as far below its peak, which max_drawdown denies too, so one step realizes the loss, one wins it back, and one asks"}
		}
	}
	return floor{1, "only a step that orders can be denied"}
}

func counted(n int, what string) floor {
	if n == 0 {
		return floor{1, "only a step that orders can be denied"}
	}
	return floor{n + 1, fmt.Sprintf("a scenario begins with no %s, so %d come before the one denied", what, n)}
}

func (g *ground) turnoverFloor() floor {
	most, one := g.doc.Session.MaxNotionalPerMinute, g.figures.Size.MaxOrderNotional
	if one.On && one.Value.Cmp(most.Value) <= 0 {
		return floor{2, fmt.Sprintf("one order is worth at most max_order_notional %s, which is within max_notional_per_minute %s, so a second is needed",
			one.Value, most.Value)}
	}
	return floor{1, "only a step that orders can be denied"}
}

// stormFloor: the limits change, since the denial that is one too many would set
// reduce_only and bring kill_switch with it; and where so many denials spend the messages
// of a minute, it has to pass, and a quote has to come after it.
func (g *ground) stormFloor() floor {
	t := &g.doc.Session
	n := t.DenialStorm.Value.Denials + 1
	f := floor{n + 2, fmt.Sprintf("each step makes one denial and %d are needed; the last would set reduce_only and bring kill_switch with it, "+
		"so the limits change between them and the order asked about", n)}
	if m := t.MaxMessagesPerMinute; m.On && n >= m.Value {
		f.steps++
		f.because += fmt.Sprintf("; they spend max_messages_per_minute %d, so a minute passes", m.Value)
		if age := g.figures.Collar.MaxQuoteAge; age.On && age.Value < time.Minute {
			f.steps++
			f.because += ", and a quote comes after it"
		}
	}
	return f
}

func (g *ground) drawdownFloor() floor {
	t := &g.doc.Session
	if l := t.MaxDailyLoss; !l.On || l.Value.Cmp(t.MaxDrawdown.Value) > 0 {
		return floor{1, "only a step that orders can be denied"}
	}
	f := floor{2, "within the first trade date such a fall is a loss that max_daily_loss denies too, so a day passes in one step and one asks"}
	if age := g.figures.Collar.MaxQuoteAge; age.On && age.Value < closedFor {
		f.steps++
		f.because += "; and a quote comes after it"
	}
	return f
}

// closedFor is the time from one day's last session to the next one's first, at the least.
const closedFor = preOpens + 24*time.Hour - postCloses
