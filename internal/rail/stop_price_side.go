package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func stopPriceSideRail() Rail {
	return Rail{
		ID: StopPriceSide, Family: familyCollar, Keys: []string{"collar.stop_price_side"},
		Exempt: ExemptNone, Check: stopPriceSide,
	}
}

// stopPriceSide denies a stop order that would trigger at once: a buy stop at or below
// the ask, a sell stop at or above the bid.
//
// It stops a protective order entered on the wrong side from becoming a market order.
// Stops trigger on the ask for buys and on the bid for sells. Without a valid quote it
// is a fault. Reducing orders are judged too, without a fresh quote by the last valid
// one. Limits of stop-limit orders: see limit_price_collar.
//
// Source: exchange rules on stop orders; FIA 2024 price tolerance.
func stopPriceSide(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(StopPriceSide, missing)
	}
	limit := &f.Figures.Collar.StopPriceSide
	switch {
	case !limit.Set:
		return unset(StopPriceSide, "collar.stop_price_side")
	case !limit.On || !limit.Value:
		return off(StopPriceSide)
	case !f.Intent.Type.HasStop():
		return pass(StopPriceSide)
	case !f.PricingOK:
		return fault(StopPriceSide, "a valid quote")
	}
	stop, bid, ask := f.Intent.StopPrice, f.PricingQuote.Bid, f.PricingQuote.Ask
	switch {
	case f.Intent.Side == order.Sell && stop.Cmp(bid) >= 0:
		return atOnce(stop, bid, "below the bid", "bid")
	case f.Intent.Side != order.Sell && stop.Cmp(ask) <= 0:
		return atOnce(stop, ask, "above the ask", "ask")
	}
	return pass(StopPriceSide)
}

func atOnce(stop, ref money.Price, side, name string) Finding {
	return deny(StopPriceSide, cents(stop), side, "",
		"stop_price "+cents(stop)+" would trigger at once: it must be "+side+" ("+name+" "+cents(ref)+").", RetryChanged)
}
