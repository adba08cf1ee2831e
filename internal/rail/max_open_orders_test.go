package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/order"
)

// open adds n working orders.
func (f *Facts) open(n int) {
	for range n {
		f.openOrder("paper/9", order.Buy, "1", "190")
	}
}

func TestMaxOpenOrders(t *testing.T) {
	run(t, MaxOpenOrders, maxOpenOrders, []check{
		{"below", func(f *Facts) { f.open(18) }, Pass},
		{"at", func(f *Facts) { f.open(19) }, Pass},
		{"one more", func(f *Facts) { f.open(20) }, Deny},
		{"reserved and in doubt count", func(f *Facts) {
			f.open(20)
			f.State.Orders[0].Stage, f.State.Orders[1].Stage = account.Reserved, account.Doubtful
		}, Deny},
		{"external counts", func(f *Facts) { f.open(20); f.State.Orders[0].External = true }, Deny},
		{"zero allows nothing", func(f *Facts) { f.Limits.Position.MaxOpenOrders = on(0) }, Deny},
		{"reducing at", func(f *Facts) { f.reduce("10", "10"); f.open(24) }, Pass},
		{"reducing, one more", func(f *Facts) { f.reduce("10", "10"); f.open(25) }, Deny},
		{"reducing at zero", func(f *Facts) { f.reduce("10", "10"); f.Limits.Position.MaxOpenOrders = on(0) }, Pass},
		{"a replace takes no slot", func(f *Facts) { f.open(30); f.Intent.Action = order.ActionReplace }, Pass},
		{"off", func(f *Facts) { f.open(30); f.Limits.Position.MaxOpenOrders = switchedOff[int]() }, Off},
	})
}

func TestMaxOpenOrdersTellsTheNumber(t *testing.T) {
	f := baseFacts()
	f.reduce("10", "10")
	f.open(25)
	got := maxOpenOrders(&f)
	if got.Observed != "26" || got.Limit != "25" || got.Retry != RetryLater {
		t.Errorf("got %+v", got)
	}
}
