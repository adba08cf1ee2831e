package lint

import (
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// idle are figures that nothing reads under the rest of the document.
func idle(doc *limits.Document) []Finding {
	in, c := &doc.Instrument, &doc.Collar
	has := func(types ...order.Type) bool {
		return slices.ContainsFunc(types, func(t order.Type) bool { return slices.Contains(in.OrderTypes, t) })
	}
	types := "instrument.order_types is [" + join(in.OrderTypes) + "]"
	const later = "it may stay: it counts from the day that the type is listed"
	var out []Finding
	add := func(so bool, key, what, arithmetic, hint string) {
		if so {
			out = append(out, Finding{Kind: NoEffect, Key: key, What: key + " " + what, Arithmetic: arithmetic, Hint: hint})
		}
	}
	add(c.MarketOrderSpread.On && !has(order.Market), "collar.market_order_spread", "guards market orders, and none is allowed", types, later)
	add(c.MarketOrderSlippage.On && !has(order.Market, order.Stop), "collar.market_order_slippage", "prices market and stop orders, and none is allowed", types, later)
	add(c.StopPriceSide.On && !has(order.Stop, order.StopLimit), "collar.stop_price_side", "judges stops, and none is allowed", types, later)
	add(c.PassivePriceCollar.On && !has(order.Limit), "collar.passive_price_collar", "judges limit orders, and none is allowed", types, later)
	add(in.AllowShort && !slices.Contains(in.Sides, order.Sell), "instrument.allow_short", "allows what no order can do: nothing may be sold",
		"instrument.sides is ["+join(in.Sides)+"]", "write false")
	add(doc.Position.AllowFlip && !in.AllowShort, "position.allow_flip", "allows a sell through zero that allow_short: false denies",
		"only a buy that covers a short made elsewhere could flip", "write false")
	if c.ExitPriceCollar.On && !c.LimitPriceCollar.On {
		out = append(out, Finding{
			Kind: OutOfOrder, Key: "collar.exit_price_collar", What: "Exits are collared and entries are not",
			Arithmetic: fmt.Sprintf("limit_price_collar is off and exit_price_collar is %s bps", c.ExitPriceCollar.Value),
			Hint:       "set limit_price_collar, or write off for both",
		})
	}
	return out
}

// beyondAccount are figures in currency that are more than the account is worth.
func beyondAccount(g *ground, equity number) []Finding {
	p, s := &g.doc.Position, &g.doc.Session
	var out []Finding
	for _, f := range []struct {
		key   string
		limit limits.Limit[money.Notional]
		cash  bool // buying power holds it too
	}{
		{"size.max_order_notional", g.doc.Size.MaxOrderNotional, true},
		{"position.max_position_notional", p.MaxPositionNotional, true},
		{"position.max_gross_exposure", p.MaxGrossExposure, true},
		{"position.max_net_exposure", p.MaxNetExposure, true},
		{"session.max_daily_loss", s.MaxDailyLoss, false},
		{"session.max_drawdown", s.MaxDrawdown, false},
	} {
		if !f.limit.On || of(f.limit.Value).cmp(equity) <= 0 {
			continue
		}
		found := Finding{
			Kind: BeyondAccount, Key: f.key, What: f.key + " is more than the account is worth",
			Arithmetic: fmt.Sprintf("%s > equity %s", f.limit.Value, equity), Hint: "set it from what the account may lose, not from what it may reach",
		}
		switch {
		case f.cash && p.RequireBuyingPower:
			found.Arithmetic += "; require_buying_power is true, so buying alone cannot reach it, and prices that rise or positions from before can"
		case !f.cash:
			found.Arithmetic += "; the account is empty before it is reached"
		}
		out = append(out, found)
	}
	return out
}
