package rail

import "strings"

// Count is the number of rails.
const Count = 50

// Families of rails.
const (
	familyInstrument = "instrument"
	familySize       = "size"
	familyCollar     = "collar"
)

// All returns every rail in the fixed order in which findings are kept. It builds the
// table on each call, for documentation, tests and effects: decisions come from Run.
func All() [Count]Rail {
	return [Count]Rail{
		{ID: InstrumentUnknown, Family: familyInstrument, Check: instrumentUnknown},
		{ID: InstrumentHalted, Family: familyInstrument, Check: instrumentHalted},
		{ID: SymbolNotAllowed, Family: familyInstrument, Keys: []string{"instrument.symbols"}, Exempt: ExemptAll, Check: symbolNotAllowed},
		{ID: SymbolRestricted, Family: familyInstrument, Keys: []string{"instrument.restricted_symbols"}, Check: symbolRestricted},
		{ID: AssetClassNotAllowed, Family: familyInstrument, Keys: []string{"instrument.asset_classes"}, Check: assetClassNotAllowed},
		{ID: SideNotAllowed, Family: familyInstrument, Keys: []string{"instrument.sides"}, Check: sideNotAllowed},
		{ID: OrderTypeNotAllowed, Family: familyInstrument, Keys: []string{"instrument.order_types"}, Check: orderTypeNotAllowed},
		{ID: TimeInForceNotAllowed, Family: familyInstrument, Keys: []string{"instrument.times_in_force"}, Check: timeInForceNotAllowed},
		{ID: ExtendedHoursNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_extended_hours"}, Check: extendedHoursNotAllowed},
		{ID: FractionalNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_fractional"}, Exempt: ExemptOwn, Check: fractionalNotAllowed},
		{ID: ShortNotAllowed, Family: familyInstrument, Keys: []string{"instrument.allow_short"}, Check: shortNotAllowed},

		{ID: MaxOrderQty, Family: familySize, Keys: []string{"size.max_order_qty"}, Check: maxOrderQty},
		{ID: MaxOrderNotional, Family: familySize, Keys: []string{"size.max_order_notional"}, Exempt: ExemptOwn, Check: maxOrderNotional},
		{ID: MinOrderNotional, Family: familySize, Keys: []string{"size.min_order_notional"}, Exempt: ExemptOwn, Check: minOrderNotional},
		{ID: MaxOrderPctOfEquity, Family: familySize, Keys: []string{"size.max_order_pct_of_equity"}, Exempt: ExemptAll, Check: maxOrderPctOfEquity},
		{ID: QuantityStep, Family: familySize, Keys: []string{"size.quantity_step"}, Exempt: ExemptOwn, Check: quantityStep},

		maxPositionQtyRail(),
		maxPositionNotionalRail(),
		maxGrossExposureRail(),
		maxNetExposureRail(),
		maxConcentrationRail(),
		insufficientBuyingPowerRail(),
		positionFlipRail(),
		maxOpenOrdersRail(),
		selfCrossRail(),
		orderInDoubtRail(),
		accountUnreconciledRail(),

		{ID: LimitPriceCollar, Family: familyCollar, Keys: []string{"collar.limit_price_collar", "collar.exit_price_collar"}, Exempt: ExemptOwn, Check: limitPriceCollar},
		{ID: PassivePriceCollar, Family: familyCollar, Keys: []string{"collar.passive_price_collar"}, Check: passivePriceCollar},
		{ID: MarketOrderGuard, Family: familyCollar, Keys: []string{"collar.market_order_spread"}, Exempt: ExemptOwn, Check: marketOrderGuard},
		{ID: QuoteStale, Family: familyCollar, Keys: []string{"collar.max_quote_age"}, Exempt: ExemptAll, Check: quoteStale},
		{ID: QuoteInvalid, Family: familyCollar, Exempt: ExemptAll, Check: quoteInvalid},
		{ID: SpreadTooWide, Family: familyCollar, Keys: []string{"collar.max_spread"}, Exempt: ExemptAll, Check: spreadTooWide},
		{ID: PriceStep, Family: familyCollar, Keys: []string{"collar.price_step"}, Check: priceStep},
		{ID: StopPriceSide, Family: familyCollar, Keys: []string{"collar.stop_price_side"}, Check: stopPriceSide},

		maxOrdersPerMinuteRail(),
		maxNotionalPerMinuteRail(),
		maxMessagesPerMinuteRail(),
		maxOrdersPerDayRail(),
		maxNotionalPerDayRail(),
		maxDailyLossRail(),
		maxDrawdownRail(),
		killSwitchRail(),
		marketClosedRail(),
		tradingWindowRail(),
		duplicateClientOrderIDRail(),
		duplicateOrderRail(),
		denialStormRail(),
		repeatedExecutionRail(),
		clockSuspectRail(),
	}
}

// Run asks every rail, in the order of All, into out. The calls stand here one by one, and not in
// a loop over All, so that the facts need not leave the caller's stack.
func Run(f *Facts, out *[Count]Finding) {
	f.complete = f.lacks() == ""
	out[0] = instrumentUnknown(f)
	out[1] = instrumentHalted(f)
	out[2] = symbolNotAllowed(f)
	out[3] = symbolRestricted(f)
	out[4] = assetClassNotAllowed(f)
	out[5] = sideNotAllowed(f)
	out[6] = orderTypeNotAllowed(f)
	out[7] = timeInForceNotAllowed(f)
	out[8] = extendedHoursNotAllowed(f)
	out[9] = fractionalNotAllowed(f)
	out[10] = shortNotAllowed(f)
	out[11] = maxOrderQty(f)
	out[12] = maxOrderNotional(f)
	out[13] = minOrderNotional(f)
	out[14] = maxOrderPctOfEquity(f)
	out[15] = quantityStep(f)
	out[16] = maxPositionQty(f)
	out[17] = maxPositionNotional(f)
	out[18] = maxGrossExposure(f)
	out[19] = maxNetExposure(f)
	out[20] = maxConcentration(f)
	out[21] = insufficientBuyingPower(f)
	out[22] = positionFlip(f)
	out[23] = maxOpenOrders(f)
	out[24] = selfCross(f)
	out[25] = orderInDoubt(f)
	out[26] = accountUnreconciled(f)
	out[27] = limitPriceCollar(f)
	out[28] = passivePriceCollar(f)
	out[29] = marketOrderGuard(f)
	out[30] = quoteStale(f)
	out[31] = quoteInvalid(f)
	out[32] = spreadTooWide(f)
	out[33] = priceStep(f)
	out[34] = stopPriceSide(f)
	out[35] = maxOrdersPerMinute(f)
	out[36] = maxNotionalPerMinute(f)
	out[37] = maxMessagesPerMinute(f)
	out[38] = maxOrdersPerDay(f)
	out[39] = maxNotionalPerDay(f)
	out[40] = maxDailyLoss(f)
	out[41] = maxDrawdown(f)
	out[42] = killSwitch(f)
	out[43] = marketClosed(f)
	out[44] = tradingWindow(f)
	out[45] = duplicateClientOrderID(f)
	out[46] = duplicateOrder(f)
	out[47] = denialStorm(f)
	out[48] = repeatedExecution(f)
	out[49] = clockSuspect(f)
	f.complete = false
	if f.Reducing {
		endTexts(f, out)
	}
}

// endTexts ends the denials of a reducing order with what people can still do.
func endTexts(f *Facts, out *[Count]Finding) {
	for i := range out {
		if out[i].Status == Deny && !strings.HasSuffix(out[i].Text, directly) {
			out[i].Text += f.ending()
		}
	}
}
