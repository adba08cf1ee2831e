package rail

import (
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func marketOrderGuardRail() Rail {
	return Rail{
		ID: MarketOrderGuard, Family: familyCollar, Keys: []string{"collar.market_order_spread"},
		Exempt: ExemptOwn, Check: marketOrderGuard,
	}
}

// marketOrderGuard denies a market order while the spread is over the guard, or outside
// the regular session.
//
// It stops orders that name no worst price from trading in a thin book. A spread at the
// guard passes; it is compared over the mid. Without a valid quote, or a calendar that
// covers today, it is a fault. Reducing orders are spared the spread, and past the
// calendar's validity the session. The session's half stays when the spread is off.
//
// Source: FIA 2024 market data reasonability; exchange market order collars.
func marketOrderGuard(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(MarketOrderGuard, missing)
	}
	guard := &f.Figures.Collar.MarketOrderSpread
	switch {
	case !guard.Set:
		return unset(MarketOrderGuard, "collar.market_order_spread")
	case f.Intent.Type != order.Market:
		return pass(MarketOrderGuard)
	case !f.Session.Known && !f.spared():
		return fault(MarketOrderGuard, "a calendar that covers today")
	case f.Session.Known && f.Session.Kind != market.Regular:
		return deny(MarketOrderGuard, "outside the regular session", "the regular session", "",
			"Market orders are allowed in the regular session only.", RetryLater)
	case !guard.On, f.spared():
		return pass(MarketOrderGuard)
	case !f.PricingOK:
		return fault(MarketOrderGuard, "a valid quote")
	}
	return guardedSpread(f, guard.Value, MarketOrderGuard)
}

// guardedSpread compares the spread of the pricing quote with the most, in bps.
func guardedSpread(f *Facts, most money.BasisPoints, id ID) Finding {
	bid, ask := f.PricingQuote.Bid, f.PricingQuote.Ask
	exceeds, ok := money.SpreadExceeds(bid, ask, most)
	switch {
	case !ok:
		return fault(id, "a valid quote")
	case !exceeds:
		return pass(id)
	}
	observed := "over the maximum"
	if spread, ok := money.SpreadInBasisPoints(bid, ask, money.Up); ok {
		observed = spread.String() + " bps"
	}
	return deny(id, observed, most.String()+" bps", "",
		"The spread of bid "+cents(bid)+" and ask "+cents(ask)+" is over "+most.String()+" bps of the mid.", RetryLater)
}
