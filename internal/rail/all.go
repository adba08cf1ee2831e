package rail

import "strings"

// Count is the number of rails.
const Count = 50

// Families of rails.
const (
	familyInstrument = "instrument"
	familySize       = "size"
	familyPosition   = "position"
	familyCollar     = "collar"
	familySession    = "session"
)

// All returns every rail in the fixed order in which findings are kept. It builds the
// table on each call, for documentation, tests and effects: decisions come from Run.
func All() [Count]Rail {
	return [Count]Rail{
		instrumentUnknownRail(),
		instrumentHaltedRail(),
		symbolNotAllowedRail(),
		symbolRestrictedRail(),
		assetClassNotAllowedRail(),
		sideNotAllowedRail(),
		orderTypeNotAllowedRail(),
		timeInForceNotAllowedRail(),
		extendedHoursNotAllowedRail(),
		fractionalNotAllowedRail(),
		shortNotAllowedRail(),

		maxOrderQtyRail(),
		maxOrderNotionalRail(),
		minOrderNotionalRail(),
		maxOrderPctOfEquityRail(),
		quantityStepRail(),

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

		limitPriceCollarRail(),
		passivePriceCollarRail(),
		marketOrderGuardRail(),
		quoteStaleRail(),
		quoteInvalidRail(),
		spreadTooWideRail(),
		priceStepRail(),
		stopPriceSideRail(),

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

// Run asks every rail, in the order of All, into out. The calls stand here one by one,
// and not in a loop over All, so that the facts need not leave the caller's stack.
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
