package account

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestMixIsSplitmix64: mixing the generator's state into nothing gives its published
// sequence for the seed 0.
func TestMixIsSplitmix64(t *testing.T) {
	const step = uint64(0x9e3779b97f4a7c15)
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := mix(0, state); got != want {
			t.Errorf("number %d is %x, want %x", i, got, want)
		}
		state += step
	}
	// What was mixed before is turned into the word by exclusive or.
	if got := mix(step, 0); got != 0 {
		t.Errorf("the step and its own are %x", got)
	}
}

// TestBytesAreMixedByEights after their length, and the rest filled up with zeros.
func TestBytesAreMixedByEights(t *testing.T) {
	b := []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}
	for n, words := range map[int][]uint64{
		0: {0, 0}, 1: {1, 1}, 7: {7, 1}, 8: {8, 1, 0}, 9: {9, 1, 2}, 15: {15, 1, 2}, 16: {16, 1, 2, 0}, 17: {17, 1, 2, 3},
	} {
		want := uint64(5)
		for _, w := range words {
			want = mix(want, w)
		}
		if got := mixBytes(5, b[:n]); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
	// A figure is its 16 bytes, the highest first: two is 2 x 10^9, 0x77359400.
	if got, want := mixNotional(5, money.NotionalFromInt(2)), mix(mix(mix(mix(5, 16), 0), 0x0094357700000000), 0); got != want {
		t.Errorf("2 is %x, want %x", got, want)
	}
	before := totals{count: 4, sum: money.NotionalFromInt(1)}
	it := item{at: 9, totals: totals{count: 7, sum: money.NotionalFromInt(3)}}
	if got, want := mixItem(&it, before), mixNotional(mix(mix(0, 9), 3), money.NotionalFromInt(2)); got != want {
		t.Errorf("an item is %x, want %x", got, want)
	}
}

// TestTwinsAreToldApart by each of their parts.
func TestTwinsAreToldApart(t *testing.T) {
	one := Twin{At: time.Unix(5, 0).UTC(), OrderID: "a/1", Mark: MarkOf("AAPL", order.Buy, &Terms{Type: order.Limit, Quantity: money.QuantityFromInt(1)})}
	seen := map[uint64]int{mixTwin(&one): -1}
	for i, change := range []func(*Twin){
		func(x *Twin) { x.At = x.At.Add(1) }, func(x *Twin) { x.OrderID = "a/2" }, func(x *Twin) { x.Mark.Symbol = "AAPM" },
		func(x *Twin) { x.Mark.Side = order.Sell }, func(x *Twin) { x.Mark.Type = order.Market },
		func(x *Twin) { x.Mark.Quantity = money.QuantityFromInt(2) }, func(x *Twin) { x.Mark.LimitPrice = money.MustPrice("1") },
		func(x *Twin) { x.Mark.StopPrice = money.MustPrice("1") },
	} {
		other := one
		change(&other)
		m := mixTwin(&other)
		if before, twice := seen[m]; twice {
			t.Errorf("change %d is as change %d", i, before)
		}
		seen[m] = i
	}
}

// TestAWindowIsMovedDown once 64 items and at least half of all have left it, and never
// while they are another's too.
func TestAWindowIsMovedDown(t *testing.T) {
	for _, x := range []struct {
		items, leave int
		borrowed     bool
		head, length int
	}{
		{64, 63, false, 63, 64}, {64, 64, false, 0, 0}, {127, 64, false, 0, 63}, {128, 64, false, 0, 64}, {129, 64, false, 64, 129},
		{131, 65, false, 65, 131}, {130, 65, false, 0, 65}, {200, 66, false, 66, 200}, {128, 64, true, 64, 128},
	} {
		var win Window
		for i := range x.items {
			win.add(int64(i), 1, money.NotionalFromInt(2), 0)
		}
		if x.borrowed {
			win.borrow()
		}
		win.prune(int64(x.leave) - 1)
		if win.head != x.head || len(win.items) != x.length {
			t.Errorf("%+v: head %d of %d", x, win.head, len(win.items))
		}
		now, left := time.Unix(0, int64(x.items)), x.items-x.leave
		if win.Count(now, time.Hour) != left || win.Sum(now, time.Hour) != money.NotionalFromInt(int64(2*left)) {
			t.Errorf("%+v: %d left, sum %s", x, win.Count(now, time.Hour), win.Sum(now, time.Hour))
		}
	}
}

// TestAForkedWindowLeavesTheFirst also when its running total is full.
func TestAForkedWindowLeavesTheFirst(t *testing.T) {
	var win Window
	win.add(1, 1, money.MustNotional("90000000000000000000"), 0)
	win.add(2, 1, money.MustNotional("5000000000000000000"), 0)
	win.prune(1)
	fork := win
	fork.borrow()
	fork.add(3, 1, money.MustNotional("6000000000000000000"), 0)
	if fork.borrowed {
		t.Error("the fork's items are still another's")
	}
	now := time.Unix(0, 9)
	if got := win.Sum(now, time.Hour).String(); got != "5000000000000000000" || win.Count(now, time.Hour) != 1 {
		t.Errorf("the first has %s", got)
	}
	if got := fork.Sum(now, time.Hour).String(); got != "11000000000000000000" || fork.Count(now, time.Hour) != 2 {
		t.Errorf("the fork has %s", got)
	}
	var one Window
	one.add(1, 1, money.Notional{}, 1)
	one.add(2, 1, money.Notional{}, 1)
	if one.Count(now, time.Hour) != 1 {
		t.Errorf("%d are kept of one", one.Count(now, time.Hour))
	}
}

// TestAWindowThatCannotBeIsNotRestored: out of order, of nothing, of too much.
func TestAWindowThatCannotBeIsNotRestored(t *testing.T) {
	of := func(at int64, count uint64, sum string) item {
		return item{at: at, totals: totals{count: count, sum: money.MustNotional(sum)}}
	}
	for name, x := range map[string]struct {
		items []item // with running totals
		fine  bool
	}{
		"two":                {[]item{of(1, 1, "1"), of(2, 2, "1")}, true},
		"the largest count":  {[]item{of(1, 1<<40, "0")}, true},
		"a larger one":       {[]item{of(1, 1<<40+1, "0")}, false},
		"no count":           {[]item{of(1, 1, "1"), of(2, 1, "1")}, false},
		"one instant twice":  {[]item{of(1, 1, "1"), of(1, 2, "1")}, false},
		"out of order":       {[]item{of(2, 1, "1"), of(1, 2, "1")}, false},
		"less than nothing":  {[]item{of(1, 1, "2"), of(2, 2, "1")}, false},
		"the end of sums":    {[]item{of(1, 1, "99999999999999999999.999999999")}, true},
		"below all to begin": {[]item{of(1, 1, "-0.000000001")}, false},
	} {
		s := New("paper")
		s.Turnover.items = x.items
		b, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(b); (err == nil) != x.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	for mode, fine := range map[Mode]bool{Halted: true, Active: true, Active + 1: false} {
		s := New("paper")
		s.Mode = mode
		b, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(b); (err == nil) != fine {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}
