package archtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// bite is one key of the limits document with two values, and an order that is allowed
// under the loose one and denied under the tight one, by that rail alone.
type bite struct {
	key          string
	loose, tight string
	rail         rail.ID
	with         settings // other keys, for both
	begin        begin
	past         func(k *book)
	order        func(r *rail.Request)
}

func bites() []bite {
	return slices.Concat(instrumentBites(), sizeBites(), positionBites(), collarBites(), sessionBites())
}

func instrumentBites() []bite {
	sell := func(r *rail.Request) { r.Intent.Side = order.Sell }
	return []bite{
		{key: "instrument.symbols", loose: "[AAPL]", tight: "[MSFT]", rail: rail.SymbolNotAllowed},
		{key: "instrument.restricted_symbols", loose: "[MSFT]", tight: "[AAPL]", rail: rail.SymbolRestricted},
		{key: "instrument.asset_classes", loose: "[us_equity]", tight: "[]", rail: rail.AssetClassNotAllowed},
		{key: "instrument.sides", loose: "[buy]", tight: "[sell]", rail: rail.SideNotAllowed},
		{key: "instrument.order_types", loose: "[limit]", tight: "[stop_limit]", rail: rail.OrderTypeNotAllowed},
		{key: "instrument.times_in_force", loose: "[day]", tight: "[gtc]", rail: rail.TimeInForceNotAllowed},
		{
			key: "instrument.allow_extended_hours", loose: "true", tight: "false", rail: rail.ExtendedHoursNotAllowed,
			past:  func(k *book) { k.now = elevenAM.Add(6 * time.Hour) },
			order: func(r *rail.Request) { r.Intent.ExtendedHours = true },
		},
		{
			key: "instrument.allow_fractional", loose: "true", tight: "false", rail: rail.FractionalNotAllowed,
			with:  settings{"size.quantity_step": "off"},
			order: func(r *rail.Request) { r.Intent.Quantity = qty("1.5") },
		},
		{key: "instrument.allow_short", loose: "true", tight: "false", rail: rail.ShortNotAllowed, order: sell},
	}
}

func sizeBites() []bite {
	return []bite{
		{key: "size.max_order_qty", loose: "10", tight: "9", rail: rail.MaxOrderQty},
		{key: "size.max_order_notional", loose: `"2000.00"`, tight: `"1999.99"`, rail: rail.MaxOrderNotional},
		{key: "size.min_order_notional", loose: `"2000.00"`, tight: `"2000.01"`, rail: rail.MinOrderNotional},
		{key: "size.max_order_pct_of_equity", loose: "2", tight: "1.99", rail: rail.MaxOrderPctOfEquity},
		{key: "size.quantity_step", loose: `"5"`, tight: `"3"`, rail: rail.QuantityStep},
		{key: "symbols", loose: "{MSFT: {size: {max_order_qty: 9}}}", tight: "{AAPL: {size: {max_order_qty: 9}}}", rail: rail.MaxOrderQty},
	}
}

func positionBites() []bite {
	return []bite{
		{key: "position.max_position_qty", loose: "10", tight: "9", rail: rail.MaxPositionQty},
		{key: "position.max_position_notional", loose: `"2000.00"`, tight: `"1999.99"`, rail: rail.MaxPositionNotional},
		{key: "position.max_gross_exposure", loose: `"2000.20"`, tight: `"2000.19"`, rail: rail.MaxGrossExposure},
		{key: "position.max_net_exposure", loose: `"2000.20"`, tight: `"2000.19"`, rail: rail.MaxNetExposure},
		{key: "position.max_concentration", loose: "2.01", tight: "2", rail: rail.MaxConcentration},
		{key: "position.require_buying_power", loose: "false", tight: "true", rail: rail.InsufficientBuyingPower, begin: begin{cash: "1999.99"}},
		{
			key: "position.allow_flip", loose: "true", tight: "false", rail: rail.PositionFlip,
			with: settings{"instrument.allow_short": "true"}, begin: begin{held: "10"},
			order: func(r *rail.Request) { r.Intent.Side, r.Intent.Quantity = order.Sell, qty("15") },
		},
		{key: "position.max_open_orders", loose: "1", tight: "0", rail: rail.MaxOpenOrders},
		{
			key: "position.allow_self_cross", loose: "true", tight: "false", rail: rail.SelfCross, begin: begin{held: "10"},
			past: func(k *book) {
				r := k.request()
				r.Intent.Side = order.Sell
				k.place(r, journal.ResultAccepted)
			},
		},
		{
			key: "position.max_in_doubt", loose: "1", tight: "0", rail: rail.OrderInDoubt,
			past: func(k *book) {
				r := k.request()
				r.Intent.Symbol, r.Instrument, r.Quote.Symbol, r.LastValid.Symbol = "MSFT", share("MSFT"), "MSFT", "MSFT"
				k.place(r, journal.ResultInDoubt)
			},
			order: func(r *rail.Request) {
				r.Marks = []rail.Mark{{Symbol: "MSFT", Bid: prc("199.98"), Ask: prc("200.02"), At: elevenAM.Add(-time.Minute)}}
			},
		},
	}
}

