package rail

import (
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func passivePriceCollarRail() Rail {
	return Rail{
		ID: PassivePriceCollar, Family: familyCollar, Keys: []string{"collar.passive_price_collar"},
		Exempt: ExemptNone, Check: passivePriceCollar,
	}
}

// passivePriceCollar denies a limit order further from the mid than the outer band, on
// either side.
//
// It stops forgotten orders far from the market, which fill only when something has
// gone wrong. A price exactly on the band passes. It does not apply to stop-limit
// orders, whose limit belongs to their stop. Without a valid quote it is a fault.
// Reducing orders are judged too, without a fresh quote by the last valid one.
//
// Source: FIA 2024 price tolerance; RTS 6 art. 15(1)(a).
func passivePriceCollar(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(PassivePriceCollar, missing)
	}
	band := &f.Figures.Collar.PassivePriceCollar
	switch {
	case !band.Set:
		return unset(PassivePriceCollar, "collar.passive_price_collar")
	case !band.On:
		return off(PassivePriceCollar)
	case f.Intent.Type != order.Limit:
		return pass(PassivePriceCollar)
	case !f.PricingOK:
		return fault(PassivePriceCollar, "a valid quote")
	}
	p, bid, ask := f.Intent.LimitPrice, f.PricingQuote.Bid, f.PricingQuote.Ask
	further, ok := p.FurtherFromMidThan(bid, ask, band.Value)
	switch {
	case !ok:
		return fault(PassivePriceCollar, "a valid quote")
	case !further:
		return pass(PassivePriceCollar)
	}
	observed := "over the band"
	if away, ok := p.FromMid(bid, ask, money.Up); ok {
		observed = away.String() + " bps"
	}
	return deny(PassivePriceCollar, observed, band.Value.String()+" bps", "",
		"limit_price "+cents(p)+" is more than "+band.Value.String()+" bps from the mid of bid "+cents(bid)+" and ask "+cents(ask)+".", RetryChanged)
}
