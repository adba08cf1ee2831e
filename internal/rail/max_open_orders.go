package rail

import (
	"strconv"

	"github.com/broker-rails/broker-rails/internal/order"
)

// exitSlots is how many open orders beyond the limit exits may come to, so that opens
// cannot keep an exit out.
const exitSlots = 5

func maxOpenOrdersRail() Rail {
	return Rail{
		ID: MaxOpenOrders, Family: familyPosition, Keys: []string{"position.max_open_orders"},
		Exempt: ExemptOwn, Check: maxOpenOrders,
	}
}

// maxOpenOrders denies a new order that would leave more orders open than the limit.
//
// It bounds how many orders can fill at once and must be looked after. Working,
// reserved and in-doubt orders count, and those made outside Broker Rails. At the limit
// passes; one more is denied. Reducing orders have five slots of their own: they are
// compared with limit + 5, in total. A replace takes no slot.
//
// Source: Eurex working-order count; RTS 6 art. 8 (limit on the number of orders).
func maxOpenOrders(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MaxOpenOrders, missing)
	}
	limit := f.Limits.Position.MaxOpenOrders
	switch {
	case !limit.Set:
		return unset(MaxOpenOrders, "position.max_open_orders")
	case !limit.On:
		return off(MaxOpenOrders)
	case f.Intent.Action == order.ActionReplace:
		return pass(MaxOpenOrders)
	}
	most := limit.Value
	if f.Reducing {
		most += exitSlots
	}
	if len(f.State.Orders) < most {
		return pass(MaxOpenOrders)
	}
	observed, allowed := strconv.Itoa(len(f.State.Orders)+1), strconv.Itoa(most)
	return deny(MaxOpenOrders, observed, allowed, "",
		"This would be open order "+observed+", above "+allowed+"; one that ends or is canceled makes room.",
		RetryLater)
}
