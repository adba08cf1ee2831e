package rail

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func selfCrossRail() Rail {
	return Rail{
		ID: SelfCross, Family: familyPosition, Keys: []string{"position.allow_self_cross"},
		Exempt: ExemptNone, Check: selfCross,
	}
}

// selfCross denies an order that could trade against the account's own open order on
// the other side.
//
// Such a trade changes nothing but the tape, and is a wash trade when it is meant. A
// buy crosses an own sell at its limit or above, a sell an own buy at its limit or
// below; one step short of it passes. A market order meets any price. Working, reserved
// and in-doubt orders count, with their present terms and with those that a pending
// replace may bring, and so do orders made outside Broker Rails. A stop that has not
// triggered, of either side, is not in the book and does not cross; whether it has is
// asked of the pricing quote, and without one it is a fault. Reducing orders are judged
// like any other.
//
// Source: FIA 2024 self-match prevention; FINRA rule 5210.02 (self-trades).
func selfCross(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(SelfCross, missing)
	}
	switch {
	case f.Limits.Position.AllowSelfCross:
		return off(SelfCross)
	case f.Intent.Side == order.SideNone:
		return fault(SelfCross, "the order's side")
	case f.Holding == nil:
		return pass(SelfCross)
	}
	met := f.metOrder()
	switch {
	case met.order != nil:
		return denySelfCross(f, &met)
	case met.unknown:
		return fault(SelfCross, "a quote that tells whether a stop has triggered")
	}
	return pass(SelfCross)
}

// met is what the order could trade with: the own order with the best price, and
// whether one has no price at all.
type met struct {
	order   *account.Order
	price   money.Price
	market  bool
	unknown bool // an order may be in the book or not
}

func (f *Facts) metOrder() met {
	var m met
	for _, o := range f.Holding.Orders {
		if o.Side == f.Intent.Side {
			continue
		}
		m = m.with(f, o, &o.Terms)
		if o.Pending != nil {
			m = m.with(f, o, &o.Pending.Terms)
		}
	}
	return m
}

// with returns m with one more order. It works on values, so that what the facts point
// to need not leave the caller's stack.
func (m met) with(f *Facts, o *account.Order, terms *account.Terms) met {
	switch f.meets(terms, o.Side) {
	case crossesNot:
		return m
	case crossesUnknown:
		m.unknown = true
		return m
	}
	if !terms.Type.HasLimit() {
		m.order, m.market = o, true
		return m
	}
	better := m.order == nil || !marketable(o.Side, m.price, terms.LimitPrice)
	if better && !m.market {
		m.order, m.price = o, terms.LimitPrice
	}
	return m
}

// crossing is whether two orders could trade with each other. The zero value is
// unknown.
type crossing uint8

const (
	crossesUnknown crossing = iota
	crossesNot
	crossesYes
)

// meets reports whether the order could trade with an own order of these terms.
func (f *Facts) meets(terms *account.Terms, side order.Side) crossing {
	live := triggered(f.Intent.Type, f.Intent.StopPrice, f.Intent.Side, f.PricingQuote, f.PricingOK)
	own := triggered(terms.Type, terms.StopPrice, side, f.PricingQuote, f.PricingOK)
	switch {
	case live == crossesNot || own == crossesNot:
		return crossesNot
	case f.Intent.Type.HasLimit() && terms.Type.HasLimit() && !marketable(f.Intent.Side, f.Intent.LimitPrice, terms.LimitPrice):
		return crossesNot
	case live == crossesUnknown || own == crossesUnknown:
		return crossesUnknown
	}
	return crossesYes
}

// marketable reports whether an order of this side and limit could trade with one on
// the other side.
func marketable(side order.Side, limit, other money.Price) bool {
	if side == order.Buy {
		return limit.Cmp(other) >= 0
	}
	return limit.Cmp(other) <= 0
}

// triggered reports whether an order is in the book: crossesYes at once for those
// without a stop, crossesNot while the stop waits. Stops trigger on the ask for buys,
// on the bid for sells.
func triggered(t order.Type, stop money.Price, side order.Side, q market.Quote, known bool) crossing {
	switch {
	case !t.HasStop():
		return crossesYes
	case !known:
		return crossesUnknown
	case side == order.Buy && q.Ask.Cmp(stop) >= 0, side == order.Sell && q.Bid.Cmp(stop) <= 0:
		return crossesYes
	}
	return crossesNot
}

func denySelfCross(f *Facts, m *met) Finding {
	observed, passes, retry := "market", "", RetryChanged
	if f.Intent.Type.HasLimit() {
		observed = cents(f.Intent.LimitPrice)
	}
	own := cents(m.price)
	var limit string
	switch {
	case m.market:
		own, limit, retry = "market", "no own market order on the other side", RetryLater
	case f.Intent.Side == order.Buy:
		limit, passes = "below "+own, "a limit_price below "+own
	default:
		limit, passes = "above "+own, "a limit_price above "+own
	}
	return deny(SelfCross, observed, limit, passes,
		"A "+f.Intent.Side.String()+" at "+observed+" could trade with the account's own "+m.order.Side.String()+
			" order "+m.order.ID+" at "+own+".", retry)
}
