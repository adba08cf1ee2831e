package rail

import "strings"

// Count is the number of rails.
const Count = 24

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

		{ID: LimitPriceCollar, Family: familyCollar, Keys: []string{"collar.limit_price_collar", "collar.exit_price_collar"}, Exempt: ExemptOwn, Check: limitPriceCollar},
		{ID: PassivePriceCollar, Family: familyCollar, Keys: []string{"collar.passive_price_collar"}, Check: passivePriceCollar},
		{ID: MarketOrderGuard, Family: familyCollar, Keys: []string{"collar.market_order_spread"}, Exempt: ExemptOwn, Check: marketOrderGuard},
		{ID: QuoteStale, Family: familyCollar, Keys: []string{"collar.max_quote_age"}, Exempt: ExemptAll, Check: quoteStale},
		{ID: QuoteInvalid, Family: familyCollar, Exempt: ExemptAll, Check: quoteInvalid},
		{ID: SpreadTooWide, Family: familyCollar, Keys: []string{"collar.max_spread"}, Exempt: ExemptAll, Check: spreadTooWide},
		{ID: PriceStep, Family: familyCollar, Keys: []string{"collar.price_step"}, Check: priceStep},
		{ID: StopPriceSide, Family: familyCollar, Keys: []string{"collar.stop_price_side"}, Check: stopPriceSide},
	}
}

// Run asks every rail, in the order of All. The calls stand here one by one, and not in
// a loop over All, so that the facts need not leave the caller's stack.
func Run(f *Facts, out *[Count]Finding) {
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
	out[16] = limitPriceCollar(f)
	out[17] = passivePriceCollar(f)
	out[18] = marketOrderGuard(f)
	out[19] = quoteStale(f)
	out[20] = quoteInvalid(f)
	out[21] = spreadTooWide(f)
	out[22] = priceStep(f)
	out[23] = stopPriceSide(f)
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
