package limits

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// Bounds of counts and ages that no window of the account sets.
const (
	CountMax    = 1_000_000
	QuoteAgeMax = 24 * time.Hour
)

// table is every key, in the order of the shipped document. Loading, the canonical
// form, the diff, the schema, the shipped document and the docs all come from it.
var table = [...]row{
	plain(version(), func(d *Document) *int { return &d.Version }).
		at("version", `1`, "version of this format"),
	plain(accountID(), func(d *Document) *string { return &d.Account }).
		at("account", `paper`, "the account these limits are for; a live one by the broker's own id"),
	plain(oneOf[TradingMode](), func(d *Document) *TradingMode { return &d.Mode }).
		at("mode", `paper`, "paper or live; must agree with the broker at every connect"),
	plain(currency(), func(d *Document) *string { return &d.Currency }).
		at("currency", `USD`, "currency of every amount below"),
	plain(calendar(), func(d *Document) *string { return &d.Calendar }).
		at("calendar", `XNYS`, "the exchange whose days, hours and zone count"),

	plain(symbols(FewerTightens), func(d *Document) *[]string { return &d.Instrument.Symbols }).
		at("instrument.symbols", `[AAPL, MSFT, NVDA, GOOGL, AMZN, SPY, QQQ]`, "symbols that may be traded; [] allows none"),
	plain(symbols(MoreTightens), func(d *Document) *[]string { return &d.Instrument.RestrictedSymbols }).
		at("instrument.restricted_symbols", `[]`, "symbols, or underlyings, that may not; wins over symbols"),
	plain(listOf[order.AssetClass](), func(d *Document) *[]order.AssetClass { return &d.Instrument.AssetClasses }).
		at("instrument.asset_classes", `[us_equity]`, "classes that may be traded"),
	plain(listOf[order.Side](), func(d *Document) *[]order.Side { return &d.Instrument.Sides }).
		at("instrument.sides", `[buy, sell]`, "sides that may be sent"),
	plain(listOf[order.Type](), func(d *Document) *[]order.Type { return &d.Instrument.OrderTypes }).
		at("instrument.order_types", `[limit]`, "limit, market, stop, stop_limit"),
	plain(listOf[order.TimeInForce](), func(d *Document) *[]order.TimeInForce { return &d.Instrument.TimesInForce }).
		at("instrument.times_in_force", `[day, gtc, ioc]`, "day, gtc, ioc, gtd"),
	plain(flag(FalseTightens), func(d *Document) *bool { return &d.Instrument.AllowExtendedHours }).
		at("instrument.allow_extended_hours", `false`, "orders outside the regular session"),
	plain(flag(FalseTightens), func(d *Document) *bool { return &d.Instrument.AllowFractional }).
		at("instrument.allow_fractional", `false`, "quantities that are not whole"),
	plain(flag(FalseTightens), func(d *Document) *bool { return &d.Instrument.AllowShort }).
		at("instrument.allow_short", `false`, "selling more than is held"),

	limit(quantity(LowerTightens), func(d *Document) *Limit[money.Quantity] { return &d.Size.MaxOrderQuantity }).
		at("size.max_order_qty", `100`, "units in one order").perSymbol(),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Size.MaxOrderNotional }).
		at("size.max_order_notional", `"25000.00"`, "value of one order, in currency").perSymbol(),
	limit(notional(HigherTightens), func(d *Document) *Limit[money.Notional] { return &d.Size.MinOrderNotional }).
		at("size.min_order_notional", `"1.00"`, "least value of one order, in currency").perSymbol(),
	limit(percent(), func(d *Document) *Limit[money.Percent] { return &d.Size.MaxOrderPctOfEquity }).
		at("size.max_order_pct_of_equity", `off`, "value of one order, in percent of equity").perSymbol(),
	limit(quantityStep(), func(d *Document) *Limit[money.Quantity] { return &d.Size.QuantityStep }).
		at("size.quantity_step", `"1"`, "quantities must be a multiple of it, in units").perSymbol(),

	limit(quantity(LowerTightens), func(d *Document) *Limit[money.Quantity] { return &d.Position.MaxPositionQuantity }).
		at("position.max_position_qty", `500`, "units held or that could come to be held, long or short").perSymbol(),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Position.MaxPositionNotional }).
		at("position.max_position_notional", `off`, "value of one position, in currency").perSymbol(),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Position.MaxGrossExposure }).
		at("position.max_gross_exposure", `"250000.00"`, "value of all positions, long and short added, in currency"),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Position.MaxNetExposure }).
		at("position.max_net_exposure", `off`, "value of all positions, long less short, in currency"),
	limit(percent(), func(d *Document) *Limit[money.Percent] { return &d.Position.MaxConcentration }).
		at("position.max_concentration", `off`, "value of one position, in percent of equity").perSymbol(),
	plain(flag(TrueTightens), func(d *Document) *bool { return &d.Position.RequireBuyingPower }).
		at("position.require_buying_power", `true`, "an order must be covered by buying power"),
	plain(flag(FalseTightens), func(d *Document) *bool { return &d.Position.AllowFlip }).
		at("position.allow_flip", `false`, "one order from long to short, or back"),
	limit(count(0, CountMax), func(d *Document) *Limit[int] { return &d.Position.MaxOpenOrders }).
		at("position.max_open_orders", `20`, "orders at work at once"),
	plain(flag(FalseTightens), func(d *Document) *bool { return &d.Position.AllowSelfCross }).
		at("position.allow_self_cross", `false`, "an order that could trade with the account's own"),
	limit(count(0, CountMax), func(d *Document) *Limit[int] { return &d.Position.MaxInDoubt }).
		at("position.max_in_doubt", `1`, "orders of unknown outcome before new risk is refused"),

	limit(band(LowerTightens), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.LimitPriceCollar }).
		at("collar.limit_price_collar", `150`, "bps a limit may lie through the market").perSymbol(),
	limit(band(LowerTightens), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.ExitPriceCollar }).
		at("collar.exit_price_collar", `300`, "the same for reducing orders, in bps").perSymbol(),
	limit(band(LowerTightens), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.PassivePriceCollar }).
		at("collar.passive_price_collar", `off`, "bps a limit may lie from mid").perSymbol(),
	limit(spread(false), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.MarketOrderSpread }).
		at("collar.market_order_spread", `50`, "widest spread for a market order, in bps of mid").perSymbol(),
	limit(band(HigherTightens), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.MarketOrderSlippage }).
		at("collar.market_order_slippage", `50`, "bps added to price the risk of market and stop orders").perSymbol(),
	limit(duration(LowerTightens, QuoteAgeMax), func(d *Document) *Limit[time.Duration] { return &d.Collar.MaxQuoteAge }).
		at("collar.max_quote_age", `5s`, "oldest quote that may price an order").perSymbol(),
	limit(spread(true), func(d *Document) *Limit[money.BasisPoints] { return &d.Collar.MaxSpread }).
		at("collar.max_spread", `200`, "widest spread for any order, in bps of mid").perSymbol(),
	limit(priceStep(), func(d *Document) *Limit[PriceStep] { return &d.Collar.PriceStep }).
		at("collar.price_step", `us_equity`, "us_equity (0.01, below 1.00 0.0001), or a number in currency").perSymbol(),
	stopPriceSide().
		at("collar.stop_price_side", `on`, "on or off: refuses a stop that would trigger at once").perSymbol(),

	plain(flag(TrueTightens), func(d *Document) *bool { return &d.Session.RequireMarketOpen }).
		at("session.require_market_open", `true`, "the calendar must say open"),
	limit(timeWindow(), func(d *Document) *Limit[TimeWindow] { return &d.Session.TradingWindow }).
		at("session.trading_window", `off`, `hours in the exchange's zone, such as {from: "09:35", to: "15:55"}`),
	limit(count(0, OrdersPerMinuteMax), func(d *Document) *Limit[int] { return &d.Session.MaxOrdersPerMinute }).
		at("session.max_orders_per_minute", `10`, "new and replaced orders in any 60 s"),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Session.MaxNotionalPerMinute }).
		at("session.max_notional_per_minute", `"50000.00"`, "value of orders in any 60 s, in currency"),
	limit(count(0, MessagesMax), func(d *Document) *Limit[int] { return &d.Session.MaxMessagesPerMinute }).
		at("session.max_messages_per_minute", `60`, "orders, replaces and cancels in any 60 s, denied ones too"),
	limit(count(0, CountMax), func(d *Document) *Limit[int] { return &d.Session.MaxOrdersPerDay }).
		at("session.max_orders_per_day", `200`, "new orders in a trade date"),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Session.MaxNotionalPerDay }).
		at("session.max_notional_per_day", `off`, "value of orders in a trade date, in currency"),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Session.MaxDailyLoss }).
		at("session.max_daily_loss", `"5000.00"`, "loss since the open that ends the day, in currency"),
	limit(notional(LowerTightens), func(d *Document) *Limit[money.Notional] { return &d.Session.MaxDrawdown }).
		at("session.max_drawdown", `off`, "loss from the peak that leaves only exits, in currency"),
	limit(duration(HigherTightens, DuplicateWindowMax), func(d *Document) *Limit[time.Duration] { return &d.Session.DuplicateWindow }).
		at("session.duplicate_window", `10s`, "how long the same order counts as a repeat"),
	limit(denialStorm(), func(d *Document) *Limit[DenialStorm] { return &d.Session.DenialStorm }).
		at("session.denial_storm", `{denials: 100, window: 10m}`, "one denial more leaves only exits"),
	limit(repeatedExecution(), func(d *Document) *Limit[RepeatedExecution] { return &d.Session.RepeatedExecution }).
		at("session.repeated_execution", `{cycles: 50, window: 1h}`, "so many opens and closes leave only exits"),

	plain(reserved(), func(d *Document) *[]string { return &d.Soft }).
		at("soft", `[]`, "reserved; must be empty"),
	overrides().
		at("symbols", `{}`, "tighter figures of size, position and collar for single symbols"),
}

// sections of the document, in the order of the shipped one.
var sections = [...]string{"instrument", "size", "position", "collar", "session"}