func collarBites() []bite {
	typed := func(kind order.Type, stop string) func(*rail.Request) {
		return func(r *rail.Request) {
			r.Intent.Type = kind
			r.Intent.LimitPrice = prc("0")
			if stop != "" {
				r.Intent.StopPrice = prc(stop)
			}
		}
	}
	priced := func(limit string) func(*rail.Request) {
		return func(r *rail.Request) { r.Intent.LimitPrice = prc(limit) }
	}
	return []bite{
		{key: "collar.limit_price_collar", loose: "50", tight: "40", rail: rail.LimitPriceCollar, order: priced("201.00")},
		{
			key: "collar.exit_price_collar", loose: "50", tight: "40", rail: rail.LimitPriceCollar, begin: begin{held: "10"},
			with:  settings{"collar.limit_price_collar": "20"},
			order: func(r *rail.Request) { r.Intent.Side, r.Intent.LimitPrice = order.Sell, prc("199.00") },
		},
		{key: "collar.passive_price_collar", loose: "600", tight: "400", rail: rail.PassivePriceCollar, order: priced("190.00")},
		{
			key: "collar.market_order_spread", loose: "2", tight: "1", rail: rail.MarketOrderGuard,
			with: settings{"instrument.order_types": "[market]"}, order: typed(order.Market, ""),
		},
		{
			// It moves the risk price of what has no limit; the rail that then denies is one
			// that reads it.
			key: "collar.market_order_slippage", loose: "50", tight: "300", rail: rail.MaxOrderNotional,
			with: settings{"instrument.order_types": "[market]", "size.max_order_notional": `"2050.00"`}, order: typed(order.Market, ""),
		},
		{key: "collar.max_quote_age", loose: "1s", tight: "999ms", rail: rail.QuoteStale},
		{key: "collar.max_spread", loose: "2", tight: "1", rail: rail.SpreadTooWide},
		{key: "collar.price_step", loose: "us_equity", tight: `"0.03"`, rail: rail.PriceStep},
		{
			key: "collar.stop_price_side", loose: "off", tight: "on", rail: rail.StopPriceSide,
			with: settings{"instrument.order_types": "[stop]"}, order: typed(order.Stop, "200.00"),
		},
	}
}

func sessionBites() []bite {
	again := func(k *book) {
		k.now = elevenAM.Add(-5 * time.Second)
		k.place(k.request(), journal.ResultAccepted)
		k.now = elevenAM
	}
	cycle := func(k *book) {
		for _, side := range []order.Side{order.Buy, order.Sell} {
			r := k.request()
			r.Intent.Side, r.Intent.Quantity = side, qty("3")
			k.fill(k.place(r, journal.ResultAccepted), "3")
		}
	}
	return []bite{
		{
			key: "session.require_market_open", loose: "false", tight: "true", rail: rail.MarketClosed,
			with:  settings{"instrument.allow_extended_hours": "true"},
			past:  func(k *book) { k.now = time.Date(2026, time.March, 19, 1, 0, 0, 0, time.UTC) },
			order: func(r *rail.Request) { r.Intent.ExtendedHours = true },
		},
		{key: "session.trading_window", loose: `{from: "11:00", to: "15:55"}`, tight: `{from: "11:01", to: "15:55"}`, rail: rail.TradingWindow},
		{key: "session.max_orders_per_minute", loose: "1", tight: "0", rail: rail.MaxOrdersPerMinute},
		{key: "session.max_notional_per_minute", loose: `"2000.00"`, tight: `"1999.99"`, rail: rail.MaxNotionalPerMinute},
		{key: "session.max_messages_per_minute", loose: "1", tight: "0", rail: rail.MaxMessagesPerMinute},
		{key: "session.max_orders_per_day", loose: "1", tight: "0", rail: rail.MaxOrdersPerDay},
		{key: "session.max_notional_per_day", loose: `"2000.00"`, tight: `"1999.99"`, rail: rail.MaxNotionalPerDay},
		{key: "session.max_daily_loss", loose: `"1000.01"`, tight: `"1000.00"`, rail: rail.MaxDailyLoss, begin: begin{lost: "1000"}},
		{
			key: "session.max_drawdown", loose: `"1000.01"`, tight: `"1000.00"`, rail: rail.MaxDrawdown,
			with: settings{"session.max_daily_loss": "off"}, begin: begin{lost: "1000"},
		},
		{key: "session.duplicate_window", loose: "5s", tight: "6s", rail: rail.DuplicateOrder, past: again},
		{
			key: "session.denial_storm", loose: "{denials: 2, window: 10m}", tight: "{denials: 1, window: 10m}", rail: rail.DenialStorm,
			past: func(k *book) { k.deny(); k.deny() },
		},
		{
			key: "session.repeated_execution", loose: "{cycles: 2, window: 1h}", tight: "{cycles: 1, window: 1h}", rail: rail.RepeatedExecution,
			past: cycle,
		},
	}
}

