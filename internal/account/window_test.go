package account

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/money"
)

// TestWindowAgreesWithAList adds and prunes at random and asks for any stretch. Sums go
// up to the end of the range, so that the running total has to be counted anew.
func TestWindowAgreesWithAList(t *testing.T) {
	type entry struct {
		at    int64
		count int
		sum   money.Notional
	}
	const keep, most = 1000, 8
	largest := money.MustNotional("99999999999999999999.999999999")
	rapid.Check(t, func(r *rapid.T) {
		var win Window
		var list []entry
		now := int64(1_000_000)
		for range rapid.IntRange(1, 150).Draw(r, "steps") {
			now += rapid.SampledFrom([]int64{0, 1, 10, 99, 500, 2000}).Draw(r, "later")
			win.prune(now - keep)
			e := entry{now, rapid.IntRange(1, 3).Draw(r, "count"), money.NotionalFromInt(rapid.Int64Range(0, 9).Draw(r, "sum"))}
			if rapid.IntRange(0, 5).Draw(r, "large") == 0 {
				e.sum = money.MustNotional("60000000000000000000.5")
			}
			if win.canAdd(e.sum) {
				win.add(e.at, e.count, e.sum, most)
				list = append(list, e)
			} else if total, ok := sumSince(now-keep, now, list, func(e entry) (int64, money.Notional) { return e.at, e.sum }).Add(e.sum); ok {
				r.Fatalf("refused, but the sum is %s", total)
			}
			// What happens to a window that borrowed the items does not happen to this one.
			if rapid.Bool().Draw(r, "borrow") {
				other := win
				other.borrow()
				other.prune(now - keep/2)
				other.add(now, 7, money.NotionalFromInt(1), 1)
				other.add(now+1, 7, money.NotionalFromInt(1), 1)
				other.add(now+1, 7, money.NotionalFromInt(1), 1)
				other.rebase()
			}
			// Only the newest instants are kept; those of one instant are one item.
			var instants []int64
			for _, e := range list {
				if !slices.Contains(instants, e.at) {
					instants = append(instants, e.at)
				}
			}
			if len(instants) > most {
				cut := instants[len(instants)-most]
				list = slices.DeleteFunc(list, func(e entry) bool { return e.at < cut })
			}
			at := time.Unix(0, now+rapid.Int64Range(-50, 600).Draw(r, "asked at"))
			w := time.Duration(rapid.SampledFrom([]int64{-1, 0, 1, 10, 11, 400}).Draw(r, "window"))
			count := 0
			for _, e := range list {
				if e.at > at.UnixNano()-int64(w) && e.at <= at.UnixNano() {
					count += e.count
				}
			}
			sum := sumSince(at.UnixNano()-int64(w), at.UnixNano(), list, func(e entry) (int64, money.Notional) { return e.at, e.sum })
			if win.Count(at, w) != count || win.Sum(at, w) != sum {
				r.Fatalf("count %d sum %s, want %d %s", win.Count(at, w), win.Sum(at, w), count, sum)
			}
			if live := len(win.items) - win.head; live > most {
				r.Fatalf("%d items", live)
			}
			if win.mixed != mixedOf(&win) {
				r.Fatal("the running mix is not that of the items")
			}
			if total := win.totalsBefore(len(win.items)).sum; total.Cmp(largest) > 0 {
				r.Fatal("total out of range")
			}
		}
	})
}

func sumSince[E any](after, to int64, list []E, of func(E) (int64, money.Notional)) (sum money.Notional) {
	for _, e := range list {
		if at, n := of(e); at > after && at <= to {
			sum, _ = sum.Add(n)
		}
	}
	return sum
}

func mixedOf(win *Window) (m uint64) {
	before := win.base
	for i := win.head; i < len(win.items); i++ {
		m += mixItem(&win.items[i], before)
		before = win.items[i].totals
	}
	return m
}
