package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestMaxPositionQty(t *testing.T) {
	run(t, MaxPositionQty, maxPositionQty, []check{
		{"below", func(f *Facts) { f.WorstLong = qty("499") }, Pass},
		{"at", func(f *Facts) { f.WorstLong = qty("500") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.WorstLong = qty("500.000000001") }, Deny},
		{"short at", func(f *Facts) { f.WorstLong, f.WorstShort = qty("-490"), qty("500") }, Pass},
		{"short beyond", func(f *Facts) { f.WorstLong, f.WorstShort = qty("-490"), qty("500.000000001") }, Deny},
		{"zero allows nothing", func(f *Facts) { f.Limits.Position.MaxPositionQuantity = on(qty("0")) }, Deny},
		{"unknown position", func(f *Facts) { f.PositionKnown = false }, Fault},
		{"reducing", func(f *Facts) { f.reduce("600", "10") }, Pass},
		{"reducing, unknown limit broken", func(f *Facts) { f.reduce("600", "10"); f.WorstLong = qty("600") }, Pass},
		{"replace that only lowers", func(f *Facts) { f.lowers(); f.WorstLong = qty("600") }, Pass},
		{"off", func(f *Facts) {
			f.WorstLong = qty("600")
			f.Limits.Position.MaxPositionQuantity = switchedOff[money.Quantity]()
		}, Off},
		{"not written", func(f *Facts) { f.Limits.Position.MaxPositionQuantity.Set = false }, Fault},
	})
}

func TestMaxPositionQtySaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.WorstLong = qty("507")
	passing(t, "buy 10 on 497", maxPositionQty(&f), "3", RetryChanged)
	f.WorstLong = qty("507.5")
	passing(t, "rounded down to the step", maxPositionQty(&f), "2", RetryChanged)
	f.WorstLong = qty("510")
	passing(t, "no room", maxPositionQty(&f), "", RetryNo)
	f.WorstLong, f.WorstShort = qty("507"), qty("501")
	passing(t, "the other side is over", maxPositionQty(&f), "", RetryNo)

	f = baseFacts()
	f.Intent.Side, f.WorstLong, f.WorstShort = order.Sell, qty("-495"), qty("505")
	passing(t, "short", maxPositionQty(&f), "5", RetryChanged)

	f = baseFacts()
	f.Intent.Action, f.Intent.Quantity, f.Increment, f.WorstLong = order.ActionReplace, qty("80"), qty("20"), qty("505")
	passing(t, "replace 60 by 80", maxPositionQty(&f), "75", RetryChanged)
}
