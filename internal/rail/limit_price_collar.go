package rail

import (
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func limitPriceCollarRail() Rail {
	return Rail{
		ID: LimitPriceCollar, Family: familyCollar, Keys: []string{"collar.limit_price_collar", "collar.exit_price_collar"},
		Exempt: ExemptOwn, Check: limitPriceCollar,
	}
}

// limitPriceCollar denies a limit order priced too far through the market, and a
// stop-limit order whose limit is too far through its stop.
//
// It stops a mistyped, stale or injected price from trading at once. Buys are compared
// with the ask, sells with the bid, stop-limits with their stop. A price exactly on the
// band passes; one step beyond is denied. Without a valid quote it is a fault, beside
// the denial by quote_invalid. Reducing orders have the exit band, and without a fresh
// quote they are compared with the last valid one. Stop orders: see stop_price_side.
//
// Source: FIA 2024 price tolerance; RTS 6 art. 15(1)(a).
func limitPriceCollar(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(LimitPriceCollar, missing)
	}
	band, key := &f.Figures.Collar.LimitPriceCollar, "collar.limit_price_collar"
	if f.spared() {
		band, key = &f.Figures.Collar.ExitPriceCollar, "collar.exit_price_collar"
	}
	in := f.Intent
	switch {
	case !band.Set:
		return unset(LimitPriceCollar, key)
	case !band.On:
		return off(LimitPriceCollar)
	case in.Type == order.StopLimit:
		return collared(f, band, in.StopPrice, "stop")
	case in.Type != order.Limit:
		return pass(LimitPriceCollar)
	case !f.PricingOK:
		return fault(LimitPriceCollar, "a valid quote")
	case in.Side == order.Sell:
		return collared(f, band, f.PricingQuote.Bid, "bid")
	}
	return collared(f, band, f.PricingQuote.Ask, "ask")
}

// collared compares the limit price with the band round ref, which name names.
func collared(f *Facts, band *limits.Limit[money.BasisPoints], ref money.Price, name string) Finding {
	p, buys := f.Intent.LimitPrice, f.Intent.Side == order.Buy
	exceeds, ok := p.ExceedsBandBelow(ref, band.Value)
	if buys {
		exceeds, ok = p.ExceedsBandAbove(ref, band.Value)
	}
	switch {
	case !ok:
		return fault(LimitPriceCollar, "a price to compare with")
	case !exceeds:
		return pass(LimitPriceCollar)
	}
	relation, extreme := "below", "lowest"
	edge, ok := money.LowestWithinBandBelow(ref, band.Value, priceStepAt(f, ref))
	if buys {
		relation, extreme = "above", "highest"
		edge, ok = money.HighestWithinBandAbove(ref, band.Value, priceStepAt(f, ref))
	}
	passes, most := "", "what passes"
	if ok {
		passes = cents(edge)
		most = passes + ", the " + extreme + " that passes"
	}
	return deny(LimitPriceCollar, cents(p), band.Value.String()+" bps", passes,
		"limit_price "+cents(p)+" is "+relation+" "+most+" ("+name+" "+cents(ref)+", band "+band.Value.String()+" bps).", RetryChanged)
}
