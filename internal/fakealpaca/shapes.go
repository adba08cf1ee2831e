package fakealpaca

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
)

// object is a JSON object in the making: the service writes figures as texts and leaves
// what is not there as null.
type object map[string]any

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func priceOr(p money.Price) any {
	if p.IsZero() {
		return nil
	}
	return p.String()
}

func textOr(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func orderObject(o *Order) object {
	out := object{
		"id": o.ID, "client_order_id": o.ClientOrderID, "created_at": stamp(o.created), "updated_at": stamp(o.updated),
		"submitted_at": stamp(o.created), "filled_at": nil, "expired_at": nil, "canceled_at": nil, "failed_at": nil,
		"replaced_at": nil, "replaced_by": textOr(o.ReplacedBy), "replaces": textOr(o.Replaces),
		"asset_id": assetID(o.Symbol), "symbol": o.Symbol, "asset_class": "us_equity", "notional": nil, "qty": o.Quantity.String(),
		"filled_qty": o.Filled.String(), "filled_avg_price": priceOr(o.Average()), "order_class": "", "order_type": o.Type, "type": o.Type,
		"side": o.Side, "time_in_force": o.Force, "limit_price": priceOr(o.Limit), "stop_price": priceOr(o.Stop), "status": o.Status,
		"extended_hours": o.Extended, "legs": nil, "trail_percent": nil, "trail_price": nil, "hwm": nil, "position_intent": nil,
		"expires_at": stamp(o.created.Add(24 * time.Hour)),
	}
	switch o.Status {
	case "filled":
		out["filled_at"] = stamp(o.ended)
	case "canceled":
		out["canceled_at"] = stamp(o.ended)
	case "expired":
		out["expired_at"] = stamp(o.ended)
	case "rejected":
		out["failed_at"] = stamp(o.ended)
	case "replaced":
		out["replaced_at"] = stamp(o.ended)
	}
	return out
}

// assetID is the service's number of a symbol, the same each time.
func assetID(symbol string) string {
	b := book{}
	return b.id("asset " + symbol)
}

func (b *Broker) accountObject() object {
	equity, long, short := b.book.worth()
	power, _ := b.book.cash.Sub(b.book.reserved())
	if power.IsNegative() {
		power = money.Notional{}
	}
	return object{
		"id": b.book.accountID(), "account_number": "PA0FAKE00001", "status": "ACTIVE", "crypto_status": "INACTIVE", "currency": "USD",
		"cash": b.book.cash.String(), "portfolio_value": equity.String(), "equity": equity.String(), "last_equity": b.book.start.String(),
		"buying_power": power.String(), "regt_buying_power": power.String(), "daytrading_buying_power": "0", "non_marginable_buying_power": power.String(),
		"options_buying_power": "0", "long_market_value": long.String(), "short_market_value": short.Neg().String(), "initial_margin": "0",
		"maintenance_margin": "0", "last_maintenance_margin": "0", "sma": "0", "multiplier": "1", "accrued_fees": "0", "pending_transfer_in": "0",
		"daytrade_count": 0, "pattern_day_trader": false, "trading_blocked": b.blocked, "transfers_blocked": false, "account_blocked": b.blocked,
		"trade_suspended_by_user": false, "shorting_enabled": true, "created_at": "2026-01-02T14:30:00Z", "options_approved_level": 0, "options_trading_level": 0,
	}
}

func (b *book) accountID() string {
	x := book{}
	return x.id("account")
}

func (b *Broker) positionObject(p Position) object {
	last := b.book.last(p.Symbol)
	value, _ := last.Times(p.Quantity, money.Down)
	average, _ := p.Cost.Per(p.Quantity, money.Down)
	gain, _ := value.Sub(p.Cost)
	side := "long"
	if p.Quantity.IsNegative() {
		side = "short"
	}
	return object{
		"asset_id": assetID(p.Symbol), "symbol": p.Symbol, "exchange": "NASDAQ", "asset_class": "us_equity", "asset_marginable": true,
		"qty": p.Quantity.String(), "qty_available": b.available(p).String(), "avg_entry_price": average.String(), "side": side,
		"market_value": value.String(), "cost_basis": p.Cost.String(), "unrealized_pl": gain.String(), "unrealized_plpc": "0",
		"unrealized_intraday_pl": gain.String(), "unrealized_intraday_plpc": "0", "current_price": last.String(), "lastday_price": last.String(), "change_today": "0",
	}
}

// available is what of a long position no open sell holds.
func (b *Broker) available(p Position) money.Quantity {
	q := p.Quantity
	for _, o := range b.book.orders {
		if o.open() && o.Symbol == p.Symbol && o.Side == "sell" {
			rest, _ := o.Quantity.Sub(o.Filled)
			q, _ = q.Sub(rest)
		}
	}
	return q
}

func (b *Broker) activityObject(a activity) object {
	out := object{"id": a.at.UTC().Format("20060102150405000") + "::" + a.id, "activity_type": a.kind}
	if a.fill != nil {
		out["transaction_time"], out["type"], out["price"], out["qty"] = stamp(a.at), "fill", a.fill.Price.String(), a.fill.Quantity.String()
		out["side"], out["symbol"], out["order_id"], out["cum_qty"], out["leaves_qty"] = a.fill.Side, a.fill.Symbol, a.fill.OrderID, a.fill.Quantity.String(), "0"
		return out
	}
	out["date"], out["net_amount"], out["description"], out["status"] = a.at.UTC().Format("2006-01-02"), a.amount.String(), a.note, "executed"
	return out
}

func quoteObject(q Quote, at time.Time) object {
	return object{"t": stamp(at), "bp": number(q.Bid.String()), "ap": number(q.Ask.String()), "bs": 5, "as": 5, "bx": "V", "ax": "V", "c": []string{"R"}, "z": "C"}
}

func tradeObject(q Quote, p money.Price, at time.Time) object {
	return object{"t": stamp(at), "p": number(p.String()), "s": 100, "x": "V", "c": []string{"@"}, "i": 1, "z": "C"}
}
