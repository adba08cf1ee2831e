package account

import (
	"slices"
	"sort"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// Window is a sliding window over instants, each with a count and a sum. What is asked
// of it is exact, with the window half-open: (now-w, now]. The zero Window is empty.
type Window struct {
	items []item // in the order of their time; items[:head] have left the window
	head  int
	base  totals // of everything that has left
	mixed uint64 // sum of the live items' mixes, for the digest
	// borrowed: the items are another window's, which stands still. What is appended
	// behind them it does not see; before anything else is changed they are copied.
	borrowed bool
}

// item is one instant. Its totals run from the first item ever, itself included, so
// that any stretch is one subtraction.
type item struct {
	at int64 // nanoseconds since 1970
	totals
}

type totals struct {
	count uint64
	sum   money.Notional
}

// Count returns how many lie in (now-w, now].
func (win *Window) Count(now time.Time, w time.Duration) int {
	from, to := win.stretch(now, w)
	return int(to.count - from.count)
}

// Sum returns the sum of what lies in (now-w, now].
func (win *Window) Sum(now time.Time, w time.Duration) money.Notional {
	from, to := win.stretch(now, w)
	// Both are totals of figures that are not negative, so the difference is in range.
	sum, _ := to.sum.Sub(from.sum)
	return sum
}

func (win *Window) stretch(now time.Time, w time.Duration) (from, to totals) {
	if w <= 0 {
		return totals{}, totals{}
	}
	end := now.UnixNano()
	to = win.totalsBefore(win.after(end))
	from = win.totalsBefore(win.after(end - int64(w)))
	return from, to
}

// after returns the index of the first live item later than ns.
func (win *Window) after(ns int64) int {
	n := len(win.items)
	if n == win.head || win.items[n-1].at <= ns {
		return n
	}
	live := win.items[win.head:]
	return win.head + sort.Search(len(live), func(i int) bool { return live[i].at > ns })
}

// totalsBefore returns the totals of everything before index i.
func (win *Window) totalsBefore(i int) totals {
	if i <= win.head {
		return win.base
	}
	return win.items[i-1].totals
}

// canAdd reports whether sum can be added without leaving the range of a figure.
func (win *Window) canAdd(sum money.Notional) bool {
	live, ok := win.totalsBefore(len(win.items)).sum.Sub(win.base.sum)
	if !ok {
		return false
	}
	_, ok = live.Add(sum)
	return ok
}

// add appends an instant that is not before the newest, and drops the oldest over max
// items (0: no maximum). The caller knows that the window's sum stays in range.
func (win *Window) add(ns int64, count int, sum money.Notional, max int) {
	last := win.totalsBefore(len(win.items))
	next, ok := last.sum.Add(sum)
	if !ok {
		// The running total is full, not the window: count from what is live.
		win.rebase()
		last = win.totalsBefore(len(win.items))
		next, _ = last.sum.Add(sum)
	}
	it := item{at: ns, totals: totals{count: last.count + uint64(count), sum: next}}
	n := len(win.items)
	if n > win.head && win.items[n-1].at == ns {
		win.own()
		before := win.totalsBefore(n - 1)
		win.mixed -= mixItem(&win.items[n-1], before)
		win.items[n-1] = it
		win.mixed += mixItem(&it, before)
		return
	}
	win.items = append(win.items, it)
	win.mixed += mixItem(&it, last)
	if max > 0 && len(win.items)-win.head > max {
		win.drop(len(win.items) - max)
	}
}

// borrow makes the window share its items with the one that it was copied from.
func (win *Window) borrow() { win.borrowed = true }

// own makes the items the window's own, to be changed in place.
func (win *Window) own() {
	if win.borrowed {
		win.items, win.borrowed = slices.Clone(win.items), false
	}
}

func (win *Window) rebase() {
	win.own()
	for i := win.head; i < len(win.items); i++ {
		win.items[i].sum, _ = win.items[i].sum.Sub(win.base.sum)
	}
	win.base.sum = money.Notional{}
}

// prune drops instants at or before cutoff, which no limit can see.
func (win *Window) prune(cutoff int64) {
	to := win.head
	for to < len(win.items) && win.items[to].at <= cutoff {
		to++
	}
	win.drop(to)
}

// drop takes what is before index to out of the window.
func (win *Window) drop(to int) {
	for ; win.head < to; win.head++ {
		win.mixed -= mixItem(&win.items[win.head], win.base)
		win.base = win.items[win.head].totals
	}
	const compactFrom = 64
	if !win.borrowed && win.head >= compactFrom && win.head*2 >= len(win.items) {
		n := copy(win.items, win.items[win.head:])
		win.items, win.head = win.items[:n], 0
	}
}

func (win *Window) clear() { *win = Window{} }

// mixItem is of what the item adds, not of its running totals, which depend on how
// much was counted before.
func mixItem(it *item, before totals) uint64 {
	sum, _ := it.sum.Sub(before.sum)
	m := mixNotional(mix(mix(0, uint64(it.at)), it.count-before.count), sum)
	return m
}

// Buckets, as journal names them.
const (
	BucketOpen = journal.BucketOpen
	BucketExit = journal.BucketExit
)

// Bucketed is a one-minute window with a bucket for opening and one for exits, so that
// opens cannot starve exits.
type Bucketed struct {
	Open Window
	Exit Window
}

// Count returns how many of the bucket, BucketOpen or BucketExit, lie in the
// minute up to now. Any other text counts both.
func (b *Bucketed) Count(now time.Time, bucket string) int {
	switch bucket {
	case journal.BucketOpen:
		return b.Open.Count(now, MinuteWindow)
	case journal.BucketExit:
		return b.Exit.Count(now, MinuteWindow)
	}
	return b.Open.Count(now, MinuteWindow) + b.Exit.Count(now, MinuteWindow)
}

func (b *Bucketed) add(ns int64, bucket string, count, max int) {
	if bucket == journal.BucketExit {
		b.Exit.add(ns, count, money.Notional{}, max)
		return
	}
	b.Open.add(ns, count, money.Notional{}, max)
}

func (b *Bucketed) prune(cutoff int64) {
	b.Open.prune(cutoff)
	b.Exit.prune(cutoff)
}