// settled are the keys that no order can break: each says whom or what the document is
// for. One that says otherwise is refused whole.
func settled() map[string]string {
	return map[string]string{
		"version": "2", "account": "other", "mode": "live", "currency": "EUR", "calendar": "XLON", "soft": "[max_order_qty]",
	}
}

func (b bite) decide(t *testing.T, value string) risk.Decision {
	t.Helper()
	doc := document(t, b.with, settings{b.key: value})
	k := open(t, doc, b.begin)
	if b.past != nil {
		b.past(k)
	}
	r := k.request()
	if b.order != nil {
		b.order(r)
	}
	return k.decide(r)
}

// TestEveryLimitBites proves for every key that some order is allowed with its loose
// value and denied with its tight one, by that rail and no other. A key without a row
// fails.
func TestEveryLimitBites(t *testing.T) {
	rows := map[string]bool{}
	for _, b := range bites() {
		rows[b.key] = true
		t.Run(b.key, func(t *testing.T) {
			loose, tight := b.decide(t, b.loose), b.decide(t, b.tight)
			if !loose.Allowed() {
				t.Errorf("with %s it is %s by %v, faults %v", b.loose, loose.Verdict, loose.Refusing(), loose.Faults())
			}
			alone(t, &tight, b.rail)
		})
	}
	for key := range settled() {
		rows[key] = true
	}
	for _, key := range limits.Keys() {
		if !rows[key.Path] {
			t.Errorf("key %s has no row: no order is known that it stops", key.Path)
		}
	}
}

// alone fails the test unless this rail denies and nothing else refuses: so that without
// it the order would be allowed.
func alone(t *testing.T, d *risk.Decision, id rail.ID) {
	t.Helper()
	if d.Verdict != risk.Denied || strings.Join(d.Refusing(), " ") != string(id) || len(d.Faults()) > 0 {
		t.Errorf("%s by %v, faults %v; want denied by %s alone", d.Verdict, d.Refusing(), d.Faults(), id)
	}
}

// stop is a rail that no key switches off, and what makes it deny an order that is
// allowed otherwise.
type stop struct {
	rail  rail.ID
	with  settings
	past  func(k *book)
	order func(r *rail.Request)
}

func stops() []stop {
	return []stop{
		{rail: rail.InstrumentUnknown, order: func(r *rail.Request) { r.Instrument.Active = false }},
		{rail: rail.InstrumentHalted, order: func(r *rail.Request) { r.Quote.Halted = true }},
		{
			rail: rail.OrderInDoubt, with: settings{"position.max_in_doubt": "off", "session.duplicate_window": "off"},
			past: func(k *book) { k.place(k.request(), journal.ResultInDoubt) },
		},
		{rail: rail.AccountUnreconciled, order: func(r *rail.Request) { r.StartPending = true }},
		{
			// What needs a valid quote would fault beside it.
			rail: rail.QuoteInvalid,
			with: settings{
				"collar.limit_price_collar": "off", "collar.max_spread": "off", "position.max_gross_exposure": "off",
				"collar.max_quote_age": "off",
			},
			order: func(r *rail.Request) { r.Quote.Bid, r.Quote.Ask = prc("200.02"), prc("199.98") },
		},
		{rail: rail.KillSwitch, order: func(r *rail.Request) { r.ControlMode = account.Halted }},
		{
			rail: rail.DuplicateClientOrderID,
			past: func(k *book) {
				r := k.request()
				r.Intent.Quantity, r.Intent.ClientOrderID = qty("4"), "mine"
				k.place(r, journal.ResultAccepted)
			},
			order: func(r *rail.Request) { r.Intent.ClientOrderID = "mine" },
		},
		{rail: rail.ClockSuspect, order: func(r *rail.Request) { r.ClockSuspect = true }},
	}
}

// TestEveryRailIsNeeded proves for each rail that some order is denied by it alone: with
// the rail's code removed the order would go to the broker, and the row of its name
// fails. A rail without a row fails.
func TestEveryRailIsNeeded(t *testing.T) {
	proved := map[rail.ID]bool{}
	for _, s := range stops() {
		proved[s.rail] = true
		t.Run(string(s.rail), func(t *testing.T) {
			k := open(t, document(t, s.with), begin{})
			before := k.decide(k.request())
			if !before.Allowed() {
				t.Fatalf("the base order is %s by %v, faults %v", before.Verdict, before.Refusing(), before.Faults())
			}
			if s.past != nil {
				s.past(k)
			}
			r := k.request()
			if s.order != nil {
				s.order(r)
			}
			d := k.decide(r)
			alone(t, &d, s.rail)
		})
	}
	for _, b := range bites() {
		if proved[b.rail] {
			continue
		}
		proved[b.rail] = true
		t.Run(string(b.rail), func(t *testing.T) {
			d := b.decide(t, b.tight)
			alone(t, &d, b.rail)
		})
	}
	for _, r := range rail.All() {
		if !proved[r.ID] {
			t.Errorf("no order is known that %s alone denies", r.ID)
		}
	}
}
