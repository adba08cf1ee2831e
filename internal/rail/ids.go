package rail

// The ids of all rails, in the fixed order in which they run and are reported.
const (
	InstrumentUnknown       ID = "instrument_unknown"
	InstrumentHalted        ID = "instrument_halted"
	SymbolNotAllowed        ID = "symbol_not_allowed"
	SymbolRestricted        ID = "symbol_restricted"
	AssetClassNotAllowed    ID = "asset_class_not_allowed"
	SideNotAllowed          ID = "side_not_allowed"
	OrderTypeNotAllowed     ID = "order_type_not_allowed"
	TimeInForceNotAllowed   ID = "time_in_force_not_allowed"
	ExtendedHoursNotAllowed ID = "extended_hours_not_allowed"
	FractionalNotAllowed    ID = "fractional_not_allowed"
	ShortNotAllowed         ID = "short_not_allowed"

	MaxOrderQty         ID = "max_order_qty"
	MaxOrderNotional    ID = "max_order_notional"
	MinOrderNotional    ID = "min_order_notional"
	MaxOrderPctOfEquity ID = "max_order_pct_of_equity"
	QuantityStep        ID = "quantity_step"

	MaxPositionQty          ID = "max_position_qty"
	MaxPositionNotional     ID = "max_position_notional"
	MaxGrossExposure        ID = "max_gross_exposure"
	MaxNetExposure          ID = "max_net_exposure"
	MaxConcentration        ID = "max_concentration"
	InsufficientBuyingPower ID = "insufficient_buying_power"
	PositionFlip            ID = "position_flip"
	MaxOpenOrders           ID = "max_open_orders"
	SelfCross               ID = "self_cross"
	OrderInDoubt            ID = "order_in_doubt"
	AccountUnreconciled     ID = "account_unreconciled"

	LimitPriceCollar   ID = "limit_price_collar"
	PassivePriceCollar ID = "passive_price_collar"
	MarketOrderGuard   ID = "market_order_guard"
	QuoteStale         ID = "quote_stale"
	QuoteInvalid       ID = "quote_invalid"
	SpreadTooWide      ID = "spread_too_wide"
	PriceStep          ID = "price_step"
	StopPriceSide      ID = "stop_price_side"

	MaxOrdersPerMinute     ID = "max_orders_per_minute"
	MaxNotionalPerMinute   ID = "max_notional_per_minute"
	MaxMessagesPerMinute   ID = "max_messages_per_minute"
	MaxOrdersPerDay        ID = "max_orders_per_day"
	MaxNotionalPerDay      ID = "max_notional_per_day"
	MaxDailyLoss           ID = "max_daily_loss"
	MaxDrawdown            ID = "max_drawdown"
	KillSwitch             ID = "kill_switch"
	MarketClosed           ID = "market_closed"
	TradingWindow          ID = "trading_window"
	DuplicateClientOrderID ID = "duplicate_client_order_id"
	DuplicateOrder         ID = "duplicate_order"
	DenialStorm            ID = "denial_storm"
	RepeatedExecution      ID = "repeated_execution"
	ClockSuspect           ID = "clock_suspect"
)

// fixed is the order of all rails.
var fixed = [Count]ID{
	InstrumentUnknown,
	InstrumentHalted,
	SymbolNotAllowed,
	SymbolRestricted,
	AssetClassNotAllowed,
	SideNotAllowed,
	OrderTypeNotAllowed,
	TimeInForceNotAllowed,
	ExtendedHoursNotAllowed,
	FractionalNotAllowed,
	ShortNotAllowed,

	MaxOrderQty,
	MaxOrderNotional,
	MinOrderNotional,
	MaxOrderPctOfEquity,
	QuantityStep,

	MaxPositionQty,
	MaxPositionNotional,
	MaxGrossExposure,
	MaxNetExposure,
	MaxConcentration,
	InsufficientBuyingPower,
	PositionFlip,
	MaxOpenOrders,
	SelfCross,
	OrderInDoubt,
	AccountUnreconciled,

	LimitPriceCollar,
	PassivePriceCollar,
	MarketOrderGuard,
	QuoteStale,
	QuoteInvalid,
	SpreadTooWide,
	PriceStep,
	StopPriceSide,

	MaxOrdersPerMinute,
	MaxNotionalPerMinute,
	MaxMessagesPerMinute,
	MaxOrdersPerDay,
	MaxNotionalPerDay,
	MaxDailyLoss,
	MaxDrawdown,
	KillSwitch,
	MarketClosed,
	TradingWindow,
	DuplicateClientOrderID,
	DuplicateOrder,
	DenialStorm,
	RepeatedExecution,
	ClockSuspect,
}
