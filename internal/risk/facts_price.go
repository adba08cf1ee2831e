package risk

import (
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// quoteFacts picks the quote that prices and collars the order. A quote of another
// symbol is no quote; one in another currency is there, and prices nothing. The request
// comes apart from the facts, so that copying from it keeps what the facts point to on
// the caller's stack.
func quoteFacts(f *rail.Facts, req *rail.Request, dates *tradeDates) {
	if req.Quote.Symbol == "" || req.Quote.Symbol == f.Instrument.Symbol {
		f.Quote = req.Quote
	}
	valid := prices(f, &f.Quote)
	f.QuoteFresh = valid
	if age := f.Figures.Collar.MaxQuoteAge; age.On {
		f.QuoteFresh = valid && f.Quote.FreshAt(req.Now, age.Value)
	}
	exits := f.Reducing || f.LowersOnly
	switch last := &req.LastValid; {
	case f.QuoteFresh, valid && !exits:
		f.PricingQuote, f.PricingOK = f.Quote, true
	case exits && prices(f, last) && dates.recent(last.At):
		f.PricingQuote, f.PricingOK = *last, true
	}
}

// prices reports whether a quote is valid, of the order's instrument and in the
// currency of the limits.
func prices(f *rail.Facts, q *market.Quote) bool {
	return q.Valid() && (q.Symbol == "" || q.Symbol == f.Instrument.Symbol) &&
		(q.Currency == "" || q.Currency == f.Limits.Currency)
}

// priceFacts fills the risk price, and the order's notional and cost by it.
func priceFacts(f *rail.Facts, c *change) {
	f.RiskPrice, f.RiskPriceOK = riskPrice(f)
	if !f.RiskPriceOK || !f.Instrument.Multiplier.IsPositive() {
		return
	}
	multiplier := f.Instrument.Multiplier
	var ok [3]bool
	f.Notional, ok[0] = f.RiskPrice.TimesMultiplied(f.Intent.Quantity, multiplier, money.Up)
	if f.Target == nil {
		f.IncrementNotional, f.NotionalOK = f.Notional, ok[0]
		return
	}
	// The increment of a replace is in units, in price, or in both: whichever of the
	// added units and the added value of what is unfilled comes to more.
	f.IncrementNotional, ok[1] = f.RiskPrice.TimesMultiplied(f.Increment, multiplier, money.Up)
	added, fine := addedValue(f, c.unfilled)
	f.IncrementNotional = money.MaxNotional(f.IncrementNotional, added)
	f.NotionalOK = ok[0] && ok[1] && fine
}

// addedValue is the unfilled quantity at the new risk price less the target's at its
// own; never below zero.
func addedValue(f *rail.Facts, unfilled money.Quantity) (money.Notional, bool) {
	multiplier := f.Instrument.Multiplier
	left, ok1 := f.Target.Quantity.Sub(f.Target.Filled)
	before, ok2 := f.Target.RiskPrice.TimesMultiplied(left, multiplier, money.Down)
	after, ok3 := f.RiskPrice.TimesMultiplied(unfilled, multiplier, money.Up)
	added, ok4 := after.Sub(before)
	return money.MaxNotional(added, money.Notional{}), ok1 && ok2 && ok3 && ok4
}

// riskPrice is the price that an order is valued at, rounded up: the most that a buy
// can pay; for a sell, what a short position would be worth.
func riskPrice(f *rail.Facts) (money.Price, bool) {
	in, quote := f.Intent, &f.PricingQuote
	base := in.StopPrice
	switch {
	case in.Type.HasLimit() && in.Side == order.Buy:
		return in.LimitPrice, true
	case in.Type.HasLimit():
		return money.MaxPrice(in.LimitPrice, quote.Bid), f.PricingOK
	case in.Type == order.Stop && in.Side == order.Buy && f.PricingOK:
		// A buy stop below the market triggers at once, and pays the ask.
		base = money.MaxPrice(base, quote.Ask)
	case in.Type == order.Stop:
	case !f.PricingOK:
		return money.Price{}, false
	case in.Side == order.Buy:
		base = quote.Ask
	default:
		base = quote.Bid
	}
	slippage := f.Figures.Collar.MarketOrderSlippage
	switch {
	case !slippage.Set:
		return money.Price{}, false
	case !slippage.On:
		return base, true
	}
	return base.Raise(slippage.Value, money.Up)
}
