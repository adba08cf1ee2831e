package rail

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
)

// exit makes the facts those of an order against a position, with what works on its
// side already; nothing is called reducing.
func (f *Facts) exit(side order.Side, position, working, quantity string) {
	f.Position, f.Intent.Side = qty(position), side
	f.Intent.Quantity, f.Increment = qty(quantity), qty(quantity)
	out, _ := qty(working).Add(qty(quantity))
	if side == order.Sell {
		f.WorstLong = qty(position)
		f.WorstShort, _ = out.Sub(qty(position))
		return
	}
	f.WorstLong, _ = out.Add(qty(position))
	f.WorstShort = qty(position).Neg()
}

func TestPositionFlip(t *testing.T) {
	run(t, PositionFlip, positionFlip, []check{
		{"opens from flat", nil, Pass},
		{"adds to a long", func(f *Facts) { f.Position, f.WorstLong, f.WorstShort = qty("5"), qty("15"), qty("-5") }, Pass},
		{"below", func(f *Facts) { f.exit(order.Sell, "10", "0", "9") }, Pass},
		{"to zero", func(f *Facts) { f.exit(order.Sell, "10", "0", "10") }, Pass},
		{"one unit of precision beyond", func(f *Facts) { f.exit(order.Sell, "10", "0", "10.000000001") }, Deny},
		{"long 10, sell 1000", func(f *Facts) { f.exit(order.Sell, "10", "0", "1000") }, Deny},
		{"an exit works already", func(f *Facts) { f.exit(order.Sell, "10", "10", "1") }, Deny},
		{"working exits leave room", func(f *Facts) { f.exit(order.Sell, "10", "5", "5") }, Pass},
		{"short to zero", func(f *Facts) { f.exit(order.Buy, "-10", "0", "10") }, Pass},
		{"short beyond", func(f *Facts) { f.exit(order.Buy, "-10", "0", "10.000000001") }, Deny},
		{"short from flat is no flip", func(f *Facts) { f.exit(order.Sell, "0", "0", "10") }, Pass},
		{"adding beside an overlarge exit", func(f *Facts) {
			f.Position, f.WorstLong, f.WorstShort = qty("5"), qty("15"), qty("5")
		}, Pass},
		{"unknown position", func(f *Facts) { f.PositionKnown = false }, Fault},
		{"no side", func(f *Facts) { f.Intent.Side = order.SideNone }, Fault},
		{"reducing", func(f *Facts) { f.reduce("10", "10") }, Pass},
		{"replace that only lowers", func(f *Facts) {
			f.exit(order.Sell, "10", "10", "5")
			f.LowersOnly = true
		}, Pass},
		{"leave", func(f *Facts) {
			f.exit(order.Sell, "10", "0", "1000")
			f.Limits.Position.AllowFlip = true
		}, Off},
	})
}

func TestPositionFlipSaysWhatPasses(t *testing.T) {
	f := baseFacts()
	f.exit(order.Sell, "10", "4", "15")
	passing(t, "6 can still close", positionFlip(&f), "6", RetryChanged)
	f.exit(order.Sell, "10", "10", "1")
	passing(t, "nothing can", positionFlip(&f), "", RetryNo)
	f.exit(order.Buy, "-2478", "0", "2479")
	passing(t, "short", positionFlip(&f), "2478", RetryChanged)
}
