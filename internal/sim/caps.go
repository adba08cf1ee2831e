package sim

import (
	"fmt"
	"slices"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// ExitSlots are the open orders that exits may have beside the document's figure.
const ExitSlots = 5

// Caps are the figures that the broker's record is held against.
type Caps struct {
	Symbols           []string
	Types             []order.Type
	OrderQuantity     money.Quantity
	PositionQuantity  money.Quantity
	OrderNotional     money.Notional
	GrossExposure     money.Notional
	NotionalPerMinute money.Notional
	DailyLoss         money.Notional
	OrdersPerMinute   int
	OrdersPerDay      int
	OpenOrders        int // ExitSlots more for exits
	BuyCollar         money.BasisPoints
	SellCollar        money.BasisPoints // the wider one, for exits: every sell is one
}

// CapsOf takes the figures from a limits document. One that switches off what a session
// is there to prove, or allows shorts, is an error.
func CapsOf(d *limits.Document) (Caps, error) {
	s, p, t, c := &d.Size, &d.Position, &d.Session, &d.Collar
	for _, need := range []struct {
		key string
		on  bool
	}{
		{"size.max_order_qty", s.MaxOrderQuantity.On}, {"size.max_order_notional", s.MaxOrderNotional.On},
		{"position.max_position_qty", p.MaxPositionQuantity.On}, {"position.max_gross_exposure", p.MaxGrossExposure.On},
		{"position.max_open_orders", p.MaxOpenOrders.On}, {"collar.limit_price_collar", c.LimitPriceCollar.On},
		{"collar.exit_price_collar", c.ExitPriceCollar.On}, {"session.max_orders_per_minute", t.MaxOrdersPerMinute.On},
		{"session.max_notional_per_minute", t.MaxNotionalPerMinute.On}, {"session.max_orders_per_day", t.MaxOrdersPerDay.On},
		{"session.max_daily_loss", t.MaxDailyLoss.On}, {"session.require_market_open", t.RequireMarketOpen},
	} {
		if !need.on {
			return Caps{}, fmt.Errorf("a session proves %s, which this document switches off", need.key)
		}
	}
	if d.Instrument.AllowShort || d.Instrument.AllowExtendedHours {
		return Caps{}, fmt.Errorf("a session proves that nothing is sold short or outside the regular session, which this document allows")
	}
	return Caps{
		Symbols: slices.Clone(d.Instrument.Symbols), Types: slices.Clone(d.Instrument.OrderTypes),
		OrderQuantity: s.MaxOrderQuantity.Value, OrderNotional: s.MaxOrderNotional.Value,
		PositionQuantity: p.MaxPositionQuantity.Value, GrossExposure: p.MaxGrossExposure.Value,
		OpenOrders: p.MaxOpenOrders.Value, OrdersPerMinute: t.MaxOrdersPerMinute.Value,
		NotionalPerMinute: t.MaxNotionalPerMinute.Value, OrdersPerDay: t.MaxOrdersPerDay.Value,
		DailyLoss: t.MaxDailyLoss.Value, BuyCollar: c.LimitPriceCollar.Value, SellCollar: c.ExitPriceCollar.Value,
	}, nil
}
