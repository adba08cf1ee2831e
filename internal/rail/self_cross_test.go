package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/order"
)

// rest adds an own working order of any type on the side.
func (f *Facts) rest(side order.Side, kind order.Type, limit, stop string) *account.Order {
	o := f.openOrder("paper/7", side, "10", limit)
	o.Type, o.StopPrice = kind, prc(stop)
	return o
}

// sells makes the base order a sell at the limit.
func (f *Facts) sells(limit string) { f.Intent.Side, f.Intent.LimitPrice = order.Sell, prc(limit) }

func TestSelfCross(t *testing.T) {
	run(t, SelfCross, selfCross, []check{
		{"no orders", nil, Pass},
		{"one step short", func(f *Facts) { f.rest(order.Sell, order.Limit, "200.01", "0") }, Pass},
		{"at the own price", func(f *Facts) { f.rest(order.Sell, order.Limit, "200", "0") }, Deny},
		{"through the own price", func(f *Facts) { f.rest(order.Sell, order.Limit, "199.99", "0") }, Deny},
		{"same side", func(f *Facts) { f.rest(order.Buy, order.Limit, "200", "0") }, Pass},
		{"sell one step short", func(f *Facts) { f.rest(order.Buy, order.Limit, "199.99", "0"); f.sells("200") }, Pass},
		{"sell at the own price", func(f *Facts) { f.rest(order.Buy, order.Limit, "200", "0"); f.sells("200") }, Deny},
		{"sell through it", func(f *Facts) { f.rest(order.Buy, order.Limit, "200.01", "0"); f.sells("200") }, Deny},
		{"reserved", func(f *Facts) { f.rest(order.Sell, order.Limit, "200", "0").Stage = account.Reserved }, Deny},
		{"in doubt", func(f *Facts) { f.rest(order.Sell, order.Limit, "200", "0").Stage = account.Doubtful }, Deny},
		{"external", func(f *Facts) { f.rest(order.Sell, order.Limit, "200", "0").External = true }, Deny},
		{"being canceled", func(f *Facts) {
			f.rest(order.Sell, order.Limit, "200", "0").Canceling = &account.Pending{}
		}, Deny},
		{"a pending replace would cross", func(f *Facts) {
			o := f.rest(order.Sell, order.Limit, "210", "0")
			o.Pending = &account.Pending{Terms: account.Terms{Type: order.Limit, LimitPrice: prc("200")}}
		}, Deny},
		{"a pending replace would not", func(f *Facts) {
			o := f.rest(order.Sell, order.Limit, "210", "0")
			o.Pending = &account.Pending{Terms: account.Terms{Type: order.Limit, LimitPrice: prc("205")}}
		}, Pass},
		{"market meets any price", func(f *Facts) { f.rest(order.Sell, order.Limit, "900", "0"); f.Intent.Type = order.Market }, Deny},
		{"own market order in flight", func(f *Facts) {
			f.rest(order.Sell, order.Market, "0", "0").Stage = account.Reserved
		}, Deny},
		{"own stop that waits", func(f *Facts) { f.rest(order.Sell, order.Stop, "0", "195") }, Pass},
		{"own stop that has triggered", func(f *Facts) { f.rest(order.Sell, order.Stop, "0", "199.98") }, Deny},
		{"own buy stop that waits", func(f *Facts) { f.rest(order.Buy, order.Stop, "0", "200.03"); f.sells("200") }, Pass},
		{"own buy stop that has triggered", func(f *Facts) { f.rest(order.Buy, order.Stop, "0", "200.02"); f.sells("200") }, Deny},
		{"own stop-limit triggered, out of reach", func(f *Facts) { f.rest(order.Sell, order.StopLimit, "200.01", "199.99") }, Pass},
		{"own stop-limit triggered, in reach", func(f *Facts) { f.rest(order.Sell, order.StopLimit, "200", "199.99") }, Deny},
		{"own stop, no quote", func(f *Facts) { f.rest(order.Sell, order.Stop, "0", "195"); f.PricingOK = false }, Fault},
		{"own stop-limit out of reach, no quote", func(f *Facts) {
			f.rest(order.Sell, order.StopLimit, "200.01", "195")
			f.PricingOK = false
		}, Pass},
		{"limits need no quote", func(f *Facts) { f.rest(order.Sell, order.Limit, "200.01", "0"); f.PricingOK = false }, Pass},
		{"a crossing outweighs a doubt", func(f *Facts) {
			f.rest(order.Sell, order.Stop, "0", "195")
			f.rest(order.Sell, order.Limit, "200", "0")
			f.PricingOK = false
		}, Deny},
		{"a stop of this order waits", func(f *Facts) {
			f.rest(order.Sell, order.Limit, "210", "0")
			f.Intent.Type, f.Intent.StopPrice = order.Stop, prc("205")
		}, Pass},
		{"no side", func(f *Facts) { f.Intent.Side = order.SideNone }, Fault},
		{"reducing is judged", func(f *Facts) {
			f.reduce("10", "10")
			f.rest(order.Buy, order.Limit, "200", "0")
		}, Deny},
		{"leave", func(f *Facts) {
			f.rest(order.Sell, order.Limit, "200", "0")
			f.Limits.Position.AllowSelfCross = true
		}, Off},
	})
}

func TestSelfCrossSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.rest(order.Sell, order.Limit, "200", "0")
	f.rest(order.Sell, order.Limit, "199.5", "0")
	f.rest(order.Sell, order.Limit, "199.9", "0")
	passing(t, "below the lowest sell", selfCross(&f), "a limit_price below 199.50", RetryChanged)

	f = baseFacts()
	f.sells("198")
	f.rest(order.Buy, order.Limit, "199", "0")
	f.rest(order.Buy, order.Limit, "200", "0")
	passing(t, "above the highest buy", selfCross(&f), "a limit_price above 200.00", RetryChanged)

	f = baseFacts()
	f.rest(order.Sell, order.Limit, "200", "0")
	f.rest(order.Sell, order.Market, "0", "0")
	passing(t, "no price passes", selfCross(&f), "", RetryLater)
}
